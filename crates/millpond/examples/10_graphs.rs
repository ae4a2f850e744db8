//! Graphs: work that is recorded once and launched many times.
//!
//! Shows: memory that is known before it is taken, dead memory that is used again, a workspace that
//! two graphs share, and a result that is freed outside.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;

use millpond::{
    Access, Allocation, Device, Error as RuntimeError, Graph, GraphMemory, GraphOptions, GraphUse,
    MemoryKind, Pattern,
};

const BYTES: usize = 64 << 10;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = millpond::default_device()?;
    let queue = device.default_queue()?;
    let input = queue.allocate(MemoryKind::Device, BYTES)?;

    // A chain of ten steps, of which two are alive at a time: that is all the workspace it needs.
    let mut recording = device.build_graph(GraphOptions::default());
    let mut last = recording.allocate(BYTES)?;
    recording.copy(&input, 0, last, 0, BYTES)?;
    for _ in 0..10 {
        let next = recording.allocate(BYTES)?;
        recording.copy(last, 0, next, 0, BYTES)?;
        recording.free(last)?;
        last = next;
    }
    let uses = [GraphUse::new(last, Access::Read)];
    recording.task("report", &uses, |addresses| {
        println!("the result lies at {}", addresses[0]);
        Ok(())
    })?;
    recording.free(last)?;
    println!("it takes {} bytes", recording.required_memory().workspace);
    assert_eq!(recording.required_memory().workspace, 2 * BYTES);

    // The result lies at the same address every time.
    let mut chain = recording.instantiate(&queue, &device.pool(MemoryKind::Device))?;
    for _ in 0..3 {
        chain.launch(&queue)?;
    }
    queue.wait()?;

    // Another graph in the same workspace: their launches come one after the other.
    let (mut second, result) = filling(&device, chain.workspace())?;
    chain.launch(&queue)?;
    second.launch(&queue)?;

    // What isn't freed inside is an allocation like any other, and in the way while it is held.
    let memory = second.output(result)?;
    let mut first = [0];
    memory.read(0, &mut first)?;
    assert_eq!(first, [7]);
    let refused = second.launch(&queue);
    assert!(matches!(refused, Err(RuntimeError::OutputsHeld { .. })));
    drop(memory);
    second.launch(&queue)?.wait()?;
    Ok(())
}

/// A graph that leaves sevens.
fn filling(
    device: &Device,
    workspace: &Allocation,
) -> Result<(Graph, GraphMemory), Box<dyn Error>> {
    let seven = Pattern::new(&[7]).ok_or("one byte is a pattern")?;
    let mut recording = device.build_graph(GraphOptions::default());
    let scratch = recording.allocate(BYTES)?;
    let result = recording.allocate(BYTES)?;
    recording.fill(scratch, 0..BYTES, seven)?;
    recording.copy(scratch, 0, result, 0, BYTES)?;
    recording.free(scratch)?;
    Ok((recording.instantiate_in(workspace)?, result))
}
