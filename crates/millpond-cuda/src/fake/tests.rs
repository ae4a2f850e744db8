//! The backend on the fake driver.

use super::Fake;
use crate::CudaDriver;

/// The contract of backends.
mod contract {
    use super::*;
    millpond_testkit::backend_contract!(|| CudaDriver::over(Fake::new(1)));
}
