//! Devices with memory of their own.

use std::sync::Arc;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_cuda::{CudaConfig, CudaDriver};
use millpond_hal::Driver;
use millpond_runtime::{Device, Registry};

/// A card by its name, or the processor.
pub(crate) fn named(name: &str) -> Device {
    let drivers: [Arc<dyn Driver>; 2] = [
        Arc::new(CudaDriver::new(CudaConfig::default())),
        Arc::new(CpuDriver::new(CpuConfig::default())),
    ];
    Registry::new(&drivers).device(name).unwrap()
}
