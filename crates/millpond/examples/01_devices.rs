//! Devices and queues: what there is, and lines of commands on it.
//!
//! Shows: the devices of a process, a device by name, the default queue and queues of one's own,
//! waiting for all of them.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;

use millpond::QueueOptions;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    for device in millpond::devices() {
        let info = device.info();
        println!(
            "{device}: {}, {} cores, {}",
            info.name, info.cores, info.simd
        );
    }

    // A name finds a device; there is always a CPU.
    let device = millpond::device("cpu")?;
    let unknown = millpond::device("abacus");
    println!("{}", unknown.expect_err("no such device is made"));

    // Each device has a default queue. Handles are cheap: clones are the same queue.
    let line = device.default_queue()?;
    assert_eq!(line, device.default_queue()?);
    assert!(line.is_in_order());

    // Queues of one's own run beside it. Out-of-order ones may run independent commands at once.
    let beside = device.create_queue(&QueueOptions {
        out_of_order: true,
        ..QueueOptions::default()
    })?;
    assert_ne!(line, beside);

    beside.task("greet", &[], || {
        // Runs on a thread of the device.
        Ok(())
    })?;
    device.wait()?;
    assert!(beside.is_idle());
    Ok(())
}
