//! What is measured: anything that hands out bytes and takes them back.

use crate::Effort;
use crate::heaps::{Mimalloc, System};
use crate::pools::{Millpond, OfDriver};
use crate::rivals::{Bins, List, Set};

/// Hands out bytes, and takes them back.
pub(crate) trait Allocator: Sync {
    /// Bytes that were handed out.
    type Block;

    /// What tables call it.
    const NAME: &'static str;

    /// Whether a limit can be set to what it has.
    const BOUNDED: bool = true;

    /// Whether a search takes as long as there are free blocks.
    const LINEAR: bool = false;

    /// Bytes that are nobody else's, unless there are none.
    fn allocate(&self, bytes: usize) -> Option<Self::Block>;

    /// Takes bytes back.
    fn free(&self, block: Self::Block);

    /// The most bytes that it has had from below; none if that can't be told.
    fn reserved(&self) -> Option<usize>;

    /// The same memory with a queue of its own, where there are queues.
    fn with_own_queue(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// A measurement of any allocator.
pub(crate) trait Case {
    /// The figures, unless it makes no sense for this one.
    fn measure<A: Allocator>(&self, allocator: &A) -> Option<Vec<f64>>;
}

/// Names of all allocators, in the order of tables.
pub(crate) const ALLOCATORS: &[&str] = &[
    Millpond::NAME,
    List::NAME,
    Set::NAME,
    Bins::NAME,
    System::NAME,
    Mimalloc::NAME,
];

/// The same where memory is that of a real device.
const ON_DEVICE: &[&str] = &[Millpond::NAME, OfDriver::NAME];

/// Names of the allocators that are measured, in the order of tables.
pub(crate) fn columns(effort: Effort) -> Vec<&'static str> {
    let names = effort.device().map_or(ALLOCATORS, |_| ON_DEVICE);
    names.to_vec()
}

/// Measures all allocators in turn, each with so many bytes.
pub(crate) fn measure_all(case: &impl Case, effort: Effort, bytes: usize) -> Vec<Option<Vec<f64>>> {
    if let Some(device) = effort.device() {
        let bytes = bytes.min(device.info().memory / 2);
        return vec![
            case.measure(&Millpond::on(device, bytes)),
            OfDriver::on(device).and_then(|pool| case.measure(&pool)),
        ];
    }
    vec![
        case.measure(&Millpond::new(bytes)),
        case.measure(&List::new(bytes)),
        case.measure(&Set::new(bytes)),
        case.measure(&Bins::new(bytes)),
        case.measure(&System),
        case.measure(&Mimalloc),
    ]
}
