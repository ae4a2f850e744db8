//! A queue whose line is held: the same answers as without, and nothing that ever hangs.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;

use millpond_hal::Driver;
use millpond_hal::layers::{Layered, Order};
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{
    Allocation, Device, Error, Hold, MemoryKind, PoolOptions, Registry, Release, Statistics, Tag,
};
use millpond_testkit::watchdog::watched;

use crate::support::{driver, in_order, out_of_order};
use crate::{Dice, GIB, KIB, MIB, at_most, at_once, check, close_gate, each, null, pool, use_on};

/// What is done on a queue while it is held, with the same answers as elsewhere.
#[test]
fn a_held_queue_allocates_and_frees_as_any_other() {
    each(|device| {
        let pool = pool(device, PoolOptions::default());
        let queue = in_order(device);
        let first = queue.allocate_from(&pool, 1000).unwrap();
        let address = first.address();
        queue.hold(|held| {
            held.free(first);
            let again = held.allocate_from(&pool, 900).unwrap();
            assert_eq!((again.address(), again.bytes()), (address, 900));
            assert!(again.is_on(&queue) && again.is_from(&pool));
            for bytes in [0, 1, 5 * MIB, 70 * MIB] {
                held.free(held.allocate_from(&pool, bytes).unwrap());
                let now = pool.statistics();
                assert_eq!((now.live, now.used, now.requested), (1, 1024, 900));
            }
            let default = held.allocate(MemoryKind::Device, KIB).unwrap();
            assert!(!default.is_from(&pool));
            let _scope = pool.scope();
            let scoped = held.allocate(MemoryKind::Device, KIB).unwrap();
            assert!(scoped.is_from(&pool));
            assert_eq!(held.queue(), &queue);
        });
        check(&pool);
        assert_eq!(pool.statistics().live, 0);
    });
}

/// Frees that are more than putting a block into the queue's own cache.
#[test]
fn a_held_queue_frees_whatever_it_is_given() {
    each(|device| {
        let pool = pool(device, PoolOptions::default());
        let (queue, other) = (in_order(device), in_order(device));
        let (told, tells) = channel();
        queue.hold(|held| {
            let shared = held.allocate_from(&pool, KIB).unwrap();
            held.free(shared.clone());
            assert_eq!(pool.statistics().live, 1);
            held.free(shared);
            held.free(other.allocate_from(&pool, KIB).unwrap());
            assert_eq!(pool.statistics().live, 0);
            // More than a cache keeps.
            let many: Vec<_> = (0..12)
                .map(|_| held.allocate_from(&pool, 40 * MIB).unwrap())
                .collect();
            for memory in many {
                held.free(memory);
            }
            let mut bytes = vec![0_u8; 4096];
            let base = millpond_runtime::Address::new(bytes.as_mut_ptr().addr());
            let release = Release::anywhere(move || told.send(()).unwrap());
            // SAFETY: nobody uses the bytes, which live until the release was called.
            #[allow(unsafe_code, reason = "foreign memory")]
            let foreign = unsafe { queue.import(MemoryKind::Host, base, 4096, release) };
            held.free(foreign.unwrap());
            tells.recv().unwrap();
        });
        check(&pool);
        assert_eq!(pool.statistics().live, 0);
    });
}

/// The line is let go of by whatever needs it or has to wait, on the same thread.
#[test]
fn whatever_is_done_while_a_queue_is_held_finds_it_free() {
    each(|device| {
        let pool = pool(device, PoolOptions::default());
        let (queue, other) = (in_order(device), in_order(device));
        let unordered = out_of_order(device);
        let begin = |held: &Hold<'_>| held.allocate_from(&pool, KIB).unwrap();
        queue.hold(|held| {
            drop(begin(held));
            let memory = begin(held);
            let event = use_on(&queue, &memory);
            event.wait().unwrap();
            held.free(begin(held));
            use_on(&other, &memory);
            held.free(begin(held));
            queue.wait().unwrap();
            held.free(begin(held));
            device.wait().unwrap();
            held.free(begin(held));
            queue.record().unwrap();
            other.wait_for(&queue.record().unwrap()).unwrap();
            held.free(begin(held));
            pool.trim(0).unwrap();
            held.free(begin(held));
            drop(queue.allocate_with(&pool, KIB, &at_once()).unwrap());
            drop(unordered.allocate_from(&pool, KIB).unwrap());
            held.free(begin(held));
            drop(in_order(device));
            held.free(begin(held));
            queue.hold(|inner| inner.free(begin(held)));
            other.hold(|inner| {
                held.free(begin(held));
                inner.free(begin(inner));
                held.free(begin(inner));
                inner.free(begin(held));
            });
            held.free(begin(held));
            held.free(memory);
        });
        check(&pool);
        assert_eq!(pool.statistics().live, 0);
    });
}

/// A task needs the line that is held by the thread which waits for the task.
#[test]
fn a_thread_that_waits_holds_no_line() {
    each(|device| {
        let pool = pool(device, PoolOptions::default());
        let (queue, other) = (in_order(device), in_order(device));
        queue.hold(|held| {
            let memory = held.allocate_from(&pool, KIB).unwrap();
            let same = queue.clone();
            let gate = close_gate(&other);
            let from = pool.clone();
            let event = other.task("free", &[], move || {
                drop(memory);
                drop(same.allocate_from(&from, KIB).unwrap());
                Ok(())
            });
            held.free(held.allocate_from(&pool, 2 * KIB).unwrap());
            gate.open();
            event.unwrap().wait().unwrap();
            held.free(held.allocate_from(&pool, 2 * KIB).unwrap());
        });
        assert_eq!(pool.statistics().live, 0);
    });
}

/// Threads that hold two queues in opposite orders take turns.
#[test]
fn queues_may_be_held_in_any_order() {
    each(|device| {
        let pool = pool(device, PoolOptions::default());
        let queues = [in_order(device), in_order(device)];
        std::thread::scope(|scope| {
            for turned in [false, true] {
                let (pool, queues) = (&pool, &queues);
                scope.spawn(move || {
                    let [first, second] =
                        [&queues[usize::from(turned)], &queues[usize::from(!turned)]];
                    for _ in 0..2000 {
                        first.hold(|first| {
                            let one = first.allocate_from(pool, KIB).unwrap();
                            second.hold(|second| {
                                let two = second.allocate_from(pool, KIB).unwrap();
                                first.free(two);
                                second.free(one);
                            });
                        });
                    }
                });
            }
        });
        check(&pool);
        assert_eq!(pool.statistics().live, 0);
    });
}

#[test]
fn a_body_that_panics_lets_go_of_the_line() {
    each(|device| {
        let queue = in_order(device);
        let end = catch_unwind(AssertUnwindSafe(|| {
            queue.hold(|held| {
                held.free(held.allocate(MemoryKind::Device, KIB).unwrap());
                panic!("on purpose")
            })
        }));
        end.unwrap_err();
        let other = queue.clone();
        std::thread::spawn(move || drop(other.allocate(MemoryKind::Device, KIB).unwrap()))
            .join()
            .unwrap();
        queue.hold(|held| held.free(held.allocate(MemoryKind::Device, KIB).unwrap()));
    });
}

#[test]
fn errors_of_a_held_queue_are_those_of_the_queue() {
    let (_driver, device) = null(GIB);
    let small = pool(&device, at_most(MIB));
    let queue = in_order(&device);
    queue.hold(|held| {
        let all = held.allocate_from(&small, MIB).unwrap();
        let refused = held.allocate_from(&small, KIB).unwrap_err();
        assert!(matches!(refused, Error::OutOfMemory(_)), "{refused}");
        held.free(all);
        held.free(held.allocate_from(&small, KIB).unwrap());
        let (_driver, other) = null(GIB);
        let elsewhere = pool(&other, at_most(MIB));
        let refused = held.allocate_from(&elsewhere, KIB).unwrap_err();
        assert!(matches!(refused, Error::DeviceMismatch { .. }), "{refused}");
        small.close().unwrap();
        let refused = held.allocate_from(&small, KIB).unwrap_err();
        assert!(matches!(refused, Error::PoolClosed { .. }), "{refused}");
        held.free(held.allocate(MemoryKind::Device, KIB).unwrap());
        queue.close();
        let refused = held.allocate(MemoryKind::Device, KIB).unwrap_err();
        assert!(matches!(refused, Error::Closed { .. }), "{refused}");
    });
}

/// What a random program has found: for each request which block it got of those seen before, or what
/// the refusal says, and the pool's statistics behind each step.
#[derive(Debug, Default, PartialEq)]
struct Found {
    blocks: Vec<Result<usize, String>>,
    statistics: Vec<Statistics>,
    counted: Vec<usize>,
}

/// Asks one of two queues for bytes.
type Allocate<'a> = dyn Fn(usize, usize) -> Result<Allocation, Error> + 'a;

/// Runs such a program, the same for each seed, on two queues that are held for all of it, or as others
/// would.
fn run_program(
    device: &Device,
    most: usize,
    run_all: impl Fn(),
    seed: u64,
    is_held: bool,
) -> Found {
    let pool = pool(device, at_most(most));
    let queues = [in_order(device), in_order(device)];
    let mut found = Found::default();
    let mut body = |allocate: &Allocate<'_>, free: &dyn Fn(usize, Allocation)| {
        let mut dice = Dice::new(seed);
        let tag = Tag::new("program");
        let mut seen = HashMap::new();
        let mut live: Vec<Allocation> = Vec::new();
        let sizes = [0, 700, KIB, 3 * KIB, 100 * KIB, MIB, 2 * MIB, 5 * MIB];
        for _ in 0..600 {
            let at = dice.roll(2);
            match dice.roll(16) {
                0..7 => {
                    let bytes = sizes[dice.roll(sizes.len())];
                    let _scope = (dice.roll(8) == 0).then(|| tag.scope());
                    found.blocks.push(match allocate(at, bytes) {
                        Ok(memory) => {
                            assert_eq!(memory.bytes(), bytes);
                            assert!(memory.is_on(&queues[at]) && memory.is_from(&pool));
                            let number = seen.len();
                            let number = *seen.entry(memory.address().get()).or_insert(number);
                            live.push(memory);
                            Ok(number)
                        }
                        Err(Error::OutOfMemory(report)) => Err(format!(
                            "{} of {}: {} in use by {}, {} free",
                            report.requested,
                            report.granted,
                            report.used,
                            report.live,
                            report.cached
                        )),
                        Err(other) => panic!("{other}"),
                    });
                }
                7..13 if !live.is_empty() => {
                    let memory = live.swap_remove(dice.roll(live.len()));
                    let other = (dice.roll(6) == 0).then(|| memory.clone());
                    free(at, memory);
                    live.extend(other);
                }
                13 if !live.is_empty() => {
                    drop(use_on(&queues[at], &live[dice.roll(live.len())]));
                }
                14 => {
                    let event = queues[dice.roll(2)].record().unwrap();
                    queues[at].wait_for(&event).unwrap();
                }
                _ => run_all(),
            }
            found.counted.push(tag.used());
            // Looking interrupts a hold: mostly there are several steps between two looks.
            if dice.roll(4) == 0 {
                check(&pool);
                found.statistics.push(pool.statistics());
            }
        }
    };
    if is_held {
        queues[0].hold(|first| {
            queues[1].hold(|second| {
                let allocate = |at, bytes| match at {
                    0 => first.allocate_from(&pool, bytes),
                    _ => second.allocate_from(&pool, bytes),
                };
                let free = |at, memory| match at {
                    0 => first.free(memory),
                    _ => second.free(memory),
                };
                body(&allocate, &free);
            });
        });
    } else {
        let allocate = |at: usize, bytes| queues[at].allocate_from(&pool, bytes);
        body(&allocate, &|_, memory| drop(memory));
    }
    run_all();
    check(&pool);
    found.statistics.push(pool.statistics());
    found
}

/// Blocks, refusals, statistics and tags are those of a queue that isn't held.
#[test]
fn random_programs_find_the_same_on_held_queues() {
    watched(|| {
        let mut refused = 0;
        for seed in 1..60 {
            // What is pending is waited for at the maximum, and nobody would run it meanwhile.
            let (manual, most) = [(true, GIB), (false, 16 * MIB)][seed as usize % 2];
            let found = |is_held| {
                let driver = NullDriver::with(NullOptions {
                    manual,
                    memory: 64 * GIB,
                    ..NullOptions::default()
                });
                let devices = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]);
                let device = devices.default_device().unwrap();
                let run_all = || {
                    if manual {
                        driver.run_all();
                    } else {
                        device.wait().unwrap();
                    }
                };
                run_program(&device, most, run_all, seed, is_held)
            };
            let held = found(true);
            assert_eq!(held, found(false), "seed {seed}");
            refused += held.blocks.iter().filter(|block| block.is_err()).count();
            let end = held.statistics.last().unwrap();
            assert_eq!((end.used, end.live), (0, 0), "seed {seed}");
        }
        assert!(refused > 100, "{refused} requests met the maximum");
    });
}

/// The checker of order knows what a queue has, held or not, and finds nothing amiss.
#[test]
fn random_programs_on_held_queues_are_in_order() {
    watched(|| {
        let checked = Arc::new(Layered::new(driver(), Order::default()));
        let devices = Registry::new(&[Arc::clone(&checked) as Arc<dyn Driver>]);
        let device = devices.default_device().unwrap();
        for seed in 1..10 {
            run_program(&device, 16 * MIB, || device.wait().unwrap(), seed, true);
        }
        let races = checked.layer().take_races();
        assert!(races.is_empty(), "{}", races[0]);
    });
}
