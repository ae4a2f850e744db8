//! What recorded commands work on: memory of their graph and allocations from outside.

use millpond_hal::Access;

use crate::memory::Allocation;

/// Memory that a graph allocates, as recordings name it: plain data, which owns nothing.
///
/// It means something to the builder that made it and to that builder's graphs; others refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GraphMemory {
    /// The recording it belongs to.
    pub(super) recording: u64,
    pub(super) index: usize,
}

/// An operand of a recorded command.
#[derive(Clone, Copy, Debug)]
pub enum GraphOperand<'a> {
    /// Memory of the graph.
    Memory(GraphMemory),
    /// Memory from outside, which the recording holds from now on.
    Allocation(&'a Allocation),
}

impl GraphOperand<'_> {
    pub(super) fn is_same_as(self, other: Self) -> bool {
        match (self, other) {
            (Self::Memory(one), Self::Memory(other)) => one == other,
            (Self::Allocation(one), Self::Allocation(other)) => one.same_as(other),
            _ => false,
        }
    }
}

impl From<GraphMemory> for GraphOperand<'_> {
    fn from(memory: GraphMemory) -> Self {
        Self::Memory(memory)
    }
}

impl<'a> From<&'a Allocation> for GraphOperand<'a> {
    fn from(allocation: &'a Allocation) -> Self {
        Self::Allocation(allocation)
    }
}

/// One operand of a recorded host task.
#[derive(Clone, Copy, Debug)]
pub struct GraphUse<'a> {
    /// The memory.
    pub operand: GraphOperand<'a>,
    /// What the task does with it.
    pub access: Access,
}

impl<'a> GraphUse<'a> {
    /// A use of memory.
    pub fn new(operand: impl Into<GraphOperand<'a>>, access: Access) -> Self {
        Self {
            operand: operand.into(),
            access,
        }
    }
}
