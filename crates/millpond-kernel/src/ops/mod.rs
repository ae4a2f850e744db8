//! Element-wise operations: a row and a body for each.
//!
//! A row names the operation and its operands, documents it with an example, and says which body
//! computes which kind of dtype. Everything else follows from the rows: the registry below, what an
//! operation accepts ([`resolve`]), the host loops, and what other crates expand the rows to by
//! [`for_each_operation!`](crate::for_each_operation).
//!
//! A new operation is one row and its bodies, in the chapter it belongs to.

use std::fmt;

use millpond_types::DType;

use crate::host::body::Body;
use crate::host::contiguous::ContiguousLoop;
use crate::host::map::compute_dtype;

mod row;

pub mod arithmetic;
pub mod bitwise;
pub mod comparison;
pub mod complex;
pub mod exponential;
pub mod hyperbolic;
pub mod logical;
pub mod reduction;
pub mod resolve;
pub mod rounding;
pub mod selection;
#[cfg(test)]
mod tests;
pub mod trigonometric;

pub use resolve::Signature;
pub use row::{Entry, Table};

/// An element-wise operation.
pub struct Operation {
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static [&'static str],
    pub(crate) documentation: &'static str,
    pub(crate) ulp: u32,
    pub(crate) refuses: Option<row::Refusal>,
    pub(crate) example: Option<Example>,
    pub(crate) table: Table,
}

/// What an operation makes of some operands, for its documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The operands as Python writes them: in brackets the elements of an array, without a number.
    pub operands: &'static [&'static str],
    /// The elements of the result as an array shows them.
    pub result: &'static str,
}

impl Operation {
    /// The name, that of the Array API standard where it has one.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The names of the operands.
    #[must_use]
    pub const fn arguments(&self) -> &'static [&'static str] {
        self.arguments
    }

    /// What it computes, in a sentence.
    #[must_use]
    pub fn documentation(&self) -> &'static str {
        self.documentation.trim()
    }

    /// The largest error of a float result, in units of its last place.
    #[must_use]
    pub const fn ulp(&self) -> u32 {
        self.ulp
    }

    /// What it makes of some operands; operations that are documented otherwise have none.
    #[must_use]
    pub const fn example(&self) -> Option<Example> {
        self.example
    }

    /// The number of operands.
    #[must_use]
    pub const fn arity(&self) -> usize {
        self.arguments.len()
    }

    /// The loop that computes what operands of `dtype` give: half types go to `float32` where they
    /// have none of their own.
    #[inline]
    pub(crate) fn loop_for(&self, dtype: DType) -> Option<&'static dyn Body> {
        let of_wider = || self.table.at(compute_dtype(dtype));
        self.table.at(dtype).or_else(of_wider)
    }

    /// The loop for operands of these dtypes, which aren't cast, but for half types that are
    /// computed in `float32`.
    #[must_use]
    pub fn body(&self, inputs: &[DType]) -> Option<&'static dyn Body> {
        // The last operand decides: the first may be a condition.
        let body = self.loop_for(*inputs.last()?)?;
        let takes = |(index, &dtype): (usize, &DType)| {
            let wanted = body.input(index);
            wanted == dtype || wanted == compute_dtype(dtype)
        };
        let fits = inputs.len() == body.arity() && inputs.iter().enumerate().all(takes);
        fits.then_some(body)
    }

    /// The loop over contiguous operands of `dtype`, for small work that can't wait for a plan;
    /// `None` where operands or results need a conversion.
    #[inline]
    #[must_use]
    pub fn contiguous_loop(&'static self, dtype: DType) -> Option<ContiguousLoop> {
        let body = self.table.at(dtype)?;
        Some(ContiguousLoop::new(self, body))
    }

    /// The dtypes that the bodies compute with.
    pub fn dtypes(&self) -> impl Iterator<Item = DType> {
        DType::ALL
            .iter()
            .copied()
            .filter(|&dtype| self.table.at(dtype).is_some())
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.name)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Operation {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Operation {}

macro_rules! chapters {
    ($($chapter:ident $rows:ident;)*) => {
        /// The rows, by chapter.
        pub const CHAPTERS: &[(&str, &[&Operation])] =
            &[$((stringify!($chapter), $chapter::rows::ALL)),*];

        /// Every operation by its name: `rows::add` is the row `add`.
        pub mod rows {
            $( pub use super::$chapter::rows::*; )*
        }

        /// Hands the rows to the macro `$each`, a chapter at a time.
        ///
        /// A row reads `#[doc = ..] unary name(x) { .. } ulp n { "operand" => "result" };`, where
        /// `unary`, `binary` or `ternary` is the number of operands and the end its
        /// [`Example`](crate::ops::Example). Macros that want only some of it match the rest as
        /// token trees:
        /// `$($(#[$doc:meta])* $arity:ident $name:ident($($arg:ident),+) $bodies:tt ulp $ulp:literal $(refuses $kind:ident)? $({ $($example:tt)* })?;)*`.
        #[macro_export]
        macro_rules! for_each_operation {
            ($each:ident) => {
                $( $crate::$rows!($each); )*
            };
        }
    };
}

// The list of chapters; `for_each_operation` hands out each one's rows.
chapters! {
    arithmetic arithmetic_rows;
    exponential exponential_rows;
    trigonometric trigonometric_rows;
    hyperbolic hyperbolic_rows;
    rounding rounding_rows;
    comparison comparison_rows;
    logical logical_rows;
    bitwise bitwise_rows;
    complex complex_rows;
    selection selection_rows;
}

/// Every operation, chapter by chapter.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    CHAPTERS.iter().flat_map(|(_, rows)| rows.iter().copied())
}

/// The operation of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Operation> {
    operations().find(|operation| operation.name == name)
}
