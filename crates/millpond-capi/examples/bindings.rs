//! Prints a file that other languages see the interface by: `cargo xtask gen` asks for each.
#![allow(clippy::print_stdout, reason = "it prints")]

use millpond_capi::bindings;

fn main() -> Result<(), String> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let found = bindings::ALL.iter().find(|(known, _)| *known == name);
    let (_, make) = found.ok_or_else(|| format!("no file is called '{name}'"))?;
    print!("{}", make());
    Ok(())
}
