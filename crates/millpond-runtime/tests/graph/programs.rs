//! Random programs leave the same bytes by a graph as line by line, whatever queues run them.

use millpond_runtime::{
    Allocation, Device, GraphBuilder, GraphMemory, GraphOperand, MemoryKind, Queue,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use crate::support::{Affine, BIG, Sum, numbers, values};
use crate::{auto_free, byte, on_cpu, pool, three_queues};

/// Arrays from outside; the places after them are for arrays that the program allocates.
const OUTSIDE: usize = 2;
const PLACES: usize = 6;
const COUNT: usize = 40;
const BYTES: usize = COUNT * 8;

/// One line of a program; arrays go by their place. Lines on places without one do nothing.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// A new array with all bytes the same, in the place of the old one.
    Allocate(usize, u8),
    Free(usize),
    /// `x = x * factor + term`.
    Update(usize, u64, u64),
    /// `z = x + y`, of which `z` is neither.
    Sum([usize; 3]),
    /// A part of `x` to another of `y`.
    Copy([usize; 2], usize, usize, usize),
    Fill(usize, usize, usize, u8),
}

fn line() -> impl Strategy<Value = Line> {
    let (place, inner) = (0..PLACES, OUTSIDE..PLACES);
    let part = (0..COUNT, 0..COUNT, 0..COUNT);
    prop_oneof![
        4 => (inner.clone(), any::<u8>()).prop_map(|(x, value)| Line::Allocate(x, value)),
        2 => inner.prop_map(Line::Free),
        3 => (place.clone(), 0_u64..4, 0_u64..9).prop_map(|(x, factor, term)| Line::Update(x, factor, term)),
        4 => [place.clone(), place.clone(), place.clone()].prop_map(Line::Sum),
        3 => ([place.clone(), place.clone()], part).prop_map(|(xy, (from, to, len))| {
            Line::Copy(xy, 8 * from, 8 * to, 8 * len.min(COUNT - from).min(COUNT - to))
        }),
        2 => (place, 0..BYTES, 0..BYTES, any::<u8>()).prop_map(|(x, begin, len, value)| {
            Line::Fill(x, begin, (begin + len).min(BYTES), value)
        }),
    ]
}

/// Who carries lines out.
trait Machine {
    type Memory: Clone;

    fn allocate(&mut self) -> Self::Memory;
    fn free(&mut self, memory: Self::Memory);
    fn fill(&mut self, memory: &Self::Memory, begin: usize, end: usize, value: u8);
    fn copy(&mut self, from: (&Self::Memory, usize), to: (&Self::Memory, usize), bytes: usize);
    fn update(&mut self, kernel: Affine, memory: &Self::Memory);
    fn sum(&mut self, memory: [&Self::Memory; 3]);
}

/// Runs a program; what is in its places at the end.
fn run<M: Machine>(
    machine: &mut M,
    program: &[Line],
    mut places: [Option<M::Memory>; PLACES],
) -> [Option<M::Memory>; PLACES] {
    for line in program {
        match *line {
            Line::Allocate(x, value) => {
                let new = machine.allocate();
                machine.fill(&new, 0, BYTES, value);
                if let Some(old) = places[x].replace(new) {
                    machine.free(old);
                }
            }
            Line::Free(x) => {
                if let Some(old) = places[x].take() {
                    machine.free(old);
                }
            }
            Line::Update(x, factor, term) => {
                let count = COUNT;
                if let Some(x) = &places[x] {
                    machine.update(
                        Affine {
                            count,
                            factor,
                            term,
                        },
                        x,
                    );
                }
            }
            Line::Sum([x, y, z]) if x != z && y != z => {
                if let [Some(x), Some(y), Some(z)] = [x, y, z].map(|place| &places[place]) {
                    machine.sum([x, y, z]);
                }
            }
            Line::Copy([x, y], from, to, bytes) if x != y => {
                if let [Some(x), Some(y)] = [x, y].map(|place| &places[place]) {
                    machine.copy((x, from), (y, to), bytes);
                }
            }
            Line::Fill(x, begin, end, value) => {
                if let Some(x) = &places[x] {
                    machine.fill(x, begin, end, value);
                }
            }
            Line::Sum(_) | Line::Copy(..) => {}
        }
    }
    places
}

/// Line by line.
struct Eager<'a>(&'a Queue);

impl Machine for Eager<'_> {
    type Memory = Allocation;

    fn allocate(&mut self) -> Allocation {
        self.0.allocate(MemoryKind::Device, BYTES).unwrap()
    }

    fn free(&mut self, memory: Allocation) {
        drop(memory);
    }

    fn fill(&mut self, memory: &Allocation, begin: usize, end: usize, value: u8) {
        self.0.fill(memory, begin..end, byte(value)).unwrap();
    }

    fn copy(&mut self, from: (&Allocation, usize), to: (&Allocation, usize), bytes: usize) {
        self.0.copy(from.0, from.1, to.0, to.1, bytes).unwrap();
    }

    fn update(&mut self, kernel: Affine, memory: &Allocation) {
        self.0.launch(kernel, &[memory], BIG).unwrap();
    }

    fn sum(&mut self, memory: [&Allocation; 3]) {
        self.0.launch(Sum(COUNT), &memory, BIG).unwrap();
    }
}

/// Memory of the graph or from outside.
#[derive(Clone)]
enum Recorded {
    Inner(GraphMemory),
    Outside(Allocation),
}

impl Recorded {
    fn operand(&self) -> GraphOperand<'_> {
        match self {
            Self::Inner(memory) => (*memory).into(),
            Self::Outside(memory) => memory.into(),
        }
    }
}

impl Machine for GraphBuilder {
    type Memory = Recorded;

    fn allocate(&mut self) -> Recorded {
        Recorded::Inner(GraphBuilder::allocate(self, BYTES).unwrap())
    }

    fn free(&mut self, memory: Recorded) {
        if let Recorded::Inner(memory) = memory {
            GraphBuilder::free(self, memory).unwrap();
        }
    }

    fn fill(&mut self, memory: &Recorded, begin: usize, end: usize, value: u8) {
        GraphBuilder::fill(self, memory.operand(), begin..end, byte(value)).unwrap();
    }

    fn copy(&mut self, from: (&Recorded, usize), to: (&Recorded, usize), bytes: usize) {
        let [src, dst] = [from.0, to.0].map(Recorded::operand);
        GraphBuilder::copy(self, src, from.1, dst, to.1, bytes).unwrap();
    }

    fn update(&mut self, kernel: Affine, memory: &Recorded) {
        self.launch(kernel, &[memory.operand()]).unwrap();
    }

    fn sum(&mut self, memory: [&Recorded; 3]) {
        self.launch(Sum(COUNT), &memory.map(Recorded::operand))
            .unwrap();
    }
}

type Contents = Vec<Option<Vec<u64>>>;

fn outside(queue: &Queue) -> [Allocation; OUTSIDE] {
    std::array::from_fn(|index| numbers(queue, &[index as u64 + 1; COUNT]))
}

fn line_by_line(device: &Device, program: &[Line], launches: usize) -> Contents {
    let queue = &three_queues(device)[0];
    let outside = outside(queue);
    let mut left = Vec::new();
    for _ in 0..launches {
        let places = std::array::from_fn(|place| outside.get(place).cloned());
        left = run(&mut Eager(queue), program, places).to_vec();
    }
    left.iter()
        .map(|memory| memory.as_ref().map(values))
        .collect()
}

fn by_graph(device: &Device, program: &[Line], launches: &[usize]) -> Contents {
    let queues = three_queues(device);
    let outside = outside(&queues[2]);
    let mut recording = auto_free(device);
    let places = std::array::from_fn(|place| outside.get(place).cloned().map(Recorded::Outside));
    let left = run(&mut recording, program, places);
    let mut graph = recording.instantiate(&queues[1], &pool(device)).unwrap();
    let mut held = Vec::new();
    for &queue in launches {
        graph.launch(&queues[queue]).unwrap();
        let memory = |left: &Recorded| match left {
            Recorded::Inner(memory) => graph.output(*memory).unwrap(),
            Recorded::Outside(memory) => memory.clone(),
        };
        held = left.iter().map(|left| left.as_ref().map(memory)).collect();
    }
    held.iter()
        .map(|memory| memory.as_ref().map(values))
        .collect()
}

proptest! {
    #![proptest_config(Config {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..Config::with_cases(60)
    })]

    #[test]
    fn a_graph_leaves_what_the_same_lines_leave(
        program in prop::collection::vec(line(), 1..60),
        launches in prop::collection::vec(0_usize..3, 1..5),
    ) {
        on_cpu(move |device| {
            let expected = line_by_line(device, &program, launches.len());
            assert_eq!(by_graph(device, &program, &launches), expected);
        });
    }
}
