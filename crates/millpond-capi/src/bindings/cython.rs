//! The declarations for Cython: `from millpond cimport capi`.

use std::fmt::Write as _;

use super::ORIGIN;
use super::text::{OBJECTS, enumerations, structures};
use crate::describe::Function;
use crate::{python, table};

/// `capi.pxd`.
pub(super) fn declarations() -> String {
    let mut text = format!(
        "# {ORIGIN}\n\"\"\"The C interface of millpond; call mp_import() before anything else.\"\"\"\n\n\
         from libc.stddef cimport ptrdiff_t\nfrom libc.stdint cimport int32_t, uint32_t, uint64_t\n\
         from libcpp cimport bool\n\ncdef extern from \"millpond_python.h\" nogil:\n"
    );
    for (name, _, constants) in enumerations() {
        let _ = writeln!(text, "    ctypedef int32_t {name}\n    enum:");
        for (constant, _, _) in constants {
            let _ = writeln!(text, "        {constant}");
        }
        text += "\n";
    }
    for (name, _) in OBJECTS {
        let _ = writeln!(text, "    ctypedef struct {name}:\n        pass");
    }
    text += "\n";
    for structure in structures() {
        let _ = writeln!(text, "    ctypedef struct {}:", structure.name);
        for (_, declaration) in structure.fields {
            let function = declaration.contains("(*");
            let tail = if function { " noexcept nogil" } else { "" };
            let _ = writeln!(text, "        {}{tail}", plain(&declaration));
        }
        text += "\n";
    }
    for (_, function) in table::functions() {
        let _ = writeln!(text, "    {}", prototype(&function));
    }
    text += "\ncdef extern from \"millpond_python.h\":\n    int mp_import() except -1\n    \
             int mp_check(mp_status status) except -1\n";
    for function in python::functions() {
        let answer = &function.answer;
        let line = prototype(&function).replace("PyObject *", "object ");
        let tail = if answer == "int32_t" {
            ""
        } else if answer.starts_with("PyObject") {
            // A null is an exception, as Cython has it of every object.
            ""
        } else {
            " except NULL"
        };
        let _ = writeln!(text, "    {line}{tail}");
    }
    text
}

fn prototype(function: &Function) -> String {
    let arguments = function.arguments.iter();
    let arguments: Vec<String> = arguments
        .map(|(_, declaration)| plain(declaration))
        .collect();
    let space = if function.answer.ends_with('*') {
        ""
    } else {
        " "
    };
    let list = arguments.join(", ");
    format!("{}{space}{}({list})", function.answer, function.name)
}

/// A declaration without what Cython doesn't know.
fn plain(declaration: &str) -> String {
    ["MP_KEEP ", "MP_TAKE ", "MP_GIVE "]
        .iter()
        .fold(declaration.to_owned(), |text, marker| {
            text.replace(marker, "")
        })
}
