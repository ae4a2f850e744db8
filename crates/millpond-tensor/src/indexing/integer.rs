//! Elements picked by arrays of integers.

use std::borrow::Cow;

use millpond_kernel::{Direction, IndexMode, Line, LineKernel, Pick, PickIndex, PickKernel};
use millpond_runtime::Allocation;
use millpond_types::{DType, Layout, Shape, shape};
use smallvec::SmallVec;

use super::assign::packed;
use super::expression::OPERATION;
use crate::cost;
use crate::creation::allocate;
use crate::error::{During, Result};
use crate::operand::Operand;
use crate::place::{Home, check_device};
use crate::tensor::Tensor;

/// Indices along an axis.
pub(super) struct Along<'a> {
    array: Cow<'a, Tensor>,
    /// The axis of the view, and what it is called in errors.
    axis: usize,
    called: usize,
}

impl<'a> Along<'a> {
    pub(super) const fn new(array: Cow<'a, Tensor>, axis: usize, called: usize) -> Self {
        Self {
            array,
            axis,
            called,
        }
    }
}

/// Elements of a view, by indices that are broadcast together.
pub(super) struct Integers<'a> {
    view: Tensor,
    along: SmallVec<[Along<'a>; 1]>,
    /// The shape of the indices.
    positions: Shape,
    /// Where its axes are among those of the result.
    at: usize,
    /// Whether the positions stand for all axes, and the view's other axes run along them.
    runs: bool,
    mode: IndexMode,
}

impl<'a> Integers<'a> {
    pub(super) fn new(
        view: Tensor,
        along: SmallVec<[Along<'a>; 1]>,
        positions: Shape,
        at: usize,
    ) -> Self {
        Self {
            view,
            along,
            positions,
            at,
            runs: false,
            mode: IndexMode::Check,
        }
    }

    /// What one array of integers picks along the only axis of another, for which nothing has to be
    /// found out.
    #[inline]
    pub(super) fn plain(view: &Tensor, indices: &'a Tensor) -> Result<Option<Self>> {
        if view.ndim() != 1 || !indices.dtype().is_integer() {
            return Ok(None);
        }
        check_device(OPERATION, view.memory().home(), indices)?;
        let along = SmallVec::from_buf([Along::new(Cow::Borrowed(indices), 0, 0)]);
        let positions = indices.shape().into();
        Ok(Some(Self::new(view.clone(), along, positions, 0)))
    }

    /// The elements along one axis of a view that indices of as many axes name; the view's other
    /// axes have the sizes of the indices'.
    pub(super) fn along_axis(view: Tensor, indices: &'a Tensor, axis: usize, shape: Shape) -> Self {
        let along = SmallVec::from_iter([Along::new(Cow::Borrowed(indices), axis, axis)]);
        Self {
            runs: true,
            ..Self::new(view, along, shape, 0)
        }
    }

    /// The same, with another rule for indices outside of their axis.
    pub(super) fn with_mode(self, mode: IndexMode) -> Self {
        Self { mode, ..self }
    }

    /// The shape of what is picked.
    pub(super) fn shape(&self) -> Shape {
        if self.runs {
            return self.positions.clone();
        }
        let is_kept = |axis: &usize| self.along.iter().all(|along| along.axis != *axis);
        let mut shape: Shape = (0..self.view.ndim())
            .filter(is_kept)
            .map(|axis| self.view.shape()[axis])
            .collect();
        shape.insert_many(self.at, self.positions.iter().copied());
        shape
    }

    /// A copy of the elements.
    pub(super) fn get(&self, operation: &'static str) -> Result<Tensor> {
        let shape = self.shape();
        shape::check_ndim(shape.len()).during(operation)?;
        let layout = Layout::contiguous(&shape, self.view.item_size()).during(operation)?;
        let arrays = self.along.iter().map(|along| &*along.array);
        let home = Home::common(operation, std::iter::once(&self.view).chain(arrays))?;
        if let Some(kernel) = self.line(operation, Direction::Get, &layout) {
            let nanoseconds = cost::of_line(layout.size(), self.view.bytes());
            let inputs = [self.view.memory(), self.along[0].array.memory()];
            let result = (layout, self.view.dtype());
            return home.compute(kernel, result, &inputs, nanoseconds);
        }
        let result = allocate(layout, self.view.dtype(), home)?;
        self.get_into(operation, &result)?;
        Ok(result)
    }

    /// Copies the elements to an array of their shape and dtype, which overlaps nothing.
    pub(super) fn get_into(&self, operation: &'static str, result: &Tensor) -> Result<()> {
        self.launch(operation, Direction::Get, (result, result.layout()))
    }

    /// Writes a value to the elements.
    pub(super) fn set(&self, operation: &'static str, value: Operand<'_>) -> Result<()> {
        let shape = self.shape();
        shape::check_ndim(shape.len()).during(operation)?;
        let (source, layout) = packed(value, &self.view, |_| shape)?;
        self.launch(operation, Direction::Set, (&source, &layout))
    }

    fn launch(
        &self,
        operation: &'static str,
        direction: Direction,
        (packed, layout): (&Tensor, &Layout),
    ) -> Result<()> {
        if let Some(kernel) = self.line(operation, direction, layout) {
            return self.launch_line(kernel, direction, packed);
        }
        let view = &self.view;
        let is_written = |array: &Tensor| match direction {
            Direction::Get => false,
            Direction::Set => array.may_overlap(view),
        };
        // Indices are read before anything is written.
        let arrays: SmallVec<[Cow<'_, Tensor>; 2]> = self
            .along
            .iter()
            .map(|along| {
                if is_written(&along.array) {
                    along
                        .array
                        .astype(along.array.dtype(), true)
                        .map(Cow::Owned)
                } else {
                    Ok(Cow::Borrowed(&*along.array))
                }
            })
            .collect::<Result<_>>()?;
        let layouts: SmallVec<[Layout; 2]> = arrays
            .iter()
            .map(|array| array.layout().broadcast_to(&self.positions))
            .collect::<std::result::Result<_, _>>()?;
        let indices: SmallVec<[PickIndex<'_>; 2]> = self
            .along
            .iter()
            .zip(&arrays)
            .zip(&layouts)
            .map(|((along, array), layout)| PickIndex {
                axis: along.axis,
                called: along.called,
                dtype: array.dtype(),
                layout,
            })
            .collect();
        let queue = view.memory().home();
        let kernel = PickKernel::new(&Pick {
            name: operation,
            direction,
            dtype: view.dtype(),
            array: view.layout(),
            packed: layout,
            indices: &indices,
            positions: (self.at, self.positions.len()),
            along: self.runs,
            mode: self.mode,
            threads: queue.device().info().width(),
        })?;
        let mut memories: SmallVec<[&Allocation; 4]> = match direction {
            Direction::Get => SmallVec::from_iter([packed.memory(), view.memory()]),
            Direction::Set => SmallVec::from_iter([view.memory(), packed.memory()]),
        };
        memories.extend(arrays.iter().map(|array| array.memory()));
        Ok(queue.launch(kernel, &memories, self.cost(layout.size()))?)
    }

    /// The kernel of the plainest case, if this is one.
    fn line(
        &self,
        operation: &'static str,
        direction: Direction,
        packed: &Layout,
    ) -> Option<LineKernel> {
        let [along] = &self.along[..] else {
            return None;
        };
        let is_plain = along.array.dtype() == DType::Int64 && self.mode == IndexMode::Check;
        let is_read_first = direction == Direction::Get || !along.array.may_overlap(&self.view);
        if self.runs || !is_plain || !is_read_first {
            return None;
        }
        LineKernel::new(&Line {
            name: operation,
            direction,
            dtype: self.view.dtype(),
            array: self.view.layout(),
            packed,
            indices: along.array.layout(),
            called: along.called,
        })
    }

    fn launch_line(&self, kernel: LineKernel, direction: Direction, packed: &Tensor) -> Result<()> {
        let (view, indices) = (self.view.memory(), self.along[0].array.memory());
        let memories = match direction {
            Direction::Get => [packed.memory(), view, indices],
            Direction::Set => [view, packed.memory(), indices],
        };
        let count = self.positions.iter().product();
        let nanoseconds = cost::of_line(count, self.view.bytes());
        Ok(view.home().launch(kernel, &memories, nanoseconds)?)
    }

    /// Picking so many elements.
    fn cost(&self, count: usize) -> u32 {
        cost::of_picks(count, 2 * count * self.view.item_size())
    }
}
