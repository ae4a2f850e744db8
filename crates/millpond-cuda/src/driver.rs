//! The way in: finds NVIDIA's driver and its devices.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use millpond_hal::{Device, DeviceError, Driver};

use crate::api::{self, Found};
use crate::card::Card;
use crate::compiler;
use crate::device::{CudaDevice, System};
use crate::library::Libraries;
use crate::program::{Store, Workshop};
use crate::search;

/// The name that device names begin with.
pub(crate) const NAME: &str = "cuda";

/// How the driver is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CudaConfig {
    /// Where the driver's library is. `None` leaves that to the system's loader.
    pub library: Option<PathBuf>,
    /// Where the compiler's library is, NVRTC. `None` looks for one.
    pub compiler: Option<PathBuf>,
    /// Where the library for products of matrices is, cuBLAS. `None` looks for one.
    pub products: Option<PathBuf>,
    /// The same of that for Fourier transforms, cuFFT.
    pub transforms: Option<PathBuf>,
    /// The same of that for factorisations of matrices, cuSOLVER.
    pub solvers: Option<PathBuf>,
    /// Folders of Python packages, of which the vendor's have a compiler and libraries.
    pub packages: Vec<PathBuf>,
    /// The folder where compiled kernels are kept. `None` keeps them for the process only.
    pub cache: Option<PathBuf>,
}

impl CudaConfig {
    /// The library of this path, or the one that the system's loader finds.
    #[must_use]
    pub fn with_library(library: Option<PathBuf>) -> Self {
        Self {
            library,
            ..Self::default()
        }
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
    search: api::Search,
    /// Who looked for a compiler found this.
    compilers: search::Search,
    system: Option<Arc<System>>,
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
        Self::over_both(api, None)
    }

    /// A driver that is there, and what makes programs for it.
    #[cfg(test)]
    pub(crate) fn over_both(api: Found, workshop: Option<Workshop>) -> Self {
        Self::over_all(api, workshop, Libraries::none())
    }

    /// The same with libraries.
    #[cfg(test)]
    pub(crate) fn over_all(api: Found, workshop: Option<Workshop>, libraries: Libraries) -> Self {
        let driver = Self::new(CudaConfig::default());
        let mut search = api::Search::default();
        let api = api::start(&mut search, api);
        let outcome = Outcome::of(search, api, |_| {
            (search::Search::default(), workshop, libraries)
        });
        assert!(driver.found.set(outcome).is_ok(), "set for the first time");
        driver
    }

    fn outcome(&self) -> &Outcome {
        self.found.get_or_init(|| {
            let (search, api) = api::search(self.config.library.as_deref());
            Outcome::of(search, api, |driver| {
                let (compilers, workshop) = self.workshop(driver);
                (compilers, workshop, self.libraries(driver))
            })
        })
    }

    /// What makes programs for devices of a driver that offers this version of CUDA.
    fn workshop(&self, driver: i32) -> (search::Search, Option<Workshop>) {
        let places = search::Places {
            library: self.config.compiler.clone(),
            packages: self.config.packages.clone(),
        };
        let (search, compiler) = compiler::search(&places, driver);
        let store = self.config.cache.clone().map(Store::new);
        (
            search,
            compiler.map(|compiler| Workshop::new(compiler, store)),
        )
    }

    /// The libraries of mathematics for such a driver.
    fn libraries(&self, driver: i32) -> Libraries {
        let config = &self.config;
        let users = [&config.products, &config.transforms, &config.solvers];
        Libraries::new(users.map(Clone::clone), &config.packages, driver)
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

    /// The same of the compiler, and which kernels it could not compile; `None` where there is no
    /// device to compile for.
    #[must_use]
    pub fn compiler_report(&self) -> Option<String> {
        let outcome = self.outcome();
        let system = outcome.system.as_ref()?;
        let mut text = outcome.compilers.to_string();
        let workshop = system.workshop.iter();
        for complaint in workshop.flat_map(Workshop::complaints) {
            text.push_str("; ");
            text.push_str(&complaint);
        }
        Some(text)
    }

    /// The same of the libraries for products, transforms and factorisations, each with its name; none
    /// where there is no device that would use them. They are loaded for that.
    #[must_use]
    pub fn library_reports(&self) -> Vec<(&'static str, String)> {
        let system = self.outcome().system.as_ref();
        system.map_or_else(Vec::new, |system| system.libraries.reports())
    }
}

/// What is found besides the driver: who makes programs, and libraries.
type Company = (search::Search, Option<Workshop>, Libraries);

impl Outcome {
    fn of(search: api::Search, api: Option<Found>, company: impl FnOnce(i32) -> Company) -> Self {
        let mut outcome = Self {
            compilers: search::Search::default(),
            system: None,
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
                Ok(card) => cards.push(card),
                Err(error) => outcome.unusable.push(format!("device {number}: {error}")),
            }
        }
        if cards.is_empty() {
            return outcome;
        }
        let version = outcome.search.version.unwrap_or_default();
        let (compilers, workshop, libraries) = company(version);
        outcome.compilers = compilers;
        for card in &mut cards {
            card.info.compiles = workshop.is_some();
        }
        let cards: Vec<Arc<Card>> = cards.into_iter().map(Arc::new).collect();
        let system = Arc::new(System::new(cards.clone(), workshop, libraries));
        let devices = cards.iter().map(|card| CudaDevice::new(card, &system));
        outcome.devices = devices.map(Arc::new).collect();
        outcome.system = Some(system);
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
