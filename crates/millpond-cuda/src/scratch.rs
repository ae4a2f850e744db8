//! Memory of a lane that its kernels use one after the other, with no content that counts.

use crate::api::Pointer;
use crate::card::{CudaError, Current};

/// What is asked of the driver at least, and a multiple of.
const UNIT: usize = 1 << 20;

/// Memory that only grows. What it grew out of may be in use still, and is kept until the lane is
/// idle.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    address: Pointer,
    bytes: usize,
    outgrown: Vec<Pointer>,
}

impl Scratch {
    /// The address of as many bytes, aligned to 256.
    pub(crate) fn take(
        &mut self,
        current: &Current<'_>,
        bytes: usize,
    ) -> Result<Pointer, CudaError> {
        if bytes > self.bytes {
            let bytes = bytes.max(2 * self.bytes).next_multiple_of(UNIT);
            let mut address = 0;
            // SAFETY: the address is written to a place of its type.
            let code = unsafe { current.api().allocate(&raw mut address, bytes) };
            current.check("cuMemAlloc", code)?;
            if self.bytes > 0 {
                self.outgrown.push(self.address);
            }
            (self.address, self.bytes) = (address, bytes);
        }
        Ok(self.address)
    }

    /// Gives all memory back; nothing uses it.
    pub(crate) fn close(&mut self, current: &Current<'_>) {
        let own = (self.bytes > 0).then_some(self.address);
        for address in self.outgrown.drain(..).chain(own) {
            // SAFETY: had from the driver by `take`; by the caller's word nothing uses it.
            let _ = unsafe { current.api().free(address) };
        }
        (self.address, self.bytes) = (0, 0);
    }
}
