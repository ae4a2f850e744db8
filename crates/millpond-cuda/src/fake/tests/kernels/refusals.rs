//! What the driver may refuse to a kernel, and what goes with the device.

use std::sync::Arc;
use std::thread;

use millpond_hal::Wait;
use millpond_testkit::contract::raw::Memory;
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use super::{Bench, Bump, Way};
use crate::api::Code;
use crate::fake::tests::outcome;

/// Every call that kernels make may be refused: the command fails or is the host's, and the device
/// goes on.
#[test]
fn every_call_for_a_kernel_may_fail() {
    watched(|| {
        let ways = [Way::Launch, Way::Scratch, Way::Find, Way::Host];
        let program = |bench: &Bench, memory: &Memory| {
            let kernels = ways.map(|way| Arc::new(Bump::new(100, way)));
            let points = kernels.map(|kernel| bench.launch(&kernel, &[memory.address()], &[]));
            points.map(|point| outcome(&bench.queue, point).is_ok())
        };
        let calls = {
            let bench = Bench::new();
            let memory = bench.memory(MemoryKind::Device, 100);
            bench.queue.wait(1, None);
            bench.fake.calls();
            program(&bench, &memory);
            bench.fake.calls()
        };
        assert!(calls.len() > 15, "{calls:?}");
        for index in 0..calls.len() {
            let bench = Bench::new();
            let memory = bench.memory(MemoryKind::Device, 100);
            assert_eq!(bench.queue.wait(1, None), Wait::Reached);
            bench.fake.calls();
            bench.fake.fail_at(index, Code::OUT_OF_MEMORY);
            program(&bench, &memory);
            bench.fake.fail_at(usize::MAX, Code::OUT_OF_MEMORY);
            assert_eq!(bench.bytes(&memory, 100).len(), 100);
            let kernel = Arc::new(Bump::new(100, Way::Host));
            let point = bench.launch(&kernel, &[memory.address()], &[]);
            assert_eq!(outcome(&bench.queue, point), Ok(()));
        }
    });
}

#[test]
fn programs_go_with_their_device() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 100);
        bench.launch(
            &Arc::new(Bump::new(100, Way::Launch)),
            &[memory.address()],
            &[],
        );
        bench.bytes(&memory, 1);
        assert_eq!(bench.fake.modules(), 1);
        let fake = Arc::clone(&bench.fake);
        drop(memory);
        drop(bench);
        // The threads let go of the last queue a moment later.
        while fake.modules() > 0 {
            thread::yield_now();
        }
    });
}
