//! The window of a queue: what is joined to its last command, what isn't, and what nobody can tell.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]
#![allow(unsafe_code, reason = "kernels touch memory")]

mod support;

use std::fmt;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use millpond_hal::{Address, Footprint, Growing, HostKernel, KernelError};
use millpond_runtime::trace::set_origin;
use millpond_runtime::{Access, Allocation, Closed, Explanation, MemoryKind, Queue, Use};
use millpond_testkit::watchdog::watched;
use support::{Affine, BIG, Sum, close_gate, device, in_order, numbers, stays_pending, values};

/// `x = x * factor + term` for one number at an address.
#[derive(Clone, Copy)]
struct Step {
    at: Address,
    factor: u64,
    term: u64,
}

/// What the kernels of all tests were told to forget.
static FORGOTTEN: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());

fn is_forgotten(address: usize) -> bool {
    let forgotten = FORGOTTEN.lock().unwrap();
    forgotten.iter().any(|range| range.start == address)
}

/// Leaves a number as it is.
const SAME: Affine = Affine {
    count: 1,
    factor: 1,
    term: 0,
};

/// Steps over single numbers, which more can be joined to until it begins.
struct Steps {
    first: Address,
    asked: Mutex<Option<Vec<Step>>>,
    sealed: AtomicUsize,
    run: Mutex<Vec<Step>>,
}

impl Steps {
    fn new(step: Step) -> Self {
        Self {
            first: step.at,
            asked: Mutex::new(Some(vec![step])),
            sealed: AtomicUsize::new(0),
            run: Mutex::default(),
        }
    }

    fn join(&self, step: Step) -> bool {
        let mut steps = self.asked.lock().unwrap();
        let open = self.sealed.load(Ordering::Relaxed) == 0;
        steps
            .as_mut()
            .filter(|_| open)
            .map(|steps| steps.push(step))
            .is_some()
    }
}

impl Growing for Steps {
    fn seal(&self) {
        let _steps = self.asked.lock().unwrap();
        self.sealed.fetch_add(1, Ordering::Relaxed);
    }

    fn forget(&self, addresses: &Range<usize>) {
        FORGOTTEN.lock().unwrap().push(addresses.clone());
    }
}

// SAFETY: it touches the numbers of its steps, whose memory was named when they were joined.
unsafe impl HostKernel for Steps {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _: usize) -> Footprint {
        Footprint {
            bytes: 0..8,
            access: Access::Update,
        }
    }

    fn begin(&self) {
        if let Some(steps) = self.asked.lock().unwrap().take() {
            *self.run.lock().unwrap() = steps;
        }
    }

    fn extent(&self) -> usize {
        1
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &[Address], _: Range<usize>) -> Result<(), KernelError> {
        assert_eq!(bases[0], self.first);
        for step in &*self.run.lock().unwrap() {
            let number = step.at.as_ptr::<u64>();
            // SAFETY: the number is an operand's, which the window is ordered with.
            let value = unsafe { number.read() };
            let value = value.wrapping_mul(step.factor).wrapping_add(step.term);
            // SAFETY: as above.
            unsafe { number.write(value) };
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("steps")
    }
}

/// Launches a step; whether it was joined to the window.
fn step(queue: &Queue, memory: &Allocation, factor: u64, term: u64) -> bool {
    also(queue, memory, &[], factor, term)
}

/// The same for a step that is ordered as if it read other memory too.
fn also(queue: &Queue, memory: &Allocation, reads: &[&Allocation], factor: u64, term: u64) -> bool {
    let step = Step {
        at: memory.address(),
        factor,
        term,
    };
    let use_ = |allocation, access| Use { allocation, access };
    let mut uses = vec![use_(memory, Access::Update)];
    let mut made = false;
    let mut joined = false;
    let join = |kernel: &Steps| {
        joined = kernel.join(step);
        joined
    };
    if reads.is_empty() {
        queue
            .launch_growing(&uses, join, || {
                made = true;
                Some(Steps::new(step))
            })
            .unwrap();
    } else {
        uses.extend(reads.iter().map(|read| use_(read, Access::Read)));
        let answer = queue.launch_growing(&uses, join, || {
            made = true;
            None
        });
        assert_eq!(answer.unwrap(), joined);
    }
    assert!(joined != made);
    joined
}

#[test]
fn what_follows_joins_and_has_the_windows_place_in_the_order() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let (x, y) = (numbers(&queue, &[1]), numbers(&queue, &[10]));
        let gate = close_gate(&queue);
        assert!(!step(&queue, &x, 2, 1), "nothing to join");
        assert!(step(&queue, &x, 3, 0));
        assert!(step(&queue, &y, 1, 5));
        let event = queue.record().unwrap();
        assert!(stays_pending(&event));
        gate.open();
        event.wait().unwrap();
        assert_eq!((values(&x), values(&y)), (vec![9], vec![15]));
    });
}

#[test]
fn a_window_stays_open_while_a_pool_grows_and_is_looked_at() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let pool = device.default_pool(MemoryKind::Device);
        let x = numbers(&queue, &[1]);
        let gate = close_gate(&queue);
        step(&queue, &x, 1, 1);
        let before = pool.statistics().reserved;
        let grown = queue.allocate(MemoryKind::Device, 64 << 20).unwrap();
        assert!(pool.statistics().reserved > before);
        assert!(step(&queue, &x, 1, 1));
        drop(grown);
        assert!(step(&queue, &x, 1, 1));
        gate.open();
        assert_eq!(values(&x), [4]);
    });
}

#[test]
fn nothing_joins_once_somebody_could_tell() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let other = in_order(&device);
        let (x, y) = (numbers(&queue, &[1]), numbers(&queue, &[1]));
        let gate = close_gate(&queue);
        let touch = |queue: &Queue, memory: &Allocation| {
            queue.launch(SAME, &[memory], BIG).unwrap();
        };
        let tells: [(&str, &dyn Fn()); 4] = [
            ("an event", &|| drop(queue.record().unwrap())),
            ("another command", &|| touch(&queue, &y)),
            ("a command of another queue on the memory", &|| {
                touch(&other, &x);
            }),
            ("an event to follow", &|| {
                let held = close_gate(&other);
                queue.wait_for(&other.record().unwrap()).unwrap();
                held.open();
            }),
        ];
        for (what, tell) in tells {
            step(&queue, &y, 1, 0);
            step(&queue, &x, 1, 1);
            assert!(step(&queue, &x, 1, 1), "before {what}");
            tell();
            assert!(!step(&queue, &y, 1, 0), "after {what}");
        }
        gate.open();
        device.wait().unwrap();
        assert_eq!(values(&x), [9]);
    });
}

#[test]
fn what_must_follow_another_queue_does_not_join() {
    watched(|| {
        let device = device();
        let (queue, other) = (device.default_queue().unwrap(), in_order(&device));
        let (x, y) = (numbers(&queue, &[1]), numbers(&queue, &[1]));
        let held = close_gate(&other);
        other
            .launch(
                Affine {
                    count: 1,
                    factor: 5,
                    term: 0,
                },
                &[&y],
                BIG,
            )
            .unwrap();
        let gate = close_gate(&queue);
        step(&queue, &x, 1, 1);
        assert!(
            !step(&queue, &y, 1, 1),
            "the window doesn't follow the other queue"
        );
        gate.open();
        held.open();
        assert_eq!((values(&x), values(&y)), (vec![2], vec![6]));
    });
}

#[test]
fn memory_of_another_queue_or_of_the_host_does_not_join() {
    watched(|| {
        let device = device();
        let (queue, other) = (device.default_queue().unwrap(), in_order(&device));
        let (x, away) = (numbers(&queue, &[1]), numbers(&other, &[1]));
        let shared = queue.allocate(MemoryKind::Shared, 8).unwrap();
        shared.write(0, &[0; 8]).unwrap();
        shared.share_with_host(true).unwrap();
        step(&queue, &x, 1, 1);
        assert!(!step(&queue, &away, 1, 1));
        assert!(!step(&queue, &shared, 1, 7));
        assert_eq!(values(&shared), [7], "it is done when the call returns");
        device.wait().unwrap();
        assert_eq!(values(&away), [2]);
    });
}

#[test]
fn o7_failures_reach_what_depends_on_them_and_nothing_else() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let (x, y, z) = (
            numbers(&queue, &[1]),
            numbers(&queue, &[1]),
            numbers(&queue, &[1]),
        );
        let gate = close_gate(&queue);
        let use_ = Use {
            allocation: &x,
            access: Access::Write,
        };
        queue
            .task("doomed", &[use_], || Err("no".to_owned()))
            .unwrap();
        assert!(!step(&queue, &x, 1, 1), "depends on the task");
        assert!(!step(&queue, &y, 1, 1), "doesn't");
        assert!(step(&queue, &z, 1, 1));
        assert!(
            !also(&queue, &z, &[&x], 1, 1),
            "depends on the task as well"
        );
        gate.open();
        queue.wait().unwrap_err();
        assert_eq!((values(&y), values(&z)), (vec![2], vec![2]));
        x.read(0, &mut [0; 8]).unwrap_err();
    });
}

#[test]
fn the_window_is_told_of_memory_that_nobody_holds() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[1]);
        let gate = close_gate(&queue);
        step(&queue, &x, 1, 1);
        let forgotten = {
            let y = queue.allocate(MemoryKind::Device, 8).unwrap();
            assert!(step(&queue, &y, 0, 3));
            let address = y.address().get();
            address..address + 8
        };
        assert!(FORGOTTEN.lock().unwrap().contains(&forgotten));
        let again = queue.allocate(MemoryKind::Device, 8).unwrap();
        let place = again.address().get();
        assert_eq!(place, forgotten.start, "reused at once, behind the window");
        assert!(step(&queue, &again, 0, 4));
        gate.open();
        assert_eq!((values(&x), values(&again)), (vec![2], vec![4]));
    });
}

#[test]
fn memory_that_another_queue_reads_is_not_forgotten() {
    watched(|| {
        let device = device();
        let (queue, other) = (device.default_queue().unwrap(), in_order(&device));
        let (x, sum) = (numbers(&queue, &[1]), numbers(&other, &[0]));
        let gate = close_gate(&queue);
        step(&queue, &x, 1, 1);
        let y = numbers(&queue, &[1]);
        assert!(step(&queue, &y, 1, 4));
        other.launch(Sum(1), &[&y, &y, &sum], BIG).unwrap();
        let address = y.address().get();
        drop(y);
        assert!(!is_forgotten(address));
        gate.open();
        assert_eq!(values(&sum), [10]);
    });
}

#[test]
fn memory_that_an_event_stands_for_is_not_forgotten() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let (x, y) = (numbers(&queue, &[1]), numbers(&queue, &[1]));
        let gate = close_gate(&queue);
        step(&queue, &x, 1, 1);
        assert!(step(&queue, &y, 1, 4));
        let event = queue.record().unwrap();
        let address = y.address().get();
        drop(y);
        assert!(
            !is_forgotten(address),
            "whoever has the event may read it by its address"
        );
        gate.open();
        event.wait().unwrap();
    });
}

#[test]
fn many_threads_join_and_each_sees_its_own() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let shared = numbers(&queue, &[0]);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let own = numbers(&queue, &[0]);
                    for round in 1..=300_u64 {
                        step(&queue, &own, 1, 1);
                        step(&queue, &shared, 1, 1);
                        if round % 50 == 0 {
                            assert_eq!(values(&own), [round]);
                        }
                    }
                });
            }
        });
        assert_eq!(values(&shared), [1200]);
    });
}

#[test]
fn an_explanation_tells_what_a_window_became_and_why_it_took_no_more() {
    watched(|| {
        let device = device();
        let (queue, other) = (device.default_queue().unwrap(), in_order(&device));
        let (x, y) = (numbers(&queue, &[1]), numbers(&queue, &[1]));
        let touch = |queue: &Queue, memory: &Allocation| {
            queue.launch(SAME, &[memory], BIG).unwrap();
        };
        let tells: [(Closed, &dyn Fn()); 3] = [
            (Closed::Waited, &|| drop(queue.record().unwrap())),
            (Closed::Next, &|| touch(&queue, &y)),
            (Closed::OtherQueue, &|| touch(&other, &x)),
        ];
        for (why, tell) in tells {
            let gate = close_gate(&queue);
            let explanation = Explanation::begin();
            for line in ["model.py:1", "model.py:2", "model.py:2"] {
                set_origin(Some(line.into()));
                step(&queue, &x, 1, 1);
            }
            set_origin(None);
            tell();
            gate.open();
            let executions = explanation.finish().unwrap();
            let window = &executions[0];
            assert_eq!(window.closed, Some(why));
            assert_eq!(window.lines, ["model.py:1".into(), "model.py:2".into()]);
        }
        let explanation = Explanation::begin();
        step(&queue, &x, 1, 1);
        let executions = explanation.finish().unwrap();
        assert_eq!(executions[0].closed, Some(Closed::Ready));
        assert_eq!(values(&x), [11]);
    });
}
