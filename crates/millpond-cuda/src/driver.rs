//! The way in: finds NVIDIA's driver and its devices.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use millpond_hal::{Device, DeviceError, Driver};

use crate::api::{Found, Search, search};
use crate::card::Card;
use crate::device::{CudaDevice, System};

/// The name that device names begin with.
pub(crate) const NAME: &str = "cuda";

/// How the driver is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CudaConfig {
    /// Where the driver's library is. `None` leaves that to the system's loader.
    pub library: Option<PathBuf>,
}

impl CudaConfig {
    /// The library of this path, or the one that the system's loader finds.
    #[must_use]
    pub fn with_library(library: Option<PathBuf>) -> Self {
        Self { library }
    }
}

/// NVIDIA's driver, if the machine has one.
///
/// Each of these has devices, queues and threads of its own, over contexts that the whole process
/// shares; a program needs one.
pub struct CudaDriver {
    config: CudaConfig,
    found: OnceLock<Outcome>,
}

/// What looking for devices came to.
struct Outcome {
    search: Search,
    /// Devices that are there but can't be used, each a message.
    unusable: Vec<String>,
    devices: Vec<Arc<CudaDevice>>,
}

impl CudaDriver {
    /// A driver that is looked for when it is first asked for its devices.
    #[must_use]
    pub const fn new(config: CudaConfig) -> Self {
        Self {
            config,
            found: OnceLock::new(),
        }
    }

    /// A driver that is there.
    #[cfg(test)]
    pub(crate) fn over(api: Found) -> Self {
        let driver = Self::new(CudaConfig::default());
        let mut search = Search::default();
        let api = crate::api::start(&mut search, api);
        let outcome = Outcome::of(search, api);
        assert!(driver.found.set(outcome).is_ok(), "set for the first time");
        driver
    }

    fn outcome(&self) -> &Outcome {
        self.found.get_or_init(|| {
            let (search, api) = search(self.config.library.as_deref());
            Outcome::of(search, api)
        })
    }

    /// What was looked for and what became of it, as a sentence for people: which libraries were
    /// tried, what the driver lacks, which devices can't be used.
    #[must_use]
    pub fn report(&self) -> String {
        let outcome = self.outcome();
        let mut text = outcome.search.to_string();
        for message in &outcome.unusable {
            text.push_str("; ");
            text.push_str(message);
        }
        text
    }
}

impl Outcome {
    fn of(search: Search, api: Option<Found>) -> Self {
        let mut outcome = Self {
            search,
            unusable: Vec::new(),
            devices: Vec::new(),
        };
        let Some(api) = api else {
            return outcome;
        };
        let mut count = 0;
        // SAFETY: the number is written to a place of its type.
        let code = unsafe { api.device_count(&raw mut count) };
        if code != crate::api::Code::SUCCESS {
            let message = format!("cuDeviceGetCount: {code}");
            outcome.unusable.push(message);
        }
        let mut cards = Vec::new();
        for number in 0..usize::try_from(count).unwrap_or(0) {
            // Numbered even if it is the only one, as all programs for these devices expect it.
            let label = format!("{NAME}:{number}");
            match Card::open(&api, number, label) {
                Ok(card) => cards.push(Arc::new(card)),
                Err(error) => outcome.unusable.push(format!("device {number}: {error}")),
            }
        }
        let system = Arc::new(System::new(cards.clone()));
        let devices = cards.iter().map(|card| CudaDevice::new(card, &system));
        outcome.devices = devices.map(Arc::new).collect();
        outcome
    }
}

impl Driver for CudaDriver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn devices(&self) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        let outcome = self.outcome();
        if outcome.devices.is_empty()
            && let Some(message) = outcome.unusable.first()
        {
            return Err(DeviceError::Lost {
                device: NAME.to_owned(),
                reason: message.clone(),
            });
        }
        let dynamic = |device: &Arc<CudaDevice>| Arc::clone(device) as Arc<dyn Device>;
        Ok(outcome.devices.iter().map(dynamic).collect())
    }
}

impl fmt::Debug for CudaDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaDriver")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
