//! Arrays of evenly spaced numbers.
//!
//! Element `i` is computed from `i`, not from its predecessor, so that errors don't add up.

use millpond_types::{DType, Kind, Scalar};
use num_complex::Complex;

use crate::creation::from_bytes;
use crate::data_types;
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
    if integral {
        let [start, stop, step] = arguments.map(Scalar::to_i128);
        let len = integers_between(start, stop, step);
        if dtype == DType::Bool && len > 2 {
            let reason = format!("{len} numbers were asked for; bool has two values");
            return Err(Error::wrong_type(OPERATION, reason));
        }
        let len = checked_len(OPERATION, len as f64)?;
        if len > 0 {
            check_fits(OPERATION, Scalar::Int(start), dtype)?;
            check_fits(
                OPERATION,
                Scalar::Int(start + (len as i128 - 1) * step),
                dtype,
            )?;
        }
        return generate(len, dtype, place, |index| {
            Scalar::Int(start + index as i128 * step)
        });
    }
    let [start, stop, step] = arguments.map(Scalar::to_f64);
    let len = checked_len(OPERATION, ((stop - start) / step).ceil().max(0.0))?;
    generate(len, dtype, place, |index| {
        Scalar::Float(start + index as f64 * step)
    })
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
    let reason = format!("{len} numbers are more than an array can have");
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
    let steps = if endpoint { num.saturating_sub(1) } else { num };
    if dtype.is_complex() {
        let (start, stop) = (start.to_complex(), stop.to_complex());
        return generate(num, dtype, place, |index| {
            Scalar::Complex(Complex::new(
                between(start.re, stop.re, index, steps, endpoint),
                between(start.im, stop.im, index, steps, endpoint),
            ))
        });
    }
    let (start, stop) = (start.to_f64(), stop.to_f64());
    generate(num, dtype, place, |index| {
        let value = between(start, stop, index, steps, endpoint);
        // Integers are rounded down, not towards zero, so that their steps are even.
        Scalar::Float(if dtype.is_integer() {
            value.floor()
        } else {
            value
        })
    })
}

/// Number `index` of `steps` steps from `start` to `stop`, which is met exactly.
fn between(start: f64, stop: f64, index: usize, steps: usize, endpoint: bool) -> f64 {
    if index == 0 {
        return start;
    }
    if endpoint && index == steps {
        return stop;
    }
    let (index, steps) = (index as f64, steps as f64);
    let distance = stop - start;
    if distance.is_infinite() && start.is_finite() && stop.is_finite() {
        return start * (1.0 - index / steps) + stop * (index / steps);
    }
    // A step too small to be a normal number would lose digits.
    let step = distance / steps;
    if step.abs() < f64::MIN_POSITIVE {
        start + distance * (index / steps)
    } else {
        start + step * index
    }
}

/// An array of what `value` gives for each index.
fn generate(
    len: usize,
    dtype: DType,
    place: &Place,
    value: impl Fn(usize) -> Scalar,
) -> Result<Tensor> {
    place.check_dtype(dtype)?;
    let bytes = millpond_types::shape::element_count(&[len], dtype.size())? * dtype.size();
    let mut all = Vec::new();
    all.try_reserve_exact(bytes).map_err(|_| {
        Error::from(millpond_types::shape::ShapeError::TooLarge {
            shape: [len].as_slice().into(),
            item_size: dtype.size(),
        })
    })?;
    for index in 0..len {
        all.extend_from_slice(&value(index).to_bytes(dtype)[..dtype.size()]);
    }
    from_bytes(all, dtype, &[len], place)
}
