//! Sorting along the last axis of contiguous arrays: elements, their positions, or both.
//!
//! Elements become keys, unsigned integers in their order, and keys with positions become
//! *items*, which are sorted by vectors or by digits. Short rows are sorted whole, many at a time
//! by as many threads; long ones are *spread*: parted by keys that a sample of the row gave, and
//! the parts sorted by themselves.
//!
//! The result is that of a stable sort, to the bit, however many threads there are: of equal
//! elements, such as zeros of either sign, the first stays first, in descending order as well.

mod code;
mod first;
mod item;
pub(super) mod key;
mod radix;
mod row;
mod rows;
mod spread;
#[cfg(target_arch = "x86_64")]
mod vector;
mod window;

use std::fmt;
use std::sync::Arc;

use millpond_hal::{Access, Address, Footprint};
use millpond_types::DType;

pub use first::{First, MergeFirst, SelectFirst};
pub use rows::SortRows;
pub use spread::{Group, SortParts, SpreadSort};

use crate::device::sort::Sorting;
use key::Rule;
pub(super) use row::{elements, places, reserve};

/// Rows longer than this are spread.
const LONG_ROW: usize = 1 << 16;

/// What a sort writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// The elements in order.
    pub values: bool,
    /// Where in its row each came from, as `int64`.
    pub positions: bool,
}

/// A sort of the rows of a contiguous array.
#[derive(Clone, Copy, Debug)]
pub struct Sort {
    dtype: DType,
    rows: usize,
    length: usize,
    descending: bool,
    sorted: Sorted,
    /// Bytes before the input's first element.
    begin: usize,
}

/// The kernels of a sort, in the order they are to be run.
#[derive(Debug)]
pub enum SortPlan {
    /// One, whose operands are the outputs, memory aside if it needs some, and the input.
    Rows(SortRows),
    /// Several, with scratch memory.
    Spread(SpreadSort),
}

/// How a row's elements are kept while they are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Alone,
    Packed,
    Paired,
}

impl Sort {
    /// A sort of `rows` rows of `length` elements, which begin `begin` bytes from the input's base
    /// and are aligned. Outputs begin at their bases.
    #[must_use]
    pub const fn new(
        (dtype, begin): (DType, usize),
        (rows, length): (usize, usize),
        descending: bool,
        sorted: Sorted,
    ) -> Self {
        Self {
            dtype,
            rows,
            length,
            descending,
            sorted,
            begin,
        }
    }

    /// The kernels.
    #[must_use]
    pub fn plan(self) -> SortPlan {
        if self.length > LONG_ROW {
            SortPlan::Spread(SpreadSort::new(Arc::new(spread::Spread::new(self))))
        } else {
            SortPlan::Rows(SortRows::new(self))
        }
    }

    /// The kernel of a device that compiles: one for rows of any length.
    #[must_use]
    pub fn plan_on_device(self) -> SortPlan {
        SortPlan::Rows(SortRows::with_aside(self))
    }

    /// The sort as devices carry it out.
    const fn sorting(&self) -> Sorting {
        Sorting {
            dtype: self.dtype,
            rows: self.rows,
            length: self.length,
            descending: self.descending,
            values: self.sorted.values,
            positions: self.sorted.positions,
        }
    }

    fn rule(&self) -> Rule {
        Rule::of(self.dtype)
    }

    /// Bytes of the elements.
    const fn bytes(&self) -> usize {
        self.rows * self.length * self.dtype.size()
    }

    fn shape(&self) -> Shape {
        let is_alone = !self.sorted.positions && !self.dtype.is_complex();
        if is_alone {
            Shape::Alone
        } else if self.dtype.size() <= 4 && u32::try_from(self.length).is_ok() {
            Shape::Packed
        } else {
            Shape::Paired
        }
    }

    /// The operands' number of outputs.
    const fn outputs(&self) -> usize {
        self.sorted.values as usize + self.sorted.positions as usize
    }

    /// What is written of output number `operand`.
    fn output(&self, operand: usize) -> Footprint {
        let bytes = if operand == 0 && self.sorted.values {
            self.bytes()
        } else {
            self.rows * self.length * size_of::<i64>()
        };
        Footprint::filled(0..bytes, bytes)
    }

    /// What is read of the input.
    const fn input(&self) -> Footprint {
        Footprint {
            bytes: self.begin..self.begin + self.bytes(),
            access: Access::Read,
        }
    }

    /// The address of the input's elements, the last operand.
    fn elements(&self, bases: &[Address]) -> *const u8 {
        let base: *mut u8 = bases[bases.len() - 1].as_ptr();
        base.wrapping_add(self.begin)
    }

    /// The addresses of the outputs: of values and of positions, null where they aren't wanted.
    fn addresses(&self, bases: &[Address]) -> (*mut u8, *mut i64) {
        let null = std::ptr::null_mut();
        let values = if self.sorted.values {
            bases[0].as_ptr()
        } else {
            null
        };
        let positions = if self.sorted.positions {
            bases[usize::from(self.sorted.values)].as_ptr()
        } else {
            std::ptr::null_mut()
        };
        (values, positions)
    }

    fn describe(&self, step: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.sorted.positions {
            "argsort"
        } else {
            "sort"
        };
        let order = if self.descending { ", descending" } else { "" };
        let Self {
            rows,
            length,
            dtype,
            ..
        } = self;
        write!(f, "{name}({dtype} ({rows}, {length}){order}){step}")
    }
}

/// Calls `$run!(Form)` with the form of a sort's items.
macro_rules! with_form {
    ($sort:expr, $run:ident) => {
        match ($sort.dtype, $sort.shape(), $sort.dtype.size()) {
            (DType::Complex64, ..) => $run!(Paired<[u32; 2]>),
            (DType::Complex128, ..) => $run!(Lengthy),
            (_, Shape::Alone, 1) => $run!(Alone<u8>),
            (_, Shape::Alone, 2) => $run!(Alone<u16>),
            (_, Shape::Alone, 4) => $run!(Alone<u32>),
            (_, Shape::Alone, _) => $run!(Alone<u64>),
            (_, Shape::Packed, 1) => $run!(Packed<u8>),
            (_, Shape::Packed, 2) => $run!(Packed<u16>),
            (_, Shape::Packed, _) => $run!(Packed<u32>),
            (_, Shape::Paired, 1) => $run!(Paired<u8>),
            (_, Shape::Paired, 2) => $run!(Paired<u16>),
            (_, Shape::Paired, 4) => $run!(Paired<u32>),
            (_, Shape::Paired, _) => $run!(Paired<u64>),
        }
    };
}

use with_form;
