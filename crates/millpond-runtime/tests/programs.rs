//! Random programs over several queues give what they give line by line (rules O2, O3, M2).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use millpond_hal::Access;
use millpond_runtime::{Allocation, Gate, MemoryKind, Queue, Use};
use millpond_testkit::watchdog::watched;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use support::{Affine, BIG, SMALL, Sum, device, in_order, numbers, out_of_order, values};

const ARRAYS: usize = 4;
const COUNT: usize = 40;
const QUEUES: usize = 3;

/// One line of a program; arrays and queues go by number.
#[derive(Clone, Debug)]
enum Line {
    /// `x = x * factor + term`.
    Update(usize, u64, u64),
    /// `z = x + y` in the memory of `z`, or in new memory that takes its place.
    Sum {
        x: usize,
        y: usize,
        z: usize,
        anew: bool,
    },
    /// Commands on `x` wait until somebody looks at an array.
    Hold(usize),
    /// Looks at `x`.
    Look(usize),
}

fn line() -> impl Strategy<Value = Line> {
    let array = 0..ARRAYS;
    let sum = (array.clone(), array.clone(), array.clone(), any::<bool>());
    prop_oneof![
        4 => (array.clone(), 0_u64..4, 0_u64..9).prop_map(|(x, factor, term)| Line::Update(x, factor, term)),
        4 => sum.prop_map(|(x, y, z, anew)| Line::Sum { x, y, z, anew }),
        1 => array.clone().prop_map(Line::Hold),
        1 => array.prop_map(Line::Look),
    ]
}

/// A program: for each line the queue it goes to, and whether it is too much to be run at once.
fn program() -> impl Strategy<Value = Vec<(Line, usize, bool)>> {
    prop::collection::vec((line(), 0..QUEUES, any::<bool>()), 1..60)
}

/// The arrays, the numbers that they should hold, and the gates that are closed.
struct Run {
    queues: [Queue; QUEUES],
    arrays: Vec<Allocation>,
    expected: [u64; ARRAYS],
    gates: Vec<Gate>,
}

impl Run {
    fn new() -> Self {
        let device = device();
        let queues = [in_order(&device), in_order(&device), out_of_order(&device)];
        let array = |index: usize| numbers(&queues[index % QUEUES], &[index as u64; COUNT]);
        Self {
            arrays: (0..ARRAYS).map(array).collect(),
            queues,
            expected: std::array::from_fn(|index| index as u64),
            gates: Vec::new(),
        }
    }

    fn do_line(&mut self, line: &Line, queue: usize, big: bool) {
        let cost = if big { BIG } else { SMALL };
        let queue = &self.queues[queue];
        match *line {
            Line::Update(x, factor, term) => {
                let kernel = Affine {
                    count: COUNT,
                    factor,
                    term,
                };
                queue.launch(kernel, &[&self.arrays[x]], cost).unwrap();
                self.expected[x] = self.expected[x].wrapping_mul(factor).wrapping_add(term);
            }
            // The kernel's result may not lie on what it reads.
            Line::Sum { x, y, z, anew } if anew || (x != z && y != z) => {
                let fresh = anew.then(|| queue.allocate(MemoryKind::Device, COUNT * 8).unwrap());
                let result = fresh.as_ref().unwrap_or(&self.arrays[z]);
                let operands = [&self.arrays[x], &self.arrays[y], result];
                queue.launch(Sum(COUNT), &operands, cost).unwrap();
                self.expected[z] = self.expected[x].wrapping_add(self.expected[y]);
                if let Some(fresh) = fresh {
                    self.arrays[z] = fresh;
                }
            }
            Line::Sum { .. } => {}
            Line::Hold(x) => {
                let gate = Gate::new();
                let held = Use {
                    allocation: &self.arrays[x],
                    access: Access::Update,
                };
                queue.gate(&gate, &[held]).unwrap();
                self.gates.push(gate);
            }
            Line::Look(x) => self.look(x),
        }
    }

    /// The gates are opened from the last to the first, so that as much as may be is out of line.
    fn look(&mut self, x: usize) {
        while let Some(gate) = self.gates.pop() {
            gate.open(Ok(()));
        }
        assert_eq!(values(&self.arrays[x]), [self.expected[x]; COUNT]);
    }
}

proptest! {
    #![proptest_config(Config {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..Config::with_cases(60)
    })]

    #[test]
    fn programs_over_several_queues_give_what_they_give_line_by_line(program in program()) {
        watched(move || {
            let mut run = Run::new();
            for (line, queue, big) in &program {
                run.do_line(line, *queue, *big);
            }
            (0..ARRAYS).for_each(|x| run.look(x));
        });
    }
}
