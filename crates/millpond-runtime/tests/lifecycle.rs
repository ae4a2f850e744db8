//! Rule O10: shutdown and fork. One test, since both end the runtime for the whole process.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "forks, on purpose")]

mod support;

use millpond_runtime::{Allocation, Error, Gate, MemoryKind, Pool, PoolOptions, Queue, shutdown};
use millpond_testkit::watchdog::watched;
use support::{Affine, BIG, device, numbers, values};

const ADD_1: Affine = Affine {
    count: 4,
    factor: 1,
    term: 1,
};

#[test]
fn o10_forked_children_and_calls_after_shutdown_get_clear_errors() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let x = numbers(&queue, &[1; 4]);
        let shareable = PoolOptions {
            shareable: true,
            ..PoolOptions::default()
        };
        let pool = device.create_pool(MemoryKind::Host, shareable).unwrap();
        queue.launch(ADD_1, &[&x], BIG).unwrap();
        assert_eq!(
            child_status(&queue, &x, &pool),
            0,
            "every call in the child answers Forked"
        );
        assert_eq!(values(&x), [2; 4], "the parent goes on");

        let gate = Gate::new();
        queue.launch(ADD_1, &[&x], BIG).unwrap();
        let pending = queue.task("late", &[], || Ok(())).unwrap();
        queue.gate(&gate, &[]).unwrap();
        gate.open(Ok(()));
        shutdown(std::slice::from_ref(&device));
        shutdown(std::slice::from_ref(&device));
        assert_eq!(
            pending.status(),
            millpond_runtime::Status::Complete,
            "pending work is done"
        );
        assert!(matches!(
            queue.allocate(MemoryKind::Device, 8),
            Err(Error::ShutDown { .. })
        ));
        assert!(matches!(
            queue.launch(ADD_1, &[&x], BIG),
            Err(Error::ShutDown { .. })
        ));
        assert!(matches!(queue.wait(), Err(Error::ShutDown { .. })));
        assert!(matches!(x.export(0..8), Err(Error::ShutDown { .. })));
        assert!(matches!(pool.handle(), Err(Error::ShutDown { .. })));
        assert!(matches!(
            device.default_queue(),
            Err(Error::ShutDown { .. })
        ));
        drop((x, queue, device));
    });
}

/// What a forked child found: 0 if all its calls answered `Forked`.
fn child_status(queue: &Queue, x: &Allocation, pool: &Pool) -> i32 {
    let (handle, descriptor) = (pool.handle().unwrap(), pool.descriptor().unwrap());
    // SAFETY: the child only makes calls that answer before they take a lock, drops a handle, and
    // leaves without running destructors.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let answers = [
            queue.allocate(MemoryKind::Device, 8).map(drop),
            queue.launch(ADD_1, &[x], BIG),
            queue.wait(),
            queue.device().default_queue().map(drop),
            x.export(0..8).map(drop),
            pool.handle().map(drop),
            queue.device().import_pool(&handle, descriptor).map(drop),
        ];
        drop(x.clone());
        let wrong = answers
            .iter()
            .filter(|answer| !matches!(answer, Err(Error::Forked { .. })))
            .count();
        // SAFETY: ends the child without touching the state it shares with nobody.
        unsafe { libc::_exit(wrong as i32) };
    }
    let mut status = -1;
    // SAFETY: the child exists and its status is written to a live integer.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    libc::WEXITSTATUS(status)
}
