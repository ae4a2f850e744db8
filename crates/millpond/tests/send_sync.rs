//! Handles may be sent to other threads and used by several at once.

use millpond::tensor::{Operand, Place, Tensor};
use millpond::{
    Allocation, Buffer, Device, Error, Event, Failure, Gate, Graph, GraphBuilder, Host, HostMut,
    Pool, Queue, Reclaimer, Release, Statistics, Tag, View, ViewMut,
};

/// Compiles for types that are `Send` and `Sync` only.
const fn shared<T: Send + Sync>() {}

const _: () = {
    shared::<Device>();
    shared::<Queue>();
    shared::<Event>();
    shared::<Gate>();
    shared::<Pool>();
    shared::<GraphBuilder>();
    shared::<Graph>();
    shared::<Tag>();
    shared::<Reclaimer>();
    shared::<Statistics>();
    shared::<Allocation>();
    shared::<Release>();
    shared::<Buffer<f32>>();
    shared::<View<'_, f32>>();
    shared::<ViewMut<'_, f32>>();
    shared::<Host<'_, f32>>();
    shared::<HostMut<'_, f32>>();
    shared::<Tensor>();
    shared::<Operand<'_>>();
    shared::<Place>();
    shared::<Failure>();
    shared::<Error>();
    shared::<millpond::tensor::Error>();
};

#[test]
fn one_queue_serves_several_threads() {
    let queue = millpond::default_device().unwrap().default_queue().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let event = queue.task("nothing", &[], || Ok(())).unwrap();
                event.wait().unwrap();
            });
        }
    });
    queue.wait().unwrap();
}
