//! An allocation and its free by the reuse rule that finds the memory.

use std::hint::black_box;
use std::sync::Mutex;

use millpond_hal::null::{NullDriver, NullOptions};
use millpond_hal::{Access, QueueOptions};
use millpond_runtime::{Allocation, Device, Hold, MemoryKind, Pool, PoolOptions, Queue, Use};

use crate::Effort;
use crate::clock::{Latencies, best};
use crate::pools::{device, device_of};
use crate::table::{Row, Table};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// By rule.
pub(crate) fn table(effort: Effort) -> Table {
    let rows = [
        ("its two locks alone", locks(effort)),
        ("same queue (R1)", same_queue(effort)),
        ("same queue, its lock held", lock_held(effort)),
        ("other queue, never used", other_queue(effort, false, KIB)),
        ("other queue, through an event (R2)", through_event(effort)),
        (
            "other queue, completed (R3)",
            other_queue(effort, true, KIB),
        ),
        ("the same, 64 MiB", other_queue(effort, true, 64 * MIB)),
        ("1 GiB, freed, waited for", with_wait(effort)),
        (
            "1 GiB, used, freed, waited for",
            with_use_and_wait(effort, GIB),
        ),
        (
            "1 KiB, used, freed, waited for",
            with_use_and_wait(effort, KIB),
        ),
    ];
    let rows = rows.map(|(case, figures)| Row {
        case: case.to_owned(),
        cells: vec![Some(figures)],
    });
    Table {
        title: "Pairs by reuse rule",
        figures: &["ns for a pair: best", "median", "p99", "p99.9"],
        columns: vec!["millpond"],
        rows: rows.into(),
    }
}

fn figures(mut latencies: Latencies) -> Vec<f64> {
    latencies.quantiles([0, 500, 990, 999]).into()
}

/// Calls in windows, whose times are those of one call.
fn windows(effort: Effort, mut call: impl FnMut()) -> Vec<f64> {
    let mut times: Vec<f64> = (0..effort.times(4000).max(10))
        .map(|_| best(1, 64, &mut call))
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    [0, 500, 990, 999]
        .map(|part| times[times.len() * part / 1000])
        .into()
}

/// What a pair can't do without where several threads may use a queue.
fn locks(effort: Effort) -> Vec<f64> {
    let mutex = Mutex::new(0_u64);
    windows(effort, || {
        for _ in 0..2 {
            *black_box(&mutex).lock().unwrap() += 1;
        }
    })
}

fn same_queue(effort: Effort) -> Vec<f64> {
    let queue = device().default_queue().unwrap();
    windows(effort, || drop(black_box(allocate(&queue, KIB))))
}

/// Without its two locks: one is taken for all pairs of a window.
fn lock_held(effort: Effort) -> Vec<f64> {
    let queue = device().default_queue().unwrap();
    let pairs = |queue: &Hold<'_>| {
        windows(effort, || {
            queue.free(black_box(queue.allocate(MemoryKind::Device, KIB).unwrap()));
        })
    };
    queue.hold(pairs)
}

fn allocate(queue: &Queue, bytes: usize) -> Allocation {
    queue.allocate(MemoryKind::Device, bytes).unwrap()
}

fn two_queues(device: &Device) -> [Queue; 2] {
    let options = QueueOptions::default();
    [(); 2].map(|()| device.create_queue(&options).unwrap())
}

/// A pool with room for one block: who wants one finds it where the last one was freed.
fn pool_of_one(device: &Device, bytes: usize) -> Pool {
    let options = PoolOptions {
        maximum_size: Some(bytes),
        ..PoolOptions::default()
    };
    device.create_pool(MemoryKind::Device, options).unwrap()
}

/// A command of the queue that writes the memory.
fn use_on(queue: &Queue, memory: &Allocation) {
    let uses = [Use {
        allocation: memory,
        access: Access::Write,
    }];
    queue.task("use", &uses, || Ok(())).unwrap();
}

/// Two queues in turn: each has what the other freed.
fn other_queue(effort: Effort, used: bool, bytes: usize) -> Vec<f64> {
    let device = device();
    let (queues, pool) = (two_queues(&device), pool_of_one(&device, bytes));
    let mut latencies = Latencies::default();
    for turn in 0..effort.times(100_000) {
        let queue = &queues[turn % 2];
        let memory = latencies.time(|| black_box(queue.allocate_from(&pool, bytes).unwrap()));
        if used {
            use_on(queue, &memory);
            // Such a device looks at its commands when it is asked.
            queue.wait().unwrap();
        }
        latencies.time_more(|| drop(memory));
    }
    figures(latencies)
}

/// Memory whose last use is pending, on a queue that waits for an event behind it.
fn through_event(effort: Effort) -> Vec<f64> {
    let options = NullOptions {
        manual: true,
        ..NullOptions::default()
    };
    let driver = NullDriver::with(options);
    let device = device_of(driver.clone());
    let ([first, second], pool) = (two_queues(&device), pool_of_one(&device, KIB));
    let mut latencies = Latencies::default();
    for _ in 0..effort.times(20_000) {
        let memory = first.allocate_from(&pool, KIB).unwrap();
        use_on(&first, &memory);
        drop(memory);
        second.wait_for(&first.record().unwrap()).unwrap();
        let memory = latencies.time(|| black_box(second.allocate_from(&pool, KIB).unwrap()));
        latencies.time_more(|| drop(memory));
        driver.run_all();
    }
    figures(latencies)
}

fn with_wait(effort: Effort) -> Vec<f64> {
    let queue = device().default_queue().unwrap();
    windows(effort, || {
        drop(black_box(allocate(&queue, GIB)));
        queue.wait().unwrap();
    })
}

fn with_use_and_wait(effort: Effort, bytes: usize) -> Vec<f64> {
    let queue = device().default_queue().unwrap();
    windows(effort, || {
        let memory = allocate(&queue, bytes);
        use_on(&queue, &memory);
        drop(memory);
        queue.wait().unwrap();
    })
}
