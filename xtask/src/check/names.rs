//! Names that say nothing, and vendor names outside the crates that know the vendor.

use super::{Verdict, judge, rust_text};
use crate::failure::Outcome;
use crate::project;

/// File names that could hold anything.
const EMPTY_NAMES: &[&str] = &[
    "base", "common", "helper", "helpers", "misc", "util", "utils",
];

/// Words that only a backend, a dialect or the facade may use in identifiers.
const VENDOR_WORDS: &[&str] = &["cuda", "opencl"];

/// Where vendor words belong.
const VENDOR_PLACES: &[&str] = &[
    "crates/millpond-cuda/",
    "crates/millpond-opencl/",
    "crates/millpond-kernel/src/dialect/",
    "crates/millpond/",
    "xtask/",
    // Settings of all layers are read in one place and shown in one.
    "crates/millpond-types/src/config.rs",
    "crates/millpond-python/src/runtime/lifecycle.rs",
    // What measures pools opens a card.
    "crates/millpond-runtime/examples/pool_rivals/card.rs",
    // DLPack has a number for the memory of each vendor.
    "crates/millpond-python/src/interop/dlpack/",
    // And the Unified Runtime one for its backends.
    "crates/millpond-ur/src/numbers.rs",
    "crates/millpond-ur/src/platform.rs",
];

/// Identifiers that a protocol of others dictates.
const DICTATED: &[&str] = &["__cuda_array_interface__"];

/// Files that have the names of modules of others, which programs import.
const DICTATED_FILES: &[&str] = &["python/src/millpond/dpctl/utils.py"];

/// Fails for each file and identifier that breaks a rule.
pub(super) fn check() -> Outcome<Verdict> {
    let mut faults = Vec::new();
    for path in project::files(project::root())? {
        let relative = project::relative(&path);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let says_nothing = EMPTY_NAMES.contains(&stem.to_lowercase().as_str());
        if says_nothing && !DICTATED_FILES.contains(&relative.as_str()) {
            faults.push(format!(
                "{relative}: a file is named for what it holds, not '{stem}'"
            ));
        }
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        if is_rust
            && !VENDOR_PLACES
                .iter()
                .any(|place| relative.starts_with(place))
        {
            faults.extend(vendor_words(&relative, &project::read(&path)?));
        }
    }
    judge(&faults)
}

fn vendor_words(path: &str, source: &str) -> Vec<String> {
    let code = rust_text::code_only(source);
    let mut faults = Vec::new();
    for (index, line) in code.lines().enumerate() {
        for word in rust_text::identifiers(line) {
            let lower = word.to_lowercase();
            let names_vendor = VENDOR_WORDS.iter().any(|vendor| lower.contains(vendor));
            if names_vendor && !DICTATED.contains(&word) {
                faults.push(format!("{path}:{}: '{word}' names a vendor", index + 1));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::vendor_words;

    #[test]
    fn identifiers_are_judged_and_prose_is_not() {
        assert_eq!(
            vendor_words("a.rs", "fn f() {}\nlet cudaStream = 1;").len(),
            1
        );
        assert!(vendor_words("a.rs", "// CUDA\nlet name = \"opencl\";").is_empty());
        assert!(vendor_words("a.rs", "fn __cuda_array_interface__() {}").is_empty());
    }
}
