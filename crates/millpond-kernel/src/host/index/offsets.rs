//! Byte offsets of the elements that arrays of indices name, a tile at a time.

use std::ops::Range;

use millpond_hal::{FailureKind, KernelError};
use millpond_types::DType;

use super::TILE;
use super::pick::PickIndex;
use crate::host::cast::cast;
use crate::host::contiguous::is_aligned;
use crate::host::gather::gather_space;
use crate::host::level::{Work, at_level};
use crate::host::tile::{TILE_BYTES, Tile};
use crate::simd;
use crate::template::space::Space;

const _: () = assert!(
    TILE * size_of::<i64>() <= TILE_BYTES && size_of::<isize>() == size_of::<i64>(),
    "a tile holds the indices of as many offsets, and an offset is as wide as an index"
);

/// What becomes of an index outside of its axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexMode {
    /// From the end if negative; further out, it is an error.
    #[default]
    Check,
    /// The nearest end of the axis; what is negative is its begin.
    Clip,
    /// Counted on round the axis.
    Wrap,
}

impl IndexMode {
    /// The mode that NumPy calls so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "raise" => Some(Self::Check),
            "clip" => Some(Self::Clip),
            "wrap" => Some(Self::Wrap),
            _ => None,
        }
    }
}

/// An array of indices along one axis.
pub(super) struct Indices {
    dtype: DType,
    /// The positions in row-major order: where the index lies.
    space: Space,
    footprint: Range<usize>,
    /// What the axis is called.
    axis: usize,
    size: usize,
    /// Bytes from one element of the axis to the next.
    stride: isize,
}

impl Indices {
    /// Indices along an axis of so many elements, so many bytes apart.
    pub(super) fn new(index: &PickIndex<'_>, size: usize, stride: isize) -> Self {
        let (dtype, layout) = (index.dtype, index.layout);
        let item = dtype.size();
        Self {
            dtype,
            space: Space::ordered(layout.shape(), &[Some((layout, item))]),
            footprint: layout.byte_span(item),
            axis: index.called,
            size,
            stride,
        }
    }

    pub(super) const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The positions in row-major order: where the index lies.
    pub(super) const fn space(&self) -> &Space {
        &self.space
    }

    /// What the axis is called.
    pub(super) const fn called(&self) -> usize {
        self.axis
    }

    /// Elements of the axis.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// Bytes from one element of the axis to the next.
    pub(super) const fn stride(&self) -> isize {
        self.stride
    }

    /// Bytes that are read.
    pub(super) fn footprint(&self) -> Range<usize> {
        self.footprint.clone()
    }

    /// Adds to each offset how far its index lies along the axis.
    ///
    /// # Safety
    /// The footprint from `base` on may be read; the positions from `position` on, as many as there
    /// are offsets, exist. There are [`TILE`] at most.
    pub(super) unsafe fn add(
        &self,
        base: *const u8,
        position: usize,
        mode: IndexMode,
        offsets: &mut [isize],
    ) -> Result<(), KernelError> {
        let count = offsets.len();
        let (mut raw, mut ready) = (Tile::new(), Tile::new());
        // SAFETY: the caller vouches for the indices, and tiles have room for them.
        let indices = unsafe { self.fetch(base, position, count, &mut raw, &mut ready) };
        // SAFETY: `fetch` answers the address of `count` aligned integers.
        let indices = unsafe { std::slice::from_raw_parts(indices, count) };
        let mut is_outside = false;
        let add = Add {
            indices,
            offsets,
            axis: self.axis(),
            stride: self.stride,
            is_outside: &mut is_outside,
        };
        let is_signed = self.is_signed();
        match mode {
            IndexMode::Check => at_level(simd::current(), add),
            IndexMode::Clip => add.each(|index, size| clip(index, size, is_signed)),
            IndexMode::Wrap => add.each(|index, size| wrap(index, size, is_signed)),
        }
        if is_outside {
            return Err(self.outside(indices));
        }
        Ok(())
    }

    /// Whether a negative integer of 64 bits is a negative index, and not a large one.
    fn is_signed(&self) -> bool {
        self.dtype != DType::Uint64
    }

    fn axis(&self) -> Axis {
        Axis::new(self.size, self.is_signed())
    }

    /// Fails if any of the indices of a tile is outside of the axis.
    ///
    /// # Safety
    /// As for [`Indices::add`].
    pub(super) unsafe fn check(
        &self,
        base: *const u8,
        position: usize,
        count: usize,
    ) -> Result<(), KernelError> {
        let (mut raw, mut ready) = (Tile::new(), Tile::new());
        // SAFETY: the caller vouches for the indices, and tiles have room for them.
        let indices = unsafe { self.fetch(base, position, count, &mut raw, &mut ready) };
        // SAFETY: `fetch` answers the address of `count` aligned integers.
        let indices = unsafe { std::slice::from_raw_parts(indices, count) };
        let mut is_outside = false;
        let check = Check {
            indices,
            axis: self.axis(),
            is_outside: &mut is_outside,
        };
        at_level(simd::current(), check);
        if is_outside {
            return Err(self.outside(indices));
        }
        Ok(())
    }

    /// The address of indices as integers of 64 bits; unsigned ones keep their bits.
    ///
    /// # Safety
    /// As for [`Indices::add`].
    unsafe fn fetch(
        &self,
        base: *const u8,
        position: usize,
        count: usize,
        raw: &mut Tile,
        ready: &mut Tile,
    ) -> *const i64 {
        let item = self.dtype.size();
        let is_wide = item == size_of::<i64>();
        let first = base.wrapping_offset(self.space.locate(position)[0]);
        let is_direct = self.space.is_linear(0, item) && is_aligned(first, self.dtype);
        let mut found = first;
        if !is_direct {
            let tile = raw.as_mut_ptr();
            // SAFETY: `count` indices, and a tile with room for them.
            unsafe { gather_space((&self.space, 0), (item, base), (position, count), tile) };
            found = tile;
        }
        if is_wide {
            return found.cast();
        }
        let to = ready.as_mut_ptr();
        // SAFETY: `count` aligned indices, and a tile with room for as many wide ones.
        unsafe {
            cast(
                simd::current(),
                (self.dtype, found),
                (DType::Int64, to),
                count,
            );
        };
        to.cast()
    }

    /// The error for the first index that lies outside.
    #[cold]
    fn outside(&self, indices: &[i64]) -> KernelError {
        let (size, is_signed) = (self.size as i128, self.is_signed());
        let exact = |&index: &i64| {
            if is_signed {
                i128::from(index)
            } else {
                i128::from(index.cast_unsigned())
            }
        };
        let mut all = indices.iter().map(exact);
        let index = all.find(|index| *index >= size || *index < -size);
        outside(index.unwrap_or(size), self.axis, self.size)
    }
}

/// What is said of an index that lies outside of its axis.
#[cold]
pub(super) fn outside(index: i128, axis: usize, size: usize) -> KernelError {
    KernelError::new(
        FailureKind::Index,
        format!("index {index} is out of bounds for axis {axis} with size {size}"),
    )
}

fn clip(index: i64, size: i64, is_signed: bool) -> i64 {
    if index < 0 && !is_signed {
        return size - 1;
    }
    index.clamp(0, size - 1)
}

fn wrap(index: i64, size: i64, is_signed: bool) -> i64 {
    if is_signed {
        return index.rem_euclid(size);
    }
    (index.cast_unsigned() % size.cast_unsigned()).cast_signed()
}

/// An axis, for indices that are to lie within it.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    size: i64,
    /// What is added to an index that looks negative.
    turn: i64,
}

impl Axis {
    /// An axis of so many elements, for indices with or without a sign.
    pub(super) const fn new(size: usize, is_signed: bool) -> Self {
        let size = size as i64;
        Self {
            size,
            turn: if is_signed { size } else { 0 },
        }
    }

    /// Its elements.
    pub(super) const fn size(self) -> usize {
        self.size as usize
    }

    /// Says how many bytes from the axis' first element those lie that indices name, at steps of
    /// `stride`; whether all are within the axis. There are as many offsets as indices, zeros or not.
    pub(super) fn offsets(self, indices: &[i64], stride: isize, offsets: &mut [isize]) -> bool {
        offsets.fill(0);
        let mut is_outside = false;
        let add = Add {
            indices,
            offsets,
            axis: self,
            stride,
            is_outside: &mut is_outside,
        };
        at_level(simd::current(), add);
        !is_outside
    }

    /// The index counted from the begin of the axis, and whether it is outside.
    #[inline(always)]
    pub(super) const fn turned(self, index: i64) -> (i64, bool) {
        let turned = index.wrapping_add(self.turn & (index >> 63));
        (turned, turned.cast_unsigned() >= self.size.cast_unsigned())
    }
}

/// Looks for indices outside of an axis.
struct Check<'a> {
    indices: &'a [i64],
    axis: Axis,
    is_outside: &'a mut bool,
}

impl Work for Check<'_> {
    type Home = IndexMode;

    #[inline(always)]
    fn work(self) {
        let mut is_outside = false;
        for &index in self.indices {
            is_outside |= self.axis.turned(index).1;
        }
        *self.is_outside = is_outside;
    }
}

/// One loop over indices and offsets.
struct Add<'a> {
    indices: &'a [i64],
    offsets: &'a mut [isize],
    axis: Axis,
    stride: isize,
    is_outside: &'a mut bool,
}

impl Add<'_> {
    /// Adds the indices that a rule makes of those there are.
    fn each(self, rule: impl Fn(i64, i64) -> i64) {
        for (offset, &index) in self.offsets.iter_mut().zip(self.indices) {
            *offset += rule(index, self.axis.size) as isize * self.stride;
        }
    }
}

impl Work for Add<'_> {
    type Home = IndexMode;

    /// Counts negative indices from the end, and notes if one is outside then. What is outside
    /// moves its offset somewhere, and nobody uses that.
    #[inline(always)]
    fn work(self) {
        let mut is_outside = false;
        for (offset, &index) in self.offsets.iter_mut().zip(self.indices) {
            let (turned, outside) = self.axis.turned(index);
            is_outside |= outside;
            let distance = (turned as isize).wrapping_mul(self.stride);
            *offset = offset.wrapping_add(distance);
        }
        *self.is_outside = is_outside;
    }
}
