//! Typed buffers: calls, views, host access.

mod support;

use millpond_runtime::{Buffer, Error, Gate, MemoryKind};
use millpond_testkit::watchdog::watched;
use support::{device, out_of_order};

#[test]
fn calls_are_ordered_by_their_operands() {
    watched(|| {
        let device = device();
        let (a, b) = (device.default_queue().unwrap(), out_of_order(&device));
        let x = Buffer::from_slice(&a, MemoryKind::Device, &[1.0_f32, 2.0, 3.0]).unwrap();
        let mut y = Buffer::zeroed(&a, MemoryKind::Shared, 3).unwrap();
        let gate = Gate::new();
        a.gate(&gate, &[]).unwrap();
        a.call("square", (&x, &mut y), |(x, y)| {
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x * x);
        })
        .unwrap();
        drop(x);
        b.call("add", (y.view_mut(1..).unwrap(),), |(y,)| {
            for y in y.iter_mut() {
                *y += 10.0;
            }
        })
        .unwrap();
        gate.open(Ok(()));
        assert_eq!(y.host().unwrap()[..], [1.0, 14.0, 19.0]);
        y.host_mut().unwrap()[0] = -1.0;
        assert_eq!(y.to_vec().unwrap(), [-1.0, 14.0, 19.0]);
    });
}

#[test]
fn bad_ranges_and_kinds_are_refused() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let mut x = Buffer::<i32>::zeroed(&queue, MemoryKind::Device, 4).unwrap();
        let error = x.view(2..5).unwrap_err().to_string();
        assert!(
            error.contains("elements 2..5") && error.contains("16 bytes"),
            "{error}"
        );
        assert!(x.view_mut(3..=usize::MAX).is_err());
        assert!(matches!(x.host(), Err(Error::HostAccess { .. })));
        assert!(x.view(..=3).is_ok());
        let huge = Buffer::<f64>::zeroed(&queue, MemoryKind::Host, usize::MAX / 4);
        assert!(matches!(huge, Err(Error::OutOfMemory(_))));
        assert!(
            Buffer::<f64>::zeroed(&queue, MemoryKind::Host, 0)
                .unwrap()
                .is_empty()
        );
    });
}
