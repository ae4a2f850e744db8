//! The two headers: for programs that link to the library, and for extensions of Python.

use std::fmt::Write as _;

use super::ORIGIN;
use super::text::{OBJECTS, call, comment, enumerations, structures};
use crate::describe::{Function, join};
use crate::{python, table};

const PREAMBLE: &str = "\
#ifndef MILLPOND_H
#define MILLPOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Functions answer MP_OK or say by mp_error_message what went wrong; results come by the last
 * arguments, which are written on success only. Every handle may be used by every thread.
 *
 * Who owns what a pointer points to:
 *   MP_KEEP  stays the caller's, who keeps it until the call returns;
 *   MP_TAKE  the call takes it, whatever it answers, and so it does with contexts in structures;
 *   MP_GIVE  the caller gets a handle, and lets go of it by the release function of its type.
 */
#define MP_KEEP
#define MP_TAKE
#define MP_GIVE
";

const LINKAGE: &str = "\
#if defined(_WIN32)
#define MP_API __declspec(dllimport)
#else
#define MP_API __attribute__((visibility(\"default\")))
#endif
";

/// What there is once in each module of C++, or of C in each file.
const ONCE: &str = "\
#if defined(__cplusplus) && __cplusplus >= 201703L && defined(__GNUC__)
#define MP_INLINE __attribute__((visibility(\"hidden\"))) inline
#define MP_VARIABLE __attribute__((visibility(\"hidden\"))) inline
#elif defined(_MSVC_LANG) && _MSVC_LANG >= 201703L
#define MP_INLINE inline
#define MP_VARIABLE inline
#else
#define MP_INLINE static inline
#define MP_VARIABLE static
#endif
";

/// `millpond.h`.
pub(super) fn header() -> String {
    let mut text = format!("/* {ORIGIN} */\n\n{PREAMBLE}\n");
    let _ = writeln!(
        text,
        "/** The version of the interface that this header is of. */"
    );
    let _ = writeln!(text, "#define MP_VERSION {}u\n", table::VERSION);
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for (name, doc, constants) in enumerations() {
        text += &comment("", &[doc]);
        let _ = writeln!(text, "typedef int32_t {name};\nenum {{");
        for (constant, number, doc) in constants {
            if !doc.is_empty() {
                text += &comment("    ", &[doc]);
            }
            let _ = writeln!(text, "    {constant} = {number},");
        }
        // Some compilers of old standards refuse a comma at the end.
        text.truncate(text.len() - 2);
        text += "\n};\n\n";
    }
    for (name, doc) in OBJECTS {
        text += &comment("", &[doc]);
        let _ = writeln!(text, "typedef struct {name} {name};\n");
    }
    for structure in structures() {
        text += &comment("", structure.doc);
        let _ = writeln!(text, "typedef struct {} {{", structure.name);
        for (doc, declaration) in structure.fields {
            text += &comment("    ", doc);
            let _ = writeln!(text, "    {declaration};");
        }
        let _ = writeln!(text, "}} {};\n", structure.name);
    }
    text += "/** What a pool has that nothing was said of. */\n#define MP_POOL_DEFAULTS \\\n    \
             { sizeof(mp_pool_options), NULL, SIZE_MAX, SIZE_MAX, 0, 0, 0 }\n\n";
    text += "/** The functions of the interface; later versions have more behind them. */\n";
    text += "typedef struct mp_table {\n    uint32_t version;\n    uint32_t bytes;\n";
    let functions = table::functions();
    for (_, function) in &functions {
        text += &pointer(function);
    }
    text += "} mp_table;\n\n";
    text += "#if defined(MP_TABLE)\n\n";
    text += "#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n";
    text += ONCE;
    text += "\nMP_VARIABLE const mp_table *mp_loaded_table = NULL;\n\n";
    for (_, function) in &functions {
        text += &forward(function, "mp_loaded_table");
    }
    text += "\n#else /* functions of the library */\n\n";
    text += LINKAGE;
    text +=
        "\n/** The functions as a table; null if they are of an older version than asked for. */\n";
    text += "MP_API const mp_table *mp_functions(uint32_t version);\n\n";
    for (_, function) in &functions {
        text += &comment("", function.doc);
        text += &prototype("MP_API ", function, ";\n\n");
    }
    text += "#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n#endif\n\n#endif\n";
    text
}

/// `millpond_python.h`.
pub(super) fn python_header() -> String {
    let mut text = format!(
        "/* {ORIGIN} */\n\n/* For extensions of Python: include it first, and call mp_import in the \
         module's initialisation. */\n#ifndef MILLPOND_PYTHON_H\n#define MILLPOND_PYTHON_H\n\n\
         #include <Python.h>\n\n#if defined(MILLPOND_H) && !defined(MP_TABLE)\n\
         #error \"include millpond_python.h instead of millpond.h\"\n#endif\n#define MP_TABLE\n\
         #include \"millpond.h\"\n\n"
    );
    let _ = writeln!(text, "#define MP_PYTHON_VERSION {}u\n", python::VERSION);
    text += "/** The functions that know objects of Python. */\ntypedef struct mp_python_table {\n    \
             uint32_t version;\n    uint32_t bytes;\n    const mp_table *functions;\n";
    let functions = python::functions();
    for function in &functions {
        text += &pointer(function);
    }
    text += "} mp_python_table;\n\n";
    text += "MP_VARIABLE const mp_python_table *mp_loaded_python = NULL;\n\n";
    for function in &functions {
        text += &forward(function, "mp_loaded_python");
    }
    text += &IMPORT.replace("CAPSULE", python::CAPSULE);
    text
}

const IMPORT: &str = r#"/**
 * Finds the functions; 0, or -1 with an exception. To be called with the interpreter lock, before any other function:
 * once in C++ from the 2017 standard on, and in C once for each file that uses them.
 */
MP_INLINE int mp_import(void) {
    const mp_python_table *found;
    PyObject *package = PyImport_ImportModule("millpond");
    if (package == NULL) {
        return -1;
    }
    Py_DECREF(package);
    found = (const mp_python_table *)PyCapsule_Import("CAPSULE", 0);
    if (found == NULL) {
        return -1;
    }
    if (found->version < MP_PYTHON_VERSION || found->functions->version < MP_VERSION) {
        PyErr_Format(PyExc_ImportError,
            "the extension was compiled with version %u of millpond's C interface, which has version %u: "
            "install a newer millpond",
            (unsigned int)MP_VERSION, (unsigned int)found->functions->version);
        return -1;
    }
    mp_loaded_python = found;
    mp_loaded_table = found->functions;
    return 0;
}

/** 0 for MP_OK; else -1 with the exception for this thread's last call that failed. With the interpreter lock. */
MP_INLINE int mp_check(mp_status status) {
    if (status == MP_OK) {
        return 0;
    }
    (void)mp_error_raise();
    return -1;
}

#endif
"#;

fn declarations(function: &Function) -> Vec<String> {
    let arguments = function.arguments.iter();
    arguments
        .map(|(_, declaration)| declaration.clone())
        .collect()
}

/// The field of a table.
fn pointer(function: &Function) -> String {
    let head = join(&function.answer, &format!("(*{})", function.name));
    let line = call(&head, &declarations(function), ";");
    format!("    {}\n", line.replace("\n    ", "\n        "))
}

pub(super) fn prototype(prefix: &str, function: &Function, tail: &str) -> String {
    let head = format!("{prefix}{}", join(&function.answer, function.name));
    call(&head, &declarations(function), tail)
}

/// A function that calls the one in a table.
fn forward(function: &Function, variable: &str) -> String {
    let names: Vec<&str> = function.arguments.iter().map(|(name, _)| *name).collect();
    let answer = if function.answer == "void" {
        ""
    } else {
        "return "
    };
    let call = format!(
        "{answer}{variable}->{}({});",
        function.name,
        names.join(", ")
    );
    comment("", function.doc)
        + &prototype(
            "static inline ",
            function,
            &format!(" {{\n    {call}\n}}\n\n"),
        )
}
