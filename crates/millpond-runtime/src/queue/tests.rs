//! Windows under the order checker: it knows what was joined, says nothing of right programs, and
//! notices a rule that is broken.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::layers::{Layered, Order};
use millpond_hal::{
    Access, Address, Driver, Footprint, Growing, HostKernel, KernelError, QueueOptions,
};
use millpond_testkit::dice::Dice;
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use super::{Queue, Use};
use crate::memory::Allocation;
use crate::weaken::{Rule, while_broken};
use crate::{Device, Gate, Registry};

/// More than any queue runs inline.
const BIG: u32 = u32::MAX;

/// A kernel that says it updates its operands and touches nothing, and takes whatever is joined to
/// it until it begins.
struct Growth {
    operands: usize,
    closed: AtomicBool,
}

impl Growth {
    fn new(operands: usize) -> Self {
        Self {
            operands,
            closed: AtomicBool::new(false),
        }
    }
}

impl Growing for Growth {
    fn seal(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    fn forget(&self, _: &Range<usize>) {}
}

// SAFETY: touches nothing.
unsafe impl HostKernel for Growth {
    fn operands(&self) -> usize {
        self.operands
    }

    fn footprint(&self, operand: usize) -> Footprint {
        Footprint {
            bytes: 0..8,
            access: access(operand),
        }
    }

    fn begin(&self) {
        self.seal();
    }

    fn extent(&self) -> usize {
        1
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, _: &[Address], _: Range<usize>) -> Result<(), KernelError> {
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("growth")
    }
}

/// The first operand is updated, others are read.
const fn access(operand: usize) -> Access {
    if operand == 0 {
        Access::Update
    } else {
        Access::Read
    }
}

/// A device under the checker.
struct World {
    driver: Arc<Layered<Order>>,
    device: Device,
}

impl World {
    fn new() -> Self {
        let cpu = CpuDriver::new(CpuConfig {
            threads: Some(2),
            ..CpuConfig::default()
        });
        let driver = Arc::new(Layered::new(Arc::new(cpu), Order::default()));
        let registry = Registry::new(&[Arc::clone(&driver) as Arc<dyn Driver>]);
        let device = registry.default_device().unwrap();
        Self { driver, device }
    }

    fn queue(&self) -> Queue {
        self.device.create_queue(&QueueOptions::default()).unwrap()
    }

    fn races(&self) -> Vec<String> {
        let races = self.driver.layer().take_races();
        races.iter().map(ToString::to_string).collect()
    }
}

fn memory(queue: &Queue) -> Allocation {
    queue.allocate(MemoryKind::Device, 8).unwrap()
}

/// Joins work to the queue's window, or opens one; whether it was joined.
fn grow(queue: &Queue, operands: &[&Allocation]) -> bool {
    let use_ = |(operand, &allocation)| Use {
        allocation,
        access: access(operand),
    };
    let uses: Vec<Use<'_>> = operands.iter().enumerate().map(use_).collect();
    let mut joined = true;
    let is_open = |growth: &Growth| !growth.closed.load(Ordering::SeqCst);
    let make = || {
        joined = false;
        Some(Growth::new(operands.len()))
    };
    queue.launch_growing(&uses, is_open, make).unwrap();
    joined
}

/// Launches a command that nothing joins.
fn launch(queue: &Queue, operands: &[&Allocation]) {
    queue
        .launch(Growth::new(operands.len()), operands, BIG)
        .unwrap();
}

fn hold(queue: &Queue) -> Gate {
    let gate = Gate::new();
    queue.gate(&gate, &[]).unwrap();
    gate
}

/// A random program over two queues; how much was joined.
fn run(world: &World, dice: &mut Dice, steps: usize) -> usize {
    let queues = [world.queue(), world.queue()];
    let mut memories: Vec<Allocation> = (0..6).map(|at| memory(&queues[at % 2])).collect();
    let mut gates: [Option<Gate>; 2] = [None, None];
    let mut joined = 0;
    for _ in 0..steps {
        let at = dice.roll(2);
        let queue = &queues[at];
        let pick = |dice: &mut Dice| dice.roll(6);
        let (one, two) = (pick(dice), pick(dice));
        match dice.roll(12) {
            0 => launch(queue, &[&memories[one]]),
            1 if one != two => launch(queue, &[&memories[one], &memories[two]]),
            2 => {
                // Freed while it is used; whoever is next may have the bytes.
                let home = &queues[one % 2];
                drop(std::mem::replace(&mut memories[one], memory(home)));
            }
            3 => queue.wait_for(&queues[1 - at].record().unwrap()).unwrap(),
            4 => drop(queue.record().unwrap()),
            5 => match gates[at].take() {
                Some(gate) => drop(gate.open(Ok(()))),
                None => gates[at] = Some(hold(queue)),
            },
            _ => {
                let own = |number: usize| &memories[number / 2 * 2 + at];
                let others: &[&Allocation] = if own(one).address() == own(two).address() {
                    &[own(one)]
                } else {
                    &[own(one), own(two)]
                };
                joined += usize::from(grow(queue, others));
            }
        }
    }
    for gate in gates.into_iter().flatten() {
        gate.open(Ok(()));
    }
    world.device.wait().unwrap();
    joined
}

#[test]
fn right_programs_are_silent_whatever_is_joined() {
    watched(|| {
        let world = World::new();
        let mut joined = 0;
        for seed in 0..40 {
            joined += run(&world, &mut Dice::numbered(seed), 200);
            assert_eq!(world.races(), [""; 0], "seed {seed}");
        }
        assert!(joined > 400, "only {joined} were joined");
    });
}

#[test]
fn a_window_stays_open_while_the_checker_is_told_of_allocations() {
    watched(|| {
        let world = World::new();
        let queue = world.queue();
        let x = memory(&queue);
        let here = hold(&queue);
        assert!(!grow(&queue, &[&x]), "nothing to join");
        let y = memory(&queue);
        assert!(grow(&queue, &[&y, &x]));
        drop(y);
        let z = memory(&queue);
        assert!(grow(&queue, &[&z, &x]), "in the bytes that were freed");
        here.open(Ok(()));
        queue.wait().unwrap();
        assert_eq!(world.races(), [""; 0]);
    });
}

#[test]
fn work_that_follows_more_than_the_window_is_noticed_if_it_is_joined() {
    watched(|| {
        let world = World::new();
        let (queue, other) = (world.queue(), world.queue());
        let (x, y) = (memory(&queue), memory(&queue));
        for is_broken in [false, true] {
            let (here, there) = (hold(&queue), hold(&other));
            launch(&other, &[&y]);
            grow(&queue, &[&x]);
            let join = || grow(&queue, &[&y]);
            let joined = if is_broken {
                while_broken(Rule::JoinWhatFits, join)
            } else {
                join()
            };
            assert_eq!(joined, is_broken);
            assert_eq!(world.races().len(), usize::from(is_broken));
            there.open(Ok(()));
            here.open(Ok(()));
            world.device.wait().unwrap();
        }
    });
}

#[test]
fn what_is_joined_without_a_place_in_the_order_of_its_operands_is_noticed() {
    watched(|| {
        let world = World::new();
        let (queue, other) = (world.queue(), world.queue());
        let (x, y) = (memory(&queue), memory(&queue));
        for is_broken in [false, true] {
            let here = hold(&queue);
            grow(&queue, &[&x]);
            let join = || assert!(grow(&queue, &[&y]));
            if is_broken {
                while_broken(Rule::RecordJoined, join);
            } else {
                join();
            }
            launch(&other, &[&y]);
            let races = world.races();
            assert_eq!(races.len(), usize::from(is_broken), "{races:?}");
            here.open(Ok(()));
            world.device.wait().unwrap();
        }
    });
}
