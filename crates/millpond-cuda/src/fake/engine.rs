//! The thread that stands for the devices.

use std::sync::{Arc, PoisonError};
use std::thread;

use super::Shared;

/// Starts it; it ends with the driver.
pub(super) fn start(shared: &Arc<Shared>) {
    let shared = Arc::clone(shared);
    thread::Builder::new()
        .name("fake device".to_owned())
        .spawn(move || run(&shared))
        .expect("the system has a thread for the fake");
}

fn run(shared: &Shared) {
    loop {
        let mut world = shared.lock();
        if world.ended {
            return;
        }
        if !world.advance() {
            // Only a call can change that.
            drop(
                shared
                    .wake
                    .wait(world)
                    .unwrap_or_else(PoisonError::into_inner),
            );
        }
    }
}
