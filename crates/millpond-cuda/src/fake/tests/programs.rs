//! Programs that were compiled elsewhere, and launches of their entries.

use std::sync::Arc;

use millpond_hal::{Address, Command, Device, DeviceError, Entry, Gate, Grid, Program, Queue};
use millpond_testkit::contract::raw::Memory;
use millpond_types::MemoryKind;
use smallvec::SmallVec;

use super::super::Fake;
use super::{begin, copy, devices, driver_pool, end, fill, give, outcome, queue, submit};
use crate::CudaDriver;
use millpond_hal::Driver;

/// A fake whose programs may add a number to one of 64 bits.
fn fake() -> (Arc<Fake>, Arc<dyn Device>) {
    let fake = Fake::strict(1);
    fake.entry_of("add", &[8, 4], |launched| {
        let [blocks, threads] = launched.shape;
        assert_eq!(launched.shared_memory, 16);
        let place = launched.memory::<u64>(0);
        let times = u64::from(blocks[0] * threads[0]);
        // SAFETY: the test's launches are given memory that is there.
        unsafe { *place += times * launched.number(1) as u64 };
    });
    fake.variable("number", 8);
    let api: crate::api::Found = fake.clone();
    let device = CudaDriver::over(api).devices().expect("it works").remove(0);
    (fake, device)
}

fn load(device: &Arc<dyn Device>, text: &str) -> Result<Arc<dyn Program>, DeviceError> {
    // SAFETY: a text of the fake's.
    unsafe { device.load(text.as_bytes()) }
}

fn run(entry: &Arc<dyn Entry>, to: Address, number: u32) -> Command {
    let arguments: [SmallVec<[u8; 16]>; 2] = [
        SmallVec::from_slice(&to.get().to_ne_bytes()),
        SmallVec::from_slice(&number.to_ne_bytes()),
    ];
    let grid = Grid {
        blocks: [2, 1, 1],
        threads: [3, 1, 1],
        shared_memory: 16,
        arguments: arguments.into_iter().collect(),
    };
    Command::Run {
        entry: Arc::clone(entry),
        grid: Box::new(grid),
    }
}

fn read(device: &Arc<dyn Device>, queue: &Arc<dyn Queue>, memory: &Memory) -> u64 {
    let seen = Memory::new(device, MemoryKind::Host, 8).expect("memory");
    let copy = give(queue, copy(memory.address(), seen.address(), 8), &[]);
    assert!(outcome(queue, copy).is_ok());
    // SAFETY: the copy has ended, and filled it.
    unsafe { seen.address().as_ptr::<u64>().read() }
}

#[test]
fn an_entry_is_launched_in_the_order_of_its_queue() {
    let (_fake, device) = fake();
    let queue = queue(&device);
    let entry = load(&device, "add number").unwrap().entry("add").unwrap();
    assert_eq!(entry.info().parameters, Some(vec![8, 4]));
    let memory = Memory::new(&device, MemoryKind::Device, 8).unwrap();
    let gate = Gate::default();
    give(&queue, Command::Gate(gate.clone()), &[]);
    give(&queue, fill(memory.address(), &[0], 8), &[]);
    let last = (0..10)
        .map(|_| give(&queue, run(&entry, memory.address(), 7), &[]))
        .last();
    assert!(queue.progress().completed() < last.unwrap().sequence);
    gate.open(Ok(()));
    assert_eq!(read(&device, &queue, &memory), 10 * 6 * 7);
}

/// What serves again is another piece of memory to an entry, though it has the same address.
#[test]
fn entries_run_on_memory_of_a_drivers_pool_between_its_begin_and_its_end() {
    let (fake, device) = fake();
    let queue = queue(&device);
    let pool = driver_pool(&device);
    let entry = load(&device, "add").unwrap().entry("add").unwrap();
    let seen = Memory::new(&device, MemoryKind::Host, 8 * 20).unwrap();
    fake.pause();
    let mut places = Vec::new();
    let mut last = None;
    for round in 0..20 {
        let piece = begin(&queue, &pool);
        places.push(piece);
        give(&queue, fill(piece, &[0], 8), &[]);
        give(&queue, run(&entry, piece, round), &[]);
        give(&queue, run(&entry, piece, 1), &[]);
        let to = seen.address().offset(8 * round as usize);
        last = Some(give(&queue, copy(piece, to, 8), &[]));
        end(&queue, &pool, piece);
    }
    places.dedup();
    assert_eq!(places.len(), 1, "it serves again");
    fake.resume();
    assert!(outcome(&queue, last.unwrap()).is_ok());
    for round in 0..20 {
        let place = seen.address().offset(8 * round).as_ptr::<u64>();
        // SAFETY: the copies have ended, and filled it.
        assert_eq!(unsafe { place.read() }, 6 * (round as u64 + 1));
    }
}

#[test]
fn a_program_is_unloaded_when_nobody_holds_it_or_runs_it() {
    let (fake, device) = fake();
    let queue = queue(&device);
    let memory = Memory::new(&device, MemoryKind::Device, 8).unwrap();
    give(&queue, fill(memory.address(), &[0], 8), &[]);
    let program = load(&device, "add").unwrap();
    let entry = program.entry("add").unwrap();
    fake.pause();
    let running = give(&queue, run(&entry, memory.address(), 1), &[]);
    drop((program, entry));
    let next = load(&device, "number").unwrap();
    assert_eq!(fake.modules(), 2, "it is running");
    fake.resume();
    assert!(outcome(&queue, running).is_ok());
    drop(next);
    let last = load(&device, "number").unwrap();
    assert_eq!(fake.modules(), 1);
    let (address, bytes) = last.variable("number").unwrap();
    assert_eq!((last.variable("number").unwrap(), bytes), ((address, 8), 8));
    assert_eq!(read(&device, &queue, &memory), 6);
}

#[test]
fn what_can_not_be_is_refused_with_the_drivers_words() {
    let (_fake, device) = fake();
    let refused = load(&device, "error in a text").map(drop).unwrap_err();
    assert!(
        refused.to_string().contains("no such instruction"),
        "{refused}"
    );
    let program = load(&device, "add").unwrap();
    for refused in [
        program.entry("subtract").map(drop).unwrap_err(),
        program.variable("number").map(drop).unwrap_err(),
    ] {
        assert!(
            refused.to_string().contains("named symbol not found"),
            "{refused}"
        );
    }
    let entry = program.entry("add").unwrap();
    let memory = Memory::new(&device, MemoryKind::Device, 8).unwrap();
    let (_other, others) = devices(1);
    let elsewhere = queue(&others[0]);
    let refused = submit(&elsewhere, run(&entry, memory.address(), 1), &[]).unwrap_err();
    assert!(refused.to_string().contains("another device"), "{refused}");
    assert_eq!(device.free_memory(), Some(super::super::MEMORY / 2));
}
