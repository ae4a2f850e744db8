//! Arrays seen otherwise, and arrays put together.
//!
//! What strides can express is a view and costs nothing; the rest copies in queue order.

use millpond_types::shape::{self, ShapeError, normalize_axis};
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use crate::apply::{copy_into, join};
use crate::creation::{Order, allocate, empty};
use crate::data_types;
use crate::error::{Error, Result};
use crate::indexing::Index;
use crate::operand::Operand;
use crate::place::Place;
use crate::tensor::Tensor;

type Axes = SmallVec<[usize; 4]>;

/// Axes as indices, each once.
pub(crate) fn normalize_axes(axes: &[isize], ndim: usize) -> Result<Axes> {
    let mut result = Axes::new();
    for &axis in axes {
        let axis = normalize_axis(axis, ndim)?;
        if result.contains(&axis) {
            return Err(ShapeError::RepeatedAxis { axis }.into());
        }
        result.push(axis);
    }
    Ok(result)
}

/// Ways to see the same elements.
impl Tensor {
    /// The elements, in row-major order, in another shape; one size may be -1 and follows from the
    /// others. `copy` asks for a copy, or forbids one; else it is made where it must be.
    ///
    /// # Errors
    /// Another number of elements; [`Error::Value`] if a forbidden copy is needed; no memory.
    pub fn reshape(&self, shape: &[isize], copy: Option<bool>) -> Result<Self> {
        self.reshape_in_order(shape, Order::C, copy)
    }

    /// The same with elements counted in row-major or, for [`Order::F`], column-major order.
    ///
    /// # Errors
    /// As for [`Tensor::reshape`].
    pub fn reshape_in_order(
        &self,
        shape: &[isize],
        order: Order,
        copy: Option<bool>,
    ) -> Result<Self> {
        let shape = self.complete_shape(shape)?;
        if order == Order::F {
            // Column-major is row-major with all axes turned round.
            let turned: SmallVec<[isize; 4]> =
                shape.iter().rev().map(|&size| size as isize).collect();
            return self
                .reversed_axes()?
                .reshape(&turned, copy)?
                .reversed_axes();
        }
        let view = self.layout().reshape(&shape)?;
        match (view, copy) {
            (Some(layout), None | Some(false)) => Ok(self.view(layout)),
            (None, Some(false)) => Err(Error::value(
                "reshape",
                format!(
                    "an array of shape {} and strides {:?} needs a copy to take shape {}",
                    shape::Tuple(self.shape()),
                    self.strides(),
                    shape::Tuple(&shape)
                ),
            )),
            (_, None | Some(true)) => {
                let source = if copy.is_none() {
                    self.to_contiguous()?
                } else {
                    self.copy(Order::C)?
                };
                let layout = Layout::contiguous(&shape, self.item_size())?;
                Ok(source.view(layout.at_offset(source.layout().offset())))
            }
        }
    }

    fn reversed_axes(&self) -> Result<Self> {
        let axes: Axes = (0..self.ndim()).rev().collect();
        Ok(self.view(self.layout().permute(&axes)?))
    }

    /// A shape for this array's elements, with the size that stands as -1.
    fn complete_shape(&self, shape: &[isize]) -> Result<Shape> {
        let fail = |reason: String| Error::value("reshape", reason);
        let mut open = None;
        let mut result = Shape::new();
        for (axis, &size) in shape.iter().enumerate() {
            if size == -1 && open.replace(axis).is_some() {
                return Err(fail("-1 stands for one size at most".to_owned()));
            }
            let size = if size == -1 { 1 } else { size };
            result
                .push(usize::try_from(size).map_err(|_| fail(format!("size {size} is negative")))?);
        }
        if let Some(axis) = open {
            let known = shape::element_count(&result, 1)?;
            if known == 0 || !self.size().is_multiple_of(known) {
                return Err(fail(format!(
                    "{} elements don't make a shape of {shape:?}",
                    self.size()
                )));
            }
            result[axis] = self.size() / known;
        }
        Ok(result)
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
    /// Positions that the result doesn't have, or named twice.
    pub fn expand_dims(&self, axes: &[isize]) -> Result<Self> {
        let ndim = self.ndim() + axes.len();
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
    /// [`Error::Broadcast`] unless the array broadcasts to the shape.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        let layout = self.layout().broadcast_to(shape);
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
}

/// Ways to repeat and move elements, which copy.
impl Tensor {
    /// A copy with elements moved along axes, those beyond the end coming in at the begin. Without
    /// axes, elements move through the whole array in row-major order.
    ///
    /// # Errors
    /// Axes that the array doesn't have; as many shifts as axes; no memory.
    pub fn roll(&self, shifts: &[isize], axes: Option<&[isize]>) -> Result<Self> {
        let Some(axes) = axes else {
            if self.size() == 0 {
                return self.copy(Order::C);
            }
            let flat = self.reshape(&[self.size() as isize], None)?;
            let shape: SmallVec<[isize; 4]> =
                self.shape().iter().map(|&size| size as isize).collect();
            return flat.rolled(0, shifts.iter().sum())?.reshape(&shape, None);
        };
        if shifts.len() != axes.len() && shifts.len() != 1 {
            let reason = format!("{} shifts for {} axes", shifts.len(), axes.len());
            return Err(Error::value("roll", reason));
        }
        let mut moved: SmallVec<[isize; 4]> = SmallVec::from_elem(0, self.ndim());
        for (index, &axis) in axes.iter().enumerate() {
            // An axis may be named several times; its shifts add up.
            moved[normalize_axis(axis, self.ndim())?] += shifts[index.min(shifts.len() - 1)];
        }
        let mut result = self.clone();
        for (axis, &shift) in moved.iter().enumerate() {
            if shift != 0 {
                result = result.rolled(axis, shift)?;
            }
        }
        if result.is_same_view(self) {
            return self.copy(Order::K);
        }
        Ok(result)
    }

    fn rolled(&self, axis: usize, shift: isize) -> Result<Self> {
        let place = Place::of(self);
        let result = empty(self.shape(), self.dtype(), &place)?;
        let size = self.shape()[axis] as isize;
        if self.size() == 0 {
            return Ok(result);
        }
        let shift = shift.rem_euclid(size);
        for (from, to, len) in [(0, shift, size - shift), (size - shift, 0, shift)] {
            if len > 0 {
                let source = self.along(axis, Index::range(from, from + len))?;
                let target = result.along(axis, Index::range(to, to + len))?;
                copy_into(&target, (&source).into(), &place.queue)?;
            }
        }
        Ok(result)
    }

    /// The view of an index on one axis.
    pub(crate) fn along(&self, axis: usize, index: Index) -> Result<Self> {
        let mut indices: SmallVec<[Index; 4]> = SmallVec::from_elem(Index::ALL, axis);
        indices.push(index);
        self.get(&indices)
    }

    /// A copy repeated as a whole along each axis. Axes are added in front on either side as need
    /// be.
    ///
    /// # Errors
    /// A result too large; no memory.
    pub fn tile(&self, repetitions: &[usize]) -> Result<Self> {
        let ndim = self.ndim().max(repetitions.len());
        let mut pairs = Shape::new();
        let mut whole = Shape::new();
        let mut open: SmallVec<[isize; 4]> = SmallVec::new();
        let mut source: SmallVec<[isize; 4]> = SmallVec::new();
        for axis in 0..ndim {
            let size = (axis + self.ndim())
                .checked_sub(ndim)
                .map_or(1, |axis| self.shape()[axis]);
            let times = (axis + repetitions.len())
                .checked_sub(ndim)
                .map_or(1, |axis| repetitions[axis]);
            pairs.extend_from_slice(&[times, size]);
            source.extend_from_slice(&[1, size as isize]);
            let product = times.checked_mul(size);
            whole.push(product.unwrap_or(usize::MAX));
            open.push(product.unwrap_or(usize::MAX) as isize);
        }
        shape::element_count(&whole, self.item_size())?;
        let place = Place::of(self);
        let result = empty(&pairs, self.dtype(), &place)?;
        copy_into(
            &result,
            (&self.reshape(&source, None)?).into(),
            &place.queue,
        )?;
        result.reshape(&open, None)
    }

    /// A copy with each element along an axis repeated; without an axis, of the elements in
    /// row-major order.
    ///
    /// # Errors
    /// An axis that the array doesn't have; a result too large; no memory.
    pub fn repeat(&self, count: usize, axis: Option<isize>) -> Result<Self> {
        let Some(axis) = axis else {
            let flat = self.reshape(&[self.size() as isize], None)?;
            return flat.repeat(count, Some(0));
        };
        let axis = normalize_axis(axis, self.ndim())?;
        let mut shape: Shape = self.shape().into();
        shape[axis] = shape[axis].saturating_mul(count);
        let open: SmallVec<[isize; 4]> = shape.iter().map(|&size| size as isize).collect();
        shape::element_count(&shape, self.item_size())?;
        let mut pairs: Shape = self.shape().into();
        pairs.insert(axis + 1, count);
        let place = Place::of(self);
        let result = empty(&pairs, self.dtype(), &place)?;
        let source = self.expand_dims(&[axis as isize + 1])?;
        copy_into(&result, (&source).into(), &place.queue)?;
        result.reshape(&open, None)
    }

    /// The arrays along an axis, which goes.
    ///
    /// # Errors
    /// An axis that the array doesn't have.
    pub fn unstack(&self, axis: isize) -> Result<Vec<Self>> {
        let axis = normalize_axis(axis, self.ndim())?;
        (0..self.shape()[axis] as isize)
            .map(|index| self.along(axis, Index::At(index)))
            .collect()
    }
}

/// Arrays as views of the shape that all broadcast to.
///
/// # Errors
/// [`Error::Broadcast`] if there is none.
pub fn broadcast_arrays(arrays: &[&Tensor]) -> Result<Vec<Tensor>> {
    let shapes: SmallVec<[&[usize]; 4]> = arrays.iter().map(|array| array.shape()).collect();
    let shape = shape::broadcast(&shapes).map_err(|error| Error::Broadcast {
        operation: "broadcast_arrays",
        error,
    })?;
    arrays
        .iter()
        .map(|array| array.broadcast_to(&shape))
        .collect()
}

/// What [`concat`] and [`stack`] give: the promoted dtype, and the place.
fn together(operation: &'static str, arrays: &[&Tensor]) -> Result<(DType, Place)> {
    let place = Place::common(operation, arrays.iter().copied())?;
    let operands: SmallVec<[Operand<'_>; 4]> =
        arrays.iter().map(|&array| Operand::Tensor(array)).collect();
    let dtype = join(
        operation,
        &operands,
        data_types::default_float(place.device()),
    )?;
    Ok((dtype, place))
}

/// Arrays one after the other along an axis; without an axis, their elements in row-major order.
///
/// # Errors
/// Shapes that differ elsewhere; no common dtype; different devices; no arrays; no memory.
pub fn concat(arrays: &[&Tensor], axis: Option<isize>) -> Result<Tensor> {
    const OPERATION: &str = "concat";
    let Some(axis) = axis else {
        let flat = arrays
            .iter()
            .map(|array| array.reshape(&[array.size() as isize], None))
            .collect::<Result<Vec<_>>>()?;
        return concat(&flat.iter().collect::<Vec<_>>(), Some(0));
    };
    let (dtype, place) = together(OPERATION, arrays)?;
    let first = arrays[0];
    if first.ndim() == 0 {
        return Err(Error::value(
            OPERATION,
            "arrays without axes can't be joined",
        ));
    }
    let axis = normalize_axis(axis, first.ndim())?;
    let mut shape: Shape = first.shape().into();
    shape[axis] = 0;
    for array in arrays {
        let mut other: Shape = array.shape().into();
        let len = if other.len() == shape.len() {
            other[axis]
        } else {
            0
        };
        if let Some(size) = other.get_mut(axis) {
            *size = shape[axis];
        }
        if other != shape {
            return Err(Error::value(
                OPERATION,
                format!(
                    "arrays of shapes {} and {} differ in another axis than {axis}",
                    shape::Tuple(first.shape()),
                    shape::Tuple(array.shape())
                ),
            ));
        }
        shape[axis] = shape[axis].saturating_add(len);
    }
    let result = empty(&shape, dtype, &place)?;
    let mut begin = 0;
    for array in arrays {
        let end = begin + array.shape()[axis] as isize;
        if array.size() > 0 {
            let target = result.along(axis, Index::range(begin, end))?;
            copy_into(&target, Operand::Tensor(array), &place.queue)?;
        }
        begin = end;
    }
    Ok(result)
}

/// Arrays of one shape along a new axis.
///
/// # Errors
/// Shapes that differ; no common dtype; different devices; no arrays; no memory.
pub fn stack(arrays: &[&Tensor], axis: isize) -> Result<Tensor> {
    const OPERATION: &str = "stack";
    let (dtype, place) = together(OPERATION, arrays)?;
    let first = arrays[0];
    let axis = normalize_axis(axis, first.ndim() + 1)?;
    if let Some(other) = arrays.iter().find(|array| array.shape() != first.shape()) {
        return Err(Error::value(
            OPERATION,
            format!(
                "arrays have shapes {} and {}",
                shape::Tuple(first.shape()),
                shape::Tuple(other.shape())
            ),
        ));
    }
    let mut shape: Shape = first.shape().into();
    shape.insert(axis, arrays.len());
    let result = empty(&shape, dtype, &place)?;
    for (index, array) in arrays.iter().enumerate() {
        let target = result.along(axis, Index::At(index as isize))?;
        copy_into(&target, Operand::Tensor(array), &place.queue)?;
    }
    Ok(result)
}

impl Tensor {
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
