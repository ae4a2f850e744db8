//! Which crate may depend on which: one table, compared with `cargo metadata`.
//!
//! ```text
//! L5  millpond-python   millpond-capi   millpond-ur    (millpond-extension: none of these, it finds the runtime)
//! L4  millpond                                      the only crate that names backends
//! L3  millpond-tensor
//! L2  millpond-linalg   millpond-fft                          over the kernels
//! L2  millpond-runtime  millpond-kernel             millpond-cpu  millpond-cuda  millpond-opencl
//! L1  millpond-hal
//! L0  millpond-types
//! ```

use serde_json::Value;

use super::{Verdict, judge};
use crate::failure::Outcome;
use crate::metadata::metadata;

/// A crate and the crates of the workspace that it may use.
struct Row {
    name: &'static str,
    uses: &'static [&'static str],
}

/// The arrows, as `ARCHITECTURE.md` draws them.
const TABLE: &[Row] = &[
    Row {
        name: "millpond-types",
        uses: &[],
    },
    Row {
        name: "millpond-hal",
        uses: &["millpond-types"],
    },
    Row {
        name: "millpond-cpu",
        uses: &["millpond-types", "millpond-hal"],
    },
    Row {
        name: "millpond-cuda",
        uses: &["millpond-types", "millpond-hal"],
    },
    Row {
        name: "millpond-opencl",
        uses: &["millpond-types", "millpond-hal"],
    },
    Row {
        name: "millpond-runtime",
        uses: &["millpond-types", "millpond-hal"],
    },
    Row {
        name: "millpond-kernel",
        uses: &["millpond-types", "millpond-hal"],
    },
    Row {
        name: "millpond-linalg",
        uses: &["millpond-types", "millpond-hal", "millpond-kernel"],
    },
    Row {
        name: "millpond-fft",
        uses: &["millpond-types", "millpond-hal", "millpond-kernel"],
    },
    Row {
        name: "millpond-tensor",
        uses: &[
            "millpond-types",
            "millpond-runtime",
            "millpond-kernel",
            "millpond-linalg",
            "millpond-fft",
        ],
    },
    Row {
        name: "millpond",
        uses: &[
            "millpond-types",
            "millpond-hal",
            "millpond-cpu",
            "millpond-cuda",
            "millpond-opencl",
            "millpond-runtime",
            "millpond-kernel",
            "millpond-tensor",
        ],
    },
    Row {
        name: "millpond-extension",
        uses: &[],
    },
    Row {
        name: "millpond-capi",
        uses: &["millpond"],
    },
    Row {
        name: "millpond-python",
        uses: &["millpond", "millpond-capi"],
    },
    Row {
        name: "millpond-ur",
        uses: &["millpond"],
    },
    Row {
        name: "millpond-cuda-fake",
        uses: &["millpond-hal", TESTKIT],
    },
    Row {
        name: TESTKIT,
        uses: &["millpond-types", "millpond-hal", "millpond-runtime"],
    },
    Row {
        name: "xtask",
        uses: &["millpond-kernel"],
    },
];

/// The crate of contract suites: tests may use it, programs may not.
const TESTKIT: &str = "millpond-testkit";

/// What tests and benches of any crate may use: the contract suites, the backends, the runtime, which tests of a
/// backend put above it, kernels that are work of a device's libraries as well, and a driver without a card.
const IN_TESTS: &[&str] = &[
    TESTKIT,
    "millpond-hal",
    "millpond-cpu",
    "millpond-cuda",
    "millpond-runtime",
    "millpond-linalg",
    "millpond-fft",
    "millpond-cuda-fake",
];

/// An edge of the dependency graph inside the workspace.
struct Edge {
    from: String,
    to: String,
    for_tests: bool,
}

/// Fails for each edge that the table does not have.
pub(super) fn check() -> Outcome<Verdict> {
    let metadata = metadata()?;
    judge(&faults(&edges(&metadata), &members(&metadata)))
}

fn members(metadata: &Value) -> Vec<String> {
    packages(metadata)
        .filter_map(|package| package["name"].as_str())
        .map(str::to_owned)
        .collect()
}

fn edges(metadata: &Value) -> Vec<Edge> {
    let members = members(metadata);
    let mut edges = Vec::new();
    for package in packages(metadata) {
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            if members.iter().any(|member| member == to) {
                edges.push(Edge {
                    from: package["name"].as_str().unwrap_or_default().to_owned(),
                    to: to.to_owned(),
                    for_tests: dependency["kind"].as_str() == Some("dev"),
                });
            }
        }
    }
    edges
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

fn faults(edges: &[Edge], members: &[String]) -> Vec<String> {
    let row = |name: &str| TABLE.iter().find(|row| row.name == name);
    let mut faults: Vec<String> = members
        .iter()
        .filter(|member| row(member).is_none())
        .map(|member| format!("{member} is not in the table of layers"))
        .collect();
    for Edge {
        from,
        to,
        for_tests,
    } in edges
    {
        let allowed = row(from).is_some_and(|row| row.uses.contains(&to.as_str()));
        let allowed_in_tests = *for_tests && IN_TESTS.contains(&to.as_str());
        if !allowed && !allowed_in_tests {
            faults.push(format!("{from} must not depend on {to}"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &str, for_tests: bool) -> Edge {
        let (from, to) = (from.to_owned(), to.to_owned());
        Edge {
            from,
            to,
            for_tests,
        }
    }

    #[test]
    fn arrows_point_down() {
        assert!(faults(&[edge("millpond-hal", "millpond-types", false)], &[]).is_empty());
        let up = faults(&[edge("millpond-types", "millpond-hal", false)], &[]);
        assert_eq!(up, ["millpond-types must not depend on millpond-hal"]);
        assert_eq!(
            faults(&[edge("millpond-tensor", "millpond-hal", false)], &[]).len(),
            1
        );
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        assert!(faults(&[edge("millpond-cpu", TESTKIT, true)], &[]).is_empty());
        assert_eq!(
            faults(&[edge("millpond-cpu", TESTKIT, false)], &[]).len(),
            1
        );
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(faults(&[], &["millpond-new".to_owned()]).len(), 1);
    }

    #[test]
    fn metadata_gives_edges_of_the_workspace_only() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "a", "dependencies": [
                { "name": "b", "kind": null }, { "name": "libc", "kind": null }, { "name": "b", "kind": "dev" } ] },
            { "name": "b", "dependencies": [] },
        ]});
        let found = edges(&metadata);
        assert_eq!(found.len(), 2);
        assert!(!found[0].for_tests && found[1].for_tests);
    }
}
