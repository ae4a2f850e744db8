//! The way in: finds the host's devices.

use std::sync::OnceLock;

use millpond_hal::{Device, DeviceError, Driver, device_label};

use crate::device::{CpuDevice, Host, Place};
use crate::sync::Arc;
use crate::topology::Topology;

/// The name that device names begin with.
pub(crate) const NAME: &str = "cpu";

/// How the host is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuConfig {
    /// The cores of each device. `None` makes one device of all that the process may run on.
    pub devices: Option<Vec<Vec<usize>>>,
    /// Worker threads of each device. `None` makes them one less than cores, since a thread that
    /// waits works as well.
    pub threads: Option<usize>,
    /// Whether each device offers `float64`; the last answer is that of all further ones. All do, if
    /// there is none. A device without it shows on any machine what a program does on processors
    /// that lack it.
    pub float64: Vec<bool>,
    /// Whether to ask the system for huge pages.
    pub huge_pages: bool,
    /// The vector instructions that kernels use, for [`millpond_hal::DeviceInfo::simd`].
    pub simd: &'static str,
}

impl Default for CpuConfig {
    fn default() -> Self {
        Self {
            devices: None,
            threads: None,
            float64: Vec::new(),
            huge_pages: true,
            simd: "baseline",
        }
    }
}

impl CpuConfig {
    /// Whether a device offers `float64`.
    pub(crate) fn offers_float64(&self, index: usize) -> bool {
        let answer = self.float64.get(index).or(self.float64.last());
        answer.copied().unwrap_or(true)
    }
}

/// The driver of the host's processors.
///
/// Each driver has devices and threads of its own; a program needs one.
pub struct CpuDriver {
    config: CpuConfig,
    devices: OnceLock<Result<Vec<Arc<CpuDevice>>, DeviceError>>,
}

impl CpuDriver {
    /// A driver that looks at the machine when it is first asked for its devices.
    #[must_use]
    pub fn new(config: CpuConfig) -> Self {
        Self {
            config,
            devices: OnceLock::new(),
        }
    }

    fn find(&self) -> Result<Vec<Arc<CpuDevice>>, DeviceError> {
        let topology = Topology::read();
        let lists = match &self.config.devices {
            None => vec![topology.cores.clone()],
            Some(lists) => lists.clone(),
        };
        for list in &lists {
            check_cores(list, &topology.cores)?;
        }
        let host = Arc::new(Host {
            config: self.config.clone(),
            topology,
            registry: Arc::default(),
        });
        let count = lists.len();
        let devices = lists.into_iter().enumerate().map(|(index, cores)| {
            let place = Place {
                index,
                label: device_label(NAME, index, count),
                cores,
            };
            Arc::new(CpuDevice::new(&host, place))
        });
        Ok(devices.collect())
    }
}

/// A device has cores that exist, each once; devices may overlap.
fn check_cores(list: &[usize], allowed: &[usize]) -> Result<(), DeviceError> {
    let invalid = |reason| {
        Err(DeviceError::Invalid {
            call: "devices",
            reason,
        })
    };
    if list.is_empty() {
        return invalid("a device without cores was asked for".to_owned());
    }
    for (position, core) in list.iter().enumerate() {
        if !allowed.contains(core) {
            return invalid(format!(
                "core {core} is not among those that the process may run on, {allowed:?}"
            ));
        }
        if list[..position].contains(core) {
            return invalid(format!("core {core} is listed twice in {list:?}"));
        }
    }
    Ok(())
}

impl Driver for CpuDriver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn devices(&self) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        let devices = self.devices.get_or_init(|| self.find()).as_ref();
        let devices = devices.map_err(Clone::clone)?;
        let dynamic = |device: &Arc<CpuDevice>| Arc::clone(device) as Arc<dyn Device>;
        Ok(devices.iter().map(dynamic).collect())
    }
}

impl std::fmt::Debug for CpuDriver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuDriver")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
