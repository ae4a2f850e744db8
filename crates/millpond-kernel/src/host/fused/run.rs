//! A fused kernel's program, carried out tile by tile.

use std::mem::MaybeUninit;
use std::ops::Range;

use millpond_hal::{Address, HostKernel, KernelError, Moves};
use smallvec::SmallVec;

use crate::host::body::{Body, Inputs, MAX_INPUTS};
use crate::host::cast::cast;
use crate::host::fused::program::{
    Constant, Instruction, Node, Place, Program, REGISTER_BYTES, Scattered,
};
use crate::host::gather::{gather, gather_space, scatter_space};
use crate::host::reduce::Pieces;
use crate::host::stream;
use crate::ops::reduction::Words;
use crate::simd::{self, Level};

/// Scratch memory of all registers.
#[repr(C, align(64))]
struct Registers(MaybeUninit<[u8; REGISTER_BYTES]>);

/// Where a node's elements of the tile at hand begin: `base`, and `step` bytes for each element
/// before the tile.
#[derive(Clone, Copy)]
struct Slot {
    base: *mut u8,
    step: usize,
}

impl Slot {
    fn at(self, position: usize) -> *mut u8 {
        self.base.wrapping_add(position * self.step)
    }
}

/// One call of `FusedKernel::run`.
struct Run<'a> {
    program: &'a Program,
    moves: &'a Moves,
    level: Level,
    slots: SmallVec<[Slot; 32]>,
    /// Of each reduction, the state of the piece at hand.
    states: SmallVec<[Words; 2]>,
    /// The first element of the output at hand.
    output: usize,
}

impl Program {
    /// Computes a range of elements.
    ///
    /// # Safety
    /// The arrays of the chain that the program was made of, where they were moved to, may be read and
    /// written as its steps say, and no other thread does it for this range.
    pub(super) unsafe fn run(&self, moves: &Moves, range: Range<usize>) {
        let mut registers = Vec::new();
        let mut own = Registers(MaybeUninit::uninit());
        let bytes = self.registers * self.register;
        let scratch: *mut u8 = if bytes <= REGISTER_BYTES {
            own.0.as_mut_ptr().cast()
        } else {
            // So many that even the smallest tiles don't fit; each is a multiple of a line.
            registers.reserve_exact(bytes.div_ceil(REGISTER_BYTES));
            let spare: &mut [MaybeUninit<Registers>] = registers.spare_capacity_mut();
            spare.as_mut_ptr().cast()
        };
        let slot = |place: Place| match place {
            Place::Register(number) => Slot {
                base: scratch.wrapping_add(usize::from(number) * self.register),
                step: 0,
            },
            Place::Memory(address, item) => Slot {
                base: moves.place(Address::new(address)).as_ptr(),
                step: item,
            },
        };
        let mut run = Run {
            program: self,
            moves,
            level: simd::current(),
            slots: self.nodes.iter().map(|node| slot(node.place)).collect(),
            states: SmallVec::new(),
            output: 0,
        };
        let longest = self.pieces.map_or(range.len(), |pieces| pieces.longest());
        let tile = self.tile.min(longest);
        for (constant, node) in &self.constants {
            // SAFETY: the caller vouches for the element; a register has room for a tile.
            unsafe { run.spread(constant, *node, tile) };
        }
        match self.pieces {
            // SAFETY: the elements are the caller's.
            None => unsafe { run.tiles(range) },
            Some(pieces) => {
                for piece in range {
                    // SAFETY: as above.
                    unsafe { run.piece(pieces, piece) };
                }
            }
        }
        if self.past {
            stream::fence();
        }
    }

    /// Combines the pieces of the reductions.
    ///
    /// # Safety
    /// As for `run`, and every piece was run.
    pub(super) unsafe fn finish(&self, moves: &Moves) -> Result<(), KernelError> {
        for fold in &self.folds {
            // SAFETY: the reduction's output is the caller's.
            unsafe { fold.kernel.finish(&[fold.place(moves)]) }?;
        }
        Ok(())
    }
}

impl Run<'_> {
    /// Carries out the program for a range of elements, tile by tile.
    ///
    /// # Safety
    /// These elements of all arrays may be used.
    unsafe fn tiles(&mut self, range: Range<usize>) {
        let program = self.program;
        for begin in range.clone().step_by(program.tile) {
            let count = program.tile.min(range.end - begin);
            for instruction in &program.instructions {
                // SAFETY: the elements are the caller's, and every node that is read was made.
                unsafe { self.carry_out(instruction, begin, count) };
            }
        }
    }

    /// Carries out the program for a piece of the reductions.
    ///
    /// # Safety
    /// As for `tiles`, and no other thread has this piece.
    unsafe fn piece(&mut self, pieces: Pieces, piece: usize) {
        let (block, output, elements) = pieces.at(piece);
        let folds = &self.program.folds;
        self.output = output * pieces.length;
        self.states = folds
            .iter()
            .map(|fold| fold.kernel.fold().start())
            .collect();
        // SAFETY: the elements are the caller's.
        unsafe { self.tiles(self.output + elements.start..self.output + elements.end) };
        for (fold, &state) in folds.iter().zip(&self.states) {
            // SAFETY: the output is the reduction's, and no other thread has the piece.
            unsafe {
                fold.kernel
                    .end(block, output, state, fold.place(self.moves).as_ptr());
            };
        }
    }

    fn slot(&self, node: Node) -> Slot {
        self.slots[usize::from(node)]
    }

    /// Fills a register with a constant.
    ///
    /// # Safety
    /// An element of memory may be read; the register has room for `count` elements.
    unsafe fn spread(&mut self, constant: &Constant, node: Node, count: usize) {
        let item = self.program.nodes[usize::from(node)].dtype.size();
        let value: *const u8 = match constant {
            Constant::Scalar(bytes) => bytes.as_ptr(),
            Constant::Element(address) => self.moves.place(Address::new(*address)).as_ptr(),
        };
        // SAFETY: one element over and over, and the register has room.
        unsafe { gather(item, value, 0, self.slot(node).base, count) };
    }

    /// Runs a body for `count` elements from `position` on.
    ///
    /// # Safety
    /// As for `carry_out`.
    unsafe fn apply(
        &self,
        body: &dyn Body,
        inputs: &[Node],
        to: Node,
        position: usize,
        count: usize,
    ) {
        let out = self.slot(to).at(position);
        let mut from: Inputs = [out; MAX_INPUTS];
        for (from, &node) in from.iter_mut().zip(inputs) {
            *from = self.slot(node).at(position);
        }
        // SAFETY: `count` aligned elements of each node, and the output's lie apart.
        unsafe { body.run(self.level, out, from, count) };
    }

    /// Carries out an instruction for `count` elements from `position` on.
    ///
    /// # Safety
    /// These elements of all arrays may be used; nodes that are read were made for the same ones.
    unsafe fn carry_out(&mut self, instruction: &Instruction, position: usize, count: usize) {
        match instruction {
            Instruction::Gather { from, to } => {
                let base = from.place(self.moves).as_ptr::<u8>();
                let source = (from.item, base.cast_const());
                let (operand, elements) = ((&from.space, 0), (position, count));
                // SAFETY: `count` elements of the source, and a register with room for them.
                unsafe { gather_space(operand, source, elements, self.slot(*to).base) };
            }
            Instruction::Convert { from, to } => {
                let dtype = |node: Node| self.program.nodes[usize::from(node)].dtype;
                let src = (dtype(*from), self.slot(*from).at(position).cast_const());
                let dst = (dtype(*to), self.slot(*to).at(position));
                // SAFETY: `count` aligned elements of either node, which lie apart.
                unsafe { cast(self.level, src, dst, count) };
            }
            Instruction::Apply { body, inputs, to } => {
                // SAFETY: the caller's promise.
                unsafe { self.apply(*body, inputs, *to, position, count) };
            }
            Instruction::Pair {
                body, inputs, to, ..
            } => {
                // SAFETY: the caller's promise.
                unsafe { self.apply(*body, inputs, *to, position, count) };
            }
            Instruction::Store {
                from,
                to,
                is_linear,
                past,
            } => {
                let src = self.slot(*from).at(position);
                // SAFETY: a made node, and elements that are the caller's.
                unsafe { store(src, (to, self.moves), (*is_linear, *past), position, count) };
            }
            Instruction::Fold { from, number } => {
                let kernel = &self.program.folds[*number].kernel;
                let (fold, tile) = (kernel.fold(), kernel.tile());
                let item = fold.compute().size();
                let values = self.slot(*from).at(position).cast_const();
                for begin in (0..count).step_by(tile) {
                    let (part, values) =
                        (tile.min(count - begin), values.wrapping_add(begin * item));
                    let index = (position + begin - self.output) as u64;
                    // SAFETY: `part` aligned elements of a made node.
                    unsafe { fold.run(self.level, &mut self.states[*number], values, index, part) };
                }
            }
        }
    }
}

/// Writes `count` elements to their places from `position` on.
///
/// # Safety
/// `src` holds the elements, whose places may be written.
unsafe fn store(
    src: *const u8,
    (to, moves): (&Scattered, &Moves),
    (is_linear, past): (bool, bool),
    position: usize,
    count: usize,
) {
    let base = to.place(moves).as_ptr::<u8>();
    if is_linear {
        let dst = base.wrapping_offset(to.space.locate(position)[0]);
        let bytes = count * to.item;
        if past {
            // SAFETY: the elements follow one another on either side.
            unsafe { stream::store(src, dst, bytes) };
        } else {
            // SAFETY: as above; a register lies apart from all arrays.
            unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
        }
        return;
    }
    // SAFETY: `count` elements, and their places.
    unsafe { scatter_space((&to.space, 0), src, (to.item, base), (position, count)) };
}
