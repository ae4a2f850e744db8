//! What work is expected to cost, in nanoseconds on one thread.
//!
//! The runtime runs what is cheap on the calling thread. Estimates err on the dear side: work that
//! is handed over late costs more than work that is handed over early.

use millpond_kernel::{Operation, Scan};
use millpond_types::DType;

/// Bytes that one thread moves in a nanosecond.
const BYTES: usize = 10;

/// Bytes that one thread computes in a nanosecond with heavy bodies, by vectors.
const HEAVY: usize = 4;

/// Nanoseconds of an element that an index or a mask names.
const PICKED: usize = 2;

/// Bytes of an array that lies in a thread's own caches, if it was used before.
const CACHED: usize = 1 << 19;

/// Nanoseconds of an element made from a rule.
const GENERATED: usize = 10;

/// Bytes of elements that one thread sorts in a nanosecond, by vectors.
const SORTED: usize = 2;

/// Products that one thread adds in a nanosecond.
const PRODUCTS: usize = 8;

/// Finding the plan of a transform that was made before.
const TRANSFORM: u32 = 1000;

/// Taking the smallest matrix apart.
const DECOMPOSITION: usize = 2000;

/// Below this many elements any operation is cheap.
const FEW: usize = 4096;

/// An element-wise operation computing in `dtype` on `size` elements and `bytes` bytes in all.
#[inline]
pub(crate) fn of_operation(operation: &Operation, dtype: DType, size: usize, bytes: usize) -> u32 {
    let moved = bytes / BYTES;
    if size <= FEW || !is_heavy(operation, dtype) {
        return clamped(moved);
    }
    clamped(moved.saturating_add(size.saturating_mul(dtype.size()) / HEAVY))
}

/// A copy, fill or cast.
pub(crate) fn of_copy(size: usize, bytes: usize) -> u32 {
    clamped(bytes / BYTES).saturating_add(of_walk(size))
}

/// Picking `size` elements out of order, `bytes` bytes in all.
pub(crate) fn of_picks(size: usize, bytes: usize) -> u32 {
    clamped(bytes / BYTES).saturating_add(clamped(size.saturating_mul(PICKED)))
}

/// Moving `size` elements that indices name along a line of `bytes` bytes.
pub(crate) fn of_line(size: usize, bytes: usize) -> u32 {
    // What is in the caches already is fetched as fast as indices are looked at.
    let each = if bytes <= CACHED {
        PICKED / 2
    } else {
        2 * PICKED
    };
    clamped(size.saturating_mul(each))
}

/// Walking over elements that don't follow one another.
pub(crate) fn of_walk(size: usize) -> u32 {
    clamped(size / 2)
}

/// A reduction that reads `size` elements and `bytes` bytes.
pub(crate) fn of_reduction(size: usize, bytes: usize) -> u32 {
    of_copy(size, bytes)
}

/// `size` sums of `inner` products, of operands that have `bytes` bytes at most.
pub(crate) fn of_product(size: usize, inner: usize, bytes: usize) -> u32 {
    let products = size.saturating_mul(inner);
    clamped(products / PRODUCTS + bytes / BYTES).saturating_add(clamped(size / 2))
}

/// Taking `count` matrices of this shape apart.
pub(crate) fn of_decomposition(count: usize, rows: usize, columns: usize) -> u32 {
    let work = rows
        .saturating_mul(columns)
        .saturating_mul(rows.min(columns));
    clamped(count.saturating_mul(work.saturating_add(DECOMPOSITION)))
}

/// Transforms of `lines` lines of `length` points.
pub(crate) fn of_transform(lines: usize, length: usize) -> u32 {
    let depth = length.max(2).ilog2() as usize;
    clamped(lines.saturating_mul(length).saturating_mul(depth)).saturating_add(TRANSFORM)
}

/// Making `size` elements from a rule.
pub(crate) fn of_generation(size: usize) -> u32 {
    clamped(size.saturating_mul(GENERATED))
}

/// Sorting elements that have `bytes` bytes with what is moved beside them. A short row is one
/// thread's whichever that is, so that handing it over gains nothing but the time until it's awaited.
pub(crate) fn of_sort(bytes: usize) -> u32 {
    clamped(bytes / SORTED)
}

/// Looking for `size` elements among `sorted` ones.
pub(crate) fn of_search(size: usize, sorted: usize) -> u32 {
    let steps = sorted.max(1).ilog2() as usize + 1;
    clamped(size.saturating_mul(steps) * 2)
}

/// Accumulating `size` elements, reading and writing `bytes` bytes.
pub(crate) fn of_scan(scan: Scan, size: usize, bytes: usize) -> u32 {
    match scan {
        Scan::LogSumExp => clamped(size.saturating_mul(GENERATED * 2)),
        Scan::Sum | Scan::Product => of_copy(size, bytes),
    }
}

fn is_heavy(operation: &Operation, dtype: DType) -> bool {
    let inputs = [dtype; 3];
    operation
        .body(&inputs[..operation.arity().min(inputs.len())])
        .is_none_or(millpond_kernel::host::body::Body::is_heavy)
}

fn clamped(nanoseconds: usize) -> u32 {
    u32::try_from(nanoseconds).unwrap_or(u32::MAX)
}
