//! The array: a dtype and a layout over an allocation that it shares with its views.

use std::fmt;
use std::ops::Range;

use millpond_runtime::{Address, Allocation, Device, MemoryKind, Queue};
use millpond_types::{DType, Layout, shape};

use crate::error::{Error, Result};

/// Elements of one dtype, laid out in an allocation.
///
/// Clones and views share the memory; its bytes live as long as any of them, and as the work that
/// uses them. What an array says about itself never waits (rule O5). `Send` and `Sync`: an array
/// handed to another thread is still ordered.
#[derive(Clone)]
pub struct Tensor {
    memory: Allocation,
    layout: Layout,
    dtype: DType,
    read_only: bool,
}

impl Tensor {
    /// The array of a layout over memory.
    ///
    /// # Errors
    /// [`Error::Span`] if the layout reaches outside of the memory; [`Error::Shape`] if the bytes
    /// of a copy can't be counted.
    pub fn from_parts(
        memory: Allocation,
        dtype: DType,
        layout: Layout,
        read_only: bool,
    ) -> Result<Self> {
        shape::element_count(layout.shape(), dtype.size())?;
        let span = checked_span(&layout);
        if span.is_none_or(|span| span.end > memory.bytes() / dtype.size()) {
            return Err(Error::Span {
                dtype,
                shape: layout.shape().into(),
                offset: layout.offset(),
                bytes: memory.bytes(),
            });
        }
        Ok(Self::assemble(memory, dtype, layout, read_only))
    }

    /// The array of a layout that is known to lie within the memory.
    #[inline]
    pub(crate) const fn assemble(
        memory: Allocation,
        dtype: DType,
        layout: Layout,
        read_only: bool,
    ) -> Self {
        Self {
            memory,
            layout,
            dtype,
            read_only,
        }
    }

    /// The same elements, or some of them, seen otherwise.
    #[inline]
    pub(crate) fn view(&self, layout: Layout) -> Self {
        debug_assert!(
            layout.span().end * self.item_size() <= self.memory.bytes(),
            "views stay within the memory"
        );
        Self::assemble(self.memory.clone(), self.dtype, layout, self.read_only)
    }

    /// The dtype of the elements.
    #[inline]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Steps of the axes, in elements.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }

    /// Shape, strides and offset within the memory.
    #[inline]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The same, for views that are clones before they are narrowed.
    #[inline]
    pub(crate) const fn layout_mut(&mut self) -> &mut Layout {
        &mut self.layout
    }

    /// The number of axes.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.layout.ndim()
    }

    /// The number of elements.
    #[inline]
    pub const fn size(&self) -> usize {
        self.layout.size()
    }

    /// Bytes of all elements, were they laid out without gaps.
    pub const fn bytes(&self) -> usize {
        self.layout.size() * self.dtype.size()
    }

    /// Bytes of one element.
    #[inline]
    pub const fn item_size(&self) -> usize {
        self.dtype.size()
    }

    /// The memory, which views share.
    #[inline]
    pub const fn memory(&self) -> &Allocation {
        &self.memory
    }

    /// The device that the memory belongs to.
    pub fn device(&self) -> Device {
        self.memory.device()
    }

    /// The queue that the memory was allocated on; operations run there.
    #[inline]
    pub fn queue(&self) -> Queue {
        self.memory.queue()
    }

    /// The kind of memory.
    #[inline]
    pub fn kind(&self) -> MemoryKind {
        self.memory.kind()
    }

    /// Whether operations refuse to write it.
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The same array, refused by operations that would write it.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Whether elements follow one another in row-major order.
    #[inline]
    pub const fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }

    /// The address of the element of index zero on each axis.
    ///
    /// Plain data; whoever dereferences it answers for order and lifetime.
    pub fn address(&self) -> Address {
        self.memory
            .address()
            .offset(self.layout.offset() * self.item_size())
    }

    /// The addresses between the first and the last byte of the elements.
    pub(crate) fn byte_span(&self) -> Range<usize> {
        let span = self.layout.byte_span(self.item_size());
        let base = self.memory.address().get();
        base + span.start..base + span.end
    }

    /// Whether both may have bytes in common.
    pub(crate) fn may_overlap(&self, other: &Self) -> bool {
        let (a, b) = (self.byte_span(), other.byte_span());
        a.start < b.end && b.start < a.end
    }

    /// Whether both are the same elements in the same order.
    pub(crate) fn is_same_view(&self, other: &Self) -> bool {
        self.dtype == other.dtype
            && self.address() == other.address()
            && self.shape() == other.shape()
            && self.strides() == other.strides()
    }

    /// Fails unless it may be written.
    pub(crate) fn check_writable(&self, operation: &'static str) -> Result<()> {
        if self.read_only {
            return Err(Error::ReadOnly { operation });
        }
        let mut axes = self.shape().iter().zip(self.strides());
        if self.size() > 0 && axes.any(|(&size, &stride)| stride == 0 && size > 1) {
            return Err(Error::value(
                operation,
                "elements of the target share memory, as it was broadcast",
            ));
        }
        Ok(())
    }
}

/// The span of a layout of unknown origin; `None` if it begins before the memory or can't be
/// counted.
fn checked_span(layout: &Layout) -> Option<Range<usize>> {
    if layout.size() == 0 {
        return Some(0..0);
    }
    let offset = i128::try_from(layout.offset()).ok()?;
    let (mut low, mut high) = (offset, offset);
    for (&size, &stride) in layout.shape().iter().zip(layout.strides()) {
        let reach = (stride as i128).checked_mul(size as i128 - 1)?;
        low = low.checked_add(reach.min(0))?;
        high = high.checked_add(reach.max(0))?;
    }
    Some(usize::try_from(low).ok()?..usize::try_from(high).ok()?.checked_add(1)?)
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("dtype", &self.dtype)
            .field("layout", &self.layout)
            .field("memory", &self.memory)
            .field("read_only", &self.read_only)
            .finish()
    }
}
