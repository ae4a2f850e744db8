//! Differences along an axis, closeness, and products of vectors.

use millpond_kernel::ops::rows;
use millpond_types::Kind;
use millpond_types::shape::normalize_axis;

use crate::apply::apply;
use crate::data_types;
use crate::error::{Error, Result};
use crate::indexing::Index;
use crate::manipulation::concat;
use crate::tensor::Tensor;

/// How far apart numbers may be and still be close: `absolute + relative * |b|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// What may always be between them.
    pub absolute: f64,
    /// What may be between them for each unit of the second.
    pub relative: f64,
    /// Whether NaNs are close to one another.
    pub equal_nan: bool,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            absolute: 1e-8,
            relative: 1e-5,
            equal_nan: false,
        }
    }
}

impl Tensor {
    /// The differences of neighbours along an axis, taken `n` times; before that, arrays are put
    /// in front and behind. Truth values differ where they are not equal.
    ///
    /// # Errors
    /// An axis that the array doesn't have; as for [`concat()`] and [`apply`].
    pub fn diff(
        &self,
        axis: isize,
        n: usize,
        prepend: Option<&Self>,
        append: Option<&Self>,
    ) -> Result<Self> {
        if self.ndim() == 0 {
            return Err(Error::value(
                "diff",
                "an array without axes has no neighbours",
            ));
        }
        let axis = normalize_axis(axis, self.ndim())?;
        let parts: Vec<&Self> = [prepend, Some(self), append]
            .into_iter()
            .flatten()
            .collect();
        let mut result = if parts.len() == 1 {
            self.clone()
        } else {
            concat(&parts, Some(axis as isize))?
        };
        let operation = match result.dtype().kind() {
            Kind::Bool => &rows::not_equal,
            _ => &rows::subtract,
        };
        // Once nothing is left, nothing changes.
        for _ in 0..n.min(result.shape()[axis]) {
            let size = result.shape()[axis] as isize;
            let last = result.along(axis, Index::range(1, size.max(1)))?;
            let first = result.along(axis, Index::range(0, (size - 1).max(0)))?;
            result = apply(operation, &[(&last).into(), (&first).into()], None)?;
        }
        if n == 0 && parts.len() == 1 {
            return result.astype(self.dtype(), true);
        }
        Ok(result)
    }

    /// Whether elements are close to those of another array.
    ///
    /// # Errors
    /// As for [`apply`].
    pub fn isclose(&self, other: &Self, tolerance: &Tolerance) -> Result<Self> {
        let (a, b) = (self.inexact()?, other.inexact()?);
        let distance = a.subtract(&b)?.abs()?;
        let allowed = b.abs()?.multiply(tolerance.relative)?;
        let near = distance.less_equal(&allowed.add(tolerance.absolute)?)?;
        // Infinities are close to themselves only.
        let near = near.logical_and(&b.isfinite()?)?;
        let close = near.logical_or(&a.equal(&b)?)?;
        if tolerance.equal_nan {
            let both = a.isnan()?.logical_and(&b.isnan()?)?;
            return close.logical_or(&both);
        }
        Ok(close)
    }

    /// Whether all elements are close to those of another array: one truth value.
    ///
    /// # Errors
    /// As for [`apply`].
    pub fn allclose(&self, other: &Self, tolerance: &Tolerance) -> Result<Self> {
        self.isclose(other, tolerance)?.all(None, false)
    }

    /// The array with floats or complex numbers for elements.
    fn inexact(&self) -> Result<Self> {
        match self.dtype().kind() {
            Kind::Float | Kind::Complex => Ok(self.clone()),
            _ => self.astype(data_types::default_float(&self.device()), false),
        }
    }
}
