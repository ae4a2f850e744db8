//! All other tests on a device with memory of its own: the fake driver's, which needs no card.

use std::path::PathBuf;

use crate::support::again;
use crate::support::world::BACKEND;

/// The driver that needs no card, beside the programs of the tests.
fn driver() -> PathBuf {
    let program = std::env::current_exe().expect("a test has a program");
    program.with_file_name("libmillpond_cuda_fake.so")
}

#[test]
fn every_test_passes_on_a_card() {
    let driver = driver();
    assert!(driver.exists(), "{} is built with this", driver.display());
    let mut command = again::command(&["card::", "devices::", "mutants::"]);
    command.env("MILLPOND_CUDA", driver).env(BACKEND, "3");
    command.stdout(std::process::Stdio::inherit());
    assert!(again::passes(command), "what failed stands above");
}
