//! Whether a command fits its operands: what can be known of sizes, devices and kernels before
//! anything is submitted.

use std::ops::Range;

use millpond_hal::{Access, HostKernel, Pattern};
use millpond_types::MemoryKind;
use smallvec::SmallVec;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::Allocation;
use crate::queue::submit::describe;

/// Fails unless the range lies within `size` bytes.
pub(crate) fn check_range(operation: &str, size: usize, begin: usize, bytes: usize) -> Result<()> {
    let end = begin.saturating_add(bytes);
    if end > size {
        return Err(Error::Bounds {
            operation: operation.to_owned(),
            begin,
            end,
            size,
        });
    }
    Ok(())
}

/// Fails unless a copy stays within its source and destination, each a size and an offset, which
/// may be the same memory.
pub(crate) fn check_copy(
    [src, dst]: [(usize, usize); 2],
    bytes: usize,
    same_memory: bool,
) -> Result<()> {
    check_range("copy", src.0, src.1, bytes)?;
    check_range("copy", dst.0, dst.1, bytes)?;
    if same_memory && src.1.abs_diff(dst.1) < bytes {
        return Err(Error::Overlap {
            src: src.1,
            dst: dst.1,
            bytes,
        });
    }
    Ok(())
}

/// Fails unless a fill stays within `size` bytes and ends with a whole pattern.
pub(crate) fn check_fill(size: usize, range: &Range<usize>, pattern: Pattern) -> Result<()> {
    let bytes = range.len();
    check_range("fill", size, range.start, bytes)?;
    let unit = pattern.bytes().len();
    if bytes.is_multiple_of(unit) {
        return Ok(());
    }
    Err(Error::Invalid {
        what: "fill",
        reason: format!("{bytes} bytes are not a multiple of a pattern of {unit} bytes"),
    })
}

/// How a command that overwrites `bytes` of `size` bytes uses them: what it leaves alone still
/// depends on earlier writers.
pub(crate) fn overwrite(size: usize, bytes: usize) -> Access {
    if bytes == size {
        Access::Write
    } else {
        Access::Update
    }
}

/// How a kernel uses operands of these sizes.
pub(crate) fn check_kernel(
    kernel: &dyn HostKernel,
    sizes: &[usize],
) -> Result<SmallVec<[Access; 4]>> {
    if sizes.len() != kernel.operands() {
        return Err(Error::OperandCount {
            operation: describe(kernel),
            expected: kernel.operands(),
            found: sizes.len(),
        });
    }
    let access = |(index, &size): (usize, &usize)| {
        let footprint = kernel.footprint(index);
        if footprint.bytes.end > size {
            return Err(Error::Bounds {
                operation: describe(kernel),
                begin: footprint.bytes.start,
                end: footprint.bytes.end,
                size,
            });
        }
        Ok(match footprint.access {
            Access::Write => overwrite(size, footprint.bytes.len()),
            access => access,
        })
    };
    sizes.iter().enumerate().map(access).collect()
}

/// Fails unless a device's queues can copy from or to the memory: their own, that of other devices
/// of the same driver, and the host's, which is all memory of a device that works in it.
pub(crate) fn check_copied(device: &Device, operand: usize, memory: &Allocation) -> Result<()> {
    let home = memory.block().home().device();
    if home.info().host_executed || home.shares_driver(device) {
        return Ok(());
    }
    check_device(device, operand, memory, || "copy".to_owned())
}

/// Fails unless a device's queues can use the memory.
pub(crate) fn check_device(
    device: &Device,
    operand: usize,
    memory: &Allocation,
    operation: impl Fn() -> String,
) -> Result<()> {
    let home = memory.block().home().device();
    if home == device || memory.kind() == MemoryKind::Host {
        return Ok(());
    }
    Err(Error::DeviceMismatch {
        operation: operation(),
        operand,
        found: home.name().to_owned(),
        expected: device.name().to_owned(),
    })
}
