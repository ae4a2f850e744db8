//! Elements in memory of somebody else's, as an array without a copy.

use millpond::runtime::{MemoryKind, Queue};
use millpond::tensor::Tensor;
use millpond::types::{DType, Layout};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::interop::foreign::{self, Source};

/// Elements in memory of somebody else's.
pub(super) struct Elements {
    /// The element of index zero on each axis.
    pub(super) pointer: *const u8,
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) byte_strides: Vec<isize>,
}

impl Elements {
    /// The array over them, which keeps `owner`; `None` if they aren't aligned to their size.
    pub(super) fn import(
        &self,
        queue: &Queue,
        kind: MemoryKind,
        read_only: bool,
        owner: impl Send + 'static,
    ) -> PyResult<Option<Tensor>> {
        let size = self.dtype.size() as isize;
        let alignment = self.dtype.real().size();
        let aligned = self.pointer.addr().is_multiple_of(alignment);
        if !aligned || self.byte_strides.iter().any(|stride| stride % size != 0) {
            return Ok(None);
        }
        let strides: Vec<isize> = self
            .byte_strides
            .iter()
            .map(|stride| stride / size)
            .collect();
        let too_large = || PyBufferError::new_err("the buffer is larger than the address space");
        let (mut low, mut high) = (0_isize, 0_isize);
        let empty = self.shape.contains(&0);
        for (&extent, &stride) in self.shape.iter().zip(&strides).filter(|_| !empty) {
            let last = isize::try_from(extent).map_err(|_| too_large())? - 1;
            let reach = last.checked_mul(stride).ok_or_else(too_large)?;
            low = low.checked_add(reach.min(0)).ok_or_else(too_large)?;
            high = high.checked_add(reach.max(0)).ok_or_else(too_large)?;
        }
        let count = if empty { 0 } else { high - low + 1 };
        let bytes = count.checked_mul(size).ok_or_else(too_large)?;
        let first = self.pointer.wrapping_offset(low * size);
        let address = foreign::address_or_dangling(first);
        let layout = Layout::new(&self.shape, &strides, low.unsigned_abs())
            .map_err(|error| PyBufferError::new_err(error.to_string()))?;
        let source = Source::kept(address, bytes.unsigned_abs(), read_only, owner);
        let memory = foreign::adopt(queue, kind, source)?;
        Tensor::from_parts(memory, self.dtype, layout, read_only)
            .raise()
            .map(Some)
    }
}
