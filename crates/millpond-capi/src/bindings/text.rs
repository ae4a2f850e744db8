//! What all files are made of: the items in their order, and lines of limited length.

use std::fmt::Write as _;

use crate::describe::Structure;
use crate::device::NamedDevice;
use crate::handle::Object;
use crate::memory::Memory;
use crate::number::{Constant, Enumeration};
use crate::pool::{Held, Options};
use crate::status::Status;
use crate::task::{Callback, MemoryUse, Owner, Task};
use millpond::runtime::{Access, MemoryKind, Status as EventState};
use millpond::tensor::Tensor;
use millpond::{DType, Event, Gate, Pool, Queue};

/// Columns that a line has at most.
const WIDTH: usize = 100;

/// An enumeration: its name, a line about it, its constants.
pub(super) type Numbers = (&'static str, &'static str, Vec<Constant>);

fn numbers<E: Enumeration>() -> Numbers {
    (E::NAME, E::DOC, E::constants())
}

/// The enumerations.
pub(super) fn enumerations() -> [Numbers; 5] {
    [
        numbers::<Status>(),
        numbers::<MemoryKind>(),
        numbers::<Access>(),
        numbers::<EventState>(),
        numbers::<DType>(),
    ]
}

/// The opaque types, each with a line about it.
pub(super) const OBJECTS: [(&str, &str); 7] = [
    (NamedDevice::NAME, "A processor with its memory."),
    (Queue::NAME, "An ordered line of commands on a device."),
    (
        Event::NAME,
        "A place in a queue's history that one can wait for.",
    ),
    (Gate::NAME, "Holds queues until somebody opens it, once."),
    (Memory::NAME, "Bytes of one kind on a device."),
    (Pool::NAME, "Where memory comes from."),
    (Tensor::NAME, "Elements of one dtype, laid out in memory."),
];

/// The structures of plain data.
pub(super) fn structures() -> [Structure; 6] {
    [
        Task::structure(),
        Callback::structure(),
        Owner::structure(),
        MemoryUse::structure(),
        Options::structure(),
        Held::structure(),
    ]
}

/// A sentence or more as a comment of C, at this indentation.
pub(super) fn comment(indent: &str, lines: &[&str]) -> String {
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    let mut text = format!("{indent}/**");
    let mut column = text.len();
    for word in words {
        if column + 1 + word.len() + 3 > WIDTH {
            let _ = write!(text, "\n{indent} *");
            column = indent.len() + 2;
        }
        text += " ";
        text += word;
        column += 1 + word.len();
    }
    text + " */\n"
}

/// `head(a, b, c)`, with arguments on lines of their own where it would be too long.
pub(super) fn call(head: &str, arguments: &[String], tail: &str) -> String {
    let list = match arguments {
        [] => "void".to_owned(),
        _ => arguments.join(", "),
    };
    let line = format!("{head}({list}){tail}");
    if line.len() <= WIDTH {
        return line;
    }
    let mut text = format!("{head}(");
    let mut column = WIDTH;
    for (number, argument) in arguments.iter().enumerate() {
        if number > 0 {
            text += ",";
        }
        if column + argument.len() + 3 > WIDTH {
            text += "\n    ";
            column = 4;
        } else {
            text += " ";
            column += 1;
        }
        text += argument;
        column += argument.len() + 1;
    }
    format!("{text}){tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let long = "word ".repeat(40);
        let text = comment("  ", &[&long]);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.matches("word").count(), 40);
        let arguments: Vec<String> = (0..20).map(|n| format!("int argument{n}")).collect();
        let text = call("void f", &arguments, ";");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(call("void f", &[], ";"), "void f(void);");
    }
}
