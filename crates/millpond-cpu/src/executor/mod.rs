//! The threads of one device, and the work they share.
//!
//! A [`Crew`] is the board with its workers; an [`Executor`] is the handle that devices and queues
//! hold, whose end ends the workers. Workers are started when there is work for them, one at a
//! time, up to the limit; one that sleeps inside a host task which waits for a queue is replaced
//! meanwhile. Which command may run when is not decided here but by the queues.

mod board;
mod fault;
mod launch;
#[cfg(all(test, loom))]
mod model;
mod shutdown;
mod spread;
pub(crate) mod transfer;
mod worker;

use millpond_hal::QueueId;
use rustix::thread::CpuSet;

pub(crate) use board::Board;
use board::Call;
pub(crate) use fault::{discard, guard};
pub(crate) use launch::Launch;
pub(crate) use spread::Spread;
pub(crate) use worker::{SPIN, current, spin_until};

use crate::queue::CpuQueue;
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Apart, Arc, AtomicBool, AtomicUsize, Mutex, Ordering, lock};

/// How the threads of a device are run.
#[derive(Clone, Debug)]
pub(crate) struct Crewing {
    /// The device's name, for messages and thread names.
    pub(crate) label: String,
    /// Workers that may be awake at once.
    pub(crate) threads: usize,
    /// Threads that may usefully run one command together.
    pub(crate) width: usize,
    /// Cores that the device may keep busy.
    pub(crate) cores: usize,
    /// The cores that workers run on. A thread would else inherit those of whichever thread
    /// happened to start it.
    pub(crate) pinned: CpuSet,
    /// Bytes of the last-level cache.
    pub(crate) last_cache: usize,
}

/// The workers of a device and what they share with the threads that help them.
pub(crate) struct Crew {
    pub(crate) board: Board,
    crewing: Crewing,
    /// Whether a thread without work looks for some before it sleeps.
    pub(crate) spins: bool,
    /// Commands that were submitted and haven't finished.
    pending: Apart<AtomicUsize>,
    closing: AtomicBool,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

impl Crew {
    /// Threads that may usefully run one command together: the workers and one that waits.
    pub(crate) fn width(&self) -> usize {
        self.crewing.width
    }

    /// The number, among the device's cores, of the one that the calling thread runs on.
    pub(crate) fn own_core(&self) -> usize {
        if cfg!(loom) {
            // Every run of a model begins alike.
            return 0;
        }
        let core = rustix::thread::sched_getcpu().min(CpuSet::MAX_CPU);
        let before = (0..core).filter(|&core| self.crewing.pinned.is_set(core));
        before.count()
    }

    /// Bytes of the last-level cache.
    pub(crate) fn last_cache(&self) -> usize {
        self.crewing.last_cache
    }

    /// The device's name.
    pub(crate) fn label(&self) -> &str {
        &self.crewing.label
    }

    /// Counts a command that is about to be appended; `false` if the device was shut down.
    pub(crate) fn enter(&self) -> bool {
        // Both this pair and the one in `shutdown` are sequentially consistent: either the closing
        // thread sees the count, or this thread sees that it is closing.
        self.pending.0.fetch_add(1, Ordering::SeqCst);
        if self.closing.load(Ordering::SeqCst) {
            self.leave();
            return false;
        }
        true
    }

    /// Counts a command that finished or wasn't appended after all.
    pub(crate) fn leave(&self) {
        if self.pending.0.fetch_sub(1, Ordering::SeqCst) == 1 && self.closing.load(Ordering::SeqCst)
        {
            self.board.close();
        }
    }

    /// Whether the device was shut down.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Whether the device was shut down and all its work is done.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_closing() && self.pending.0.load(Ordering::SeqCst) == 0
    }

    /// Offers a queue with a command that may start.
    pub(crate) fn list(self: &Arc<Self>, queue: &Arc<CpuQueue>) {
        let call = self.board.add_line(Arc::clone(queue));
        self.answer(call);
    }

    /// Wakes a thread that waits for a queue which is on offer, if there is one.
    pub(crate) fn remind(self: &Arc<Self>, queue: QueueId) {
        let call = self.board.call_helper(queue);
        self.answer(call);
    }

    /// Does what the board asks for, with no lock held.
    pub(crate) fn answer(self: &Arc<Self>, call: Call) {
        match call {
            Call::Nobody => {}
            Call::Wake(thread) => thread.unpark(),
            Call::Spawn => self.spawn(),
        }
    }

    /// Starts a worker. Where the system refuses, the work stays on the board: threads that wait
    /// run it, and the next offer tries again.
    fn spawn(self: &Arc<Self>) {
        let mut handles = lock(&self.handles);
        handles.retain(|handle| !thread::is_finished(handle));
        let crew = Arc::clone(self);
        let builder = thread::Builder::new().name(format!("millpond {}", self.label()));
        let spawned = builder.spawn(move || {
            // A thread on the wrong core is slower, not wrong.
            let _ = rustix::thread::sched_setaffinity(None, &crew.crewing.pinned);
            worker::work(&crew);
        });
        match spawned {
            Ok(handle) => handles.push(handle),
            Err(_) => self.board.not_spawned(),
        }
    }
}

/// The right to a crew's work; the crew ends with it.
pub(crate) struct Executor {
    crew: Arc<Crew>,
}

impl Executor {
    pub(crate) fn new(crewing: Crewing) -> Self {
        Self {
            crew: Arc::new(Crew {
                board: Board::new(crewing.threads),
                spins: crewing.cores > 1,
                crewing,
                pending: Apart::default(),
                closing: AtomicBool::new(false),
                handles: Mutex::default(),
            }),
        }
    }

    pub(crate) fn crew(&self) -> &Arc<Crew> {
        &self.crew
    }
}

impl Drop for Executor {
    /// Nothing is pending, since a queue that has work holds the executor. The workers are told
    /// but not waited for: this may be one of them.
    fn drop(&mut self) {
        self.crew.closing.store(true, Ordering::SeqCst);
        self.crew.board.close();
    }
}
