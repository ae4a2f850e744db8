//! Events, barriers and deadlines.
//!
//! Shows: asking an event, waiting until a deadline, a queue that waits for another, being called
//! back, and how long a command took.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use millpond::{Error as RuntimeError, Gate, QueueOptions, Status};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = millpond::default_device()?;
    let queue = device.create_queue(&QueueOptions {
        profiling: true,
        ..QueueOptions::default()
    })?;
    let other = device.create_queue(&QueueOptions::default())?;

    // A gate stands for work of somebody else's; here it makes the example certain.
    let gate = Gate::new();
    queue.gate(&gate, &[])?;
    let done = queue.task("work", &[], || Ok(()))?;
    assert_eq!(done.status(), Status::Pending);

    // A wait with a deadline gives up, and nothing is lost by it.
    let deadline = Instant::now() + Duration::from_millis(1);
    let error = done.wait_until(Some(deadline)).expect_err("the gate holds");
    assert!(matches!(error, RuntimeError::TimedOut { .. }));
    println!("{error}");

    // Everything on `other` from here on runs after the event. Nothing waits here.
    other.wait_for(&done)?;
    let after = other.task("after", &[], || Ok(()))?;
    // A barrier is an event for all that was submitted before it, and for the events it is given.
    let both = other.barrier(&[&done, &after])?;

    let (sender, receiver) = mpsc::channel();
    both.on_complete(move |status| {
        // Nobody may be listening any more; a callback must not fail for that.
        let _ = sender.send(status);
    });

    gate.open(Ok(()));
    both.wait()?;
    assert_eq!(receiver.recv()?, Status::Complete);
    assert_eq!(done.status(), Status::Complete);

    let times = done.times()?;
    let took = times.finished.saturating_sub(times.started);
    println!("the work took {took:?}");
    Ok(())
}
