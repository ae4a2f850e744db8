//! CUDA's libraries of mathematics: cuBLAS for products, cuFFT for transforms, cuSOLVER for
//! factorisations.
//!
//! A kernel says in words of its own what it is ([`LibraryWork`]); here is which library does that,
//! in which form, and what has to be brought into a form that the library takes. The decision
//! (`form.rs` of each) knows sizes and steps alone, so that it can be tested without a device.
//!
//! * A library is loaded when the first kernel wants it, as each takes a good part of a second.
//! * A library works on the stream of the lane that it is given, and in memory of that lane: it
//!   allocates none of its own for work. One handle serves one stream, so that the same work gives the
//!   same bits whatever else the device does.
//! * What has no form here, and what a library is slower at, kernels of [`own`] do where there is one.
//! * What neither does is carried out as if there were no library.

pub(crate) mod blas;
pub(crate) mod fft;
mod job;
mod own;
mod pieces;
mod shelf;
pub(crate) mod solver;

use std::fmt;

use millpond_hal::library::LibraryWork;
use millpond_types::DType;

pub(crate) use job::{Found, Job, Toolbox, may_be_job};
pub(crate) use own::error_of;
#[cfg(test)]
pub(crate) use own::tests::samples;
#[cfg(test)]
pub(crate) use pieces::Pieces;
pub(crate) use shelf::Libraries;

use crate::api::StreamHandle;
use crate::card::{CudaError, Current};
use crate::lanes::Lane;

/// What a call of a library answers; a number, as for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Status(pub(crate) i32);

impl Status {
    pub(crate) const SUCCESS: Self = Self(0);
    /// Not an answer of a library's: it doesn't have the function.
    pub(crate) const MISSING: Self = Self(-1);
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MISSING {
            f.write_str("the library has no such function")
        } else {
            write!(f, "status {}", self.0)
        }
    }
}

/// `cudaDataType`: what elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct Elements(i32);

impl Elements {
    /// Those of a dtype that the libraries calculate with in its own precision.
    pub(crate) const fn of(dtype: DType) -> Option<Self> {
        Some(Self(match dtype {
            DType::Float32 => 0,
            DType::Float64 => 1,
            DType::Complex64 => 4,
            DType::Complex128 => 5,
            _ => return None,
        }))
    }

    /// Those of a dtype whose products are added in single precision or in its own.
    pub(crate) const fn of_product(dtype: DType) -> Option<Self> {
        match dtype {
            DType::Float16 => Some(Self(2)),
            DType::Bfloat16 => Some(Self(14)),
            _ => Self::of(dtype),
        }
    }

    /// The dtype.
    #[cfg(test)]
    pub(crate) const fn dtype(self) -> DType {
        match self.0 {
            0 => DType::Float32,
            2 => DType::Float16,
            14 => DType::Bfloat16,
            1 => DType::Float64,
            4 => DType::Complex64,
            _ => DType::Complex128,
        }
    }
}

/// What an answer other than success means, with what was asked for.
pub(crate) fn check(
    current: &Current<'_>,
    call: &'static str,
    status: Status,
    asked: impl fmt::Display,
) -> Result<(), CudaError> {
    if status == Status::SUCCESS {
        return Ok(());
    }
    // Of a device that is lost the driver says more.
    Lane::probe_stream(StreamHandle::DEFAULT, current)?;
    Err(CudaError::refused(call, format!("{status}, for {asked}")))
}

/// Where the matrices of a stack lie, one after the other: bytes behind the first, for each operand.
pub(crate) fn offsets(work: &LibraryWork) -> impl Iterator<Item = [isize; 4]> + '_ {
    (0..work.count()).map(|number| {
        let mut offsets = [0; 4];
        let mut rest = number;
        for axis in work.stack.iter().rev() {
            let at = (rest % axis.size) as isize;
            rest /= axis.size;
            for (offset, step) in offsets.iter_mut().zip(axis.steps) {
                *offset += step * at;
            }
        }
        offsets
    })
}
