//! Where the host looks at elements: the only calls that wait, for exactly what they observe
//! (rule O5).

use millpond_kernel::{Input, MapKernel};
use millpond_types::{DType, Layout, Scalar};

use crate::apply::copy_into;
use crate::cost;
use crate::creation::allocate;
use crate::error::{Error, Result};
use crate::item::Item;
use crate::place::{Home, Place};
use crate::tensor::Tensor;

impl Tensor {
    /// The value of an array of one element.
    ///
    /// # Errors
    /// [`Error::Value`] for more or fewer elements; the failure of what computed it.
    pub fn item(&self) -> Result<Scalar> {
        if self.size() != 1 {
            return Err(Error::value(
                "item",
                format!("an array of {} elements isn't one number", self.size()),
            ));
        }
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..self.item_size()];
        self.memory()
            .read(self.layout().offset() * self.item_size(), bytes)?;
        Scalar::from_bytes(self.dtype(), bytes)
            .ok_or_else(|| Error::value("item", "the element has too few bytes"))
    }

    /// Whether the value of an array of one element differs from zero.
    ///
    /// # Errors
    /// As for [`Tensor::item`].
    pub fn is_truthy(&self) -> Result<bool> {
        Ok(self.item()?.is_truthy())
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// [`Error::Type`] unless `T` is the dtype's type; the failure of what computed them.
    pub fn to_vec<T: Item>(&self) -> Result<Vec<T>> {
        if T::DTYPE != self.dtype() {
            return Err(Error::wrong_type(
                "to_vec",
                format!("an array of {} isn't one of {}", self.dtype(), T::DTYPE),
            ));
        }
        let bytes = self.to_bytes()?;
        Ok(bytes.chunks_exact(T::DTYPE.size()).map(T::of).collect())
    }

    /// The bytes of the elements in row-major order.
    ///
    /// # Errors
    /// The failure of what computed them; no memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let len = self.bytes();
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(len)
            .map_err(|_| Error::HostMemory {
                operation: "read",
                bytes: len,
            })?;
        bytes.resize(len, 0);
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    /// Copies the bytes of the elements, in row-major order, to the host.
    ///
    /// # Errors
    /// [`Error::Value`] unless there is room for exactly those; the failure of what computed them.
    pub fn read_into(&self, bytes: &mut [u8]) -> Result<()> {
        if bytes.len() != self.bytes() {
            return Err(Error::value(
                "read_into",
                format!(
                    "the buffer has {} bytes, the array {}",
                    bytes.len(),
                    self.bytes()
                ),
            ));
        }
        let copy;
        let source = if self.is_contiguous() {
            self
        } else {
            copy = self.copy_for_host(self.dtype())?;
            &copy
        };
        let begin = source.layout().offset() * source.item_size();
        Ok(source.memory().read(begin, bytes)?)
    }

    /// The same where that takes no wait and no copy before; whether it did.
    ///
    /// # Errors
    /// As for [`Tensor::read_into`], but for failures of others.
    pub fn read_at_once(&self, bytes: &mut [u8]) -> Result<bool> {
        let fits = bytes.len() == self.bytes() && self.is_contiguous();
        let begin = self.layout().offset() * self.item_size();
        Ok(fits && self.memory().read_at_once(begin, bytes)?)
    }

    /// A copy as a dtype, in row-major order, that the host is about to read: behind what wrote the
    /// elements, and behind nothing else of the queue that they are at home on.
    pub(crate) fn copy_for_host(&self, dtype: DType) -> Result<Self> {
        let device = self.device();
        let layout = Layout::contiguous(self.shape(), dtype.size())?;
        // Memory of the host's own queue comes behind nothing that programs submit.
        let queue = &device.host_queue()?;
        let kind = self.kind();
        let copy = allocate(layout, dtype, Home { queue, kind })?;
        let input = Input::Array(self.dtype(), self.layout());
        let kernel = MapKernel::copy((dtype, copy.layout()), input)?;
        let nanoseconds = cost::of_copy(self.size(), self.bytes() + copy.bytes());
        device.observe(kernel, &[copy.memory(), self.memory()], nanoseconds)?;
        Ok(copy)
    }

    /// The array for work whose result the host is about to look at. Where the queue of its home has
    /// something to do it is a copy, as [`copy_for_host`](Self::copy_for_host) makes it, so that
    /// neither that work nor the host waits for anything but what wrote the elements.
    pub(crate) fn to_be_observed(&self) -> Result<Self> {
        if self.size() == 0 || self.memory().home().is_idle() {
            return Ok(self.clone());
        }
        self.copy_for_host(self.dtype())
    }

    /// The array, or a copy, with elements that follow one another in row-major order.
    ///
    /// # Errors
    /// No memory.
    pub fn to_contiguous(&self) -> Result<Self> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        let place = Place::of(self);
        let layout = Layout::contiguous(self.shape(), self.item_size())?;
        let copy = allocate(layout, self.dtype(), &place)?;
        copy_into(&copy, self.into(), &place.queue)?;
        Ok(copy)
    }
}
