//! Sorting along an axis, and what comes first in the order.
//!
//! Sorts are stable, in descending order too. NaNs are the largest and equal to one another; zeros
//! of either sign are equal; complex numbers are ordered by their real, then their imaginary parts
//! (`millpond_kernel::host::sort` has the details). How many threads there are makes no difference
//! to a result.

use millpond_kernel::{First, Sort, SortPlan, Sorted};
use millpond_types::shape::normalize_axis;
use millpond_types::{DType, Layout, Shape};

use crate::cost;
use crate::creation::{allocate, zeros};
use crate::error::{Error, Result};
use crate::indexing::Index;
use crate::place::{Home, Place};
use crate::tensor::Tensor;

/// The dtype of positions.
pub(crate) const POSITION: DType = DType::Int64;

/// Elements in order, and where they came from along the axis.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// The elements.
    pub values: Tensor,
    /// Their positions.
    pub indices: Tensor,
}

/// Sorting.
impl Tensor {
    /// The elements in order along an axis.
    ///
    /// ```
    /// # use millpond_tensor::{Place, creation};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let driver = millpond_cpu::CpuDriver::new(millpond_cpu::CpuConfig::default());
    /// # let device = millpond_hal::Driver::devices(&driver)?.remove(0);
    /// # let place = Place::on(&millpond_runtime::Device::open(device).default_queue()?);
    /// let x = creation::from_slice(&[3.0, 1.0, f64::NAN, 2.0], &[4], &place)?;
    /// assert_eq!(x.sort(-1, false)?.to_vec::<f64>()?[..3], [1.0, 2.0, 3.0]);
    /// assert_eq!(x.argsort(-1, true)?.to_vec::<i64>()?, [2, 0, 3, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// An axis that the array doesn't have; no memory.
    pub fn sort(&self, axis: isize, descending: bool) -> Result<Self> {
        let wanted = Sorted {
            values: true,
            positions: false,
        };
        let [values, _] = self.sorted(axis, descending, wanted)?;
        values.ok_or_else(|| missing("sort"))
    }

    /// Where the elements in order along an axis come from.
    ///
    /// # Errors
    /// As for [`Tensor::sort`].
    pub fn argsort(&self, axis: isize, descending: bool) -> Result<Self> {
        let wanted = Sorted {
            values: false,
            positions: true,
        };
        let [_, positions] = self.sorted(axis, descending, wanted)?;
        positions.ok_or_else(|| missing("argsort"))
    }

    /// Both [`Tensor::sort`] and [`Tensor::argsort`].
    ///
    /// # Errors
    /// As for [`Tensor::sort`].
    pub fn sort_with_indices(&self, axis: isize, descending: bool) -> Result<Ranked> {
        let wanted = Sorted {
            values: true,
            positions: true,
        };
        match self.sorted(axis, descending, wanted)? {
            [Some(values), Some(indices)] => Ok(Ranked { values, indices }),
            _ => Err(missing("sort")),
        }
    }

    /// The `k` largest elements along an axis, or the smallest, first things first; without an
    /// axis, those of the whole array in row-major order. Of equal ones the first come first.
    ///
    /// # Errors
    /// [`Error::Value`] for more elements than there are; an axis that the array doesn't have; no
    /// memory.
    pub fn top_k(&self, k: usize, axis: Option<isize>, largest: bool) -> Result<Ranked> {
        // A number counts as an array of one element.
        let Some(axis) = axis.filter(|_| self.ndim() > 0) else {
            return self.reshape(&[-1], None)?.top_k(k, Some(0), largest);
        };
        let index = normalize_axis(axis, self.ndim())?;
        let size = self.shape()[index];
        if k > size {
            let reason = format!("{k} elements are wanted of an axis with size {size}");
            return Err(Error::value("top_k", reason));
        }
        let last = self.ndim() as isize - 1;
        let rows = self.moveaxis(&[index as isize], &[last])?.to_plain()?;
        let back = |tensor: &Self| tensor.moveaxis(&[last], &[index as isize])?.to_contiguous();
        let Ranked { values, indices } = first_of_rows(&rows, k, largest)?;
        Ok(Ranked {
            values: back(&values)?,
            indices: back(&indices)?,
        })
    }

    /// Elements and positions in order, as far as they are wanted.
    fn sorted(&self, axis: isize, descending: bool, wanted: Sorted) -> Result<[Option<Self>; 2]> {
        let axis = normalize_axis(axis, self.ndim().max(1))?;
        if self.ndim() == 0 {
            let values = wanted.values.then(|| self.astype(self.dtype(), true));
            let positions = wanted
                .positions
                .then(|| zeros(&[], POSITION, &Place::of(self)));
            return Ok([values.transpose()?, positions.transpose()?]);
        }
        let (from, last) = (axis as isize, self.ndim() as isize - 1);
        let rows = if from == last {
            self.to_plain()?
        } else {
            self.moveaxis(&[from], &[last])?.to_plain()?
        };
        let result = sort_rows(&rows, descending, wanted)?;
        if from == last {
            return Ok(result);
        }
        let [values, positions] = result;
        let back = |tensor: Option<Self>| -> Result<Option<Self>> {
            let moved = tensor.map(|tensor| tensor.moveaxis(&[last], &[from])?.to_contiguous());
            moved.transpose()
        };
        Ok([back(values)?, back(positions)?])
    }

    /// The array, or a copy, with aligned elements that follow one another in row-major order.
    pub(crate) fn to_plain(&self) -> Result<Self> {
        let alignment = self.dtype().real().size();
        if self.is_contiguous() && self.address().get().is_multiple_of(alignment) {
            return Ok(self.clone());
        }
        self.astype(self.dtype(), true)?.to_contiguous()
    }
}

/// What a sort didn't give that was asked for: nothing ever is.
fn missing(operation: &'static str) -> Error {
    Error::value(operation, "the sort gave no result")
}

/// Sorts along the last axis of an array that is [plain](Tensor::to_plain).
fn sort_rows(rows: &Tensor, descending: bool, wanted: Sorted) -> Result<[Option<Tensor>; 2]> {
    let place = Home::from(rows);
    let output = |is_wanted: bool, dtype: DType| {
        let layout = Layout::contiguous(rows.shape(), dtype.size())?;
        let output = is_wanted.then(|| allocate(layout, dtype, place));
        output.transpose()
    };
    let values = output(wanted.values, rows.dtype())?;
    let positions = output(wanted.positions, POSITION)?;
    let length = rows.shape().last().copied().unwrap_or(1);
    if rows.size() > 0 {
        let input = (rows.dtype(), rows.layout().offset() * rows.item_size());
        let shape = (rows.size() / length, length);
        let sort = Sort::new(input, shape, descending, wanted);
        let plan = if place.compiles() {
            sort.plan_on_device()
        } else {
            sort.plan()
        };
        let outputs = [&values, &positions];
        let bytes = rows.bytes() + positions.as_ref().map_or(0, Tensor::bytes);
        let cost = cost::of_sort(bytes);
        launch(plan, &outputs.map(Option::as_ref), rows, cost)?;
    }
    Ok([values, positions])
}

/// The first elements in order along the last axis of a [plain](Tensor::to_plain) array, and their
/// positions.
fn first_of_rows(rows: &Tensor, count: usize, descending: bool) -> Result<Ranked> {
    let both = Sorted {
        values: true,
        positions: true,
    };
    let length = rows.shape().last().copied().unwrap_or(1);
    let input = (rows.dtype(), rows.layout().offset() * rows.item_size());
    let shape = (rows.size() / length.max(1), length);
    let first = First::new(Sort::new(input, shape, descending, both), count);
    // Devices sort whole rows.
    let Some(first) = first.filter(|_| !Home::from(rows).compiles()) else {
        let last = rows.ndim() - 1;
        // Copies, so that the others' memory is free again.
        let first = |tensor: Option<Tensor>| {
            let tensor = tensor.ok_or_else(|| missing("top_k"))?;
            let first = tensor.along(last, Index::range(0, count as isize))?;
            first.astype(first.dtype(), true)
        };
        let [values, indices] = sort_rows(rows, descending, both)?;
        return Ok(Ranked {
            values: first(values)?,
            indices: first(indices)?,
        });
    };
    let place = Home::from(rows);
    let mut shape: Shape = rows.shape().into();
    if let Some(last) = shape.last_mut() {
        *last = count;
    }
    let output = |dtype: DType| allocate(Layout::contiguous(&shape, dtype.size())?, dtype, place);
    let (values, indices) = (output(rows.dtype())?, output(POSITION)?);
    if rows.size() > 0 {
        let bytes = first.scratch_bytes();
        let scratch = place.queue.allocate(rows.kind(), bytes)?;
        let moving = [&scratch, rows.memory()];
        let reading = cost::of_copy(rows.size(), rows.bytes());
        place.queue.launch(first.select(), &moving, reading)?;
        let operands = [values.memory(), indices.memory(), &scratch, rows.memory()];
        let merging = cost::of_sort(2 * bytes);
        place.queue.launch(first.merge(), &operands, merging)?;
    }
    Ok(Ranked { values, indices })
}

fn launch(plan: SortPlan, outputs: &[Option<&Tensor>], rows: &Tensor, cost: u32) -> Result<()> {
    let queue = rows.memory().home();
    let mut operands: Vec<_> = outputs
        .iter()
        .flatten()
        .map(|output| output.memory())
        .collect();
    match plan {
        SortPlan::Rows(kernel) => {
            let bytes = kernel.aside_bytes();
            let aside = (bytes > 0).then(|| queue.allocate(rows.kind(), bytes));
            let aside = aside.transpose()?;
            operands.extend(aside.as_ref());
            operands.push(rows.memory());
            queue.launch(kernel, &operands, cost)?;
        }
        SortPlan::Spread(sort) => {
            let bytes = sort.scratch_bytes();
            let scratch = queue.allocate(rows.kind(), bytes)?;
            let moving = [&scratch, rows.memory()];
            queue.launch(sort.group(), &moving, cost)?;
            operands.extend(moving);
            queue.launch(sort.sort_parts(), &operands, cost)?;
        }
    }
    Ok(())
}
