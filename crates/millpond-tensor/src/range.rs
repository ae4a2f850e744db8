//! Arrays of evenly spaced numbers.
//!
//! Element `i` is computed from `i`, not from its predecessor, so that errors don't add up.

use millpond_kernel::{GenerateKernel, Rule};
use millpond_types::{DType, Kind, Scalar};

use crate::cost;
use crate::creation::empty;
use crate::data_types::{self, Casting};
use crate::error::{Error, Result, check_fits};
use crate::place::Place;
use crate::tensor::Tensor;

/// Numbers from `start` on, `step` apart, up to but without `stop`. The dtype is that of the
/// numbers unless given.
///
/// # Errors
/// [`Error::Value`] for a step of zero or NaN, or an endless range; [`Error::Type`] for complex
/// numbers; [`Error::Overflow`] for integers that the dtype can't hold; no memory.
pub fn arange(
    start: Scalar,
    stop: Scalar,
    step: Scalar,
    dtype: Option<DType>,
    place: &Place,
) -> Result<Tensor> {
    const OPERATION: &str = "arange";
    let arguments = [start, stop, step];
    if arguments.iter().any(|value| value.kind() == Kind::Complex) {
        return Err(Error::wrong_type(
            OPERATION,
            "complex numbers have no order",
        ));
    }
    let integral = arguments.iter().all(|value| value.kind() != Kind::Float);
    let natural = if integral {
        Scalar::Int(0)
    } else {
        Scalar::Float(0.0)
    };
    let default_float = data_types::default_float(place.device());
    let dtype = dtype.unwrap_or(data_types::default_dtype(natural, default_float));
    if !step.is_truthy() {
        return Err(Error::value(OPERATION, "the step is zero"));
    }
    let len = if integral {
        let [start, stop, step] = arguments.map(Scalar::to_i128);
        let len = checked_len(OPERATION, integers_between(start, stop, step) as f64)?;
        if len > 0 {
            let last = start + (len as i128 - 1) * step;
            check_fits(OPERATION, Scalar::Int(start), dtype)?;
            check_fits(OPERATION, Scalar::Int(last), dtype)?;
        }
        len
    } else {
        let [start, stop, step] = arguments.map(Scalar::to_f64);
        let len = ((stop - start) / step).ceil();
        if len.is_nan() {
            return Err(Error::value(
                OPERATION,
                format!("a range from {start:e} to {stop:e} by {step:e} has no length"),
            ));
        }
        checked_len(OPERATION, len.max(0.0))?
    };
    if dtype == DType::Bool {
        if len > 2 {
            let reason = format!("{len} numbers were asked for; bool has two values");
            return Err(Error::wrong_type(OPERATION, reason));
        }
        return arange(start, stop, step, Some(data_types::DEFAULT_INTEGER), place)?.cast(
            dtype,
            Casting::Unsafe,
            false,
        );
    }
    generate(len, dtype, place, Rule::Arange { start, step })
}

/// How many numbers `start + i * step` lie before `stop`.
fn integers_between(start: i128, stop: i128, step: i128) -> i128 {
    let distance = if step > 0 { stop - start } else { start - stop };
    if distance <= 0 {
        return 0;
    }
    let step = step.abs();
    distance / step + i128::from(distance % step != 0)
}

fn checked_len(operation: &'static str, len: f64) -> Result<usize> {
    // NaN is refused as well.
    if (0.0..isize::MAX as f64).contains(&len) {
        return Ok(len as usize);
    }
    let reason = format!("{len:e} numbers are more than an array can have");
    Err(Error::value(operation, reason))
}

/// `num` numbers from `start` to `stop`, which is the last one if `endpoint`. The dtype is a float
/// one unless given.
///
/// # Errors
/// A dtype that the device doesn't have; no memory.
pub fn linspace(
    start: Scalar,
    stop: Scalar,
    num: usize,
    endpoint: bool,
    dtype: Option<DType>,
    place: &Place,
) -> Result<Tensor> {
    let is_complex = |value: Scalar| value.kind() == Kind::Complex;
    let complex = is_complex(start) || is_complex(stop);
    let device = place.device();
    let dtype = dtype.unwrap_or_else(|| {
        if complex {
            data_types::default_complex(device)
        } else {
            data_types::default_float(device)
        }
    });
    if complex && !dtype.is_complex() {
        let reason = format!("complex bounds don't fit {dtype}");
        return Err(Error::wrong_type("linspace", reason));
    }
    if dtype.is_integer() || dtype == DType::Bool {
        // Rounded down, not towards zero, so that the steps of integers are even.
        let float = data_types::default_float(device);
        let points = linspace(start, stop, num, endpoint, Some(float), place)?;
        return points.floor()?.cast(dtype, Casting::Unsafe, false);
    }
    let rule = Rule::Linspace {
        start,
        stop,
        count: num,
        endpoint,
    };
    generate(num, dtype, place, rule)
}

fn generate(len: usize, dtype: DType, place: &Place, rule: Rule) -> Result<Tensor> {
    let tensor = empty(&[len], dtype, place)?;
    let kernel = GenerateKernel::new(rule, (dtype, tensor.layout()))?;
    let cost = cost::of_generation(len);
    place.queue.launch(kernel, &[tensor.memory()], cost)?;
    Ok(tensor)
}
