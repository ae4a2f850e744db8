//! Every Rust file opens by saying what it is.

use super::{Verdict, judge};
use crate::failure::Outcome;
use crate::project;

/// Fails for each Rust file whose first line is not an inner doc comment with text.
pub(super) fn check() -> Outcome<Verdict> {
    let mut faults = Vec::new();
    for path in project::rust_files()? {
        let text = project::read(&path)?;
        if !opens_with_purpose(&text) {
            let path = project::relative(&path);
            faults.push(format!(
                "{path}: the first line should be `//! What this is.`"
            ));
        }
    }
    judge(&faults)
}

fn opens_with_purpose(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first
        .strip_prefix("//!")
        .is_some_and(|purpose| !purpose.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::opens_with_purpose;

    #[test]
    fn the_first_line_decides() {
        assert!(opens_with_purpose("//! A pool.\n"));
        assert!(!opens_with_purpose("use std::fs;\n//! A pool.\n"));
        assert!(!opens_with_purpose("//!\n//! A pool.\n"));
        assert!(!opens_with_purpose(""));
    }
}
