//! Accumulating along an axis.
//!
//! In which order floats are added is in `millpond_kernel::host::scan`; it depends on shapes and
//! layouts, and not on threads.

use millpond_kernel::{Scan, ScanPlan};
use millpond_types::shape::normalize_axis;
use millpond_types::{DType, Layout, Scalar, Shape};

use crate::apply::copy_into;
use crate::cost;
use crate::creation::allocate;
use crate::data_types;
use crate::error::{Error, Result};
use crate::indexing::Index;
use crate::place::Home;
use crate::tensor::Tensor;

/// How to accumulate: everything but what and by which operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accumulate<'a> {
    /// The axis; it may go without saying for an array of one.
    pub axis: Option<isize>,
    /// The dtype of the result; as for the reduction, unless it is given.
    pub dtype: Option<DType>,
    /// Whether the result begins with that of no element, so that it is longer by one.
    pub include_initial: bool,
    /// Where to put the result.
    pub out: Option<&'a Tensor>,
}

/// Accumulates an array along an axis: each element of the result is that of the elements up to
/// its own.
///
/// ```
/// # use millpond_kernel::Scan;
/// # use millpond_tensor::scan::{Accumulate, accumulate};
/// # use millpond_tensor::{Place, creation};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let driver = millpond_cpu::CpuDriver::new(millpond_cpu::CpuConfig::default());
/// # let device = millpond_hal::Driver::devices(&driver)?.remove(0);
/// # let place = Place::on(&millpond_runtime::Device::open(device).default_queue()?);
/// let x = creation::from_slice(&[1_u8, 2, 3], &[3], &place)?;
/// let how = Accumulate { include_initial: true, ..Accumulate::default() };
/// assert_eq!(accumulate(Scan::Sum, &x, &how)?.to_vec::<u64>()?, [0, 1, 3, 6]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// No axis for an array of several; an axis that the array doesn't have; a dtype that it isn't
/// defined for; an output that can't take the result; no memory.
pub fn accumulate(scan: Scan, input: &Tensor, how: &Accumulate<'_>) -> Result<Tensor> {
    let operation = scan.name();
    if how.axis.is_none() && input.ndim() > 1 {
        let reason = format!("an array of {} axes needs an axis", input.ndim());
        return Err(Error::value(operation, reason));
    }
    let axis = normalize_axis(how.axis.unwrap_or(0), input.ndim().max(1))?;
    let place = Home::from(input);
    let default_float = data_types::default_float(place.queue.device());
    let dtype = scan.resolve(input.dtype(), how.dtype, default_float)?;
    place.check_dtype(dtype)?;
    let input = &if input.ndim() == 0 && how.include_initial {
        input.reshape(&[1], None)?
    } else {
        input.clone()
    };
    let mut shape: Shape = input.shape().into();
    if how.include_initial {
        shape[axis] += 1;
    }
    if let Some(out) = how.out {
        place.check_out(operation, out, &shape, dtype)?;
    }
    if how.out.is_none() && !how.include_initial && input.ndim() > 0 && input.size() > 0 {
        let layout = Layout::contiguous(&shape, dtype.size())?;
        let operand = (input.dtype(), input.layout());
        let plan = ScanPlan::new(scan, (dtype, &layout), operand, axis)?;
        if plan.totals().is_none() {
            let bytes = input.bytes() + layout.size() * dtype.size();
            let cost = cost::of_scan(scan, input.size(), bytes);
            return place.compute(plan.kernel(), (layout, dtype), &[input.memory()], cost);
        }
    }
    let direct = |out: &&Tensor| out.dtype() == dtype && !out.may_overlap(input);
    let direct = how.out.filter(direct);
    let target = match direct {
        Some(out) => out.clone(),
        None => allocate(Layout::contiguous(&shape, dtype.size())?, dtype, place)?,
    };
    write(scan, &target, input, axis, how.include_initial)?;
    match how.out {
        Some(out) if direct.is_none() => {
            out.assign(&target)?;
            Ok(out.clone())
        }
        _ => Ok(target),
    }
}

fn write(scan: Scan, target: &Tensor, input: &Tensor, axis: usize, initial: bool) -> Result<()> {
    let queue = Home::from(input).queue;
    if input.ndim() == 0 {
        return write(
            scan,
            &target.reshape(&[1], Some(false))?,
            &input.reshape(&[1], Some(false))?,
            0,
            false,
        );
    }
    let mut results = target.clone();
    if initial {
        let first = target.along(axis, Index::range(0, 1))?;
        copy_into(&first, start(scan).into(), queue)?;
        let size = target.shape()[axis] as isize;
        results = target.along(axis, Index::range(1, size))?;
    }
    if input.size() == 0 {
        return Ok(());
    }
    let plan = ScanPlan::new(
        scan,
        (results.dtype(), results.layout()),
        (input.dtype(), input.layout()),
        axis,
    )?;
    let cost = cost::of_scan(scan, input.size(), input.bytes() + results.bytes());
    let Some(totals) = plan.totals() else {
        return Ok(queue.launch(plan.kernel(), &[results.memory(), input.memory()], cost)?);
    };
    let bytes = plan.scratch_bytes();
    let scratch = queue.allocate(input.kind(), bytes)?;
    queue.launch(totals, &[&scratch, input.memory()], cost)?;
    let operands = [results.memory(), input.memory(), &scratch];
    Ok(queue.launch(plan.kernel(), &operands, cost)?)
}

/// What no element comes to.
const fn start(scan: Scan) -> Scalar {
    match scan {
        Scan::Sum => Scalar::Int(0),
        Scan::Product => Scalar::Int(1),
        Scan::LogSumExp => Scalar::Float(f64::NEG_INFINITY),
    }
}

macro_rules! scans {
    ($( $(#[$doc:meta])* $name:ident: $scan:ident; )*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// As for [`accumulate`].
        pub fn $name(
            &self,
            axis: Option<isize>,
            dtype: Option<DType>,
            include_initial: bool,
        ) -> Result<Self> {
            let how = Accumulate { axis, dtype, include_initial, out: None };
            accumulate(Scan::$scan, self, &how)
        }
    )* };
}

/// Accumulating.
impl Tensor {
    scans! {
        /// The sums of the elements up to each; small integers are summed as `int64`, or `uint64`,
        /// unless a dtype is given.
        cumulative_sum: Sum;
        /// The products of the elements up to each, in dtypes as for a sum.
        cumulative_prod: Product;
        /// The logarithms of the sums of the exponentials up to each.
        cumulative_logsumexp: LogSumExp;
    }
}
