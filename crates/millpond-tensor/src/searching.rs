//! Searching in sorted arrays.

use millpond_kernel::{Find, FindKernel, Finder};
use millpond_types::{DType, Kind, Layout, Scalar};

use crate::apply::join;
use crate::cost;
use crate::creation::{self, allocate};
use crate::data_types;
use crate::error::{Error, Result, check_fits};
use crate::operand::Operand;
use crate::place::{Home, Place};
use crate::sorting::POSITION;
use crate::tensor::Tensor;

/// Which place an element has that equals others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Before them.
    #[default]
    Left,
    /// Behind them.
    Right,
}

/// Searching.
impl Tensor {
    /// Where the wanted elements would have to be put into this array, of one axis and sorted, so
    /// that it stays sorted. With a `sorter`, the array is sorted only through these positions. An
    /// integer may be beyond the range of the array's dtype.
    ///
    /// ```
    /// # use millpond_tensor::searching::Side;
    /// # use millpond_tensor::{Place, creation};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let driver = millpond_cpu::CpuDriver::new(millpond_cpu::CpuConfig::default());
    /// # let device = millpond_hal::Driver::devices(&driver)?.remove(0);
    /// # let place = Place::on(&millpond_runtime::Device::open(device).default_queue()?);
    /// let x = creation::from_slice(&[1, 2, 2, 5], &[4], &place)?;
    /// assert_eq!(x.searchsorted(2, Side::Left, None)?.to_vec::<i64>()?, [1]);
    /// assert_eq!(x.searchsorted(2, Side::Right, None)?.to_vec::<i64>()?, [3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for more axes than one or a sorter of another shape; [`Error::Type`] for a
    /// sorter that isn't one of integers; no common dtype; different devices; no memory. A position
    /// of the sorter that is out of bounds fails the work.
    pub fn searchsorted<'a>(
        &self,
        wanted: impl Into<Operand<'a>>,
        side: Side,
        sorter: Option<&Self>,
    ) -> Result<Self> {
        const OPERATION: &str = "searchsorted";
        if self.ndim() != 1 {
            let reason = format!("an array of one axis is searched, not of {}", self.ndim());
            return Err(Error::value(OPERATION, reason));
        }
        let wanted = wanted.into();
        let arrays = [Some(self), wanted.tensor(), sorter];
        let place = Place::common(OPERATION, arrays.into_iter().flatten())?;
        let default_float = data_types::default_float(place.device());
        let dtype = join(OPERATION, &[self.into(), wanted], default_float)?;
        if let Operand::Scalar(value) = wanted
            && !value.fits(dtype)
        {
            // An integer beyond the range of the dtype is before or behind all elements.
            let position = if value.to_i128() < 0 { 0 } else { self.size() };
            let position = Scalar::Int(position as i128);
            return creation::scalar(position, Some(POSITION), &place);
        }
        let wanted = of_operand(OPERATION, wanted, dtype, &place)?;
        let sorter = sorter
            .map(|sorter| self.checked_sorter(sorter))
            .transpose()?;
        let find = match side {
            Side::Left => Find::Left,
            Side::Right => Find::Right,
        };
        let sorted = self.astype(dtype, false)?.to_plain()?;
        find_in(&sorted, &wanted, find, sorter.as_ref())
    }

    /// Positions of a sorter as they are read.
    fn checked_sorter(&self, sorter: &Self) -> Result<Self> {
        const OPERATION: &str = "searchsorted";
        if !matches!(sorter.dtype().kind(), Kind::Int | Kind::Uint) {
            let reason = format!("the sorter must hold integers, not {}", sorter.dtype());
            return Err(Error::wrong_type(OPERATION, reason));
        }
        if sorter.shape() != self.shape() {
            let (ours, theirs) = (self.shape(), sorter.shape());
            let reason = format!("a sorter of shape {theirs:?} for an array of shape {ours:?}");
            return Err(Error::value(OPERATION, reason));
        }
        sorter.astype(POSITION, false)?.to_plain()
    }
}

/// An operand as a plain array of a dtype.
///
/// # Errors
/// An integer that doesn't fit; no memory.
pub(crate) fn of_operand(
    operation: &'static str,
    operand: Operand<'_>,
    dtype: DType,
    place: &Place,
) -> Result<Tensor> {
    match operand {
        Operand::Tensor(tensor) => tensor.astype(dtype, false)?.to_plain(),
        Operand::Scalar(value) => {
            check_fits(operation, value, dtype)?;
            creation::scalar(value, Some(dtype), place)
        }
    }
}

/// The bytes that a plain array begins at in its memory.
pub(crate) fn begin(tensor: &Tensor) -> usize {
    tensor.layout().offset() * tensor.item_size()
}

/// Looks for the elements of a plain array in another one.
pub(crate) fn find_in(
    sorted: &Tensor,
    wanted: &Tensor,
    find: Find,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    let output = match find {
        Find::Member { .. } => DType::Bool,
        Find::Left | Find::Right => POSITION,
    };
    let arrays = [Some(wanted), Some(sorted), sorter];
    let place = Home::common("searching", arrays.into_iter().flatten())?;
    let layout = Layout::contiguous(wanted.shape(), output.size())?;
    if wanted.size() == 0 {
        return allocate(layout, output, place);
    }
    let kernel = FindKernel::from(Finder {
        find,
        dtype: wanted.dtype(),
        sorted: (sorted.size(), begin(sorted)),
        wanted: (wanted.size(), begin(wanted)),
        sorter: sorter.map(begin),
    });
    let inputs = [sorted, wanted, sorter.unwrap_or(wanted)].map(Tensor::memory);
    let inputs = &inputs[..2 + usize::from(sorter.is_some())];
    let cost = cost::of_search(wanted.size(), sorted.size());
    place.compute(kernel, (layout, output), inputs, cost)
}
