//! The list of functions beside the interface's own header, where the Python package that has it is
//! installed in `.venv`.

use std::path::Path;

use ur_adapter_millpond::tables;

const HEADER: &str = "../../.venv/include/unified-runtime/ur_ddi.h";

/// The tables of the header, in the order of the table of all: each the functions that it has.
fn tables_of(header: &str) -> Vec<Vec<String>> {
    let structure = |name: &str| {
        let begin = header.find(&format!("typedef struct {name} {{"));
        let body = &header[begin.unwrap_or_else(|| panic!("{name} is there"))..];
        body[..body.find('}').expect("a structure ends")].to_owned()
    };
    let fields = structure("ur_dditable_t");
    let names = fields
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let tables = names.filter(|name| name.ends_with("_dditable_t"));
    let functions = |table: String| {
        let words = table.split_whitespace();
        let types = words.filter_map(|word| word.strip_prefix("ur_pfn")?.strip_suffix("_t"));
        types
            .map(|name| format!("ur{name}").to_lowercase())
            .collect()
    };
    tables.map(|name| functions(structure(name))).collect()
}

#[test]
fn tables_are_those_of_the_header() {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join(HEADER);
    let Ok(header) = std::fs::read_to_string(header) else {
        eprintln!("skipped: no header in .venv");
        return;
    };
    let expected = tables_of(&header);
    assert!(expected.len() > 20 && expected.iter().all(|table| !table.is_empty()));
    let ours = tables::newest().map(|table| table.map(str::to_lowercase).collect::<Vec<_>>());
    assert_eq!(ours.collect::<Vec<_>>(), expected);
}
