//! What a thread may see of a number that it reads without a lock, and of the bytes behind it: who
//! is told that a use is over sees what it wrote.

use std::sync::Arc;
use std::time::Instant;

use loom::cell::UnsafeCell;
use loom::thread;
use millpond_hal as hal;
use millpond_hal::{
    Access, Address, DeviceError, Failure, Point, Progress, QueueId, RawAllocation, Submission,
};
use millpond_types::MemoryKind;

use crate::memory::tracking::Tracking;
use crate::pool::store::{Conditions, Store};
use crate::queue::Native;

const BYTES: usize = 4096;
const BASE: Address = Address::new(1 << 20);

/// A queue whose one command the model runs.
struct Backend {
    id: QueueId,
    progress: Progress,
}

impl hal::Queue for Backend {
    fn id(&self) -> QueueId {
        self.id
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    unsafe fn submit(&self, _: Submission<'_>) -> Result<Point, DeviceError> {
        unreachable!("the model runs the command itself")
    }

    fn reached(&self, sequence: u64) -> bool {
        sequence <= self.progress.completed()
    }

    fn outcome(&self, sequence: u64) -> Option<Result<(), Failure>> {
        self.reached(sequence).then_some(Ok(()))
    }

    fn failures(&self, _: usize) -> Vec<(u64, Failure)> {
        Vec::new()
    }

    fn wait(&self, _: u64, _: Option<Instant>) -> hal::Wait {
        unreachable!("no thread of the model waits")
    }

    fn on_reached(&self, _: u64, _: Box<dyn FnOnce() + Send>) {
        unreachable!("no thread of the model asks to be called")
    }

    fn times(&self, _: u64) -> Option<hal::Times> {
        None
    }
}

/// A command that uses a block, and whoever wants the block next.
struct Scene {
    backend: Arc<Backend>,
    native: Arc<Native>,
    bytes: UnsafeCell<u8>,
}

// SAFETY: that accesses don't conflict is what the checker finds out; it runs one thread at a time.
unsafe impl Send for Scene {}
// SAFETY: as above.
unsafe impl Sync for Scene {}

impl Scene {
    fn new() -> Arc<Self> {
        let backend = Arc::new(Backend {
            id: QueueId::next(),
            progress: Progress::default(),
        });
        let native = Arc::new(Native::new(Arc::clone(&backend) as _, 0, true));
        Arc::new(Self {
            backend,
            native,
            bytes: UnsafeCell::new(0),
        })
    }

    /// Writes the block's bytes; the checker fails if another access has no order to this one.
    fn touch(&self) {
        // SAFETY: the checker runs one thread at a time, and stops at a conflict.
        self.bytes.with_mut(|bytes| unsafe { *bytes += 1 });
    }

    /// The command, on a thread of the backend.
    fn run(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let scene = Arc::clone(self);
        thread::spawn(move || {
            scene.touch();
            scene.backend.progress.advance(1);
        })
    }

    /// The record of the command on the block.
    fn tracking(&self, timeless: bool) -> Tracking {
        let mut tracking = Tracking::default();
        tracking.set_timeless(timeless);
        tracking.record(&self.native, &self.native, 1, Access::Write);
        tracking
    }
}

#[test]
fn r3_a_block_taken_from_a_cache_has_its_last_bytes_written() {
    loom::model(|| {
        let scene = Scene::new();
        let tracking = scene.tracking(false);
        let command = scene.run();
        if tracking.is_idle(&scene.native) {
            scene.touch();
        }
        command.join().unwrap();
    });
}

#[test]
fn r3_an_extent_of_the_store_is_free_once_its_last_bytes_are_written() {
    loom::model(|| {
        let scene = Scene::new();
        let mut store = Store::default();
        store.add_segment(
            RawAllocation {
                address: BASE,
                layout: std::alloc::Layout::from_size_align(BYTES, BYTES).unwrap(),
                kind: MemoryKind::Device,
                zeroed: false,
            },
            false,
        );
        store.take(BYTES, 1).unwrap();
        let native = Arc::clone(&scene.native);
        store.put(BASE, BYTES, Conditions::from_iter([(native, 1)]));
        let command = scene.run();
        store.poll(Native::reached);
        if store.take(BYTES, 1).is_some() {
            scene.touch();
        }
        command.join().unwrap();
    });
}

#[test]
fn where_r3_is_off_what_the_host_waited_for_is_seen_by_all_of_its_threads() {
    loom::model(|| {
        let scene = Scene::new();
        let tracking = scene.tracking(true);
        let command = scene.run();
        let other = Arc::clone(&scene);
        let next = thread::spawn(move || {
            if tracking.is_quiet(&other.native) {
                other.touch();
            }
        });
        while !scene.native.reached(1) {
            thread::yield_now();
        }
        scene.native.observe_all(1);
        command.join().unwrap();
        next.join().unwrap();
    });
}

#[test]
fn a_command_that_failed_is_known_to_have_by_who_sees_it_completed() {
    loom::model(|| {
        let scene = Scene::new();
        let worker = Arc::clone(&scene);
        let command = thread::spawn(move || {
            worker.backend.progress.count_failure();
            worker.backend.progress.advance(1);
        });
        if scene.native.known(false) == 1 {
            assert_eq!(scene.native.progress().failed(), 1);
        }
        command.join().unwrap();
    });
}

/// The checker is awake: a backend that breaks rule B4, publishing before it is done, is found.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_backend_that_publishes_before_the_bytes_are_written_is_found() {
    loom::model(|| {
        let scene = Scene::new();
        let tracking = scene.tracking(false);
        let liar = Arc::clone(&scene);
        let command = thread::spawn(move || {
            liar.backend.progress.advance(1);
            liar.touch();
        });
        if tracking.is_idle(&scene.native) {
            scene.touch();
        }
        command.join().unwrap();
    });
}
