//! What a fused kernel carries out for each tile.
//!
//! A chain becomes *nodes*, each the elements of a tile in one dtype, and *instructions* that make
//! them in order. A node lies where its elements are, if they follow one another in memory, or in a
//! register, which is scratch memory of one tile.

use millpond_hal::{Address, Moves, Traffic};
use millpond_types::{DType, Shape};
use smallvec::SmallVec;

use crate::host::body::{Body, MAX_INPUTS};
use crate::host::fused::chain::Fold;
use crate::host::fused::pair::At;
use crate::host::reduce::Pieces;
use crate::template::space::Space;

/// Bytes of all registers together: they share the first-level cache with what is read.
pub(super) const REGISTER_BYTES: usize = 32 << 10;

/// A node, by its number.
pub(super) type Node = u16;

/// Where the elements of a node lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a register.
    Register(u16),
    /// One after the other in memory: the address of the first of all, and bytes of each.
    Memory(usize, usize),
}

/// Elements of memory that don't follow one another, or not at aligned addresses.
#[derive(Debug)]
pub(super) struct Scattered {
    pub(super) space: Space,
    pub(super) base: usize,
    pub(super) item: usize,
}

impl Scattered {
    /// The base of the elements where they were moved to. They need not begin at it.
    pub(super) fn place(&self, moves: &Moves) -> Address {
        moved(moves, self.base, self.space.begin()[0])
    }
}

impl Fold {
    /// The base of the output where it was moved to.
    pub(super) fn place(&self, moves: &Moves) -> Address {
        moved(moves, self.base.get(), self.kernel.outputs_lie().0)
    }
}

/// A base whose first element is so many bytes further on, moved as that is.
fn moved(moves: &Moves, base: usize, begin: isize) -> Address {
    let first = Address::new(base.wrapping_add_signed(begin));
    Address::new(moves.place(first).get().wrapping_add_signed(-begin))
}

/// Elements that are the same for the whole kernel, put into a register when it begins.
#[derive(Debug)]
pub(super) enum Constant {
    /// A scalar's bytes.
    Scalar([u8; 16]),
    /// The address of one element.
    Element(usize),
}

/// What makes a node, or writes one.
#[derive(Debug)]
pub(super) enum Instruction {
    /// Brings a source into a register.
    Gather { from: Scattered, to: Node },
    /// Converts; between equal dtypes this copies.
    Convert { from: Node, to: Node },
    /// Runs a body.
    Apply {
        body: &'static dyn Body,
        inputs: SmallVec<[Node; MAX_INPUTS]>,
        to: Node,
    },
    /// Runs one loop for two bodies, of which the second takes what the first makes.
    Pair {
        /// Each alone.
        bodies: [&'static dyn Body; 2],
        /// Both.
        body: &'static dyn Body,
        /// Which operand of the second the result of the first is.
        at: At,
        /// Operands of the first, and the other one of the second.
        inputs: [Node; MAX_INPUTS],
        to: Node,
    },
    /// Writes a register to memory; `past` the caches if it isn't soon read again.
    Store {
        from: Node,
        to: Scattered,
        is_linear: bool,
        past: bool,
    },
    /// Folds a node into the state of a reduction, by its number.
    Fold { from: Node, number: usize },
}

/// What is known of a node.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) dtype: DType,
    pub(super) place: Place,
}

/// The instructions, and where their nodes lie.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) shape: Shape,
    pub(super) names: Vec<&'static str>,
    pub(super) nodes: Vec<Known>,
    pub(super) constants: Vec<(Constant, Node)>,
    pub(super) instructions: Vec<Instruction>,
    /// Elements of a tile.
    pub(super) tile: usize,
    /// How many registers there are.
    pub(super) registers: usize,
    /// Bytes of a register.
    pub(super) register: usize,
    /// Whether something is written past the caches.
    pub(super) past: bool,
    pub(super) folds: Vec<Fold>,
    /// The work is cut into these where there are reductions, else by elements.
    pub(super) pieces: Option<Pieces>,
    pub(super) grain: usize,
    pub(super) traffic: Traffic,
}

impl Program {
    /// The number of elements, or of pieces.
    pub(super) fn extent(&self) -> usize {
        let elements = || self.shape.iter().product();
        self.pieces.map_or_else(elements, |pieces| pieces.count())
    }

    /// The smallest number of elements or pieces worth handing to another thread.
    pub(super) const fn grain(&self) -> usize {
        self.grain
    }

    /// What the steps are called.
    pub(super) fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// The shape of all arrays.
    pub(super) fn shape(&self) -> &[usize] {
        &self.shape
    }
}

impl Instruction {
    /// The nodes that it reads.
    pub(super) fn reads(&self) -> SmallVec<[Node; MAX_INPUTS]> {
        match self {
            Self::Gather { .. } => SmallVec::new(),
            Self::Convert { from, .. } | Self::Store { from, .. } | Self::Fold { from, .. } => {
                SmallVec::from_iter([*from])
            }
            Self::Apply { inputs, .. } => inputs.clone(),
            Self::Pair { inputs, .. } => SmallVec::from(*inputs),
        }
    }

    /// The node that it makes.
    pub(super) const fn makes(&self) -> Option<Node> {
        match self {
            Self::Gather { to, .. }
            | Self::Convert { to, .. }
            | Self::Apply { to, .. }
            | Self::Pair { to, .. } => Some(*to),
            Self::Store { .. } | Self::Fold { .. } => None,
        }
    }
}
