//! The way in to a backend.

use std::sync::Arc;

use crate::device::Device;
use crate::error::DeviceError;

/// Finds the devices of one kind of driver.
pub trait Driver: Send + Sync {
    /// The short name that device names begin with, for instance `cpu`.
    fn name(&self) -> &'static str;

    /// The devices, in a stable order. A missing vendor library is an empty list, not an error.
    ///
    /// # Errors
    /// A driver that is there but broken.
    fn devices(&self) -> Result<Vec<Arc<dyn Device>>, DeviceError>;
}
