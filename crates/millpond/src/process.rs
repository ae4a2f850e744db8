//! The devices of this process: the one owner of process-wide state.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_cuda::{CudaConfig, CudaDriver};
use millpond_hal::Driver;
use millpond_hal::layers::{Layered, Order, Race, Validate};
use millpond_kernel::simd;
use millpond_runtime::{Device, Registry, Result};
use millpond_types::config::Config;

use crate::recording;

static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// The driver of NVIDIA's devices, if it is to be looked for.
static CUDA: OnceLock<Option<Arc<CudaDriver>>> = OnceLock::new();

/// Where vendors' Python packages may be.
static PACKAGES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The checkers of order, one for each driver, where they are asked for.
static CHECKERS: OnceLock<Vec<Arc<Order>>> = OnceLock::new();

/// Every device found, by the settings of the environment; looked for at the first call.
///
/// ```
/// // Drivers that are there but don't work are kept with their reasons.
/// assert!(millpond::registry().problems().is_empty());
/// ```
pub fn registry() -> &'static Registry {
    REGISTRY.get_or_init(|| {
        let mut drivers = drivers(Config::get());
        if Config::get().validate {
            drivers = drivers.into_iter().map(validated).collect();
        }
        if Config::get().check_order {
            let ordered: Vec<_> = drivers.into_iter().map(ordered).collect();
            let checkers = ordered.iter().map(|driver| Arc::clone(driver.layer()));
            // Set here only, and this runs once.
            let _ = CHECKERS.set(checkers.collect());
            drivers = ordered.into_iter().map(|driver| driver as _).collect();
        }
        let registry = Registry::new(&drivers);
        if let Some(path) = &Config::get().record {
            recording::begin(&registry, path);
        }
        registry
    })
}

/// Every backend there is.
fn drivers(config: &Config) -> Vec<Arc<dyn Driver>> {
    let named = config.simd.as_deref().and_then(|name| name.parse().ok());
    let level = named.map_or_else(simd::current, simd::force);
    let cpu = CpuDriver::new(CpuConfig {
        devices: config.cpu_devices.clone(),
        threads: config.threads,
        float64: config.cpu_float64.clone().unwrap_or_default(),
        huge_pages: config.huge_pages,
        simd: level.name(),
    });
    let mut drivers: Vec<Arc<dyn Driver>> = vec![Arc::new(cpu)];
    drivers.extend(cuda().map(|driver| Arc::clone(driver) as _));
    drivers
}

fn cuda() -> Option<&'static Arc<CudaDriver>> {
    let driver = CUDA.get_or_init(|| {
        let config = Config::get();
        let path = |path: &Option<String>| path.as_ref().map(PathBuf::from);
        let mut cuda = CudaConfig::with_library(path(&config.cuda_library));
        cuda.compiler = path(&config.cuda_compiler);
        cuda.products = path(&config.cuda_products);
        cuda.transforms = path(&config.cuda_transforms);
        cuda.solvers = path(&config.cuda_solvers);
        cuda.packages.clone_from(&lock_packages());
        cuda.cache = config.cache.as_ref().map(|cache| cache.join("cuda"));
        config.cuda.then(|| Arc::new(CudaDriver::new(cuda)))
    });
    driver.as_ref()
}

/// What was looked for to find NVIDIA's devices, and what became of it: which libraries were tried,
/// what a driver lacks, which devices can't be used. `None` if the environment forbids to look.
///
/// ```
/// if let Some(report) = millpond::cuda_report() {
///     println!("CUDA: {report}");
/// }
/// ```
pub fn cuda_report() -> Option<String> {
    cuda().map(|driver| driver.report())
}

/// The same of the compiler for these devices, with what it could not compile; `None` where there is no
/// device to compile for.
///
/// ```
/// if let Some(report) = millpond::cuda_compiler_report() {
///     println!("compiler: {report}");
/// }
/// ```
pub fn cuda_compiler_report() -> Option<String> {
    cuda().and_then(|driver| driver.compiler_report())
}

/// The same of the libraries for products, transforms and decompositions on these devices, each with
/// its name; none where there is no device that would use them.
///
/// ```
/// for (name, report) in millpond::cuda_library_reports() {
///     println!("{name}: {report}");
/// }
/// ```
pub fn cuda_library_reports() -> Vec<(&'static str, String)> {
    cuda().map_or_else(Vec::new, |driver| driver.library_reports())
}

/// Folders of Python packages, in which vendors' libraries are looked for when the first device is.
///
/// ```
/// millpond::look_in_packages(vec!["/usr/lib/python3/dist-packages".into()]);
/// ```
pub fn look_in_packages(folders: Vec<PathBuf>) {
    *lock_packages() = folders;
}

fn lock_packages() -> MutexGuard<'static, Vec<PathBuf>> {
    PACKAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver, with every call checked.
fn validated(driver: Arc<dyn Driver>) -> Arc<dyn Driver> {
    Arc::new(Layered::new(driver, Validate::default()))
}

/// The driver, with the order of all uses checked.
fn ordered(driver: Arc<dyn Driver>) -> Arc<Layered<Order>> {
    Arc::new(Layered::new(driver, Order::default()))
}

/// Pairs of commands that used the same memory in no order, found since the last call. Looked for
/// where the environment sets `MILLPOND_CHECK_ORDER`.
///
/// ```
/// assert!(millpond::take_races().is_empty());
/// ```
pub fn take_races() -> Vec<Race> {
    let checkers = CHECKERS.get().into_iter().flatten();
    checkers.flat_map(|checker| checker.take_races()).collect()
}

/// The devices of the process; there is always a CPU.
///
/// ```
/// for device in millpond::devices() {
///     println!("{device}: {} cores", device.info().cores);
/// }
/// # assert!(!millpond::devices().is_empty());
/// ```
pub fn devices() -> &'static [Device] {
    registry().devices()
}

/// The device of this name, for instance `cpu`; `cpu` and `cpu:0` are the same.
///
/// ```
/// # fn main() -> millpond::Result<()> {
/// assert_eq!(millpond::device("cpu")?, millpond::default_device()?);
/// assert!(millpond::device("abacus").is_err());
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`millpond_runtime::Error::UnknownDevice`] with the names there are.
pub fn device(name: &str) -> Result<Device> {
    registry().device(name)
}

/// The device that work goes to unless told otherwise: the one that the environment names, or the first.
///
/// ```
/// # fn main() -> millpond::Result<()> {
/// let queue = millpond::default_device()?.default_queue()?;
/// println!("{}", queue.device());
/// # Ok(()) }
/// ```
///
/// # Errors
/// If no device was found, or the environment names one that there isn't.
pub fn default_device() -> Result<Device> {
    default_of(registry())
}

/// The same of a registry that may still be in the making.
pub(crate) fn default_of(registry: &Registry) -> Result<Device> {
    match &Config::get().device {
        Some(name) => registry.device(name),
        None => registry.default_device(),
    }
}

/// Finishes all work and stops all threads; call it before the process ends. Every later call
/// answers [`millpond_runtime::Error::ShutDown`].
///
/// ```
/// # fn main() -> millpond::Result<()> {
/// let queue = millpond::default_device()?.default_queue()?;
/// queue.task("last words", &[], || Ok(()))?;
/// millpond::shutdown();
/// assert!(matches!(queue.wait(), Err(millpond::Error::ShutDown { .. })));
/// # Ok(()) }
/// ```
pub fn shutdown() {
    if let Some(registry) = REGISTRY.get() {
        recording::end();
        millpond_runtime::shutdown(registry.devices());
    }
}
