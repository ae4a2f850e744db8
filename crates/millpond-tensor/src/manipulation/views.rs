//! The same elements with axes moved, added, dropped, turned round or repeated.

use millpond_types::shape::{self, normalize_axis};
use millpond_types::{Layout, Shape};
use smallvec::SmallVec;

use super::{Axes, normalize_axes};
use crate::error::{During, Error, Result};
use crate::indexing::Index;
use crate::tensor::Tensor;

impl Tensor {
    /// The view with the order of axes turned round.
    pub(super) fn reversed_axes(&self) -> Result<Self> {
        let axes: Axes = (0..self.ndim()).rev().collect();
        Ok(self.view(self.layout().permute(&axes)?))
    }

    /// The view with axes in another order.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `axes` names every axis once; [`Error::Value`] if there are fewer.
    pub fn permute_dims(&self, axes: &[isize]) -> Result<Self> {
        let axes = normalize_axes(axes, self.ndim())?;
        if axes.len() != self.ndim() {
            let reason = format!("{} axes named of {}", axes.len(), self.ndim());
            return Err(Error::value("permute_dims", reason));
        }
        Ok(self.view(self.layout().permute(&axes)?))
    }

    /// The view of a matrix with rows and columns exchanged.
    ///
    /// # Errors
    /// [`Error::Value`] unless there are two axes.
    pub fn transpose(&self) -> Result<Self> {
        if self.ndim() != 2 {
            let reason = format!("an array of {} dimensions is no matrix", self.ndim());
            return Err(Error::value("transpose", reason));
        }
        self.reversed_axes()
    }

    /// The view of a stack of matrices with rows and columns exchanged.
    ///
    /// # Errors
    /// [`Error::Value`] for fewer than two axes.
    pub fn matrix_transpose(&self) -> Result<Self> {
        if self.ndim() < 2 {
            let reason = format!("an array of {} dimensions is no matrix", self.ndim());
            return Err(Error::value("matrix_transpose", reason));
        }
        self.swapaxes(-2, -1)
    }

    /// The view with two axes exchanged.
    ///
    /// # Errors
    /// Axes that the array doesn't have.
    pub fn swapaxes(&self, first: isize, second: isize) -> Result<Self> {
        let first = normalize_axis(first, self.ndim())?;
        let second = normalize_axis(second, self.ndim())?;
        let mut axes: Axes = (0..self.ndim()).collect();
        axes.swap(first, second);
        Ok(self.view(self.layout().permute(&axes)?))
    }

    /// The view with some axes at other positions; the others keep their order.
    ///
    /// # Errors
    /// Axes that the array doesn't have, or as many sources as destinations.
    pub fn moveaxis(&self, sources: &[isize], destinations: &[isize]) -> Result<Self> {
        let sources = normalize_axes(sources, self.ndim())?;
        let destinations = normalize_axes(destinations, self.ndim())?;
        if sources.len() != destinations.len() {
            let reason = format!(
                "{} sources and {} destinations",
                sources.len(),
                destinations.len()
            );
            return Err(Error::value("moveaxis", reason));
        }
        let mut moves: SmallVec<[(usize, usize); 4]> = destinations
            .iter()
            .copied()
            .zip(sources.iter().copied())
            .collect();
        moves.sort_unstable();
        let mut axes: Axes = (0..self.ndim())
            .filter(|axis| !sources.contains(axis))
            .collect();
        for (destination, source) in moves {
            axes.insert(destination, source);
        }
        Ok(self.view(self.layout().permute(&axes)?))
    }

    /// The view with new axes of size one at these positions of the result.
    ///
    /// # Errors
    /// Positions that the result doesn't have, or named twice; [`Error::Dimensions`] for too many.
    pub fn expand_dims(&self, axes: &[isize]) -> Result<Self> {
        let ndim = self.ndim() + axes.len();
        shape::check_ndim(ndim).during("expand_dims")?;
        let axes = normalize_axes(axes, ndim)?;
        let mut old = self.shape().iter().zip(self.strides());
        let mut shape = Shape::new();
        let mut strides: SmallVec<[isize; 4]> = SmallVec::new();
        for axis in 0..ndim {
            let (size, stride) = if axes.contains(&axis) {
                (1, 0)
            } else {
                old.next().map_or((1, 0), |(&size, &stride)| (size, stride))
            };
            shape.push(size);
            strides.push(stride);
        }
        Ok(self.view(Layout::new(&shape, &strides, self.layout().offset())?))
    }

    /// The view without axes of size one: these, or all there are.
    ///
    /// # Errors
    /// [`Error::Value`] for an axis of another size; axes that the array doesn't have.
    pub fn squeeze(&self, axes: Option<&[isize]>) -> Result<Self> {
        let axes = match axes {
            Some(axes) => normalize_axes(axes, self.ndim())?,
            None => (0..self.ndim())
                .filter(|&axis| self.shape()[axis] == 1)
                .collect(),
        };
        if let Some(&axis) = axes.iter().find(|&&axis| self.shape()[axis] != 1) {
            let reason = format!("axis {axis} has size {}, not 1", self.shape()[axis]);
            return Err(Error::value("squeeze", reason));
        }
        let kept = (0..self.ndim()).filter(|axis| !axes.contains(axis));
        let (shape, strides): (Shape, SmallVec<[isize; 4]>) = kept
            .map(|axis| (self.shape()[axis], self.strides()[axis]))
            .unzip();
        Ok(self.view(Layout::new(&shape, &strides, self.layout().offset())?))
    }

    /// The view with the order of elements along these axes, or all, turned round.
    ///
    /// # Errors
    /// Axes that the array doesn't have, or named twice.
    pub fn flip(&self, axes: Option<&[isize]>) -> Result<Self> {
        let axes = match axes {
            Some(axes) => normalize_axes(axes, self.ndim())?,
            None => (0..self.ndim()).collect(),
        };
        let mut strides: SmallVec<[isize; 4]> = self.strides().into();
        let mut offset = self.layout().offset() as isize;
        for axis in axes {
            if self.size() > 0 {
                offset += strides[axis] * (self.shape()[axis] as isize - 1);
            }
            strides[axis] = -strides[axis];
        }
        Ok(self.view(Layout::new(self.shape(), &strides, offset as usize)?))
    }

    /// The view repeated along axes of size one and new leading axes. It is read-only where
    /// elements are repeated.
    ///
    /// # Errors
    /// [`Error::Broadcast`] unless the array broadcasts to the shape and an array can have it.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        // The bytes of a copy must be countable, as they are for every array.
        let layout = self.layout().broadcast_to(shape).and_then(|layout| {
            shape::element_count(shape, self.item_size())?;
            Ok(layout)
        });
        let layout = layout.map_err(|error| Error::Broadcast {
            operation: "broadcast_to",
            error,
        })?;
        let repeats = layout.size() > self.size();
        let view = self.view(layout);
        Ok(if repeats { view.read_only() } else { view })
    }

    /// The main diagonals of the last two axes, `offset` columns to the right.
    ///
    /// # Errors
    /// [`Error::Value`] for fewer than two axes.
    pub fn diagonal(&self, offset: isize) -> Result<Self> {
        let [ref outer @ .., rows, columns] = *self.shape() else {
            let reason = format!("an array of {} dimensions is no matrix", self.ndim());
            return Err(Error::value("diagonal", reason));
        };
        let [ref steps @ .., down, right] = *self.strides() else {
            return Err(Error::value(
                "diagonal",
                "an array has a stride for each axis",
            ));
        };
        let (skip_rows, skip_columns) =
            (offset.min(0).unsigned_abs(), offset.max(0).unsigned_abs());
        let len = rows
            .saturating_sub(skip_rows)
            .min(columns.saturating_sub(skip_columns));
        let mut shape = Shape::from_slice(outer);
        let mut strides: SmallVec<[isize; 4]> = steps.into();
        shape.push(len);
        strides.push(down + right);
        let mut begin = self.layout().offset() as isize;
        if len > 0 {
            begin += skip_rows as isize * down + skip_columns as isize * right;
        }
        Ok(self.view(Layout::new(&shape, &strides, begin as usize)?))
    }

    /// The real parts, seen within the memory of a complex array; the array itself if it is real.
    ///
    /// # Errors
    /// None at present.
    pub fn real_view(&self) -> Result<Self> {
        self.part(0)
    }

    /// The imaginary parts, seen within the memory of a complex array.
    ///
    /// # Errors
    /// [`Error::Type`] if it is real.
    pub fn imag_view(&self) -> Result<Self> {
        if !self.dtype().is_complex() {
            let reason = format!("an array of {} holds no imaginary parts", self.dtype());
            return Err(Error::wrong_type("imag", reason));
        }
        self.part(1)
    }

    fn part(&self, part: usize) -> Result<Self> {
        if !self.dtype().is_complex() {
            return Ok(self.clone());
        }
        let strides: SmallVec<[isize; 4]> = self.strides().iter().map(|step| step * 2).collect();
        let offset = self.layout().offset() * 2 + part;
        let layout = Layout::new(self.shape(), &strides, offset)?;
        let memory = self.memory().clone();
        Ok(Self::assemble(
            memory,
            self.dtype().real(),
            layout,
            self.is_read_only(),
        ))
    }

    /// The view of an index on one axis.
    pub(crate) fn along(&self, axis: usize, index: Index<'_>) -> Result<Self> {
        let mut indices: SmallVec<[Index<'_>; 4]> = SmallVec::from_elem(Index::ALL, axis);
        indices.push(index);
        self.get(&indices)
    }

    /// The arrays along an axis, which goes.
    ///
    /// # Errors
    /// An axis that the array doesn't have; [`Error::HostMemory`] for more arrays than the host
    /// can hold.
    pub fn unstack(&self, axis: isize) -> Result<Vec<Self>> {
        let axis = normalize_axis(axis, self.ndim())?;
        let len = self.shape()[axis];
        let mut parts = Vec::new();
        parts
            .try_reserve_exact(len)
            .map_err(|_| Error::HostMemory {
                operation: "unstack",
                bytes: len.saturating_mul(size_of::<Self>()),
            })?;
        for index in 0..len as isize {
            parts.push(self.along(axis, Index::At(index))?);
        }
        Ok(parts)
    }
}
