//! Memory that is reserved for a host which runs ahead of its queues.

use std::collections::VecDeque;
use std::time::Instant;

use millpond_hal::null::{NullDriver, NullOptions};
use millpond_hal::{Access, QueueOptions};
use millpond_runtime::{Event, MemoryKind, PoolOptions, Queue, Status, Use};

use crate::Effort;
use crate::pools::device_of;
use crate::table::{Row, Table};

const BLOCK: usize = 1 << 20;

/// Blocks of a step.
const BLOCKS: usize = 8;

/// What becomes of the blocks that a step fills on one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// The same queue reads them.
    Alone,
    /// Another queue reads them, behind an event.
    Handed,
    /// The same, and the next step but one waits for the reader.
    Answered,
    /// The same as handed, with a maximum of so many steps' memory.
    Limited(usize),
}

const PROGRAMS: &[(&str, Program)] = &[
    ("one queue", Program::Alone),
    ("read by another", Program::Handed),
    ("which is waited for", Program::Answered),
    ("at most 4 steps' memory", Program::Limited(4)),
];

/// The most that was reserved, in what a step uses, and nanoseconds of the host for a step.
fn measure(program: Program, ahead: usize, steps: usize) -> Vec<f64> {
    let driver = NullDriver::with(NullOptions {
        manual: true,
        memory: 4 << 40,
        ..NullOptions::default()
    });
    let device = device_of(driver.clone());
    let [writer, reader] = [(); 2].map(|()| device.create_queue(&QueueOptions::default()).unwrap());
    let options = PoolOptions {
        min_driver_alloc: BLOCK,
        maximum_size: match program {
            Program::Limited(steps) => Some(steps * BLOCKS * BLOCK),
            _ => None,
        },
        ..PoolOptions::default()
    };
    let pool = device.create_pool(MemoryKind::Device, options).unwrap();
    let mut ends: VecDeque<[Event; 2]> = VecDeque::new();
    let (mut busy, queues) = (0.0, [&writer, &reader]);
    for _ in 0..steps {
        if ends.len() > ahead
            && let Some(oldest) = ends.pop_front()
        {
            finish(&driver, &oldest);
        }
        let begin = Instant::now();
        if program == Program::Answered
            && let Some([_, read]) = ends.iter().nth_back(1)
        {
            writer.wait_for(read).unwrap();
        }
        let blocks: Vec<_> = (0..BLOCKS)
            .map(|_| writer.allocate_from(&pool, BLOCK).unwrap())
            .collect();
        let use_all = |queue: &Queue, access| {
            let uses: Vec<_> = blocks
                .iter()
                .map(|allocation| Use { allocation, access })
                .collect();
            queue.task("step", &uses, || Ok(())).unwrap();
        };
        use_all(&writer, Access::Write);
        use_all(queues[usize::from(program != Program::Alone)], Access::Read);
        drop(blocks);
        ends.push_back(queues.map(|queue| queue.record().unwrap()));
        busy += begin.elapsed().as_secs_f64();
    }
    driver.run_all();
    let most = pool.statistics().reserved_high as f64;
    vec![
        most / (BLOCKS * BLOCK) as f64,
        busy * 1e9 / steps.max(1) as f64,
    ]
}

/// Has the queues go on until the events are over.
fn finish(driver: &NullDriver, ends: &[Event]) {
    let is_over = |end: &Event| end.status() != Status::Pending;
    while !ends.iter().all(is_over) {
        for end in ends.iter().filter(|end| !is_over(end)) {
            driver.step(end.point().queue);
        }
    }
}

/// By the steps that the host is ahead.
pub(crate) fn table(effort: Effort) -> Table {
    let depths = [1, 4, 16, 64, 256];
    let rows = effort.of(&depths).iter().map(|&ahead| Row {
        case: format!("{ahead} steps ahead"),
        cells: PROGRAMS
            .iter()
            .map(|&(_, program)| Some(measure(program, ahead, effort.times(2000).max(2 * ahead))))
            .collect(),
    });
    Table {
        title: "A host that runs ahead of its queues",
        figures: &[
            "most reserved over what a step uses",
            "ns for a step of 8 blocks",
        ],
        columns: PROGRAMS.iter().map(|(name, _)| *name).collect(),
        rows: rows.collect(),
    }
}
