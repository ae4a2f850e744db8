//! The page of the contract names tests that there are, and all that have a number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Rows of the page, which nobody should lose.
const POINTS: u32 = 20;
const FAULTS: usize = 70;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of the functions in the tests of a folder, in Rust and in Python.
fn tests_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let keyword = match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => {
                tests_below(&path, found);
                continue;
            }
            Some("rs") => "fn ",
            Some("py") => "def ",
            _ => continue,
        };
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let name = line.trim_start().strip_prefix(keyword);
            found.extend(name.and_then(|rest| Some(rest.split_once('(')?.0.to_owned())));
        }
    }
}

/// The number that a test's name begins with, as its row has it.
fn number(name: &str) -> Option<(char, u32)> {
    let name = name.strip_prefix("test_").unwrap_or(name);
    let (first, digits) = (name.chars().next()?, name[1..].split('_').next()?);
    let has_number = matches!((first, digits.len()), ('p', 2) | ('f', 3));
    let digits = digits.parse().ok().filter(|_| has_number);
    Some((first, digits?))
}

#[test]
fn the_page_names_every_number_and_tests_that_there_are() {
    let page = std::fs::read_to_string(root().join("docs/reference/pool-contract.md")).unwrap();
    let mut tests = BTreeSet::new();
    for folder in [
        "crates/millpond-runtime",
        "crates/millpond-ur",
        "python/tests",
    ] {
        tests_below(&root().join(folder), &mut tests);
    }
    let mut rows: BTreeMap<(char, u32), usize> = BTreeMap::new();
    let mut named = BTreeSet::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let (first, last) = (cells[0], cells[cells.len() - 1]);
        let row = first.parse().ok().map(|number| {
            let kind = if cells.len() == 3 { 'p' } else { 'f' };
            (kind, number)
        });
        if let Some(row) = row {
            *rows.entry(row).or_default() += 1;
            let is_told = last.starts_with('`') || last.starts_with("none: ");
            assert!(is_told, "{line}");
        }
        for name in last.split('`').skip(1).step_by(2) {
            if Path::new(name).extension().is_some() {
                continue;
            }
            assert!(tests.contains(name), "there is no test {name}");
            named.insert(name);
        }
    }
    let points: Vec<u32> = (1..=POINTS).collect();
    let told = |kind| rows.keys().filter(move |row| row.0 == kind);
    assert_eq!(told('p').map(|row| row.1).collect::<Vec<_>>(), points);
    assert_eq!(told('f').count(), FAULTS);
    assert!(rows.values().all(|&count| count == 1), "{rows:?}");
    for test in &tests {
        let Some(row) = number(test) else { continue };
        assert!(rows.contains_key(&row), "no row for {test}");
        assert!(named.contains(&**test), "the page doesn't name {test}");
    }
}
