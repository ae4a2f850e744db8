//! Prints the tables of the page of operations, from the rows that define them.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "printing is all it does")]

use millpond_kernel::Operation;
use millpond_kernel::ops::CHAPTERS;
use millpond_kernel::ops::reduction::REDUCTIONS;

fn main() {
    for (chapter, operations) in CHAPTERS {
        println!("## {}\n", title(chapter));
        println!(
            "| operation | computes | kinds of dtype | error, ulp |\n| --- | --- | --- | --- |"
        );
        for operation in *operations {
            println!("{}", row(operation));
        }
        println!();
    }
    println!("## Reductions\n\n| operation | computes | of no elements |\n| --- | --- | --- |");
    for reduction in REDUCTIONS {
        let empty = if reduction.has_identity() {
            "a value"
        } else {
            "an error"
        };
        let about = cell(reduction.documentation());
        println!("| `{}` | {about} | {empty} |", reduction.name());
    }
}

fn row(operation: &Operation) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for dtype in operation.dtypes() {
        let kind = format!("{:?}", dtype.kind()).to_lowercase();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    format!(
        "| `{}({})` | {} | {} | {} |",
        operation.name(),
        operation.arguments().join(", "),
        cell(operation.documentation()),
        kinds.join(", "),
        operation.ulp()
    )
}

/// Text that may stand in a cell of a table.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// The name of a chapter as a heading.
fn title(chapter: &str) -> String {
    let mut letters = chapter.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
