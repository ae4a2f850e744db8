//! Host tasks and failures: work that goes wrong after it was submitted.
//!
//! Shows: tasks with the memory that they use, failures that reach what depends on them and
//! nothing else, where a failure is told, and panics.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;

use millpond::{Access, Error as RuntimeError, FailureKind, MemoryKind, QueueOptions, Use};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = millpond::default_device()?;
    let queue = device.create_queue(&QueueOptions::default())?;
    let memory = queue.allocate(MemoryKind::Device, 64)?;
    let other = queue.allocate(MemoryKind::Device, 64)?;

    // A task says which memory it uses, so that it runs in order with what else does.
    let writes = Use {
        allocation: &memory,
        access: Access::Write,
    };
    let reads = Use {
        allocation: &memory,
        access: Access::Read,
    };
    let failing = queue.task("read a sensor", &[writes], || Err("no signal".to_owned()))?;
    let dependent = queue.task("evaluate", &[reads], || Ok(()))?;
    let independent = queue.task("tick", &[], || Ok(()))?;

    // The failure reaches what depends on the content that was not written, and nothing else.
    independent.wait()?;
    let failure = match dependent.wait() {
        Err(RuntimeError::Failed(failure)) => failure,
        answer => return Err(format!("a failure was expected, not {answer:?}").into()),
    };
    println!("{failure}");
    assert_eq!(failure.reason(), "no signal");
    assert!(failing.wait().is_err());

    // An event tells its failure every time; a queue only what no wait has told yet.
    queue.wait()?;

    // Overwriting all of it heals the memory.
    memory.write(0, &[0; 64])?;
    let reads = Use {
        allocation: &memory,
        access: Access::Read,
    };
    queue.task("evaluate", &[reads], || Ok(()))?.wait()?;

    // A panic is a failure like any other: its message is printed, and the device's threads go on.
    let writes = Use {
        allocation: &other,
        access: Access::Write,
    };
    queue.task("divide", &[writes], || {
        let nothing: Option<u8> = None;
        assert!(nothing.is_some(), "there is nothing to divide");
        Ok(())
    })?;
    match queue.wait() {
        Err(RuntimeError::Failed(failure)) => assert_eq!(failure.kind(), FailureKind::Panic),
        answer => return Err(format!("a failure was expected, not {answer:?}").into()),
    }
    queue.wait()?;
    Ok(())
}
