//! Kernels over slices, for tests: as the executor runs them, in pieces and in any order.

use millpond_hal::{Address, HostKernel, KernelError};

/// Runs a kernel in ranges of `chunk` pieces, the last range first.
pub(crate) fn run(
    kernel: &dyn HostKernel,
    operands: &mut [&mut [u8]],
    chunk: usize,
) -> Result<(), KernelError> {
    assert_eq!(operands.len(), kernel.operands());
    let mut bases = Vec::new();
    for (index, operand) in operands.iter_mut().enumerate() {
        assert!(kernel.footprint(index).bytes.end <= operand.len());
        bases.push(Address::new(operand.as_mut_ptr().addr()));
        operand.as_mut_ptr().expose_provenance();
    }
    let extent = kernel.extent();
    let mut starts: Vec<usize> = (0..extent).step_by(chunk).collect();
    if starts.is_empty() {
        // As small work is: in one range, whatever that holds.
        starts.push(0);
    }
    starts.reverse();
    for start in starts {
        let range = start..extent.min(start + chunk);
        // SAFETY: the operands hold the footprints and are borrowed, ranges are disjoint.
        unsafe { kernel.run(&bases, range) }?;
    }
    // SAFETY: as above, and every piece was run.
    unsafe { kernel.finish(&bases) }
}

/// The bytes of numbers.
pub(crate) fn bytes_of<T: Copy>(items: &mut [T]) -> &mut [u8] {
    let length = size_of_val(items);
    // SAFETY: the same memory; tests use types of which any bytes are a value.
    unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast(), length) }
}
