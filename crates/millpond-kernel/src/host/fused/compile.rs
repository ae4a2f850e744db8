//! From a chain to its program: what is made of it, in which order and where.
//!
//! What nobody needs is not made at all. What is the same is made once: a source is gathered once, a
//! node is converted to a dtype once. Elements are made where they belong, if they can be; all else
//! gets a register, which is handed on after a node's last use.

use millpond_hal::Traffic;
use millpond_types::{DType, Scalar, Shape};
use smallvec::SmallVec;

use crate::host::body::{Body, MAX_INPUTS};
use crate::host::contiguous::is_aligned;
use crate::host::fused::chain::{Array, Chain, Fold, Joined, Link, Part};
use crate::host::fused::pair::{self, At};
use crate::host::fused::program::{
    Constant, Instruction, Known, Node, Place, Program, REGISTER_BYTES, Scattered,
};
use crate::host::stream::PAST_CACHES;
use crate::template::space::Space;

/// The most bytes of one register.
const TILE_BYTES: usize = 4096;

/// Elements of a tile are a multiple of this, so that registers are aligned for all vectors.
const UNIT: usize = 64;

/// Elements worth a thread of their own, for a step with a light body.
const GRAIN: usize = 16384;

/// What a heavy body costs, in light ones.
const HEAVY: usize = 4;

impl Program {
    /// The program of a chain.
    pub(super) fn new(chain: Chain) -> Self {
        let mut builder = Builder {
            chain: &chain,
            needed: needed(&chain),
            nodes: Vec::new(),
            constants: Vec::new(),
            instructions: Vec::new(),
            sources: vec![None; chain.sources.len()],
            values: vec![None; chain.steps.len()],
            converted: Vec::new(),
            elements: chain.shape().iter().product(),
        };
        let mut work = 0;
        for part in chain.parts() {
            work += match part {
                Part::Fold(number, fold) => {
                    builder.fold(number, fold);
                    1
                }
                Part::Step(number, _) if !builder.needed[number] => 0,
                Part::Step(number, step) => {
                    builder.step(number, step);
                    let is_heavy = step.body.is_some_and(Body::is_heavy);
                    if is_heavy { HEAVY } else { 1 }
                }
            };
        }
        builder.pair_up();
        let (registers, item) = builder.assign_registers();
        let most = REGISTER_BYTES / (registers * item).max(1);
        let tile = (most.min(TILE_BYTES / item) / UNIT * UNIT).max(UNIT);
        // Reductions fold whole tiles of their own.
        let tile = chain
            .folds
            .iter()
            .map(|fold| fold.kernel.tile())
            .max()
            .unwrap_or(tile);
        let grain = (GRAIN / work.max(1)).max(tile);
        let grain = chain
            .pieces
            .map_or(grain, |pieces| (grain / pieces.longest().max(1)).max(1));
        let shape: Shape = chain.shape().into();
        let names = chain.names();
        let traffic = builder.traffic();
        let past = |instruction: &Instruction| {
            matches!(instruction, Instruction::Store { past: true, .. })
        };
        Self {
            shape,
            names,
            past: builder.instructions.iter().any(past),
            nodes: builder.nodes,
            constants: builder.constants,
            instructions: builder.instructions,
            tile,
            registers,
            register: tile * item,
            traffic,
            pieces: chain.pieces,
            folds: chain.folds,
            grain,
        }
    }
}

/// Which steps write something that is wanted, or make what such a step reads.
fn needed(chain: &Chain) -> Vec<bool> {
    let mut needed: Vec<_> = chain.steps.iter().map(|step| step.is_wanted).collect();
    for fold in &chain.folds {
        if let Link::Value(value) = fold.input {
            needed[value] = true;
        }
    }
    for number in (0..needed.len()).rev() {
        if needed[number] {
            for input in &chain.steps[number].inputs {
                if let Link::Value(value) = *input {
                    needed[value] = true;
                }
            }
        }
    }
    needed
}

/// A program in the making.
struct Builder<'a> {
    chain: &'a Chain,
    needed: Vec<bool>,
    nodes: Vec<Known>,
    constants: Vec<(Constant, Node)>,
    instructions: Vec<Instruction>,
    /// The node of each source that was loaded.
    sources: Vec<Option<Node>>,
    /// The node of what each step made.
    values: Vec<Option<Node>>,
    /// Conversions: from which node to which dtype gave which.
    converted: Vec<(Node, DType, Node)>,
    /// Elements of each array.
    elements: usize,
}

/// A register that wasn't chosen yet.
const SOME_REGISTER: Place = Place::Register(u16::MAX);

impl Builder<'_> {
    /// What the program moves, which is known once all its instructions are.
    fn traffic(&self) -> Traffic {
        let sources = self.chain.sources.iter().zip(&self.sources);
        let loaded = sources.filter(|(_, node)| node.is_some());
        let read = loaded.map(|(source, _)| source.bytes()).sum();
        let written = self.chain.bytes_written();
        Traffic {
            operations: self.chain.steps.len() + self.chain.folds.len(),
            read,
            written,
            spared: self.chain.bytes_apart().saturating_sub(read + written),
        }
    }

    fn node(&mut self, dtype: DType, place: Place) -> Node {
        self.nodes.push(Known { dtype, place });
        (self.nodes.len() - 1) as Node
    }

    fn dtype(&self, node: Node) -> DType {
        self.nodes[usize::from(node)].dtype
    }

    /// Appends what a step does.
    fn step(&mut self, number: usize, step: &Joined) {
        let dtype = step.output.dtype;
        let made = if let Some(body) = step.body {
            let mut inputs: SmallVec<[Node; MAX_INPUTS]> = SmallVec::new();
            for (index, &link) in step.inputs.iter().enumerate() {
                inputs.push(self.input(link, body.input(index)));
            }
            let direct = body.output() == dtype;
            let place = if direct {
                self.target(step, &inputs)
            } else {
                SOME_REGISTER
            };
            let to = self.node(body.output(), place);
            self.instructions
                .push(Instruction::Apply { body, inputs, to });
            if direct { to } else { self.convert(step, to) }
        } else {
            let from = self.input_as_it_is(step.inputs[0], dtype);
            self.convert(step, from)
        };
        self.values[number] = Some(made);
        if step.is_wanted && matches!(self.nodes[usize::from(made)].place, Place::Register(_)) {
            self.store(step, made);
        }
    }

    /// Appends what a reduction does with a tile.
    fn fold(&mut self, number: usize, fold: &Fold) {
        let from = self.input(fold.input, fold.kernel.fold().compute());
        self.instructions.push(Instruction::Fold { from, number });
    }

    /// The node of an input, converted to the dtype that is computed with.
    fn input(&mut self, link: Link, dtype: DType) -> Node {
        let from = self.input_as_it_is(link, dtype);
        if self.dtype(from) == dtype {
            return from;
        }
        let same = |&&(node, to, _): &&(Node, DType, Node)| node == from && to == dtype;
        if let Some(&(_, _, node)) = self.converted.iter().find(same) {
            return node;
        }
        let to = self.node(dtype, SOME_REGISTER);
        self.instructions.push(Instruction::Convert { from, to });
        self.converted.push((from, dtype, to));
        to
    }

    /// The node of an input, in whatever dtype it comes.
    fn input_as_it_is(&mut self, link: Link, dtype: DType) -> Node {
        match link {
            Link::Scalar(bytes) => self.scalar(bytes, dtype),
            Link::Value(number) => self.values[number].expect("steps are made in their order"),
            Link::Source(number) => {
                if let Some(node) = self.sources[number] {
                    return node;
                }
                let node = self.load(&self.chain.sources[number]);
                self.sources[number] = Some(node);
                node
            }
        }
    }

    fn scalar(&mut self, bytes: [u8; 16], dtype: DType) -> Node {
        let mut known = self.constants.iter();
        let same = known.find(|(constant, node)| {
            self.dtype(*node) == dtype
                && matches!(constant, Constant::Scalar(other) if *other == bytes)
        });
        if let Some(&(_, node)) = same {
            return node;
        }
        let node = self.node(dtype, SOME_REGISTER);
        self.constants.push((Constant::Scalar(bytes), node));
        node
    }

    fn load(&mut self, array: &Array) -> Node {
        let space = array.space();
        let address = address(array, &space);
        if space.is_constant(0) && space.size() > 1 {
            let node = self.node(array.dtype, SOME_REGISTER);
            self.constants.push((Constant::Element(address), node));
            return node;
        }
        if let Some(place) = in_memory(array, &space) {
            return self.node(array.dtype, place);
        }
        let to = self.node(array.dtype, SOME_REGISTER);
        let from = scattered(array, space);
        self.instructions.push(Instruction::Gather { from, to });
        to
    }

    /// Makes what a step writes of a node that may have another dtype, and is never the node itself:
    /// its memory may be overwritten by a later step.
    fn convert(&mut self, step: &Joined, from: Node) -> Node {
        let place = self.target(step, &[from]);
        let to = self.node(step.output.dtype, place);
        self.instructions.push(Instruction::Convert { from, to });
        to
    }

    /// Where a step's elements are made: in their memory, if they can be and it is none of these
    /// nodes'.
    fn target(&self, step: &Joined, inputs: &[Node]) -> Place {
        if !step.is_wanted || self.is_past(step) {
            return SOME_REGISTER;
        }
        let place = in_memory(&step.output, &step.output.space());
        let place = place.filter(|place| {
            let same = |node: &Node| match (self.nodes[usize::from(*node)].place, *place) {
                (Place::Memory(read, _), Place::Memory(written, _)) => read == written,
                _ => false,
            };
            !inputs.iter().any(same)
        });
        place.unwrap_or(SOME_REGISTER)
    }

    /// Whether what a step writes goes past the caches: it is large, and its lines weren't read.
    fn is_past(&self, step: &Joined) -> bool {
        let output = &step.output;
        self.elements * output.dtype.size() >= PAST_CACHES
            && !self
                .chain
                .sources
                .iter()
                .any(|source| source.shares_bytes(output))
    }

    fn store(&mut self, step: &Joined, from: Node) {
        let space = step.output.space();
        let is_linear = space.is_linear(0, step.output.dtype.size());
        self.instructions.push(Instruction::Store {
            from,
            is_linear,
            past: is_linear && self.is_past(step),
            to: scattered(&step.output, space),
        });
    }

    /// Has operations that come one after the other be one loop, where there is one.
    fn pair_up(&mut self) {
        let mut uses = vec![0; self.nodes.len()];
        for node in self.instructions.iter().flat_map(Instruction::reads) {
            uses[usize::from(node)] += 1;
        }
        let mut all: Vec<Instruction> = Vec::with_capacity(self.instructions.len());
        for second in std::mem::take(&mut self.instructions) {
            let pair = all
                .last()
                .and_then(|first| self.pair(first, &second, &uses));
            match (all.last_mut(), pair) {
                (Some(first), Some(pair)) => *first = pair,
                _ => all.push(second),
            }
        }
        self.instructions = all;
    }

    /// Both as one, if the second takes what the first makes and nobody else does.
    fn pair(
        &self,
        first: &Instruction,
        second: &Instruction,
        uses: &[usize],
    ) -> Option<Instruction> {
        let Instruction::Apply { body, inputs, to } = first else {
            return None;
        };
        let (first, between) = (*body, *to);
        let [a, b] = inputs[..] else {
            return None;
        };
        let Instruction::Apply { body, inputs, to } = second else {
            return None;
        };
        let (second, to) = (*body, *to);
        let (at, other) = match inputs[..] {
            [left, other] if left == between => (At::First, other),
            [other, right] if right == between => (At::Second, other),
            _ => return None,
        };
        let place = |node: Node| self.nodes[usize::from(node)].place;
        // A loop's output doesn't overlap its operands.
        let overwrites = place(to) != SOME_REGISTER && [a, b].map(place).contains(&place(to));
        if uses[usize::from(between)] != 1 || place(between) != SOME_REGISTER || overwrites {
            return None;
        }
        let body = pair::of(first, second, at, self.is_number(other))?;
        Some(Instruction::Pair {
            bodies: [first, second],
            body,
            at,
            inputs: [a, b, other],
            to,
        })
    }

    /// Whether a node is a scalar and no NaN.
    fn is_number(&self, node: Node) -> bool {
        let mut constants = self.constants.iter();
        let constant = constants.find(|(_, constant)| *constant == node);
        let Some((Constant::Scalar(bytes), _)) = constant else {
            return false;
        };
        Scalar::from_bytes(self.dtype(node), bytes)
            .is_some_and(|value| !matches!(value, Scalar::Float(value) if value.is_nan()))
    }

    /// Chooses the register of each node; how many there are, and the bytes of the largest item.
    fn assign_registers(&mut self) -> (usize, usize) {
        let mut last = vec![0; self.nodes.len()];
        for (number, instruction) in self.instructions.iter().enumerate() {
            for node in instruction.reads() {
                last[usize::from(node)] = number;
            }
        }
        let (mut free, mut count, mut item) = (Vec::new(), 0, 1);
        let mut take = |known: &mut Known, free: &mut Vec<u16>| {
            if known.place == SOME_REGISTER {
                item = item.max(known.dtype.size());
                known.place = Place::Register(free.pop().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                }));
            }
        };
        // Constants keep theirs.
        for (_, node) in &self.constants {
            take(&mut self.nodes[usize::from(*node)], &mut Vec::new());
        }
        let is_constant = |node: Node| self.constants.iter().any(|(_, constant)| *constant == node);
        for (number, instruction) in self.instructions.iter().enumerate() {
            // An output gets a register before its inputs give theirs back: a body's operands don't
            // overlap.
            if let Some(node) = instruction.makes() {
                take(&mut self.nodes[usize::from(node)], &mut free);
            }
            for node in instruction.reads() {
                let ends = last[usize::from(node)] == number && !is_constant(node);
                if let (true, Place::Register(register)) =
                    (ends, self.nodes[usize::from(node)].place)
                    && !free.contains(&register)
                {
                    free.push(register);
                }
            }
        }
        (usize::from(count), item)
    }
}

/// The address of an array's first element in the order of its space.
fn address(array: &Array, space: &Space) -> usize {
    array.base.get().wrapping_add_signed(space.begin()[0])
}

/// Where an array's elements lie, if they can be read or written there by a body.
fn in_memory(array: &Array, space: &Space) -> Option<Place> {
    let (item, address) = (array.dtype.size(), address(array, space));
    let pointer = std::ptr::without_provenance(address);
    (space.is_linear(0, item) && is_aligned(pointer, array.dtype))
        .then_some(Place::Memory(address, item))
}

fn scattered(array: &Array, space: Space) -> Scattered {
    Scattered {
        base: array.base.get(),
        item: array.dtype.size(),
        space,
    }
}
