//! A queue of a host device: the state that its commands share, and how they move on.
//!
//! A queue with a command that may start is *listed* on its device's board, at most once; whoever
//! takes it from there runs its commands one after the other. Threads that wait for a queue may
//! begin its commands as well, so a listed queue can turn out to have nothing to run.
//!
//! No lock is held while foreign code runs, and no two locks of queues are held at once.

mod dependent;
mod handle;
mod line;
mod registry;
mod role;
mod run;
#[cfg(test)]
mod tests;
mod wait;

use millpond_hal::recorder::now;
use millpond_hal::{Failure, FailureKind, Progress, QueueId, QueueOptions};

pub(crate) use handle::QueueHandle;
pub(crate) use line::Begun;
pub(crate) use registry::Registry;
pub(crate) use role::Role;

use crate::executor::{Crew, Executor};
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, lock};
use dependent::notify;
use line::Line;

/// Commands that a worker runs of one queue before it looks after others.
const TURN: usize = 64;

/// What others must be told about a queue that may have something to run.
enum Offer {
    /// Nothing to run, or known already.
    Nothing,
    /// The queue is to be listed; it counts as listed already.
    List,
    /// It is listed since some time and no worker took it, so one that sleeps while it waits for
    /// the queue may have to.
    Remind,
}

/// A queue. It lives while somebody holds a handle or a command isn't finished.
pub(crate) struct CpuQueue {
    id: QueueId,
    in_order: bool,
    progress: Progress,
    /// Commands submitted so far.
    submitted: AtomicU64,
    /// Whether the queue is on the board.
    listed: AtomicBool,
    line: Mutex<Line>,
    executor: Arc<Executor>,
    registry: Arc<Registry>,
}

impl CpuQueue {
    pub(crate) fn new(
        options: &QueueOptions,
        executor: &Arc<Executor>,
        registry: &Arc<Registry>,
    ) -> Arc<Self> {
        let queue = Arc::new(Self {
            id: QueueId::next(),
            in_order: !options.out_of_order,
            progress: Progress::default(),
            submitted: AtomicU64::new(0),
            listed: AtomicBool::new(false),
            line: Mutex::new(Line::new(!options.out_of_order, options.profiling)),
            executor: Arc::clone(executor),
            registry: Arc::clone(registry),
        });
        registry.insert(&queue);
        queue
    }

    pub(crate) fn identity(&self) -> QueueId {
        self.id
    }

    pub(crate) fn in_order(&self) -> bool {
        self.in_order
    }

    pub(crate) fn crew(&self) -> &Arc<Crew> {
        self.executor.crew()
    }

    pub(crate) fn is_reached(&self, sequence: u64) -> bool {
        self.progress.completed() >= sequence
            || (!self.in_order && lock(&self.line).is_finished(sequence))
    }

    /// Whether a command could start or is running.
    pub(crate) fn is_active(&self) -> bool {
        lock(&self.line).is_active()
    }

    /// Takes the next command that the role permits, and says what others must be told about
    /// those it leaves.
    fn begin_locked(
        &self,
        line: &mut MutexGuard<'_, Line>,
        role: &Role<'_>,
    ) -> (Option<Begun>, Offer) {
        let begun = line.begin(
            |line, sequence, command| role.permits(self, line, sequence, command),
            now,
        );
        (begun, self.offer(line))
    }

    /// What others must be told, after a change under the lock.
    fn offer(&self, line: &Line) -> Offer {
        if !line.is_runnable() {
            Offer::Nothing
        } else if !self.listed.swap(true, Ordering::AcqRel) {
            Offer::List
        } else if self.crew().board.has_helpers() {
            Offer::Remind
        } else {
            Offer::Nothing
        }
    }

    /// Tells them, with no lock held.
    fn publish(self: &Arc<Self>, offer: &Offer) {
        match offer {
            Offer::Nothing => {}
            Offer::List => self.crew().list(self),
            Offer::Remind => self.crew().remind(self.id),
        }
    }

    /// Takes the next command that the role permits, if there is one.
    fn begin(self: &Arc<Self>, role: &Role<'_>) -> Option<Begun> {
        let (begun, offer) = self.begin_locked(&mut lock(&self.line), role);
        // Nothing new is on offer, so nobody has to be reminded: least of all this thread, which
        // may be about to sleep because its role permits it nothing.
        if matches!(offer, Offer::List) {
            self.publish(&offer);
        }
        begun
    }

    /// Ends a command that was begun, tells everybody, and takes the next.
    pub(crate) fn conclude(
        self: &Arc<Self>,
        sequence: u64,
        failure: Option<&Failure>,
        role: &Role<'_>,
    ) -> Option<Begun> {
        let line = lock(&self.line);
        self.conclude_locked(line, sequence, failure, role)
    }

    fn conclude_locked(
        self: &Arc<Self>,
        mut line: MutexGuard<'_, Line>,
        sequence: u64,
        failure: Option<&Failure>,
        role: &Role<'_>,
    ) -> Option<Begun> {
        if failure.is_some() {
            self.progress.count_failure();
        }
        let dependents = line.finish(sequence, failure.cloned(), now);
        self.progress.advance(line.completed());
        let (begun, offer) = self.begin_locked(&mut line, role);
        drop(line);
        notify(dependents, failure);
        self.publish(&offer);
        self.crew().leave();
        begun
    }

    /// A gate that the queue had reached was opened, or will never be.
    fn pass_gate(self: &Arc<Self>, sequence: u64, outcome: Result<(), Failure>) {
        let mut line = lock(&self.line);
        if line.is_gated(sequence) {
            self.conclude_locked(line, sequence, outcome.err().as_ref(), &Role::Leaving);
        }
    }

    /// Points that a command comes after were reached.
    pub(crate) fn unblock(self: &Arc<Self>, sequence: u64, count: u32, failure: Option<&Failure>) {
        let offer = {
            let mut line = lock(&self.line);
            line.unblock(sequence, count, failure);
            self.offer(&line)
        };
        self.publish(&offer);
    }

    /// Lets commands that stand still fail, so that the queue can be drained.
    pub(crate) fn give_up(self: &Arc<Self>, failure: &Failure) {
        let (gates, offer) = {
            let mut line = lock(&self.line);
            (line.give_up(failure), self.offer(&line))
        };
        self.publish(&offer);
        for sequence in gates {
            self.pass_gate(sequence, Err(failure.clone()));
        }
    }

    /// Lets go of those who wait for commands that a lost device will never get.
    pub(crate) fn release_early(&self) {
        let early = lock(&self.line).take_early();
        let failure = Failure::new(FailureKind::Lost, "command", "it was never submitted");
        for (_, dependent) in early {
            notify(vec![dependent], Some(&failure));
        }
    }
}

impl Drop for CpuQueue {
    fn drop(&mut self) {
        self.registry.remove(self.id);
    }
}
