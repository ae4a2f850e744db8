//! The page about the interface: each type with its functions, as the headers declare them.

use std::fmt::Write as _;

use super::ORIGIN;
use super::c::prototype;
use super::text::{OBJECTS, enumerations, structures};
use crate::describe::Function;
use crate::{python, table};

const OPENING: &str = "\
# C, function by function

The functions of `millpond.h` and `millpond_python.h`; [native extensions](../guides/native.md) says how they are used.
They answer `MP_OK`, or say by `mp_error_message` what went wrong; results come by the last arguments, which are written
on success only. What is marked `MP_KEEP` stays the caller's, who keeps it until the call returns; `MP_TAKE` is taken,
whatever the call answers; `MP_GIVE` gives a handle, to be let go of by the release function of its type.
";

/// `c.md`.
pub(super) fn page() -> String {
    let mut text = format!("<!-- {ORIGIN} -->\n\n{OPENING}");
    let native = table::functions().into_iter().map(|(_, function)| function);
    let mut left: Vec<Function> = native.chain(python::functions()).collect();
    for (object, doc) in OBJECTS {
        let _ = writeln!(text, "\n## `{object}`\n\n{doc}");
        let own = format!("{object}_");
        let (mine, others) = left
            .into_iter()
            .partition(|function| function.name.starts_with(&own));
        left = others;
        list(&mut text, mine);
    }
    text += "\n## Errors, versions, dtypes\n";
    list(&mut text, left);
    text += "\n## Structures\n";
    for structure in structures() {
        let _ = writeln!(
            text,
            "\n### `{}`\n\n{}\n",
            structure.name,
            prose(structure.doc)
        );
        text += "| field | what it is |\n| --- | --- |\n";
        for (doc, declaration) in structure.fields {
            let _ = writeln!(text, "| `{declaration}` | {} |", prose(doc));
        }
    }
    text += "\n## Numbers\n";
    for (name, doc, constants) in enumerations() {
        let _ = writeln!(text, "\n### `{name}`\n\n{doc}\n");
        text += "| name | number | what it says |\n| --- | --- | --- |\n";
        for (constant, number, doc) in constants {
            let _ = writeln!(text, "| `{constant}` | {number} | {} |", doc.trim());
        }
    }
    text
}

fn list(text: &mut String, functions: Vec<Function>) {
    for function in functions {
        let _ = writeln!(text, "\n### `{}`\n\n```c", function.name);
        let _ = writeln!(text, "{}\n```\n", prototype("", &function, ";"));
        let _ = writeln!(text, "{}", prose(function.doc));
    }
}

/// A sentence or more on one line.
fn prose(lines: &[&str]) -> String {
    let words: Vec<&str> = lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect();
    words.join(" ")
}
