//! Sets: the different elements of an array, and which elements are members.
//!
//! Elements are the same if they are equal: zeros of either sign are, NaNs never. How many there
//! are is a shape, so these calls wait for that number, and for nothing behind it (rule O5).

use millpond_kernel::ops::{Operation, rows};
use millpond_kernel::{Find, MemberKernel, Membership, Runs, Wanted};
use millpond_types::{DType, Layout, Scalar};

use crate::apply::{apply, join};
use crate::cost;
use crate::creation::{allocate, empty};
use crate::data_types;
use crate::error::Result;
use crate::operand::Operand;
use crate::place::{Home, Place};
use crate::searching::{begin, find_in, of_operand};
use crate::sorting::{POSITION, Ranked};
use crate::tensor::Tensor;

/// The different elements of an array in ascending order, and what was asked for besides.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The elements; of several equal ones the first.
    pub values: Tensor,
    /// Where in row-major order each occurs first.
    pub indices: Option<Tensor>,
    /// Which of the values each element is, in the array's shape.
    pub inverse: Option<Tensor>,
    /// How often each occurs.
    pub counts: Option<Tensor>,
}

/// Sets.
impl Tensor {
    /// The different elements, and what is wanted of them. Waits for the array.
    ///
    /// ```
    /// # use millpond_kernel::Wanted;
    /// # use millpond_tensor::{Place, creation};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let driver = millpond_cpu::CpuDriver::new(millpond_cpu::CpuConfig::default());
    /// # let device = millpond_hal::Driver::devices(&driver)?.remove(0);
    /// # let place = Place::on(&millpond_runtime::Device::open(device).default_queue()?);
    /// let x = creation::from_slice(&[3, 1, 3], &[3], &place)?;
    /// let unique = x.unique(Wanted { counts: true, ..Wanted::default() })?;
    /// assert_eq!(unique.values.to_vec::<i32>()?, [1, 3]);
    /// assert_eq!(unique.counts.map(|counts| counts.to_vec::<i64>()), Some(Ok(vec![1, 2])));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The failure of what computed the array; no memory.
    pub fn unique(&self, wanted: Wanted) -> Result<Unique> {
        let flat = self.to_be_observed()?;
        let flat = flat.reshape(&[self.size() as isize], None)?;
        let (sorted, positions) = if wanted.indices || wanted.inverse {
            let Ranked { values, indices } = flat.sort_with_indices(0, false)?;
            (values, Some(indices))
        } else {
            (flat.sort(0, false)?, None)
        };
        let place = Home::from(self);
        let output = |is_wanted: bool, shape: &[usize], dtype: DType| {
            let layout = Layout::contiguous(shape, dtype.size())?;
            let output = is_wanted.then(|| allocate(layout, dtype, place));
            output.transpose()
        };
        let inverse = output(wanted.inverse, self.shape(), POSITION)?;
        let size = self.size();
        let runs = Runs::new(self.dtype(), size);
        let table = (size > 0)
            .then(|| place.queue.allocate(place.kind, runs.table_bytes()))
            .transpose()?;
        let count = if let Some(table) = &table {
            let cost = cost::of_copy(size, self.bytes());
            let count = empty(&[], POSITION, &Place::of(&sorted))?;
            let operands = [count.memory(), table, sorted.memory()];
            sorted
                .memory()
                .home()
                .launch(runs.count(), &operands, cost)?;
            count.item()?.to_i128() as usize
        } else {
            0
        };
        let values = allocate(
            Layout::contiguous(&[count], self.item_size())?,
            self.dtype(),
            place,
        )?;
        let indices = output(wanted.indices, &[count], POSITION)?;
        let counts = output(wanted.counts, &[count], POSITION)?;
        if let Some(table) = &table {
            let outputs = [
                Some(&values),
                indices.as_ref(),
                counts.as_ref(),
                inverse.as_ref(),
            ];
            let inputs = [Some(&sorted), positions.as_ref()];
            let outputs = outputs.into_iter().flatten().map(Tensor::memory);
            let inputs = inputs.into_iter().flatten().map(Tensor::memory);
            let operands: Vec<_> = outputs.chain([table]).chain(inputs).collect();
            let cost = cost::of_copy(size, self.bytes() + size * POSITION.size());
            place
                .queue
                .launch(runs.write(count, wanted), &operands, cost)?;
        }
        Ok(Unique {
            values,
            indices,
            inverse,
            counts,
        })
    }
}

/// Whether each of the `wanted` elements is one of the `members`, or, with `invert`, isn't.
///
/// Integers that the arrays' dtype can't hold are no members.
///
/// # Errors
/// [`Error::Value`](crate::Error::Value) if neither is an array; no common dtype; different devices; no memory.
pub fn isin<'a>(
    wanted: impl Into<Operand<'a>>,
    members: impl Into<Operand<'a>>,
    invert: bool,
) -> Result<Tensor> {
    const OPERATION: &str = "isin";
    let operands = [wanted.into(), members.into()];
    if let [Operand::Tensor(wanted), Operand::Tensor(members)] = operands
        && let Some((dtype, within)) = both_hold(wanted.dtype(), members.dtype())
    {
        return isin_within(wanted, members, dtype, within, invert);
    }
    let arrays = operands.iter().filter_map(Operand::tensor);
    let place = Place::common(OPERATION, arrays)?;
    let default_float = data_types::default_float(place.device());
    let dtype = join(OPERATION, &operands, default_float)?;
    let fits = |operand: &Operand<'_>| match operand {
        Operand::Scalar(value) => value.fits(dtype),
        Operand::Tensor(_) => true,
    };
    if !operands.iter().all(fits) {
        let answer = Scalar::Bool(invert);
        let shape = operands[0].shape();
        return crate::creation::full(shape, answer, Some(DType::Bool), &place);
    }
    let [wanted, members] = operands;
    let wanted = of_operand(OPERATION, wanted, dtype, &place)?;
    let members = of_operand(OPERATION, members, dtype, &place)?;
    // A set of members is the host's; devices look in a sorted array.
    let is_set = || MemberKernel::suits(dtype, members.size()) || looks_dense(&members);
    if !Home::from(&place).compiles() && is_set() {
        return among(&wanted, &members, invert);
    }
    let flat = members.reshape(&[members.size() as isize], None)?;
    let sorted = if flat.size() > 1 {
        flat.sort(0, false)?
    } else {
        flat
    };
    find_in(&sorted, &wanted, Find::Member { invert }, None)
}

/// A dtype for `uint64` among signed integers, which have no common one but a float's, which doesn't hold
/// them all: that of the members, and what `wanted` elements are compared with, and how, since it holds
/// only those.
fn both_hold(wanted: DType, members: DType) -> Option<(DType, (&'static Operation, Scalar))> {
    use DType::{Int8, Int16, Int32, Int64, Uint64};
    match (wanted, members) {
        (Uint64, Int8 | Int16 | Int32 | Int64) => {
            let most = Scalar::Int(i128::from(i64::MAX));
            Some((Int64, (&rows::less_equal, most)))
        }
        (Int8 | Int16 | Int32 | Int64, Uint64) => {
            Some((Uint64, (&rows::greater_equal, Scalar::Int(0))))
        }
        _ => None,
    }
}

/// Whether elements are members that have another range: those within it that are.
fn isin_within(
    wanted: &Tensor,
    members: &Tensor,
    dtype: DType,
    (comparison, bound): (&'static Operation, Scalar),
    invert: bool,
) -> Result<Tensor> {
    let within = apply(comparison, &[wanted.into(), Operand::Scalar(bound)], None)?;
    let [wanted, members] = [wanted.astype(dtype, false)?, members.astype(dtype, false)?];
    let found = isin(&wanted, &members, false)?;
    let found = apply(
        &rows::logical_and,
        &[(&found).into(), (&within).into()],
        None,
    )?;
    if invert {
        return apply(&rows::logical_not, &[(&found).into()], None);
    }
    Ok(found)
}

/// Elements of a sample, and those of them that follow one another.
const SAMPLE: usize = 1024;
const TOGETHER: usize = 32;

/// Whether many members that are there already look like integers of a small range, of which one thread
/// makes a set sooner than all sort them. Whether they are is found when the work runs.
fn looks_dense(members: &Tensor) -> bool {
    let (size, item) = (members.size(), members.item_size());
    let mut sample = [0; SAMPLE * size_of::<u64>()];
    if size < SAMPLE || item > size_of::<u64>() || !members.dtype().is_integer() {
        return false;
    }
    let sample = &mut sample[..SAMPLE * item];
    let pieces = SAMPLE / TOGETHER;
    let mut places = (0..pieces).map(|piece| piece * (size - TOGETHER) / (pieces - 1));
    let is_read = sample.chunks_exact_mut(TOGETHER * item).all(|piece| {
        let place = places.next().unwrap_or(0);
        let begin = begin(members) + place * item;
        members.memory().read_at_once(begin, piece).unwrap_or(false)
    });
    is_read && MemberKernel::suits_sample(members.dtype(), size, sample)
}

/// Whether elements of a plain array are among those of another one, of which one thread makes a
/// set.
fn among(wanted: &Tensor, members: &Tensor, invert: bool) -> Result<Tensor> {
    let place = Home::common("isin", [wanted, members])?;
    let layout = Layout::contiguous(wanted.shape(), DType::Bool.size())?;
    let target = allocate(layout, DType::Bool, place)?;
    if wanted.size() == 0 {
        return Ok(target);
    }
    let kernel = MemberKernel::from(Membership {
        dtype: wanted.dtype(),
        members: (members.size(), begin(members)),
        wanted: (wanted.size(), begin(wanted)),
        invert,
    });
    let operands = [target.memory(), members.memory(), wanted.memory()];
    let cost = cost::of_search(wanted.size() + members.size(), 1);
    place.queue.launch(kernel, &operands, cost)?;
    Ok(target)
}
