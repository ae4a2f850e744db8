//! `cargo xtask bench`: measures millpond beside other array libraries.
//!
//! `NumPy` is always among them, others on request. `benches/run.sh` runs all in turn, `benches/table.py` makes the table.
//! With `--pools`, an example of the runtime measures pools beside classic allocators instead.

use std::fs;

use crate::failure::{Failure, Outcome};
use crate::options::Options;
use crate::project;
use crate::python_env;
use crate::run::{Program, step};
use crate::wheel::{self, Profile, Reach};

/// The page that `--write` keeps.
const PAGE: &str = "docs/performance.md";

/// What surrounds the table on the page.
const BEGIN: &str = "<!-- begin table: `cargo xtask bench --write` -->\n";
const BEGIN_POOLS: &str = "<!-- begin table: `cargo xtask bench --pools --write` -->\n";
const END: &str = "<!-- end table -->";

/// Measures and prints a table with the ratios to `NumPy`.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let valued = ["case", "peers", "rounds", "budget", "device", "seeds"];
    let options = Options::parse(arguments, &["pools", "write"], &valued)?;
    if options.has("pools") {
        return pools(&options);
    }
    let rounds = options.number("rounds", 1.0)?;
    let budget = options.number("budget", 0.2)?;
    python_env::prepare(&["build", "bench"])?;
    let wheel = wheel::build(Reach::Here, Profile::Dist)?;
    python_env::install_wheel(&wheel)?;

    let results = project::path("target/bench");
    if results.exists() {
        fs::remove_dir_all(&results).map_err(Failure::file(&results))?;
    }
    let peers = options.value("peers").unwrap_or_default().replace(',', " ");
    let mut runner = Program::new("bash")
        .arg("benches/run.sh")
        .env("LIBS", format!("numpy millpond {peers}"))
        .env("ROUNDS", format!("{rounds:.0}"))
        .env("BUDGET", budget.to_string())
        .env("OUT", &results)
        .env("BENCH_PYTHON", python_env::venv_python());
    if !options.words.is_empty() {
        runner = runner.env("GROUPS_", options.words.join(" "));
    }
    if let Some(case) = options.value("case") {
        runner = runner.env("CASE", case);
    }
    step("measure", || runner.run())?;
    print!("{}", table(&[])?);
    if options.has("write") {
        write_page(BEGIN, &table(&["--md"])?)?;
    }
    Ok(())
}

fn table(extra: &[&str]) -> Outcome<String> {
    let results = project::path("target/bench");
    let mut files = project::files(&results)?;
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    python_env::python()
        .args(["benches/table.py", "--ref", "numpy"])
        .args(extra)
        .args(files)
        .output()
}

/// Measures pools; words select tables, and `--device` a device with memory.
fn pools(options: &Options) -> Outcome<()> {
    let run = ["run", "--release", "-p", "millpond-runtime"];
    let mut bench = Program::cargo()
        .args(run)
        .args(["--example", "pool_rivals", "--"])
        .args(&options.words);
    for name in ["device", "seeds"] {
        if let Some(value) = options.value(name) {
            bench = bench.arg(format!("--{name}")).arg(value);
        }
    }
    if !options.has("write") {
        return bench.run();
    }
    if options.value("device").is_some() {
        let reason = "--write keeps the page's table, which no device with memory is in";
        return Err(Failure::Check(reason.to_owned()));
    }
    bench = bench.arg("--markdown");
    let table = step("measure", || bench.output())?;
    write_page(BEGIN_POOLS, &table)
}

fn write_page(begin: &str, table: &str) -> Outcome<()> {
    let path = project::path(PAGE);
    let page = project::read(&path)?;
    let replaced = replace(&page, begin, table).ok_or_else(|| {
        Failure::Check(format!("{PAGE} has lost the lines that surround its table"))
    })?;
    project::write(&path, &replaced)?;
    println!("wrote {PAGE}");
    Ok(())
}

/// The page with another table.
fn replace(page: &str, begin: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}\n{}\n\n{END}{after}", table.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_replaced_and_the_rest_stays() {
        for begin in [BEGIN, BEGIN_POOLS] {
            let page = format!("{END}one\n{begin}old\n{END}\ntwo\n");
            let new = replace(&page, begin, "| new |\n").unwrap();
            assert_eq!(new, format!("{END}one\n{begin}\n| new |\n\n{END}\ntwo\n"));
        }
        assert_eq!(replace("no marks", BEGIN, "t"), None);
    }
}
