//! What a thread may see of the count by which a device is found to have nothing to wait for: who sees
//! none sees what its queues' commands wrote.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::Mutex;
use loom::thread;
use millpond_hal::Progress;

use super::{Counted, Unsettled};

/// What a queue's lock guards.
#[derive(Default)]
struct Line {
    submitted: u64,
    counted: Counted,
}

/// A device with one queue, whose commands write the bytes.
#[derive(Default)]
struct Scene {
    line: Mutex<Line>,
    progress: Progress,
    unsettled: Unsettled,
    bytes: UnsafeCell<u8>,
}

// SAFETY: that accesses don't conflict is what the checker finds out; it runs one thread at a time.
unsafe impl Send for Scene {}
// SAFETY: as above.
unsafe impl Sync for Scene {}

impl Scene {
    /// Submits a command, which a thread of the backend runs.
    fn submit(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let mut line = self.line.lock().unwrap();
        line.counted.begin(&self.unsettled);
        line.submitted += 1;
        let (scene, sequence) = (Arc::clone(self), line.submitted);
        thread::spawn(move || {
            scene.touch();
            scene.progress.advance(sequence);
        })
    }

    /// Writes the bytes; the checker fails if another access has no order to this one.
    fn touch(&self) {
        // SAFETY: the checker runs one thread at a time, and stops at a conflict.
        self.bytes.with_mut(|bytes| unsafe { *bytes += 1 });
    }

    /// A wait that ends at once or not at all.
    fn wait(&self) {
        let mut line = self.line.lock().unwrap();
        if line.submitted == self.progress.completed() {
            line.counted.end(&self.unsettled);
        }
    }

    /// The same by somebody who doesn't look.
    fn wait_rashly(&self) {
        self.line.lock().unwrap().counted.end(&self.unsettled);
    }
}

/// A command is submitted while another thread waits, and its bytes are used if nothing is left.
fn a_wait_beside_a_submission(wait: fn(&Scene)) {
    loom::model(move || {
        let scene = Arc::new(Scene::default());
        let waiting = Arc::clone(&scene);
        let waiter = thread::spawn(move || wait(&waiting));
        let command = scene.submit();
        if scene.unsettled.is_empty() {
            scene.touch();
        }
        waiter.join().unwrap();
        command.join().unwrap();
        scene.wait();
        assert!(scene.unsettled.is_empty());
    });
}

#[test]
fn o5_a_device_without_unsettled_queues_has_written_what_they_wrote() {
    a_wait_beside_a_submission(Scene::wait);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_queue_that_is_settled_without_a_look_is_found_by_the_model() {
    a_wait_beside_a_submission(Scene::wait_rashly);
}
