//! Elements selected by masks, and where they are.

use millpond_kernel::{
    CollectKernel, Collected, Direction, MaskCountKernel, MaskKernel, NonzeroKernel, Select, Supply,
};
use millpond_runtime::{MemoryKind, Queue};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use super::assign::packed;
use crate::cost;
use crate::creation::{allocate, empty};
use crate::error::{During, Error, Result};
use crate::indexing::Index;
use crate::operand::Operand;
use crate::place::{Home, Place, check_device};
use crate::searching::begin;
use crate::tensor::Tensor;

/// The elements of a view that a mask selects.
pub(super) struct Masked<'a> {
    view: Tensor,
    mask: &'a Tensor,
    /// The first axis of the view that the mask stands for.
    axis: usize,
    /// Where the axis of what is selected is in the result.
    at: usize,
}

impl<'a> Masked<'a> {
    /// A mask has the shape of the view's axes from `axis` on.
    pub(super) const fn new(view: Tensor, mask: &'a Tensor, axis: usize, at: usize) -> Self {
        Self {
            view,
            mask,
            axis,
            at,
        }
    }

    /// The shape of so many selected elements.
    fn shape(&self, selected: usize) -> Shape {
        let under = self.axis..self.axis + self.mask.ndim();
        let mut shape: Shape = (0..self.view.ndim())
            .filter(|axis| !under.contains(axis))
            .map(|axis| self.view.shape()[axis])
            .collect();
        shape.insert(self.at, selected);
        shape
    }

    /// A copy of the elements. Waits for the mask.
    pub(super) fn get(&self, operation: &'static str) -> Result<Tensor> {
        if let Some(result) = self.collected(operation) {
            return result;
        }
        let counted = Counted::new(self.mask)?;
        let shape = self.shape(counted.selected);
        let layout = Layout::contiguous(&shape, self.view.item_size()).during(operation)?;
        let home = Home::common(operation, [&self.view, self.mask])?;
        let result = allocate(layout, self.view.dtype(), home)?;
        let supply = Supply::Each(counted.selected);
        let kernel = self.kernel(
            operation,
            Direction::Get,
            self.mask,
            result.layout(),
            supply,
        )?;
        let memories = [
            result.memory(),
            self.view.memory(),
            self.mask.memory(),
            counted.counts.memory(),
        ];
        let nanoseconds = self.cost(result.bytes());
        let queue = self.view.memory().home();
        queue.launch(kernel, &memories, nanoseconds)?;
        Ok(result)
    }

    /// The same where a short mask stands for all of a plain array and nothing stands before that:
    /// counted while the elements are copied.
    fn collected(&self, operation: &'static str) -> Option<Result<Tensor>> {
        let (view, mask) = (&self.view, self.mask);
        if view.ndim() != mask.ndim() || !view.is_contiguous() {
            return None;
        }
        let home = match Home::common(operation, [view, mask]) {
            Ok(home) => home,
            Err(error) => return Some(Err(error)),
        };
        let what = Collected::Elements(view.dtype(), begin(view));
        collect(what, view.dtype(), mask, Some(view), home)
    }

    /// Writes a value to the elements.
    pub(super) fn set(&self, operation: &'static str, value: Operand<'_>) -> Result<()> {
        let ndim = self.view.ndim() + 1 - self.mask.ndim();
        let mut given = 1;
        let (source, layout) = packed(value, &self.view, |shape| {
            // The value says how many elements it has along the axis of what is selected.
            let behind = ndim - self.at;
            given = shape
                .len()
                .checked_sub(behind)
                .map_or(1, |axis| shape[axis]);
            self.shape(given)
        })?;
        if given == 1 {
            let layout = standing(&layout, self.at)?;
            return self.write(operation, &source, &layout, Supply::One);
        }
        self.write(operation, &source, &layout, Supply::Each(given))
    }

    /// Writes what a packed side has to the elements.
    fn write(
        &self,
        operation: &'static str,
        source: &Tensor,
        layout: &Layout,
        supply: Supply,
    ) -> Result<()> {
        let mask = &apart(self.mask, &self.view)?;
        let mut kernel = self.kernel(operation, Direction::Set, mask, layout, supply)?;
        let queue = self.view.memory().home();
        if !Home::from(&self.view).compiles() {
            kernel = kernel.counting();
        }
        let counts = kernel.takes_counts().then(|| counts(mask, queue));
        let counts = counts.transpose()?;
        let mut memories: SmallVec<[_; 4]> =
            SmallVec::from_iter([self.view.memory(), source.memory(), mask.memory()]);
        memories.extend(counts.as_ref().map(Tensor::memory));
        let nanoseconds = self.cost(self.view.bytes());
        Ok(queue.launch(kernel, &memories, nanoseconds)?)
    }

    fn kernel(
        &self,
        operation: &'static str,
        direction: Direction,
        mask: &Tensor,
        packed: &Layout,
        supply: Supply,
    ) -> Result<MaskKernel> {
        Ok(MaskKernel::new(&Select {
            name: operation,
            direction,
            dtype: self.view.dtype(),
            array: self.view.layout(),
            packed,
            mask: mask.layout(),
            axis: self.axis,
            position: self.at,
            supply,
        })?)
    }

    /// Walking over the mask, and moving bytes.
    fn cost(&self, bytes: usize) -> u32 {
        cost::of_picks(self.mask.size(), 2 * bytes)
    }
}

/// The same of a layout, but that all along an axis is its first element.
fn standing(layout: &Layout, axis: usize) -> Result<Layout> {
    let mut strides: SmallVec<[_; 8]> = SmallVec::from_slice(layout.strides());
    strides[axis] = 0;
    Ok(Layout::new(layout.shape(), &strides, layout.offset())?)
}

/// Bytes that a result may have too many without a copy that is as small as it can be.
const FEW_BYTES: usize = 512;

/// What a short mask selects, if nothing stands before that.
fn collect(
    what: Collected,
    dtype: DType,
    mask: &Tensor,
    array: Option<&Tensor>,
    home: Home<'_>,
) -> Option<Result<Tensor>> {
    let count = mask.size();
    if count > CollectKernel::MOST || !mask.is_contiguous() {
        return None;
    }
    let kernel = CollectKernel::new(what, (count, begin(mask)));
    let memories = [mask.memory(), array.unwrap_or(mask).memory()];
    let inputs = &memories[..=usize::from(array.is_some())];
    let bytes = count * dtype.size();
    let nanoseconds = cost::of_picks(count, 2 * bytes);
    let memory =
        home.queue
            .launch_into_new_at_once(&kernel, home.kind, bytes, inputs, nanoseconds)?;
    let assembled = |memory| {
        let layout = Layout::contiguous(&[kernel.found()], dtype.size())?;
        let found = Tensor::assemble(memory, dtype, layout, false);
        // Who keeps a few of many keeps no memory for all of them.
        let is_wasteful = bytes > FEW_BYTES && kernel.found() < count / 4;
        if is_wasteful {
            return found.astype(dtype, true);
        }
        Ok(found)
    };
    Some(memory.map_err(Error::from).and_then(assembled))
}

/// A mask, or a copy of one that lies where something is written.
fn apart(mask: &Tensor, written: &Tensor) -> Result<Tensor> {
    if mask.may_overlap(written) {
        return mask.astype(mask.dtype(), true);
    }
    Ok(mask.clone())
}

/// The counts of a mask, on a queue of theirs.
fn allocate_counts(kernel: &MaskCountKernel, queue: &Queue) -> Result<Tensor> {
    let layout = Layout::contiguous(&[kernel.counts()], size_of::<i64>())?;
    let kind = MemoryKind::Device;
    allocate(layout, DType::Int64, Home { queue, kind })
}

/// Counts what a mask selects, in queue order.
fn counts(mask: &Tensor, queue: &Queue) -> Result<Tensor> {
    let kernel = MaskCountKernel::new(mask.layout());
    let counts = allocate_counts(&kernel, queue)?;
    let nanoseconds = cost::of_copy(0, mask.size());
    queue.launch(kernel, &[counts.memory(), mask.memory()], nanoseconds)?;
    Ok(counts)
}

/// A mask of which the host knows how many elements it selects.
struct Counted {
    counts: Tensor,
    selected: usize,
}

impl Counted {
    /// Counts what a mask selects. Waits for the mask, and for nothing else (rule O5).
    fn new(mask: &Tensor) -> Result<Self> {
        let device = mask.device();
        let kernel = MaskCountKernel::new(mask.layout());
        // Memory of the host's own queue comes behind nothing that programs submit.
        let counts = allocate_counts(&kernel, &device.host_queue()?)?;
        let nanoseconds = cost::of_copy(0, mask.size());
        device.observe(kernel, &[counts.memory(), mask.memory()], nanoseconds)?;
        let selected = counts.get(&[Index::At(-1)])?.item()?;
        Ok(Self {
            counts,
            selected: selected.to_i128() as usize,
        })
    }
}

/// Where elements differ from zero, for the host to count: behind what wrote them only.
fn truths(tensor: &Tensor) -> Result<Tensor> {
    if tensor.dtype() == DType::Bool {
        return Ok(tensor.clone());
    }
    tensor.copy_for_host(DType::Bool)
}

impl Tensor {
    /// Where elements differ from zero: for each axis an array of their coordinates, in row-major
    /// order of the elements. Waits for the array.
    ///
    /// ```
    /// # use millpond_cpu::{CpuConfig, CpuDriver};
    /// # use millpond_tensor::{Place, creation};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = millpond_runtime::Device::open(
    /// #     millpond_hal::Driver::devices(&CpuDriver::new(CpuConfig::default()))?.remove(0),
    /// # );
    /// # let place = Place::on(&device.default_queue()?);
    /// let x = creation::from_slice(&[0.0, 2.0, 1.0, 0.0], &[2, 2], &place)?;
    /// let places = x.nonzero()?;
    /// assert_eq!(places[0].to_vec::<i64>()?, [0, 1]);
    /// assert_eq!(places[1].to_vec::<i64>()?, [1, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for an array without axes; the failure of what computed it; no memory.
    pub fn nonzero(&self) -> Result<Vec<Self>> {
        if self.ndim() == 0 {
            return Err(Error::value(
                "nonzero",
                "an array without axes has no places",
            ));
        }
        if self.ndim() == 1
            && self.dtype() == DType::Bool
            && let Some(places) = collect(
                Collected::Places,
                DType::Int64,
                self,
                None,
                Home::from(self),
            )
        {
            return Ok(vec![places?]);
        }
        let mask = truths(self)?;
        let counted = Counted::new(&mask)?;
        let place = Place::of(self);
        (0..self.ndim())
            .map(|axis| {
                let coordinates = empty(&[counted.selected], DType::Int64, &place)?;
                let kernel = NonzeroKernel::new(mask.layout(), axis, coordinates.layout())?;
                let memories = [coordinates.memory(), mask.memory(), counted.counts.memory()];
                let nanoseconds = cost::of_picks(mask.size(), coordinates.bytes());
                place.queue.launch(kernel, &memories, nanoseconds)?;
                Ok(coordinates)
            })
            .collect()
    }
}

/// The elements of an array, in row-major order, where a condition of as many elements differs from
/// zero. Waits for the condition.
///
/// # Errors
/// [`Error::Value`] for another number of elements; different devices; the failure of what computed
/// the condition; no memory.
pub fn extract(condition: &Tensor, array: &Tensor) -> Result<Tensor> {
    const OPERATION: &str = "extract";
    check_device(OPERATION, array.memory().home(), condition)?;
    let mask = truths(condition)?;
    let (mask, array) = alike(OPERATION, &mask, array)?;
    Masked::new(array, &mask, 0, 0).get(OPERATION)
}

/// Writes values, in row-major order and again from the first when they are used up, to the elements
/// of an array where a mask of the same shape differs from zero.
///
/// # Errors
/// [`Error::Value`] for a mask of another shape; [`Error::ReadOnly`]; complex values for a real
/// array; different devices; no memory. Without values, a mask that selects something fails the
/// work.
pub fn place(array: &Tensor, mask: &Tensor, values: &Tensor) -> Result<()> {
    const OPERATION: &str = "place";
    check_device(OPERATION, array.memory().home(), mask)?;
    if mask.shape() != array.shape() {
        return Err(Error::value(
            OPERATION,
            format!(
                "the mask has shape {}, the array {}",
                Tuple(mask.shape()),
                Tuple(array.shape())
            ),
        ));
    }
    let mask = mask.astype(DType::Bool, false)?;
    // An array without axes is one of one element.
    let axes: &[isize] = if array.ndim() == 0 { &[0] } else { &[] };
    let (mask, array) = (mask.expand_dims(axes)?, array.expand_dims(axes)?);
    let count = values.size();
    let values = values.reshape(&[count as isize], None)?;
    let (source, layout) = packed((&values).into(), &array, |_| Shape::from_slice(&[count]))?;
    let masked = Masked::new(array, &mask, 0, 0);
    masked.write(OPERATION, &source, &layout, Supply::Cycle(count))
}

/// A mask and an array of one shape, which has an axis at least.
fn alike(operation: &'static str, mask: &Tensor, array: &Tensor) -> Result<(Tensor, Tensor)> {
    if mask.shape() == array.shape() && array.ndim() > 0 {
        return Ok((mask.clone(), array.clone()));
    }
    if mask.size() != array.size() {
        let shapes = (Tuple(mask.shape()), Tuple(array.shape()));
        let reason = format!(
            "the condition has shape {}, the array {}",
            shapes.0, shapes.1
        );
        return Err(Error::value(operation, reason));
    }
    let flat = [array.size() as isize];
    Ok((mask.reshape(&flat, None)?, array.reshape(&flat, None)?))
}
