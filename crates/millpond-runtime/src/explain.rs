//! Explanations: what a thread's commands became, what they moved, and how long they took.
//!
//! A program is fast or slow for reasons that it doesn't show: what ran together, what was written
//! although nobody read it, what waited for the host. Between [`Explanation::begin`] and
//! [`Explanation::finish`] every execution that the calling thread asks for is noted, on whichever
//! queue, in the way it would have run anyway: fused, inline or by itself. Nothing is noted, and
//! nothing but a load is spent, where no explanation is under way.
//!
//! Explanations nest; an execution belongs to all that were under way on its thread.
//!
//! # Example
//! ```
//! use millpond_hal::{Driver, null::NullDriver};
//! use millpond_runtime::{Device, Explanation, MemoryKind, Pattern};
//!
//! let device = Device::open(NullDriver::default().devices()?.remove(0));
//! let queue = device.default_queue()?;
//! let memory = queue.allocate(MemoryKind::Device, 1024)?;
//! let explanation = Explanation::begin();
//! queue.fill(&memory, 0..1024, Pattern::new(&[0]).unwrap())?;
//! let executions = explanation.finish()?;
//! assert_eq!(executions[0].name, "fill of 1024 bytes");
//! assert_eq!(executions[0].traffic.written, 1024);
//! # Ok::<(), millpond_runtime::Error>(())
//! ```

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use millpond_hal::{Command, Failure, HostKernel, Traffic, Watch};

use crate::error::Result;
use crate::queue::Native;
use crate::queue::submit::{describe, stop_if_interrupted};
use crate::sync::{Condvar, Mutex, lock};
use crate::trace::current_origin;
use crate::waiting;

/// Explanations under way, on all threads.
static UNDERWAY: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Those of this thread, outermost first.
    static MINE: RefCell<Vec<Arc<Notes>>> = const { RefCell::new(Vec::new()) };
}

/// Why a command that could have been joined by more took no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closed {
    /// Its device was free, and nothing came for a moment.
    Ready,
    /// The next command of its queue could not be joined.
    Next,
    /// Somebody waited for it, or asked for its event.
    Waited,
    /// A command of another queue uses what it uses.
    OtherQueue,
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "nothing followed in time",
            Self::Next => "what followed could not be joined",
            Self::Waited => "the host waited",
            Self::OtherQueue => "another queue used its arrays",
        })
    }
}

/// One execution: a command, or several operations that became one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Execution {
    /// What ran, with its shape.
    pub name: String,
    /// Where: the number of the queue, as [`Queue::id`](crate::Queue::id) says.
    pub queue: u64,
    /// Whether it ran on the thread that asked for it, before the call returned.
    pub inline: bool,
    /// What it moved, as far as it says.
    pub traffic: Traffic,
    /// From the beginning of the explanation until the work began; `None` if it never did, as it
    /// failed with what it follows.
    pub began: Option<Duration>,
    /// How long it ran.
    pub time: Duration,
    /// The source lines that asked for it, where lines are traced.
    pub lines: Vec<Arc<str>>,
    /// Why it took no more, if more could have been joined.
    pub closed: Option<Closed>,
    /// Whether it failed.
    pub failed: bool,
}

/// An explanation under way on the thread that began it.
#[must_use = "it notes until it is finished or dropped"]
pub struct Explanation {
    notes: Arc<Notes>,
    start: Instant,
    /// It belongs to its thread.
    here: PhantomData<*const ()>,
}

impl fmt::Debug for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Explanation({} executions)",
            lock(&self.notes.list).len()
        )
    }
}

impl Explanation {
    /// Notes this thread's executions from here on.
    pub fn begin() -> Self {
        let notes = Arc::new(Notes::default());
        MINE.with_borrow_mut(|mine| mine.push(Arc::clone(&notes)));
        UNDERWAY.fetch_add(1, Relaxed);
        Self {
            notes,
            start: Instant::now(),
            here: PhantomData,
        }
    }

    /// Waits for what was noted, and answers it in the order in which it was asked for.
    ///
    /// Failures of the commands are not answered here but where they are due.
    ///
    /// # Errors
    /// An interruption of the wait.
    pub fn finish(self) -> Result<Vec<Execution>> {
        let noted = std::mem::take(&mut *lock(&self.notes.list));
        let mut executions = Vec::with_capacity(noted.len());
        for note in noted {
            note.wait()?;
            executions.push(note.execution(self.start));
        }
        Ok(executions)
    }
}

impl Drop for Explanation {
    fn drop(&mut self) {
        UNDERWAY.fetch_sub(1, Relaxed);
        let is_other = |notes: &Arc<Notes>| !Arc::ptr_eq(notes, &self.notes);
        // A thread at its end has no list any more.
        let _ = MINE.try_with(|mine| mine.borrow_mut().retain(is_other));
    }
}

/// Whether an explanation is under way on this thread.
#[inline]
pub fn is_underway_here() -> bool {
    // A thread at its end has no list any more.
    let has_any = || MINE.try_with(|mine| !mine.borrow().is_empty());
    UNDERWAY.load(Relaxed) != 0 && has_any().unwrap_or(false)
}

/// What one explanation has noted.
#[derive(Default)]
struct Notes {
    list: Mutex<Vec<Arc<Note>>>,
}

/// What is known of one execution.
pub(crate) struct Note {
    native: Arc<Native>,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    name: String,
    traffic: Traffic,
    /// Until it has ended: a kernel that grows says late what it is.
    kernel: Option<Arc<dyn HostKernel>>,
    lines: Vec<Arc<str>>,
    grows: bool,
    closed: Option<Closed>,
    began: Option<Instant>,
    ended: Option<Instant>,
    failed: bool,
    /// Its number on its queue; none of what ran on the calling thread.
    sequence: Option<u64>,
}

impl fmt::Debug for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Note({})", lock(&self.state).name)
    }
}

impl Note {
    fn new(native: &Arc<Native>, state: State) -> Arc<Self> {
        Arc::new(Self {
            native: Arc::clone(native),
            state: Mutex::new(state),
            ended: Condvar::new(),
        })
    }

    /// Adds it to this thread's explanations.
    fn tell(self: &Arc<Self>) {
        MINE.with_borrow(|mine| {
            for notes in mine {
                lock(&notes.list).push(Arc::clone(self));
            }
        });
    }

    /// It has got its place on its queue: what is refused is no execution.
    pub(crate) fn place(self: &Arc<Self>, sequence: u64) {
        lock(&self.state).sequence = Some(sequence);
        self.tell();
    }

    /// It may be joined by more, until it begins.
    pub(crate) fn grows(&self) {
        let mut state = lock(&self.state);
        state.grows = true;
        if state.began.is_some() {
            state.closed = Some(Closed::Ready);
        }
    }

    /// Notes that more was joined to the execution.
    pub(crate) fn join(&self) {
        lock(&self.state).ask();
    }

    /// Notes why it takes no more; the first reason counts.
    pub(crate) fn close(&self, why: Closed) {
        lock(&self.state).closed.get_or_insert(why);
    }

    /// Waits until it has ended.
    fn wait(&self) -> Result<()> {
        let Some(sequence) = lock(&self.state).sequence else {
            return Ok(());
        };
        let waited = self
            .native
            .wait_or_stop(sequence, "a wait for what is explained");
        stop_if_interrupted(waited)?;
        // Whoever ends it may yet have to say so.
        waiting::run(false, |_| {
            let mut state = lock(&self.state);
            while state.ended.is_none() {
                state = self
                    .ended
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            true
        });
        Ok(())
    }

    fn execution(&self, start: Instant) -> Execution {
        let state = lock(&self.state);
        let time = state.began.zip(state.ended);
        Execution {
            name: state.name.clone(),
            queue: self.native.id().get(),
            inline: state.sequence.is_none(),
            traffic: state.traffic,
            began: state
                .began
                .map(|began| began.saturating_duration_since(start)),
            time: time.map_or(Duration::ZERO, |(began, ended)| ended - began),
            lines: state.lines.clone(),
            closed: state.closed,
            failed: state.failed,
        }
    }
}

impl State {
    /// Notes where the calling thread is.
    fn ask(&mut self) {
        let line = current_origin();
        if self.lines.last() != line.as_ref() {
            self.lines.extend(line);
        }
    }

    /// A kernel says what it has become.
    fn identify(&mut self) {
        if let Some(kernel) = self.kernel.take() {
            self.name = describe(&*kernel);
            self.traffic = kernel.traffic();
        }
    }
}

impl Watch for Note {
    fn began(&self) {
        let now = Instant::now();
        let mut state = lock(&self.state);
        state.began = Some(now);
        if state.grows {
            state.closed.get_or_insert(Closed::Ready);
        }
    }

    fn ended(&self, failure: Option<&Failure>) {
        let now = Instant::now();
        let mut state = lock(&self.state);
        state.ended = Some(now);
        state.failed = failure.is_some();
        state.identify();
        self.ended.notify_all();
    }
}

/// Notes a command that is about to be handed over, if this thread explains.
#[inline]
pub(crate) fn note(native: &Arc<Native>, command: &Command) -> Option<Arc<Note>> {
    is_underway_here()
        .then(|| note_command(native, command))
        .flatten()
}

#[cold]
fn note_command(native: &Arc<Native>, command: &Command) -> Option<Arc<Note>> {
    // What stands for order alone isn't work.
    let is_work = matches!(
        command,
        Command::Launch { .. } | Command::Copy { .. } | Command::Fill { .. } | Command::Task { .. }
    );
    if !is_work {
        return None;
    }
    let mut state = State::default();
    if let Command::Launch { kernel, .. } = command {
        state.kernel = Some(Arc::clone(kernel));
    } else {
        state.name = command.to_string();
        state.traffic = command.traffic();
    }
    state.ask();
    Some(Note::new(native, state))
}

/// What was noted last of this thread.
#[inline]
pub(crate) fn latest() -> Option<Arc<Note>> {
    is_underway_here().then(find_latest).flatten()
}

#[cold]
fn find_latest() -> Option<Arc<Note>> {
    MINE.with_borrow(|mine| lock(&mine.last()?.list).last().cloned())
}

/// Runs a kernel on the calling thread, and notes it if this thread explains.
#[inline]
pub(crate) fn inline<R>(
    native: &Arc<Native>,
    kernel: &dyn HostKernel,
    run: impl FnOnce() -> Result<R>,
) -> Result<R> {
    if is_underway_here() {
        return note_inline(native, kernel, run);
    }
    run()
}

#[cold]
fn note_inline<R>(
    native: &Arc<Native>,
    kernel: &dyn HostKernel,
    run: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let began = Instant::now();
    let answer = run();
    let mut state = State {
        ended: Some(Instant::now()),
        began: Some(began),
        name: describe(kernel),
        traffic: kernel.traffic(),
        failed: answer.is_err(),
        ..State::default()
    };
    state.ask();
    Note::new(native, state).tell();
    answer
}
