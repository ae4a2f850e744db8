//! Element-wise operations over arrays: the one place that promotes, broadcasts, allocates,
//! places and launches.
//!
//! All errors that can be known at the call are raised there, naming the operation, and a call
//! that fails changes nothing. Nothing waits (rule O4). An output may overlap the inputs in any
//! way: where their elements don't coincide, the result passes through a temporary.

use std::borrow::Cow;

use millpond_kernel::ops::rows;
use millpond_kernel::{Input, MapKernel, Operation, Signature};
use millpond_runtime::{MemoryKind, Queue};
use millpond_types::promote::{promote, result_type, with_scalar};
use millpond_types::{DType, Layout, Scalar, Shape, shape};
use smallvec::SmallVec;

use crate::comparison::{beyond_range, signed_with_unsigned};
use crate::cost;
use crate::creation;
use crate::data_types;
use crate::error::{Error, Result, check_fits};
use crate::fuse::Work;
use crate::operand::Operand;
use crate::place::Home;
use crate::plain::{MAX_OPERANDS, PlainCall};
use crate::tensor::Tensor;

/// The most operands that an operation reads.
const MAX_INPUTS: usize = MAX_OPERANDS - 1;

/// Applies an operation element by element.
///
/// The result goes where [`Place::common`](crate::place::Place::common) says, or to `out`, which
/// must have the result's shape and a dtype that the result can be cast to within its kind.
///
/// # Errors
/// Operands that the operation isn't defined for, that don't broadcast, or that are on different
/// devices; integers that don't fit; an output that can't take the result; no memory.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a closure is inlined here, a method that is handed on is called"
)]
pub fn apply(
    operation: &'static Operation,
    operands: &[Operand<'_>],
    out: Option<&Tensor>,
) -> Result<Tensor> {
    if let Some(out) = out {
        // What is wrong with an output is told of the operation that was asked for.
        return apply_into(operation, operands, out);
    }
    let (operation, operands) = simplest(operation, operands);
    let otherwise = || generally(operation, operands, None);
    PlainCall::with(operation, operands, |call| call.run(), otherwise)
}

#[inline(never)]
fn apply_into(
    operation: &'static Operation,
    operands: &[Operand<'_>],
    out: &Tensor,
) -> Result<Tensor> {
    let otherwise = || generally(operation, operands, Some(out));
    let plainly = |call: PlainCall<'_>| {
        if call.run_into(out)? {
            return Ok(out.clone());
        }
        otherwise()
    };
    PlainCall::with(operation, operands, plainly, otherwise)
}

/// The operation that gives the same result with least work: a power by the number two is a square,
/// one product, which is rounded once.
#[inline]
fn simplest<'a>(
    operation: &'static Operation,
    operands: &'a [Operand<'a>],
) -> (&'static Operation, &'a [Operand<'a>]) {
    if *operation == rows::pow
        && let [Operand::Tensor(base), Operand::Scalar(power)] = operands
    {
        let dtype = base.dtype();
        let is_two = match power {
            Scalar::Int(power) => *power == 2 && dtype != DType::Bool,
            Scalar::Float(power) => *power == 2.0 && (dtype.is_float() || dtype.is_complex()),
            _ => false,
        };
        if is_two {
            return (&rows::square, &operands[..1]);
        }
    }
    (operation, operands)
}

/// The general way.
#[inline(never)]
fn generally(
    operation: &'static Operation,
    operands: &[Operand<'_>],
    out: Option<&Tensor>,
) -> Result<Tensor> {
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
    let mut operands = [Operand::from(target); MAX_INPUTS];
    let count = 1 + rest.len();
    if count > MAX_INPUTS {
        return Err(wrong_count(operation, count));
    }
    operands[1..count].copy_from_slice(rest);
    if *operation == rows::pow {
        // What is wrong with the target is told of the operation that was asked for.
        target.check_writable(operation.name())?;
    }
    let (operation, operands) = simplest(operation, &operands[..count]);
    let otherwise = || generally(operation, operands, Some(target)).map(drop);
    let plainly = |call: PlainCall<'_>| {
        if call.run_into(target)? {
            return Ok(());
        }
        otherwise()
    };
    PlainCall::with(operation, operands, plainly, otherwise)
}

/// A call with everything about it resolved.
struct Call<'a> {
    operation: &'static Operation,
    operands: Cow<'a, [Operand<'a>]>,
    place: Home<'a>,
    shape: Shape,
    signature: Signature,
    /// What a comparison with an integer beyond the dtype's range gives for every element.
    constant: Option<bool>,
}

impl<'a> Call<'a> {
    fn new(operation: &'static Operation, operands: &'a [Operand<'a>]) -> Result<Self> {
        let name = operation.name();
        if operands.len() != operation.arity() || operands.len() > MAX_INPUTS {
            return Err(wrong_count(operation, operands.len()));
        }
        let place = Home::common(name, operands.iter().filter_map(Operand::tensor))?;
        let default_float = data_types::default_float(place.queue.device());
        let dtypes = dtypes_of(operation, operands, default_float)?;
        let signature = operation.resolve(&dtypes, default_float)?;
        for &dtype in signature.inputs.iter().chain([&signature.output]) {
            place.check_dtype(dtype)?;
        }
        let mut call = Self {
            operation,
            operands: Cow::Borrowed(operands),
            shape: broadcast(name, operands)?,
            place,
            signature,
            constant: None,
        };
        call.check_scalars()?;
        Ok(call)
    }

    /// Integers must fit, but for bounds, which are clamped, and comparisons, whose answer is
    /// known. Numbers beside half types are rounded to them.
    fn check_scalars(&mut self) -> Result<()> {
        for index in 0..self.operands.len() {
            let Operand::Scalar(value) = self.operands[index] else {
                continue;
            };
            let dtype = self.signature.inputs[index];
            if value.fits(dtype) {
                if data_types::is_half(dtype) {
                    let value = data_types::as_element(value, dtype);
                    self.operands.to_mut()[index] = Operand::Scalar(value);
                }
                continue;
            }
            let above = value.to_i128() > 0;
            if *self.operation == rows::clip {
                let clamped = data_types::clamped(value, dtype);
                self.operands.to_mut()[index] = Operand::Scalar(clamped);
            } else if let Some(answer) = beyond_range(self.operation, above, index == 0) {
                self.constant = Some(answer);
            } else {
                check_fits(self.operation.name(), value, dtype)?;
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
        let operation = self.operation.name();
        self.place
            .check_out(operation, out, &self.shape, self.signature.output)?;
        let mut arrays = self.operands.iter().filter_map(Operand::tensor);
        if arrays.any(|array| array.may_overlap(out) && !array.is_same_view(out)) {
            let temporary = self.allocate()?;
            self.write(&temporary)?;
            copy_into(out, (&temporary).into(), self.place.queue)?;
        } else {
            self.write(out)?;
        }
        Ok(out.clone())
    }

    fn allocate(&self) -> Result<Tensor> {
        let dtype = self.signature.output;
        let mut arrays = self.operands.iter().filter_map(Operand::tensor);
        // The result's axes lie in memory as those of the first array of its shape do.
        let layout = match arrays.find(|array| *array.shape() == *self.shape) {
            Some(array) => creation::dense_like(array.layout(), dtype)?,
            None => Layout::contiguous(&self.shape, dtype.size())?,
        };
        creation::allocate(layout, dtype, self.place)
    }

    /// Launches the kernel that writes `target`, whose shape is the result's.
    fn write(&self, target: &Tensor) -> Result<()> {
        if let Some(answer) = self.constant {
            return copy_into(target, answer.into(), self.place.queue);
        }
        // Where the operands don't have the result's shape; and whose memory the kernel gets.
        let mut wide = [const { None }; MAX_INPUTS];
        let mut memories = [target.memory(); MAX_OPERANDS];
        let mut count = 1;
        let mut bytes = target.bytes();
        for (wide, operand) in wide.iter_mut().zip(&*self.operands) {
            if let Operand::Tensor(tensor) = operand {
                if *tensor.shape() != *self.shape {
                    *wide = Some(tensor.layout().broadcast_to(&self.shape)?);
                }
                memories[count] = tensor.memory();
                count += 1;
                bytes += tensor.bytes();
            }
        }
        let mut inputs = [Input::Scalar(Scalar::Bool(false)); MAX_INPUTS];
        for ((input, operand), wide) in inputs.iter_mut().zip(&*self.operands).zip(&wide) {
            *input = match operand {
                Operand::Scalar(value) => Input::Scalar(*value),
                Operand::Tensor(tensor) => {
                    Input::Array(tensor.dtype(), wide.as_ref().unwrap_or(tensor.layout()))
                }
            };
        }
        let computed = *self.signature.inputs.last().unwrap_or(&target.dtype());
        let nanoseconds = cost::of_operation(self.operation, computed, target.size(), bytes)
            .saturating_add(cost::of_walk(target.size()));
        if self.place.queue.is_worth_joining(nanoseconds) {
            let work = Work {
                operation: Some(self.operation),
                computes: &self.signature.inputs,
                target,
                inputs: &self.operands,
                wide: &wide,
            };
            if work.launch(self.place.queue)? {
                return Ok(());
            }
        }
        let inputs = &inputs[..self.operands.len()];
        let output = (target.dtype(), target.layout());
        let kernel = MapKernel::new(self.operation, &self.signature, output, inputs)?;
        let memories = &memories[..count];
        Ok(self.place.queue.launch(kernel, memories, nanoseconds)?)
    }
}

fn wrong_count(operation: &Operation, given: usize) -> Error {
    let needed = operation.arity();
    let reason = format!("{needed} operands are needed, {given} were given");
    Error::wrong_type(operation.name(), reason)
}

/// The dtypes to resolve an operation with; scalars take those of the arrays.
fn dtypes_of(
    operation: &'static Operation,
    operands: &[Operand<'_>],
    default_float: DType,
) -> Result<SmallVec<[DType; 3]>> {
    let conditions = usize::from(*operation == rows::where_).min(operands.len());
    let (condition, values) = operands.split_at(conditions);
    let joined = join(operation.name(), values, default_float)?;
    let scalars = values.iter().any(|operand| operand.tensor().is_none());
    let mut dtypes = SmallVec::new();
    for operand in condition {
        dtypes.push(match operand {
            Operand::Tensor(tensor) => tensor.dtype(),
            Operand::Scalar(value) => data_types::default_dtype(*value, default_float),
        });
    }
    for operand in values {
        dtypes.push(match operand {
            // With a scalar, all take the dtype that it was raised to.
            Operand::Tensor(tensor) if !scalars => tensor.dtype(),
            _ => joined,
        });
    }
    Ok(dtypes)
}

/// The dtype that all operands are promoted to.
pub(crate) fn join(
    operation: &'static str,
    operands: &[Operand<'_>],
    default_float: DType,
) -> Result<DType> {
    let scalars = operands.iter().filter_map(|operand| match operand {
        Operand::Scalar(value) => Some(*value),
        Operand::Tensor(_) => None,
    });
    let promotion = |error| Error::Promotion { operation, error };
    let mut arrays = operands.iter().filter_map(Operand::tensor);
    let Some(first) = arrays.next() else {
        let defaults: SmallVec<[DType; 4]> = scalars
            .map(|value| data_types::default_dtype(value, default_float))
            .collect();
        return result_type(&defaults).map_err(promotion);
    };
    let joined = arrays
        .try_fold(first.dtype(), |joined, array| {
            promote(joined, array.dtype())
        })
        .map_err(promotion)?;
    Ok(scalars.fold(joined, |dtype, value| {
        with_scalar(dtype, value, default_float)
    }))
}

fn broadcast(operation: &'static str, operands: &[Operand<'_>]) -> Result<Shape> {
    let mut shapes = [&[][..]; MAX_INPUTS];
    for (shape, operand) in shapes.iter_mut().zip(operands) {
        *shape = operand.shape();
    }
    shape::broadcast(&shapes[..operands.len()])
        .map_err(|error| Error::Broadcast { operation, error })
}

/// Copies a value into an array that it broadcasts to, cast to its dtype. Overlaps that matter are
/// the caller's duty, as are the checks of dtypes and devices.
pub(crate) fn copy_into(target: &Tensor, value: Operand<'_>, queue: &Queue) -> Result<()> {
    let output = (target.dtype(), target.layout());
    let (size, bytes) = (target.size(), target.bytes());
    let joined = |nanoseconds, wide| {
        let work = Work {
            operation: None,
            computes: &[],
            target,
            inputs: &[value],
            wide: &[wide],
        };
        Ok::<_, Error>(queue.is_worth_joining(nanoseconds) && work.launch(queue)?)
    };
    match value {
        Operand::Scalar(value) => {
            let nanoseconds = cost::of_copy(size, bytes);
            if joined(nanoseconds, None)? {
                return Ok(());
            }
            let kernel = MapKernel::copy(output, Input::Scalar(value))?;
            Ok(queue.launch(kernel, &[target.memory()], nanoseconds)?)
        }
        Operand::Tensor(source) => {
            let layout = source.layout().broadcast_to(target.shape())?;
            let nanoseconds = cost::of_copy(size, bytes + source.bytes());
            if joined(nanoseconds, Some(layout.clone()))? {
                return Ok(());
            }
            let kernel = MapKernel::copy(output, Input::Array(source.dtype(), &layout))?;
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
