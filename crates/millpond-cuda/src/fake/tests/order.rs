//! Order: what is given to the device when, and that the result is that of one command after the
//! other.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use millpond_hal::recorder::now;
use millpond_hal::{Address, Command, Device, Gate, Point, Queue, QueueOptions};
use millpond_testkit::contract::raw::Memory;
use millpond_testkit::dice::Dice;
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use super::kernels::{bumping, devices_with_code};
use super::{copy, devices, fill, give, outcome, queue};

#[test]
fn what_follows_work_of_other_queues_is_given_to_the_device_at_once() {
    watched(|| {
        let (fake, devices) = devices(1);
        let [one, two] = [queue(&devices[0]), queue(&devices[0])];
        let [a, b] =
            [(); 2].map(|()| Memory::new(&devices[0], MemoryKind::Device, 1000).expect("memory"));
        let c = Memory::new(&devices[0], MemoryKind::Host, 1000).expect("memory");
        fake.pause();
        let first = give(&one, fill(a.address(), &[7], 1000), &[]);
        let second = give(&two, copy(a.address(), b.address(), 1000), &[first]);
        let third = give(&one, copy(b.address(), c.address(), 1000), &[second]);
        let calls = fake.calls();
        let count = |name| calls.iter().filter(|call| **call == name).count();
        assert_eq!(count("cuMemsetD8Async"), 1, "{calls:?}");
        assert_eq!(count("cuStreamWaitValue64"), 2, "{calls:?}");
        assert_eq!(count("cuMemcpyAsync"), 2, "{calls:?}");
        assert!(!one.reached(first.sequence) && !two.reached(second.sequence));
        fake.resume();
        assert_eq!(outcome(&one, third), Ok(()));
        let bytes: *const u8 = c.address().as_ptr();
        // SAFETY: pinned memory that the copy has filled.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, 1000) };
        assert!(bytes.iter().all(|&byte| byte == 7));
    });
}

#[test]
fn a_barrier_of_a_queue_in_order_asks_nothing_of_the_device() {
    watched(|| {
        let (fake, devices) = devices(1);
        let queue = queue(&devices[0]);
        let memory = Memory::new(&devices[0], MemoryKind::Device, 8).expect("memory");
        fake.pause();
        let filled = give(&queue, fill(memory.address(), &[7], 8), &[]);
        fake.calls();
        let barrier = give(&queue, Command::Barrier, &[]);
        assert!(!queue.reached(barrier.sequence));
        assert_eq!(fake.calls(), Vec::<&str>::new());
        fake.resume();
        assert_eq!(outcome(&queue, barrier), Ok(()));
        assert_eq!(outcome(&queue, filled), Ok(()));
    });
}

#[test]
fn copies_of_nothing_take_their_turn_and_have_no_addresses() {
    watched(|| {
        let (fake, devices) = devices(1);
        let [one, two] = [queue(&devices[0]), queue(&devices[0])];
        let memory = Memory::new(&devices[0], MemoryKind::Device, 8).expect("memory");
        fake.pause();
        let filled = give(&one, fill(memory.address(), &[7], 8), &[]);
        let nowhere = Address::of(Vec::<u8>::new().as_ptr());
        let copied = give(&two, copy(nowhere, memory.address(), 0), &[filled]);
        assert!(!two.reached(copied.sequence));
        fake.resume();
        assert_eq!(outcome(&two, copied), Ok(()));
        assert!(!fake.calls().contains(&"cuMemcpyAsync"));
    });
}

#[test]
fn a_closed_gate_holds_back_what_follows_it_and_nothing_else() {
    watched(|| {
        let (fake, devices) = devices(1);
        let [one, two] = [queue(&devices[0]), queue(&devices[0])];
        let memory = Memory::new(&devices[0], MemoryKind::Device, 8).expect("memory");
        let gate = Gate::new();
        let held = give(&one, Command::Gate(gate.clone()), &[]);
        let behind = give(&two, fill(memory.address(), &[7], 8), &[held]);
        let in_order = give(&two, fill(memory.address(), &[8], 8), &[]);
        assert!(!fake.calls().contains(&"cuMemsetD8Async"));
        assert!(!two.reached(behind.sequence) && !two.reached(in_order.sequence));
        gate.open(Ok(()));
        assert_eq!(outcome(&two, in_order), Ok(()));
    });
}

#[test]
fn callbacks_run_on_a_thread_of_the_backend() {
    watched(|| {
        let (fake, devices) = devices(1);
        let queue = queue(&devices[0]);
        let memory = Memory::new(&devices[0], MemoryKind::Device, 8).expect("memory");
        fake.pause();
        let point = give(&queue, fill(memory.address(), &[7], 8), &[]);
        let (called, calls) = channel();
        let callback = move || {
            called.send(thread::current().id()).expect("the test waits");
        };
        queue.on_reached(point.sequence, Box::new(callback));
        fake.resume();
        // Whoever looks finds it finished, but isn't made to call.
        while !queue.reached(point.sequence) {}
        assert_ne!(calls.recv(), Ok(thread::current().id()));
    });
}

#[test]
fn times_are_those_of_the_device() {
    // What the driver's answers are rounded to, generously.
    const ROUNDING: Duration = Duration::from_millis(1);
    watched(|| {
        let (fake, devices) = devices(1);
        let options = QueueOptions {
            profiling: true,
            ..QueueOptions::default()
        };
        let queue = devices[0].create_queue(&options).expect("a queue");
        let memory = Memory::new(&devices[0], MemoryKind::Device, 1000).expect("memory");
        let begin = now();
        let first = give(&queue, fill(memory.address(), &[7], 1000), &[]);
        assert_eq!(outcome(&queue, first), Ok(()));
        fake.pause();
        let second = give(&queue, fill(memory.address(), &[8], 1000), &[]);
        let third = give(&queue, Command::Barrier, &[]);
        assert_eq!(queue.times(second.sequence), None);
        thread::sleep(5 * ROUNDING);
        let held = now();
        fake.resume();
        assert_eq!(outcome(&queue, third), Ok(()));
        let end = now();
        let times = |point: Point| queue.times(point.sequence).expect("they are kept");
        let (first, second) = (times(first), times(second));
        assert!(begin <= first.submitted && first.finished <= second.submitted);
        // It was given to the device before, and begun when the device went on.
        assert!(second.submitted <= held && held <= second.started + ROUNDING);
        assert!(second.finished <= end);
    });
}

/// Where bytes of the random program live.
enum Bytes {
    Driver(Memory),
    Ordinary(Vec<u8>),
}

struct Region {
    bytes: Bytes,
    /// What it holds once all is done.
    model: Vec<u8>,
    /// What a writer follows, and what a reader does.
    writer: Option<Point>,
    readers: Vec<Point>,
}

impl Region {
    fn address(&mut self) -> Address {
        match &mut self.bytes {
            Bytes::Driver(memory) => memory.address(),
            Bytes::Ordinary(bytes) => Address::of(bytes.as_mut_ptr()),
        }
    }
}

/// Bytes of a region: more than a small buffer holds, less than two.
const REGION: usize = 100 << 10;

/// Copies, fills and kernels on memory of all kinds, on queues of all kinds and of two devices, ordered
/// by points alone, with tasks and gates among them.
#[test]
fn random_programs_give_what_they_would_one_command_after_the_other() {
    for seed in 0..8 {
        watched(move || random_program(seed));
    }
}

fn random_program(seed: u64) {
    let (_fake, devices) = devices_with_code(2);
    let out_of_order = QueueOptions {
        out_of_order: true,
        ..QueueOptions::default()
    };
    let queues = [
        queue(&devices[0]),
        queue(&devices[0]),
        devices[0].create_queue(&out_of_order).expect("a queue"),
        queue(&devices[1]),
    ];
    let driver = |device: &Arc<dyn Device>, kind| {
        Bytes::Driver(Memory::new(device, kind, REGION).expect("memory"))
    };
    let mut regions: Vec<Region> = [
        driver(&devices[0], MemoryKind::Device),
        driver(&devices[1], MemoryKind::Device),
        driver(&devices[0], MemoryKind::Host),
        driver(&devices[1], MemoryKind::Shared),
        Bytes::Ordinary(vec![0; REGION]),
        Bytes::Ordinary(vec![0; REGION]),
    ]
    .into_iter()
    .map(|bytes| Region {
        bytes,
        model: vec![0; REGION],
        writer: None,
        readers: Vec::new(),
    })
    .collect();
    let mut dice = Dice::numbered(seed);
    let mut gates = Vec::new();
    for region in &mut regions {
        let point = give(&queues[0], fill(region.address(), &[0], REGION), &[]);
        region.writer = Some(point);
    }
    for _ in 0..150 {
        let queue = &queues[dice.roll(queues.len())];
        step(&mut dice, queue, &mut regions, &mut gates);
        if !gates.is_empty() && dice.roll(4) == 0 {
            let gate: Gate = gates.swap_remove(dice.roll(gates.len()));
            gate.open(Ok(()));
        }
    }
    for gate in gates {
        gate.open(Ok(()));
    }
    for (index, region) in regions.iter_mut().enumerate() {
        let mut found = vec![0_u8; REGION];
        let to = Address::of(found.as_mut_ptr());
        let after: Vec<Point> = region.writer.into_iter().collect();
        let point = give(&queues[2], copy(region.address(), to, REGION), &after);
        assert_eq!(outcome(&queues[2], point), Ok(()));
        let wrong = found.iter().zip(&region.model).position(|(a, b)| a != b);
        assert_eq!(wrong, None, "region {index} of seed {seed}");
    }
    for queue in &queues {
        let point = give(queue, Command::Barrier, &[]);
        assert_eq!(outcome(queue, point), Ok(()));
    }
}

fn step(dice: &mut Dice, queue: &Arc<dyn Queue>, regions: &mut [Region], gates: &mut Vec<Gate>) {
    let dst = dice.roll(regions.len());
    // Small and large, beginning anywhere.
    let bytes = [1 + dice.roll(5000), 16 + dice.roll(REGION - 16)][dice.roll(2)] / 4 * 4;
    let to = dice.roll(REGION - bytes + 1);
    let mut after: Vec<Point> = regions[dst].readers.drain(..).collect();
    after.extend(regions[dst].writer);
    match dice.roll(10) {
        0 => {
            // A task that writes what only it knows, where the host may.
            let Bytes::Ordinary(_) = regions[dst].bytes else {
                regions[dst].readers = after;
                return;
            };
            let value = dice.roll(256) as u8;
            let place = regions[dst].address().offset(to).get();
            let task = move || {
                let place: *mut u8 = std::ptr::with_exposed_provenance_mut(place);
                // SAFETY: the region lives until all is done, and all users are ordered.
                unsafe { place.write_bytes(value, bytes) };
                Ok(())
            };
            let command = Command::Task {
                name: Arc::from("write"),
                task: Box::new(task),
            };
            regions[dst].writer = Some(give(queue, command, &after));
            regions[dst].model[to..to + bytes].fill(value);
        }
        1 => {
            let gate = Gate::new();
            gates.push(gate.clone());
            regions[dst].writer = Some(give(queue, Command::Gate(gate), &after));
        }
        2 | 3 => {
            let place = regions[dst].address().offset(to);
            let command = bumping(place, bytes, dice.roll(2) == 0);
            regions[dst].writer = Some(give(queue, command, &after));
            for byte in &mut regions[dst].model[to..to + bytes] {
                *byte = byte.wrapping_add(1);
            }
        }
        4..6 => {
            let pattern: Vec<u8> = (0..4).map(|_| dice.roll(256) as u8).collect();
            let place = regions[dst].address().offset(to);
            regions[dst].writer = Some(give(queue, fill(place, &pattern, bytes), &after));
            for (index, byte) in regions[dst].model[to..to + bytes].iter_mut().enumerate() {
                *byte = pattern[index % 4];
            }
        }
        _ => {
            let src = (dst + 1 + dice.roll(regions.len() - 1)) % regions.len();
            let from = dice.roll(REGION - bytes + 1);
            after.extend(regions[src].writer);
            let source = regions[src].address().offset(from);
            let place = regions[dst].address().offset(to);
            let point = give(queue, copy(source, place, bytes), &after);
            regions[dst].writer = Some(point);
            regions[src].readers.push(point);
            let copied = regions[src].model[from..from + bytes].to_vec();
            regions[dst].model[to..to + bytes].copy_from_slice(&copied);
        }
    }
}
