//! The backend with the runtime above it: buffers, pools, and what it refuses.

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_runtime::{Buffer, Registry};
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use super::super::Fake;
use crate::CudaDriver;

fn registry(devices: usize) -> Registry {
    let driver: Arc<dyn Driver> = Arc::new(CudaDriver::over(Fake::new(devices)));
    Registry::new(&[driver])
}

#[test]
fn buffers_of_every_kind_go_to_the_device_and_back() {
    watched(|| {
        let registry = registry(1);
        let device = registry.device("cuda:0").expect("it is there");
        assert_eq!(registry.device("cuda").expect("by the driver"), device);
        let queue = device.default_queue().expect("a queue");
        for kind in MemoryKind::ALL {
            for len in [1, 1000, 300_000] {
                let elements: Vec<u32> = (0..len).collect();
                let buffer = Buffer::from_slice(&queue, kind, &elements).expect("a buffer");
                let copy = Buffer::<u32>::zeroed(&queue, kind, len as usize).expect("a buffer");
                assert_eq!(copy.to_vec().expect("zeros"), vec![0; len as usize]);
                assert_eq!(buffer.to_vec().expect("elements"), elements, "{kind}");
            }
        }
    });
}

#[test]
fn pools_hand_out_device_memory_again() {
    watched(|| {
        let registry = registry(1);
        let device = registry.device("cuda:0").expect("it is there");
        let queue = device.default_queue().expect("a queue");
        for round in 0..200_u32 {
            let buffer = Buffer::from_slice(&queue, MemoryKind::Device, &vec![round; 5000]);
            let buffer = buffer.expect("a buffer");
            if round % 50 == 0 {
                assert_eq!(buffer.to_vec().expect("elements"), vec![round; 5000]);
            }
        }
        queue.wait().expect("all went well");
        let statistics = device.pool(MemoryKind::Device).statistics();
        assert!(statistics.reserved <= 64 << 20, "{statistics:?}");
        assert_eq!(device.live(), 0);
    });
}

#[test]
fn code_of_the_host_is_refused_with_a_reason() {
    watched(|| {
        let registry = registry(1);
        let device = registry.device("cuda:0").expect("it is there");
        let queue = device.default_queue().expect("a queue");
        let x = Buffer::from_slice(&queue, MemoryKind::Device, &[1.0_f32]).expect("a buffer");
        let answer = queue.call("look", (&x,), |(x,): (&[f32],)| assert_eq!(x[0], 1.0));
        let text = answer.expect_err("the host can't reach it").to_string();
        assert!(text.contains("device"), "{text}");
        assert_eq!(x.to_vec().expect("it is as it was"), [1.0]);
    });
}
