//! Queues that use one pool don't meet while their caches have what they need.

use std::sync::mpsc::channel;

use millpond_hal::null::NullDriver;
use millpond_hal::{Driver, QueueOptions};
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::sync::lock;

#[test]
fn f096_a_queue_allocates_and_frees_while_all_that_others_use_is_locked() {
    watched(|| {
        let device = Device::open(NullDriver::default().devices().unwrap().remove(0));
        let pool = device.default_pool(MemoryKind::Device);
        let options = QueueOptions::default();
        let (own, other) = (
            device.create_queue(&options).unwrap(),
            device.create_queue(&options).unwrap(),
        );
        let sizes = [1, 1000, 70_000, 3 << 20, 40 << 20];
        // Growing may merge what was cached before.
        for bytes in [sizes, sizes].concat() {
            drop(own.allocate_from(&pool, bytes).unwrap());
        }
        let (done, is_done) = channel();
        let store = lock(&pool.core().store);
        let line = other.core().lock();
        let worker = std::thread::scope(|threads| {
            let worker = threads.spawn(|| {
                for bytes in sizes {
                    let memory = own.allocate_from(&pool, bytes).unwrap();
                    drop(memory.clone());
                    own.free(memory, &[]).unwrap();
                }
                done.send(()).unwrap();
            });
            is_done.recv().unwrap();
            drop((store, line));
            worker.join()
        });
        worker.unwrap();
    });
}
