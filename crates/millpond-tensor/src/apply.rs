//! Element-wise operations over arrays: the one place that promotes, broadcasts, allocates,
//! places and launches.
//!
//! All errors that can be known at the call are raised there, naming the operation, and a call
//! that fails changes nothing. Nothing waits (rule O4). An output may overlap the inputs in any
//! way: where their elements don't coincide, the result passes through a temporary.

use std::borrow::Cow;

use millpond_kernel::ops::rows;
use millpond_kernel::{Input, MapKernel, Operation, Signature};
use millpond_runtime::{Allocation, MemoryKind, Queue};
use millpond_types::promote::{result_type, with_scalar};
use millpond_types::{DType, Layout, Shape, shape};
use smallvec::SmallVec;

use crate::comparison::{beyond_range, signed_with_unsigned};
use crate::cost;
use crate::creation;
use crate::data_types::{self, Casting};
use crate::error::{Error, Result, check_fits};
use crate::operand::Operand;
use crate::place::{Place, check_device};
use crate::tensor::Tensor;

/// The most operands of an operation, its result included.
const MAX_OPERANDS: usize = 4;

type Memories<'a> = SmallVec<[&'a Allocation; MAX_OPERANDS]>;

/// Applies an operation element by element.
///
/// The result goes where [`Place::common`] says, or to `out`, which must have the result's shape
/// and a dtype that the result can be cast to within its kind.
///
/// # Errors
/// Operands that the operation isn't defined for, that don't broadcast, or that are on different
/// devices; integers that don't fit; an output that can't take the result; no memory.
pub fn apply(
    operation: &'static Operation,
    operands: &[Operand<'_>],
    out: Option<&Tensor>,
) -> Result<Tensor> {
    if let Some(result) = quickly(operation, operands, out)? {
        return Ok(result);
    }
    if let Some(result) = signed_with_unsigned(operation, operands, out)? {
        return Ok(result);
    }
    Call::new(operation, operands)?.run(out)
}

/// Applies an operation to `target` and `rest`, and puts the result into `target`, as `x += y`
/// does.
///
/// # Errors
/// As for [`apply`]: the target's shape and dtype stay what they are.
pub fn apply_in_place(
    operation: &'static Operation,
    target: &Tensor,
    rest: &[Operand<'_>],
) -> Result<()> {
    let mut operands: SmallVec<[Operand<'_>; 3]> = SmallVec::new();
    operands.push(target.into());
    operands.extend_from_slice(rest);
    apply(operation, &operands, Some(target)).map(drop)
}

/// The short way: contiguous arrays of one shape and dtype from the beginning of their memory,
/// which the operation computes with as they are. `None` leaves the call to the long way, which
/// gives the same result.
#[inline]
fn quickly(
    operation: &'static Operation,
    operands: &[Operand<'_>],
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let Some(first) = operands.iter().find_map(Operand::tensor) else {
        return Ok(None);
    };
    let dtype = first.dtype();
    let Some(mut work) = operation.contiguous_loop(dtype) else {
        return Ok(None);
    };
    // A choice takes operands of two dtypes; all others take one.
    if operands.len() != operation.arity() || *operation == rows::where_ {
        return Ok(None);
    }
    let size = first.size();
    let queue = first.memory().home();
    let mut kind = first.kind();
    // The first place is the result's.
    let mut memories = [first.memory(); MAX_OPERANDS];
    let mut count = 1;
    for (index, operand) in operands.iter().enumerate() {
        match *operand {
            Operand::Tensor(tensor) => {
                let fits = is_plain(tensor, dtype) && has_shape_of(tensor, first);
                if !fits || count == MAX_OPERANDS {
                    return Ok(None);
                }
                check_device(operation.name(), queue, tensor)?;
                kind = kind.min(tensor.kind());
                memories[count] = tensor.memory();
                count += 1;
            }
            Operand::Scalar(value) => {
                let same = with_scalar(dtype, value, DType::Float64) == dtype && value.fits(dtype);
                match work.with_scalar(index, value) {
                    Ok(with_scalar) if same => work = with_scalar,
                    _ => return Ok(None),
                }
            }
        }
    }
    let output = work.output();
    let result = match out {
        None => {
            let memory = queue.allocate(kind, size * output.size())?;
            Tensor::assemble(memory, output, first.layout().clone(), false)
        }
        Some(out) => {
            let fits = is_plain(out, output)
                && has_shape_of(out, first)
                && !out.is_read_only()
                && !out.memory().is_foreign();
            // In place needs the same dtype on both sides.
            let mut inputs = memories[1..count].iter();
            if !fits || !(output == dtype || inputs.all(|input| !input.same_as(out.memory()))) {
                return Ok(None);
            }
            check_device(operation.name(), queue, out)?;
            out.clone()
        }
    };
    memories[0] = result.memory();
    let nanoseconds = cost::of_operation(operation, dtype, size, count * size * dtype.size());
    queue.launch(work.over(size), &memories[..count], nanoseconds)?;
    Ok(Some(result))
}

/// Whether both have the same shape, without a call for these short lists.
#[inline]
fn has_shape_of(tensor: &Tensor, other: &Tensor) -> bool {
    let (a, b) = (tensor.shape(), other.shape());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Whether it has this dtype and all its elements lie at the beginning of its memory, in order.
#[inline]
fn is_plain(tensor: &Tensor, dtype: DType) -> bool {
    tensor.dtype() == dtype && tensor.is_contiguous() && tensor.layout().offset() == 0
}

/// A call with everything about it resolved.
struct Call<'a> {
    operation: &'static Operation,
    operands: SmallVec<[Operand<'a>; 3]>,
    place: Place,
    shape: Shape,
    signature: Signature,
    /// What a comparison with an integer beyond the dtype's range gives for every element.
    constant: Option<bool>,
}

impl<'a> Call<'a> {
    fn new(operation: &'static Operation, operands: &[Operand<'a>]) -> Result<Self> {
        let name = operation.name();
        if operands.len() != operation.arity() {
            return Err(Error::wrong_type(
                name,
                format!(
                    "{} operands are needed, {} were given",
                    operation.arity(),
                    operands.len()
                ),
            ));
        }
        let place = Place::common(name, operands.iter().filter_map(Operand::tensor))?;
        let default_float = data_types::default_float(place.device());
        let dtypes = dtypes_of(operation, operands, default_float)?;
        let signature = operation.resolve(&dtypes, default_float)?;
        for &dtype in signature.inputs.iter().chain([&signature.output]) {
            place.check_dtype(dtype)?;
        }
        let mut call = Self {
            operation,
            operands: operands.into(),
            shape: broadcast(name, operands)?,
            place,
            signature,
            constant: None,
        };
        call.check_scalars()?;
        Ok(call)
    }

    /// Integers must fit, but for bounds, which are clamped, and comparisons, whose answer is
    /// known.
    fn check_scalars(&mut self) -> Result<()> {
        for (index, operand) in self.operands.iter_mut().enumerate() {
            let Operand::Scalar(value) = operand else {
                continue;
            };
            let dtype = self.signature.inputs[index];
            if value.fits(dtype) {
                continue;
            }
            let above = value.to_i128() > 0;
            if *self.operation == rows::clip {
                *value = data_types::clamped(*value, dtype);
            } else if let Some(answer) = beyond_range(self.operation, above, index == 0) {
                self.constant = Some(answer);
            } else {
                check_fits(self.operation.name(), *value, dtype)?;
            }
        }
        Ok(())
    }

    fn run(&self, out: Option<&Tensor>) -> Result<Tensor> {
        let Some(out) = out else {
            let target = self.allocate()?;
            self.write(&target)?;
            return Ok(target);
        };
        self.check_out(out)?;
        let mut arrays = self.operands.iter().filter_map(Operand::tensor);
        if arrays.any(|array| array.may_overlap(out) && !array.is_same_view(out)) {
            let temporary = self.allocate()?;
            self.write(&temporary)?;
            copy_into(out, (&temporary).into(), &self.place.queue)?;
        } else {
            self.write(out)?;
        }
        Ok(out.clone())
    }

    fn check_out(&self, out: &Tensor) -> Result<()> {
        let operation = self.operation.name();
        out.check_writable(operation)?;
        check_device(operation, &self.place.queue, out)?;
        if *out.shape() != *self.shape {
            return Err(Error::OutputShape {
                operation,
                output: out.shape().into(),
                result: self.shape.clone(),
            });
        }
        data_types::check_cast(
            operation,
            self.signature.output,
            out.dtype(),
            Casting::SameKind,
        )
    }

    fn allocate(&self) -> Result<Tensor> {
        let dtype = self.signature.output;
        let mut arrays = self.operands.iter().filter_map(Operand::tensor);
        // The result's axes lie in memory as those of the first array of its shape do.
        let layout = match arrays.find(|array| *array.shape() == *self.shape) {
            Some(array) => creation::dense_like(array.layout(), dtype)?,
            None => Layout::contiguous(&self.shape, dtype.size())?,
        };
        creation::allocate(layout, dtype, &self.place)
    }

    /// Launches the kernel that writes `target`, whose shape is the result's.
    fn write(&self, target: &Tensor) -> Result<()> {
        if let Some(answer) = self.constant {
            return copy_into(target, answer.into(), &self.place.queue);
        }
        let mut layouts: SmallVec<[Cow<'_, Layout>; 3]> = SmallVec::new();
        let mut memories = Memories::new();
        memories.push(target.memory());
        let mut bytes = target.bytes();
        for tensor in self.operands.iter().filter_map(Operand::tensor) {
            layouts.push(if *tensor.shape() == *self.shape {
                Cow::Borrowed(tensor.layout())
            } else {
                Cow::Owned(tensor.layout().broadcast_to(&self.shape)?)
            });
            memories.push(tensor.memory());
            bytes += tensor.bytes();
        }
        let mut layouts = layouts.iter();
        let mut inputs: SmallVec<[Input<'_>; 3]> = SmallVec::new();
        for operand in &self.operands {
            match operand {
                Operand::Scalar(value) => inputs.push(Input::Scalar(*value)),
                Operand::Tensor(tensor) => {
                    let layout = layouts.next().map(Cow::as_ref);
                    inputs.push(Input::Array(
                        tensor.dtype(),
                        layout.unwrap_or(tensor.layout()),
                    ));
                }
            }
        }
        let output = (target.dtype(), target.layout());
        let kernel = MapKernel::new(self.operation, &self.signature, output, &inputs)?;
        let computed = *self.signature.inputs.last().unwrap_or(&target.dtype());
        let nanoseconds = cost::of_operation(self.operation, computed, target.size(), bytes)
            .saturating_add(cost::of_walk(target.size()));
        Ok(self.place.queue.launch(kernel, &memories, nanoseconds)?)
    }
}

/// The dtypes to resolve an operation with; scalars take those of the arrays.
fn dtypes_of(
    operation: &'static Operation,
    operands: &[Operand<'_>],
    default_float: DType,
) -> Result<SmallVec<[DType; 3]>> {
    let conditions = usize::from(*operation == rows::where_).min(operands.len());
    let (condition, values) = operands.split_at(conditions);
    let condition = condition.iter().map(|operand| match operand {
        Operand::Tensor(tensor) => tensor.dtype(),
        Operand::Scalar(value) => data_types::default_dtype(*value, default_float),
    });
    let joined = join(operation.name(), values, default_float)?;
    let scalars = values.iter().any(|operand| operand.tensor().is_none());
    let values = values.iter().map(|operand| match operand {
        // With a scalar, all take the dtype that it was raised to.
        Operand::Tensor(tensor) if !scalars => tensor.dtype(),
        _ => joined,
    });
    Ok(condition.chain(values).collect())
}

/// The dtype that all operands are promoted to.
pub(crate) fn join(
    operation: &'static str,
    operands: &[Operand<'_>],
    default_float: DType,
) -> Result<DType> {
    let arrays: SmallVec<[DType; 4]> = operands
        .iter()
        .filter_map(Operand::tensor)
        .map(Tensor::dtype)
        .collect();
    let scalars = operands.iter().filter_map(|operand| match operand {
        Operand::Scalar(value) => Some(*value),
        Operand::Tensor(_) => None,
    });
    let promotion = |error| Error::Promotion { operation, error };
    if arrays.is_empty() {
        let defaults: SmallVec<[DType; 4]> = scalars
            .map(|value| data_types::default_dtype(value, default_float))
            .collect();
        return result_type(&defaults).map_err(promotion);
    }
    let joined = result_type(&arrays).map_err(promotion)?;
    Ok(scalars.fold(joined, |dtype, value| {
        with_scalar(dtype, value, default_float)
    }))
}

fn broadcast(operation: &'static str, operands: &[Operand<'_>]) -> Result<Shape> {
    let shapes: SmallVec<[&[usize]; 4]> = operands.iter().map(Operand::shape).collect();
    shape::broadcast(&shapes).map_err(|error| Error::Broadcast { operation, error })
}

/// Copies a value into an array that it broadcasts to, cast to its dtype. Overlaps that matter are
/// the caller's duty, as are the checks of dtypes and devices.
pub(crate) fn copy_into(target: &Tensor, value: Operand<'_>, queue: &Queue) -> Result<()> {
    let output = (target.dtype(), target.layout());
    let (size, bytes) = (target.size(), target.bytes());
    match value {
        Operand::Scalar(value) => {
            let kernel = MapKernel::copy(output, Input::Scalar(value))?;
            let nanoseconds = cost::of_copy(size, bytes);
            Ok(queue.launch(kernel, &[target.memory()], nanoseconds)?)
        }
        Operand::Tensor(source) => {
            let layout = source.layout().broadcast_to(target.shape())?;
            let kernel = MapKernel::copy(output, Input::Array(source.dtype(), &layout))?;
            let nanoseconds = cost::of_copy(size, bytes + source.bytes());
            Ok(queue.launch(kernel, &[target.memory(), source.memory()], nanoseconds)?)
        }
    }
}

/// The order of ranks that [`Place`] relies on.
const _: () = assert!(
    (MemoryKind::Device as u8) < MemoryKind::Shared as u8
        && (MemoryKind::Shared as u8) < MemoryKind::Host as u8,
    "the smallest kind ranks highest"
);
