//! Copies of arrays: at their place, and on other queues, devices and kinds of memory.

use millpond_kernel::{Input, MapKernel};
use millpond_runtime::{Device, MemoryKind, Queue};
use millpond_types::{DType, Layout};

use crate::apply::copy_into;
use crate::cost;
use crate::creation::{Order, allocate, dense_like, empty_like, from_bytes};
use crate::error::Result;
use crate::place::Place;
use crate::tensor::Tensor;

impl Tensor {
    /// The array on a device's default queue; the same array if it is on the device already.
    ///
    /// # Errors
    /// A dtype that the device doesn't have; no memory; a closed queue.
    pub fn to_device(&self, device: &Device) -> Result<Self> {
        if self.device() == *device {
            return Ok(self.clone());
        }
        self.to_queue(&device.default_queue()?)
    }

    /// The array on a queue; the same array if it is at home there. Doesn't wait.
    ///
    /// # Errors
    /// As for [`Tensor::to_device`].
    pub fn to_queue(&self, queue: &Queue) -> Result<Self> {
        if self.memory().is_on(queue) {
            return Ok(self.clone());
        }
        self.to_place(&Place {
            queue: queue.clone(),
            kind: self.kind(),
        })
    }

    /// The array in memory of a kind; the same array if it is.
    ///
    /// # Errors
    /// No memory; a closed queue.
    pub fn to_kind(&self, kind: MemoryKind) -> Result<Self> {
        if self.kind() == kind {
            return Ok(self.clone());
        }
        self.to_place(&Place {
            queue: self.queue(),
            kind,
        })
    }

    /// A copy at a place.
    ///
    /// # Errors
    /// As for [`Tensor::to_device`].
    pub fn to_place(&self, place: &Place) -> Result<Self> {
        place.check_dtype(self.dtype())?;
        if self.device() == *place.device() {
            let copy = allocate(
                dense_like(self.layout(), self.dtype())?,
                self.dtype(),
                place,
            )?;
            copy_into(&copy, self.into(), &place.queue)?;
            return Ok(copy);
        }
        // Bytes cross as they are; gaps are closed before.
        let source = self.to_contiguous()?;
        let layout = Layout::contiguous(self.shape(), self.item_size())?;
        let copy = allocate(layout, self.dtype(), place)?;
        // A device reaches the host's memory, and not the other way round.
        let queue = if !self.device().info().host_executed {
            source.queue()
        } else if !source.memory().is_host_shared() || place.queue.is_idle() {
            place.queue.clone()
        } else if copy.memory().is_idle() {
            // What the host shares is taken before this returns: behind nothing of the queue, as
            // nobody uses the memory.
            place.device().host_queue()?
        } else {
            // Uses before its life are pending on the memory.
            copy.memory().write_owned(0, source.to_bytes()?)?;
            return Ok(copy);
        };
        queue.copy(
            source.memory(),
            source.layout().offset() * source.item_size(),
            copy.memory(),
            0,
            copy.bytes(),
        )?;
        Ok(copy)
    }

    /// A copy at a place, with elements of another dtype. They are converted where they are, if the
    /// device has the dtype, so that one without the array's own can be given a copy.
    ///
    /// # Errors
    /// As for [`Tensor::to_place`] and [`Tensor::astype`].
    pub fn to_place_as(&self, place: &Place, dtype: DType) -> Result<Self> {
        place.check_dtype(dtype)?;
        if self.device().info().supports(dtype) {
            self.astype(dtype, false)?.to_place(place)
        } else {
            self.to_place(place)?.astype(dtype, false)
        }
    }

    /// A copy at a place of the same device, of elements in memory that the host shares.
    ///
    /// Work on such memory is done when its call returns, so that the host sees it. This takes the
    /// elements before it returns and waits for what writes *them*, while the copy has its place in
    /// the order of the queue like any other result.
    ///
    /// # Errors
    /// As for [`Tensor::to_device`].
    pub fn taken_from_host(&self, dtype: DType, order: Order, place: &Place) -> Result<Self> {
        let copy = empty_like(self, Some(dtype), order, Some(place))?;
        if place.queue.is_idle() || self.size() == 0 {
            copy.assign(self)?;
            return Ok(copy);
        }
        if copy.memory().is_idle() {
            // Behind nothing of the queue, as nobody uses the memory.
            let input = Input::Array(self.dtype(), self.layout());
            let kernel = MapKernel::copy((dtype, copy.layout()), input)?;
            let nanoseconds = cost::of_copy(self.size(), self.bytes() + copy.bytes());
            let operands = [copy.memory(), self.memory()];
            place.device().observe(kernel, &operands, nanoseconds)?;
            return Ok(copy);
        }
        // Uses before its life are pending on the memory.
        let bytes = if dtype == self.dtype() {
            self.to_bytes()?
        } else {
            self.copy_for_host(dtype)?.to_bytes()?
        };
        if copy.is_contiguous() {
            copy.memory().write_owned(0, bytes)?;
        } else {
            copy.assign(&from_bytes(bytes, dtype, self.shape(), place)?)?;
        }
        Ok(copy)
    }

    /// A copy at the same place.
    ///
    /// # Errors
    /// No memory.
    pub fn copy(&self, order: Order) -> Result<Self> {
        let place = Place::of(self);
        let layout = order.like(self.layout(), self.dtype())?;
        let copy = allocate(layout, self.dtype(), &place)?;
        copy_into(&copy, self.into(), &place.queue)?;
        Ok(copy)
    }
}
