//! Source lines of commands, for messages, when `MILLPOND_TRACE_LINES` is set, and for explanations.

use std::sync::Arc;

use millpond::runtime::{explain, trace};
use millpond::types::config::Config;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Notes the line of Python that calls, for commands submitted by this thread from now on.
///
/// Costs a load where lines aren't traced.
#[inline]
pub(crate) fn note(py: Python<'_>) {
    if wanted() {
        trace::set_origin(find(py));
    }
}

/// Whether the lines of this thread's commands are wanted.
#[inline]
pub(crate) fn wanted() -> bool {
    Config::get().trace_lines || explain::is_underway_here()
}

/// The line of Python that calls, outside of this package; `None` where lines aren't traced.
pub(crate) fn find(py: Python<'_>) -> Option<Arc<str>> {
    if !wanted() {
        return None;
    }
    calling_line(py).ok().flatten()
}

fn calling_line(py: Python<'_>) -> PyResult<Option<Arc<str>>> {
    let package = package(py)?;
    let mut frame = py.import("sys")?.getattr("_getframe")?.call0()?;
    while !frame.is_none() {
        let file = frame.getattr("f_code")?.getattr("co_filename")?;
        let file: &str = file.extract()?;
        if !file.starts_with(package) {
            let line: usize = frame.getattr("f_lineno")?.extract()?;
            return Ok(Some(Arc::from(format!("{file}:{line}"))));
        }
        frame = frame.getattr("f_back")?;
    }
    Ok(None)
}

/// The folder of this package's Python files, with the separator that ends it.
fn package(py: Python<'_>) -> PyResult<&str> {
    static PACKAGE: PyOnceLock<String> = PyOnceLock::new();
    let folder = PACKAGE.get_or_try_init(py, || -> PyResult<String> {
        let file = py.import("millpond")?.getattr("__file__")?;
        let path = py.import("os.path")?;
        let folder = path.call_method1("dirname", (file,))?;
        path.call_method1("join", (folder, ""))?.extract()
    })?;
    Ok(folder)
}
