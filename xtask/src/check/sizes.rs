//! File sizes: a row of figures per crate, and a limit.

use std::collections::BTreeMap;

use super::{Verdict, judge};
use crate::failure::Outcome;
use crate::project;

/// No file may have more lines.
const LIMIT: usize = 800;

/// Files that may be longer, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Prints median, quartile, ninth decile and maximum per crate; fails for files above the limit.
pub(super) fn check() -> Outcome<Verdict> {
    let mut counts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut faults = Vec::new();
    for path in project::rust_files()? {
        let lines = project::read(&path)?.lines().count();
        let path = project::relative(&path);
        if let Some(name) = project::crate_of(&path) {
            counts.entry(name.to_owned()).or_default().push(lines);
        }
        if lines > LIMIT && !EXCEPTIONS.iter().any(|(exempt, _)| *exempt == path) {
            faults.push(format!("{path}: {lines} lines, more than {LIMIT}"));
        }
    }
    println!("  {:20} files  lines median  p75  p90  max", "crate");
    for (name, counts) in &mut counts {
        println!("{}", row(name, counts));
    }
    for (path, reason) in EXCEPTIONS {
        println!("  exempt: {path}: {reason}");
    }
    judge(&faults)
}

fn row(name: &str, counts: &mut [usize]) -> String {
    counts.sort_unstable();
    format!(
        "  {name:20} {:5} {:6} {:6} {:4} {:4} {:4}",
        counts.len(),
        counts.iter().sum::<usize>(),
        quantile(counts, 1, 2),
        quantile(counts, 3, 4),
        quantile(counts, 9, 10),
        counts.last().copied().unwrap_or_default()
    )
}

/// The value that `part` of `whole` of the sorted counts do not exceed.
fn quantile(sorted: &[usize], part: usize, whole: usize) -> usize {
    let index = sorted.len() * part / whole;
    sorted
        .get(index.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_of_a_few() {
        let sorted = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        assert_eq!(quantile(&sorted, 1, 2), 6);
        assert_eq!(quantile(&sorted, 9, 10), 10);
        assert_eq!(quantile(&[7], 3, 4), 7);
        assert_eq!(quantile(&[], 1, 2), 0);
    }
}
