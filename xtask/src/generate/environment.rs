//! The page of environment variables, from the table at the head of the module that reads them.

use super::banner;
use crate::failure::{Failure, Outcome};
use crate::project;

/// The module that reads the environment.
const SOURCE: &str = "crates/millpond-types/src/config.rs";

/// Makes the page.
pub(super) fn page() -> Outcome<String> {
    let source = project::read(&project::path(SOURCE))?;
    let table = table(&source);
    if table.lines().count() < 3 {
        return Err(Failure::Check(format!(
            "{SOURCE} has no table of variables"
        )));
    }
    Ok(format!(
        "{}# Environment variables\n\nRead once, when the first device is looked up. A value that makes no sense is \
         ignored with a warning.\n\n{table}",
        banner(SOURCE)
    ))
}

/// The lines of the module's documentation that belong to a table.
fn table(source: &str) -> String {
    let mut table = String::new();
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.trim();
        if line.starts_with('|') {
            table.push_str(line);
            table.push('\n');
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn only_the_head_of_the_module_counts() {
        let source = "//! Settings.\n//!\n//! | a | b |\n//! | --- | --- |\n\n//! | c | d |\n";
        assert_eq!(table(source), "| a | b |\n| --- | --- |\n");
    }
}
