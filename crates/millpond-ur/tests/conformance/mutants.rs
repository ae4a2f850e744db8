//! Each rule of the library, broken in turn: the other tests notice.
//!
//! ```text
//! cargo test -p millpond-ur --features mutants --test conformance mutants
//! ```

use ur_adapter_millpond::mutants::Rule;

use crate::support::again;

/// What names the rule to break.
const NAMED: &str = "MILLPOND_UR_MUTANT";

/// Whether all other tests pass, with a rule broken or none.
fn passes(rule: Option<Rule>) -> bool {
    let mut command = again::command(&["mutants::", "card::", "devices::"]);
    if let Some(rule) = rule {
        command.env(NAMED, format!("{rule:?}"));
    }
    again::passes(command)
}

#[test]
fn every_broken_rule_is_noticed() {
    assert!(passes(None), "the tests pass while nothing is broken");
    let survivors: Vec<_> = Rule::ALL
        .iter()
        .filter(|rule| passes(Some(**rule)))
        .collect();
    assert!(
        survivors.is_empty(),
        "nobody notices {survivors:?} of {}",
        Rule::ALL.len()
    );
}
