//! Events hold calls and answers in order.

use millpond_types::MemoryKind;

use super::{allocate, fill, over, queue, release, submit};
use crate::command::Pattern;
use crate::layers::{Trace, TraceCommand, TraceEvent};
use crate::queue::{QueueOptions, Wait};

#[test]
fn trace_records_calls_with_their_answers() {
    let (driver, devices) = over(Trace::default());
    let trace = driver.layer();
    let memory = allocate(&devices[1], 64).unwrap();
    let (address, layout) = (memory.address, memory.layout);
    let line = queue(&devices[1]);
    let (id, options) = (line.id(), QueueOptions::default());
    let point = submit(&line, fill(address, 64)).unwrap();
    line.wait(1, None);
    release(&devices[1], memory);
    drop(line);
    devices[1].shutdown();
    let refused = devices[1].create_queue(&options).err().unwrap();
    let expected = [
        TraceEvent::Allocate {
            device: 1,
            kind: MemoryKind::Device,
            layout,
            result: Ok(address),
        },
        TraceEvent::CreateQueue {
            device: 1,
            options: options.clone(),
            result: Ok(id),
        },
        TraceEvent::Submit {
            queue: id,
            command: TraceCommand::Fill {
                dst: address,
                pattern: Pattern::new(&[0; 4]).unwrap(),
                bytes: 64,
            },
            after: Vec::new(),
            behind: Vec::new(),
            result: Ok(point),
        },
        TraceEvent::Wait {
            queue: id,
            sequence: 1,
            result: Wait::Reached,
        },
        TraceEvent::Release {
            device: 1,
            address,
            layout,
        },
        TraceEvent::Close { queue: id },
        TraceEvent::Shutdown { device: 1 },
        TraceEvent::CreateQueue {
            device: 1,
            options,
            result: Err(refused),
        },
    ];
    assert_eq!(trace.take(), expected);
    assert_eq!(trace.events(), []);
}
