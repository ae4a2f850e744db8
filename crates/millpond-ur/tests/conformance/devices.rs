//! What objects owe where a platform has several devices, which most machines have only if they are told.

use crate::support::again;
use crate::support::load;

/// What names the processor's devices, by their cores.
pub(crate) const NAMED: &str = "MILLPOND_CPU_DEVICES";

#[test]
fn objects_do_the_same_where_there_are_two_devices() {
    if load::is_another() {
        eprintln!("skipped: nobody knows how another adapter is given devices");
        return;
    }
    let mut command = again::command(&["any_arguments::"]);
    command.arg("objects::").env(NAMED, "0;0");
    command.stdout(std::process::Stdio::inherit());
    assert!(again::passes(command), "what failed stands above");
}
