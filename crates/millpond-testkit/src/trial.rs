//! Kernels over slices, as an executor runs them: in pieces and in any order.
//!
//! ```no_run
//! use millpond_testkit::trial::{bytes_of, run};
//! # let kernel: &dyn millpond_hal::HostKernel = todo!();
//!
//! let (mut output, mut input) = ([0.0_f64; 3], [1.0_f32, 2.0, 3.0]);
//! run(kernel, &mut [bytes_of(&mut output), bytes_of(&mut input)], 1)?;
//! # Ok::<(), millpond_hal::KernelError>(())
//! ```

use millpond_hal::{Address, HostKernel, KernelError};
use millpond_types::DType;
use millpond_types::dtype::Element;

/// Runs a kernel in ranges of `chunk` pieces, the last range first.
///
/// # Errors
/// That of the first range that fails.
///
/// # Panics
/// Other operands than the kernel takes, or smaller ones.
pub fn run(
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

/// The bytes of elements.
///
/// # Panics
/// Truth values: not all bytes are some.
pub fn bytes_of<T: Element>(items: &mut [T]) -> &mut [u8] {
    assert_ne!(T::DTYPE, DType::Bool, "any byte may be written");
    let length = size_of_val(items);
    // SAFETY: the same memory; numbers have no gaps, and any bytes are some number.
    unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast(), length) }
}
