//! The declarations for extensions of Python in Rust, which must not hold a second runtime: the crate
//! `millpond-extension` has them in place of a dependency on this one.

use std::fmt::Write as _;

use super::ORIGIN;
use super::text::{OBJECTS, enumerations, structures};
use crate::describe::Function;
use crate::{python, table};

const OPENING: &str = "\
//! The interface as C sees it: types, numbers and the two tables of functions.
//!
//! ORIGIN

use std::ffi::{c_char, c_void};

use pyo3::ffi::PyObject;
";

/// `raw.rs`.
pub(super) fn declarations() -> String {
    let mut text = OPENING.replace("ORIGIN", ORIGIN);
    for (name, what, version) in [
        ("VERSION", "interface", table::VERSION),
        (
            "PYTHON_VERSION",
            "part that knows objects of Python",
            python::VERSION,
        ),
    ] {
        let _ = writeln!(text, "\n/// The version of the {what} that this is.");
        let _ = writeln!(text, "pub const {name}: u32 = {version};");
    }
    for (name, doc, constants) in enumerations() {
        let _ = writeln!(text, "\n{}pub type {name} = i32;\n", comment("", &[doc]));
        for (constant, number, doc) in constants {
            let doc = if doc.is_empty() { "A dtype." } else { doc };
            text += &comment("", &[doc]);
            let _ = writeln!(text, "pub const {constant}: {name} = {number};");
        }
    }
    for (name, doc) in OBJECTS {
        text += &structure(name, &[doc], "    _opaque: [u8; 0],\n");
    }
    for found in structures() {
        let mut fields = String::new();
        for (doc, declaration) in &found.fields {
            fields += &field(doc, &member(declaration));
        }
        text += &structure(found.name, found.doc, &fields);
    }
    let native: Vec<Function> = table::functions()
        .into_iter()
        .map(|(_, function)| function)
        .collect();
    text += &functions(
        "mp_table",
        "The functions, in the order of their addition.",
        "",
        &native,
    );
    let of_python =
        "    /// The functions that know nothing of Python.\n    pub functions: *const mp_table,\n";
    let doc = "The functions that know objects of Python, all of which are called with the interpreter lock.";
    text += &functions("mp_python_table", doc, of_python, &python::functions());
    text
}

fn structure(name: &str, doc: &[&str], fields: &str) -> String {
    let doc = comment("", doc);
    format!("\n{doc}#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct {name} {{\n{fields}}}\n")
}

fn functions(name: &str, doc: &str, first: &str, functions: &[Function]) -> String {
    let mut fields = field(&["The version."], "version: u32");
    fields += &field(&["The size of this table."], "bytes: u32");
    fields += first;
    for function in functions {
        let arguments = function.arguments.iter();
        let arguments: Vec<String> = arguments
            .map(|(name, declaration)| format!("{name}: {}", of_variable(declaration, name)))
            .collect();
        let pointer = pointer(&arguments.join(", "), &function.answer);
        fields += &field(function.doc, &format!("{}: {pointer}", function.name));
    }
    structure(name, &[doc], &fields)
}

fn field(doc: &[&str], declaration: &str) -> String {
    format!("{}    pub {declaration},\n", comment("    ", doc))
}

fn comment(indent: &str, doc: &[&str]) -> String {
    let lines = doc
        .iter()
        .map(|line| format!("{indent}/// {}\n", line.trim()));
    lines.collect()
}

fn pointer(arguments: &str, answer: &str) -> String {
    let head = format!("unsafe extern \"C\" fn({arguments})");
    match answer {
        "void" => head,
        answer => format!("{head} -> {}", of_type(answer)),
    }
}

/// The field of a structure: a variable, or a pointer to a function, which may be null.
fn member(declaration: &str) -> String {
    let Some((answer, rest)) = declaration.split_once(" (*") else {
        let name = name_of(declaration);
        return format!("{name}: {}", of_variable(declaration, name));
    };
    let (name, arguments) = rest.split_once(")(").unwrap_or((rest, ""));
    let arguments: Vec<String> = arguments
        .trim_end_matches(')')
        .split(", ")
        .map(|argument| {
            let name = name_of(argument);
            format!("{name}: {}", of_variable(argument, name))
        })
        .collect();
    format!("{name}: Option<{}>", pointer(&arguments.join(", "), answer))
}

fn name_of(declaration: &str) -> &str {
    declaration.rsplit([' ', '*']).next().unwrap_or_default()
}

/// The type of a variable that C declares so.
fn of_variable(declaration: &str, name: &str) -> String {
    of_type(declaration.strip_suffix(name).unwrap_or(declaration))
}

/// A type of C in Rust.
fn of_type(c: &str) -> String {
    let mut made = String::new();
    let mut is_const = false;
    for word in c.replace('*', " * ").split_whitespace() {
        match word {
            "MP_KEEP" | "MP_TAKE" | "MP_GIVE" => {}
            "const" => is_const = true,
            "*" => {
                made = format!("*{} {made}", if is_const { "const" } else { "mut" });
                is_const = false;
            }
            base => base_type(base).clone_into(&mut made),
        }
    }
    made
}

fn base_type(c: &str) -> &str {
    match c {
        "void" => "c_void",
        "char" => "c_char",
        "int32_t" => "i32",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "size_t" => "usize",
        "ptrdiff_t" => "isize",
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_c_are_read_from_the_inside() {
        let of = |declaration| member(declaration);
        assert_eq!(of("MP_KEEP const char *name"), "name: *const c_char");
        assert_eq!(of("MP_GIVE mp_event **event"), "event: *mut *mut mp_event");
        assert_eq!(
            of("mp_event *const *events"),
            "events: *const *mut mp_event"
        );
        assert_eq!(
            of("MP_KEEP const size_t **shape"),
            "shape: *mut *const usize"
        );
        assert_eq!(of("size_t count"), "count: usize");
        assert_eq!(
            of("mp_status (*run)(void *context)"),
            "run: Option<unsafe extern \"C\" fn(context: *mut c_void) -> mp_status>"
        );
    }
}
