//! Pages with Rust code are documentation tests: `src/pages.rs` has them all, but for those whose code other tests build.

use std::io;
use std::path::{Path, PathBuf};

/// Built by `python/tests/native/test_examples.py`: an extension for Python, which no program of Rust's can be.
const BUILT_ELSEWHERE: &[&str] = &["docs/guides/native.md"];

fn pages_below(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            pages_below(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    Ok(())
}

#[test]
fn all_pages_with_rust_code_are_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    pages_below(&root.join("docs"), &mut pages).unwrap();
    let listed = include_str!("../src/pages.rs");
    let mut tested = 0;
    for page in pages {
        if std::fs::read_to_string(&page).unwrap().contains("```rust") {
            let name = page.strip_prefix(&root).unwrap().display().to_string();
            let is_built = listed.contains(&name) || BUILT_ELSEWHERE.contains(&name.as_str());
            assert!(is_built, "{name} is not in src/pages.rs");
            tested += 1;
        }
    }
    assert!(tested > 1, "there are pages with Rust code");
}
