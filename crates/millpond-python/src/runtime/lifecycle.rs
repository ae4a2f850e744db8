//! The end of the process, and what the environment set.

use std::path::PathBuf;
use std::process;
use std::sync::OnceLock;

use millpond::types::config::Config;
use pyo3::prelude::*;

use crate::gil;
use crate::runtime::service;

static PROCESS: OnceLock<u32> = OnceLock::new();

/// Whether this is a forked child of the process that imported the package.
pub(super) fn is_forked() -> bool {
    PROCESS.get().is_some_and(|&id| id != process::id())
}

/// Run pending tasks, finish all work and stop all threads but the one that serves tasks, which is
/// told to end. Does nothing in a forked child.
#[pyfunction]
fn shutdown(py: Python<'_>) -> PyResult<()> {
    if is_forked() {
        return Ok(());
    }
    gil::enter();
    let drained = service::drain(py);
    // Tasks that come due while devices finish are still served.
    gil::release(py, millpond::shutdown);
    service::stop();
    gil::enter();
    drained
}

/// The settings of the environment that are in force, as pairs of a variable and its value.
#[pyfunction]
fn settings() -> Vec<(&'static str, String)> {
    let config = Config::get();
    let cores = config.cpu_devices.as_ref().map(|devices| {
        let lists = devices.iter().map(|cores| {
            let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
            cores.join(",")
        });
        lists.collect::<Vec<_>>().join(";")
    });
    let float64 = config.cpu_float64.as_ref().map(|devices| {
        let answers = devices.iter().map(|&answer| if answer { "1" } else { "0" });
        answers.collect::<Vec<_>>().join(";")
    });
    let default_float = config.default_float.map(|dtype| dtype.name().to_owned());
    let flag = |on: bool, value: &str| on.then(|| value.to_owned());
    [
        ("MILLPOND_SIMD", config.simd.clone()),
        ("MILLPOND_THREADS", config.threads.map(|n| n.to_string())),
        ("MILLPOND_CPU_DEVICES", cores),
        ("MILLPOND_CPU_FLOAT64", float64),
        ("MILLPOND_DEFAULT_FLOAT", default_float),
        ("MILLPOND_VALIDATE", flag(config.validate, "1")),
        ("MILLPOND_CHECK_ORDER", flag(config.check_order, "1")),
        ("MILLPOND_TRACE_LINES", flag(config.trace_lines, "1")),
        ("MILLPOND_RECORD", config.record.clone()),
        ("MILLPOND_HUGE_PAGES", flag(!config.huge_pages, "0")),
        (
            "MILLPOND_CUDA",
            config
                .cuda_library
                .clone()
                .or_else(|| flag(!config.cuda, "0")),
        ),
        ("MILLPOND_NVRTC", config.cuda_compiler.clone()),
        ("MILLPOND_CUBLAS", config.cuda_products.clone()),
        ("MILLPOND_CUFFT", config.cuda_transforms.clone()),
        ("MILLPOND_CUSOLVER", config.cuda_solvers.clone()),
        ("MILLPOND_DEVICE", config.device.clone()),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// What is wrong with the environment or with backends, each a message.
#[pyfunction]
fn problems() -> Vec<String> {
    let broken = millpond::registry().problems().iter();
    let broken = broken.map(|(backend, error)| format!("backend {backend}: {error}"));
    Config::get()
        .warnings
        .iter()
        .cloned()
        .chain(broken)
        .chain(millpond::recording_problem())
        .collect()
}

/// What was looked for to find NVIDIA's devices, and what became of it; None where the environment forbids to look.
#[pyfunction]
fn cuda_report() -> Option<String> {
    millpond::cuda_report()
}

/// The same of the compiler for these devices, with what it could not compile; None where there is nothing to compile
/// for.
#[pyfunction]
fn cuda_compiler_report() -> Option<String> {
    millpond::cuda_compiler_report()
}

/// The same of the libraries for products, transforms and decompositions, each with its name.
#[pyfunction]
fn cuda_library_reports() -> Vec<(&'static str, String)> {
    millpond::cuda_library_reports()
}

/// Folders of packages, in which libraries of vendors are looked for when the first device is.
#[pyfunction]
fn look_in_packages(folders: Vec<PathBuf>) {
    millpond::look_in_packages(folders);
}

/// Pairs of commands that used the same memory in no order, found since the last call.
///
/// Each is a sentence that names both commands, with their lines where `MILLPOND_TRACE_LINES` is set. They are looked
/// for where `MILLPOND_CHECK_ORDER` is set.
#[pyfunction]
fn take_races() -> Vec<String> {
    millpond::take_races()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Has windows of operations close at random moments from here on, those of the seed; of None, when they would.
///
/// For tests: results must not depend on when a device begins what was collected for it.
#[pyfunction]
#[pyo3(signature = (seed))]
fn close_windows_at_random(seed: Option<u64>) {
    millpond::runtime::close_windows_at_random(seed);
}

/// Adds functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    PROCESS.get_or_init(process::id);
    module.add_function(wrap_pyfunction!(shutdown, module)?)?;
    module.add_function(wrap_pyfunction!(settings, module)?)?;
    module.add_function(wrap_pyfunction!(take_races, module)?)?;
    module.add_function(wrap_pyfunction!(close_windows_at_random, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_report, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_compiler_report, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_library_reports, module)?)?;
    module.add_function(wrap_pyfunction!(look_in_packages, module)?)?;
    module.add_function(wrap_pyfunction!(problems, module)?)
}
