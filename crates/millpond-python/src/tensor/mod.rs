//! Arrays, as Python sees them: the module that `millpond.tensor` re-exports.
//!
//! A module for each chapter of the standard holds the functions, `array` the class. Arguments
//! are converted by `dtype.rs`, `extent.rs`, `operand.rs`, `order.rs`, `out.rs`, `place.rs`,
//! `request.rs` and `scalar.rs`, so that every function understands the same things in the same way.
#![allow(
    clippy::doc_link_with_quotes,
    clippy::doc_markdown,
    rustdoc::broken_intra_doc_links,
    reason = "what Python shows is written as its documentation is, whose lists look like links"
)]
#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_self,
    reason = "what Python calls has the arguments that Python hands over"
)]

pub(crate) mod array;
mod asarray;
mod conversion;
mod creation;
mod data_types;
mod difference;
mod docstring;
pub(crate) mod dtype;
mod elementwise;
pub(crate) mod extent;
mod fft;
mod flags;
pub(crate) mod foreign;
mod indexing;
mod inspection;
mod iteration;
mod likeness;
pub(crate) mod linalg;
mod manipulation;
mod operand;
mod operators;
mod order;
mod out;
mod over;
mod pickle;
pub(crate) mod place;
mod print_options;
mod printing;
#[allow(unsafe_code, reason = "makes a class by Python's own functions")]
mod quick_call;
mod request;
mod scalar;
mod scan;
mod selection;
mod sequence;
mod sets;
mod sorting;
mod statistics;
mod transfer;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::gil;
use crate::interop::dlpack;
use crate::runtime::origin;

/// Versions of the standard whose functions the namespace has.
const VERSIONS: [&str; 5] = ["2021.12", "2022.12", "2023.12", "2024.12", "2025.12"];

/// The first version whose functions answer several arrays or devices in tuples, not in lists.
const CONTAINERS_ARE_TUPLES: &str = "2025.12";

/// To be called first by everything that Python calls and that submits work.
#[inline]
pub(crate) fn enter(py: Python<'_>) {
    gil::enter();
    origin::note(py);
}

/// The namespace as a version of the standard has it; the newest one if none is named.
fn namespace<'py>(py: Python<'py>, version: Option<&str>) -> PyResult<Bound<'py, PyModule>> {
    match version {
        Some(version) if !VERSIONS.contains(&version) => Err(PyValueError::new_err(format!(
            "__array_namespace__: version '{version}' is not known; the versions are {}",
            VERSIONS.join(", ")
        ))),
        Some(version) if version < CONTAINERS_ARE_TUPLES => {
            let editions = py.import("millpond.tensor._editions")?;
            Ok(editions.call_method1("edition", (version,))?.cast_into()?)
        }
        _ => py.import("millpond.tensor"),
    }
}

/// Adds the module `tensor`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    // By the name that programs import it under, which its functions take over.
    let tensor = PyModule::new(py, "millpond.tensor")?;
    tensor.add_class::<array::PyArray>()?;
    tensor.add("__array_api_version__", VERSIONS[VERSIONS.len() - 1])?;
    tensor.add("e", std::f64::consts::E)?;
    tensor.add("inf", f64::INFINITY)?;
    tensor.add("nan", f64::NAN)?;
    tensor.add("newaxis", py.None())?;
    tensor.add("pi", std::f64::consts::PI)?;
    dtype::register(&tensor)?;
    asarray::register(&tensor)?;
    creation::register(&tensor)?;
    likeness::register(&tensor)?;
    data_types::register(&tensor)?;
    difference::register(&tensor)?;
    elementwise::register(&tensor)?;
    indexing::register(&tensor)?;
    selection::register(&tensor)?;
    manipulation::register(&tensor)?;
    linalg::register(&tensor)?;
    statistics::register(&tensor)?;
    scan::register(&tensor)?;
    sorting::register(&tensor)?;
    sets::register(&tensor)?;
    transfer::register(&tensor)?;
    inspection::register(&tensor)?;
    print_options::register(&tensor)?;
    printing::register(&tensor)?;
    dlpack::register(&tensor)?;
    over::register(&tensor)?;
    pickle::register(&tensor)?;
    module.add("tensor", &tensor)?;
    // So that it can be imported from.
    let modules = py.import("sys")?.getattr("modules")?;
    modules.set_item("millpond._millpond.tensor.fft", fft::module(py)?)?;
    modules.set_item("millpond._millpond.tensor.linalg", linalg::module(py)?)?;
    modules.set_item("millpond._millpond.tensor", tensor)
}
