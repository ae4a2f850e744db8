//! `cargo xtask gate`: what a pair of allocation and free may cost, in instructions.
//!
//! Times are too noisy to be asserted; the number of instructions of a pair is the same in every
//! run of one program. An example of the runtime counts them; here is what was agreed on. Compilers
//! differ, so some more is allowed. Where processes can't be traced, the gate says so and passes.
//! The bench of pools is run as well, in short, so that it stays alive.

use crate::failure::{Failure, Outcome};
use crate::options::Options;
use crate::run::{Program, step};

/// Instructions of a pair, by the name of the case: raise a number only for what is worth it.
const AGREED: &[(&str, u64)] = &[
    ("same queue, a size class", 290),
    ("same queue, its lock held", 127),
    ("same queue, a large size", 450),
    ("another queue, never used", 720),
    ("another queue, through an event", 971),
    ("another queue, completed", 916),
];

/// A pair may take this many percent more than was agreed on.
const SLACK: u64 = 8;

/// Compares, and runs the bench.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    Options::parse(arguments, &[], &[])?;
    let counted = step("instructions of a pair", || {
        example("pair_instructions").output()
    })?;
    print!("{counted}");
    step("bench of pools, in short", || {
        example("pool_rivals").arg("--quick").output()
    })?;
    let faults = faults(&counted);
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failure::Check(faults.join("; ")))
}

/// An example of the runtime as it is measured; what follows are its arguments.
fn example(name: &str) -> Program {
    let run = ["run", "--quiet", "--release", "-p", "millpond-runtime"];
    Program::cargo().args(run).args(["--example", name, "--"])
}

/// What is wrong with the lines that were printed: each case has one, unless it was skipped.
fn faults(counted: &str) -> Vec<String> {
    let skipped = counted.lines().any(|line| line.starts_with("skipped:"));
    let fault = |&(name, agreed): &(&str, u64)| {
        let line = counted.lines().find_map(|line| line.strip_prefix(name));
        let Some(rest) = line else {
            return (!skipped).then(|| format!("{name}: nothing was counted"));
        };
        let Some(count) = rest.strip_prefix(": ").and_then(|text| text.parse().ok()) else {
            return Some(format!("{name}: '{rest}' isn't a count"));
        };
        let most = agreed + agreed * SLACK / 100;
        (most < count).then(|| {
            format!("{name}: a pair takes {count} instructions, at most {most} were agreed on")
        })
    };
    AGREED.iter().filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the example prints, with so much of what was agreed on.
    fn lines(percent: u64) -> String {
        let line = |&(name, agreed): &(&str, u64)| format!("{name}: {}\n", agreed * percent / 100);
        AGREED.iter().map(line).collect()
    }

    #[test]
    fn a_pair_that_takes_longer_is_a_fault() {
        assert_eq!(faults(&lines(100)), Vec::<String>::new());
        assert_eq!(faults(&lines(90)), Vec::<String>::new());
        assert_eq!(faults(&lines(120)).len(), AGREED.len());
    }

    #[test]
    fn what_was_not_counted_is_a_fault_unless_it_was_skipped() {
        assert_eq!(faults("").len(), AGREED.len());
        assert_eq!(
            faults("same queue, a size class: many\n").len(),
            AGREED.len()
        );
        let skipped = "skipped: same queue, a size class: not permitted\n";
        assert_eq!(faults(skipped), Vec::<String>::new());
    }
}
