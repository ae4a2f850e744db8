//! # What this is
//! What the tests of several crates share: contract suites that every backend must pass,
//! trials of kernels over slices, comparison of floating-point results, dice that roll the same in
//! every run, and a watchdog against hanging tests.
//!
//! # Model
//! A contract test is a function over a device, written once. [`backend_contract!`] makes a
//! `#[test]` of each for a backend.
//!
//! # Guarantees
//! Every test names the rule of `millpond-hal` that it checks, asserts no timing, and fails
//! instead of hanging. Deliberately not done here: tests of one backend's own policy.
//!
//! # Example
//! ```
//! use millpond_testkit::compare::ulp_distance_f64;
//! assert_eq!(ulp_distance_f64(1.0, 1.0 + f64::EPSILON), 1);
//! ```

pub mod compare;
#[allow(
    clippy::missing_panics_doc,
    reason = "contract tests and what they are built from report by panicking"
)]
pub mod contract;
pub mod dice;
#[allow(unsafe_code, reason = "runs kernels as an executor does")]
pub mod trial;
pub mod watchdog;
