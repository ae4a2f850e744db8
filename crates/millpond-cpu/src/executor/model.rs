//! Models of the executor for the checker `loom`: `cargo xtask model`.
//!
//! The executor's own code runs under every order of its threads' steps (with a bounded number of
//! preemptions) and under every value that a relaxed load may see. A lost wake-up shows as a
//! deadlock, an order that is too weak as a conflicting access to a [`Mark`]. No thread spins, so
//! that each model ends.
//!
//! Not modelled: deadlines, the poll at shutdown and the grace period, which need a clock.

use std::fmt;
use std::ops::Range;

use loom::cell::UnsafeCell;
use millpond_hal::{
    Access, Address, Command, Footprint, Gate, HostKernel, KernelError, Point, Queue, QueueOptions,
    Submission, Wait,
};
use rustix::thread::CpuSet;
use smallvec::SmallVec;

use super::{Crew, Crewing, Executor};
use crate::executor::Board;
use crate::queue::{CpuQueue, QueueHandle, Registry};
use crate::sync::{Apart, Arc, AtomicBool, Condvar, Mutex, lock, thread};

/// Times that a thread may be interrupted where it could go on. Faults that need more are rare,
/// and the time of a model grows with the power.
const PREEMPTIONS: usize = 2;

/// Checks one model.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

/// A device's executor with this many workers.
fn executor(threads: usize) -> Arc<Executor> {
    let crewing = Crewing {
        label: "model".to_owned(),
        threads,
        width: threads + 1,
        cores: threads + 1,
        pinned: CpuSet::new(),
        last_cache: 1 << 20,
    };
    Arc::new(Executor {
        crew: Arc::new(Crew {
            board: Board::new(threads),
            spins: false,
            crewing,
            pending: Apart::default(),
            closing: AtomicBool::new(false),
            handles: Mutex::default(),
        }),
    })
}

fn queue(executor: &Arc<Executor>, registry: &Arc<Registry>) -> QueueHandle {
    QueueHandle(CpuQueue::new(&QueueOptions::default(), executor, registry))
}

fn submit(queue: &QueueHandle, command: Command, after: &[Point]) -> Option<Point> {
    let mut submission = Submission::new(command);
    submission.after = after;
    // SAFETY: no command here names memory by address, and those that share a mark are ordered.
    unsafe { queue.submit(submission) }.ok()
}

/// A place that one command writes. The checker fails if two threads touch it without an order.
#[derive(Clone)]
struct Mark(Arc<UnsafeCell<u32>>);

// SAFETY: that accesses don't conflict is what the checker finds out; it runs one thread at a time.
unsafe impl Send for Mark {}
// SAFETY: as above.
unsafe impl Sync for Mark {}

impl Mark {
    fn new() -> Self {
        Self(Arc::new(UnsafeCell::new(0)))
    }

    fn count(&self) {
        // SAFETY: the checker runs one thread at a time, and stops at a conflict.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn value(&self) -> u32 {
        // SAFETY: as in `count`.
        self.0.with(|value| unsafe { *value })
    }

    /// A command that writes it once.
    fn task(&self) -> Command {
        let mark = self.clone();
        Command::Task {
            name: "mark".into(),
            task: Box::new(move || {
                mark.count();
                Ok(())
            }),
        }
    }
}

/// A kernel of as many pieces as marks, each of which writes its own; the end reads all of them.
struct Marks(Vec<Mark>);

// SAFETY: it touches no operand.
unsafe impl HostKernel for Marks {
    fn operands(&self) -> usize {
        0
    }

    fn footprint(&self, _: usize) -> Footprint {
        Footprint {
            bytes: 0..0,
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.0.len()
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, _: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        self.0[range].iter().for_each(Mark::count);
        Ok(())
    }

    unsafe fn finish(&self, _: &[Address]) -> Result<(), KernelError> {
        assert!(self.0.iter().all(|mark| mark.value() == 1));
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("marks")
    }
}

/// A number that a thread can sleep for, made of nothing of the executor's.
#[derive(Default)]
struct Count {
    value: Mutex<usize>,
    changed: Condvar,
}

impl Count {
    fn add(&self) {
        *lock(&self.value) += 1;
        self.changed.notify_all();
    }

    fn wait_for(&self, wanted: usize) {
        let mut value = lock(&self.value);
        while *value < wanted {
            value = self.changed.wait(value).expect("no thread panics");
        }
    }
}

#[test]
fn a_waiting_thread_sees_the_end_and_the_effects_of_its_command() {
    check(|| {
        let (executor, registry) = (executor(1), Arc::default());
        let queue = queue(&executor, &registry);
        let mark = Mark::new();
        let point = submit(&queue, mark.task(), &[]).expect("an open device");
        assert_eq!(queue.wait(point.sequence, None), Wait::Reached);
        assert_eq!(mark.value(), 1);
    });
}

#[test]
fn a_thread_that_fell_asleep_is_woken_by_a_gate_that_opens() {
    check(|| {
        let (executor, registry) = (executor(1), Arc::default());
        let queue = queue(&executor, &registry);
        let (gate, mark) = (Gate::new(), Mark::new());
        submit(&queue, Command::Gate(gate.clone()), &[]).expect("an open device");
        let point = submit(&queue, mark.task(), &[]).expect("an open device");
        let opener = spawn(move || {
            gate.open(Ok(()));
        });
        assert_eq!(queue.wait(point.sequence, None), Wait::Reached);
        assert_eq!(mark.value(), 1);
        opener.join().expect("no thread panics");
    });
}

#[test]
fn a_sleeper_is_called_while_every_worker_is_busy() {
    check(|| {
        let (executor, registry) = (executor(1), Arc::default());
        let (busy, free) = (queue(&executor, &registry), queue(&executor, &registry));
        let (signal, mark, gate) = (Arc::new(Count::default()), Mark::new(), Gate::new());
        let signalled = Arc::clone(&signal);
        let long = Command::Task {
            name: "long".into(),
            task: Box::new(move || {
                signalled.wait_for(1);
                Ok(())
            }),
        };
        submit(&busy, long, &[]).expect("an open device");
        // Run by the thread that waits, which leaves the queue on the board: nobody lists it anew.
        let point = submit(&free, mark.task(), &[]).expect("an open device");
        assert_eq!(free.wait(point.sequence, None), Wait::Reached);
        submit(&free, Command::Gate(gate.clone()), &[]).expect("an open device");
        let point = submit(&free, mark.task(), &[]).expect("an open device");
        let opener = spawn(move || gate.open(Ok(())));
        assert_eq!(free.wait(point.sequence, None), Wait::Reached);
        assert_eq!(mark.value(), 2);
        signal.add();
        assert!(opener.join().expect("no thread panics"));
    });
}

#[test]
fn commands_are_run_though_nobody_waits_for_them() {
    check(|| {
        let (executor, registry) = (executor(1), Arc::default());
        let queue = queue(&executor, &registry);
        let (count, mark) = (Arc::new(Count::default()), Mark::new());
        for _ in 0..2 {
            let point = submit(&queue, mark.task(), &[]).expect("an open device");
            let count = Arc::clone(&count);
            queue.on_reached(point.sequence, Box::new(move || count.add()));
        }
        count.wait_for(2);
        assert_eq!(mark.value(), 2);
    });
}

#[test]
fn a_command_starts_after_the_point_of_another_queue() {
    check(|| {
        let (executor, registry) = (executor(1), Arc::default());
        let (first, second) = (queue(&executor, &registry), queue(&executor, &registry));
        let mark = Mark::new();
        let point = submit(&first, mark.task(), &[]).expect("an open device");
        let point = submit(&second, mark.task(), &[point]).expect("an open device");
        assert_eq!(second.wait(point.sequence, None), Wait::Reached);
        assert_eq!(mark.value(), 2);
    });
}

#[test]
fn pieces_that_threads_take_from_each_other_are_run_once_and_seen_by_the_end() {
    check(|| {
        let (executor, registry) = (executor(1), Arc::default());
        let queue = queue(&executor, &registry);
        let marks = [Mark::new(), Mark::new()];
        let launch = Command::Launch {
            kernel: Arc::new(Marks(marks.to_vec())),
            bases: SmallVec::new(),
        };
        let point = submit(&queue, launch, &[]).expect("an open device");
        assert_eq!(queue.wait(point.sequence, None), Wait::Reached);
        assert_eq!(queue.outcome(point.sequence), Some(Ok(())));
        assert!(marks.iter().all(|mark| mark.value() == 1));
    });
}

#[test]
fn a_command_is_refused_or_done_when_the_shutdown_returns() {
    check(|| {
        let (executor, registry) = (executor(1), Arc::default());
        let queue = queue(&executor, &registry);
        let mark = Mark::new();
        let task = mark.task();
        let submitter = spawn(move || submit(&queue, task, &[]).is_some());
        executor.shut_down(&registry);
        let counted = mark.value();
        let taken = submitter.join().expect("no thread panics");
        assert_eq!(counted, u32::from(taken));
    });
}

/// A thread of the model's own.
fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    let spawned = thread::Builder::new().spawn(body);
    spawned.expect("a model has room for a few threads")
}
