//! A program that takes every way to memory, in parts that pass the first error on.

use std::sync::{Arc, Mutex};

use millpond_runtime::{
    Access, AllocateOptions, Allocation, Device, Error, MemoryKind, Pool, PoolOptions, Queue,
    QueueOptions, Status, Tag, Use, Zero,
};

use crate::{KIB, MIB, at_most, check, hold, pool, without_inserted_waits};

/// What a part of the program works with.
pub(crate) struct Stage<'a> {
    pub(crate) device: &'a Device,
    pub(crate) queues: Mutex<Vec<Queue>>,
    pub(crate) pools: Mutex<Vec<Pool>>,
}

pub(crate) type Answer = Result<(), Error>;

impl Stage<'_> {
    fn queue(&self) -> Result<Queue, Error> {
        self.queue_with(&QueueOptions::default())
    }

    fn queue_with(&self, options: &QueueOptions) -> Result<Queue, Error> {
        let queue = self.device.create_queue(options)?;
        self.queues.lock().unwrap().push(queue.clone());
        Ok(queue)
    }

    fn pool(&self, options: PoolOptions) -> Pool {
        let pool = pool(self.device, options);
        self.pools.lock().unwrap().push(pool.clone());
        pool
    }
}

fn small(maximum: usize) -> PoolOptions {
    PoolOptions {
        min_driver_alloc: 1,
        ..at_most(maximum)
    }
}

pub(crate) fn touch(queue: &Queue, memory: &Allocation) -> Answer {
    let uses = [Use {
        allocation: memory,
        access: Access::Write,
    }];
    queue.task("touch", &uses, || Ok(())).map(drop)
}

fn growth(stage: &Stage<'_>) -> Answer {
    let queue = stage.queue()?;
    let pool = stage.pool(small(64 * MIB));
    let mut live = Vec::new();
    for bytes in [100, 5 * MIB, 300 * KIB, 9 * MIB] {
        live.push(queue.allocate_from(&pool, bytes)?);
        check(&pool);
    }
    drop(live);
    pool.trim(6 * MIB)
}

fn reuse(stage: &Stage<'_>) -> Answer {
    let (a, b, c) = (stage.queue()?, stage.queue()?, stage.queue()?);
    let pool = stage.pool(small(16 * MIB));
    let held = hold(&a)?;
    let memory = a.allocate_from(&pool, MIB)?;
    touch(&a, &memory)?;
    a.free(memory, &[]).map_err(|(error, _)| error)?;
    b.wait_for(&a.record()?)?;
    let behind = b.allocate_from(&pool, MIB)?;
    touch(&b, &behind)?;
    drop(behind);
    drop(held);
    a.wait()?;
    b.wait()?;
    let stolen = c.allocate_from(&pool, MIB)?;
    touch(&c, &stolen)
}

fn inserted_wait(stage: &Stage<'_>) -> Answer {
    let (a, b) = (stage.queue()?, stage.queue()?);
    let pool = stage.pool(small(2 * MIB));
    let memory = a.allocate_from(&pool, 2 * MIB)?;
    let _held = hold(&a)?;
    touch(&a, &memory)?;
    drop(memory);
    let used = a.record()?;
    let again = b.allocate_from(&pool, MIB)?;
    let answer = touch(&b, &again).and_then(|()| touch(&b, &again));
    // Whichever call was refused, the queue waits.
    if let Ok(event) = b.record() {
        assert!(event.clock().is_after(used.point()) || event.sequence() == 0);
        assert_ne!(event.status(), Status::Complete);
    }
    answer
}

fn wait_for_memory(stage: &Stage<'_>) -> Answer {
    let (a, b) = (stage.queue()?, stage.queue()?);
    for bytes in [MIB, 2 * MIB] {
        let pool = stage.pool(PoolOptions {
            // The larger ones have segments of their own.
            max_poolable: Some(MIB),
            reuse: without_inserted_waits(),
            ..small(2 * MIB)
        });
        let held = hold(&a)?;
        let memory = a.allocate_from(&pool, bytes)?;
        touch(&a, &memory)?;
        drop(memory);
        std::thread::scope(|threads| {
            threads.spawn(move || drop(held));
            b.allocate_from(&pool, 2 * MIB).map(drop)
        })?;
        pool.trim(0)?;
    }
    Ok(())
}

fn zeros(stage: &Stage<'_>) -> Answer {
    let queue = stage.queue()?;
    let pool = stage.pool(PoolOptions {
        zero: Zero::Always,
        ..small(16 * MIB)
    });
    for bytes in [800, 800, 3 * MIB, 2 * MIB] {
        let options = AllocateOptions::default();
        let (memory, begun) = queue.allocate_with(&pool, bytes, &options)?;
        touch(&queue, &memory)?;
        begun.wait()?;
    }
    Ok(())
}

fn tags(stage: &Stage<'_>) -> Answer {
    let queue = stage.queue()?;
    let pool = stage.pool(PoolOptions {
        zero: Zero::Always,
        ..small(16 * MIB)
    });
    let tag = Tag::new("tenant");
    let answer = {
        let _scope = tag.scope();
        [MIB, MIB, 5 * MIB].iter().try_for_each(|&bytes| {
            let memory = queue.allocate_from(&pool, bytes)?;
            assert_eq!(tag.live(), 1);
            touch(&queue, &memory)
        })
    };
    assert_eq!((tag.used(), tag.live()), (0, 0), "{answer:?}");
    answer
}

fn over_memory(stage: &Stage<'_>) -> Answer {
    let (queue, other) = (stage.queue()?, stage.queue()?);
    let outer = stage.pool(small(16 * MIB));
    let memory = queue.allocate_from(&outer, MIB)?;
    touch(&queue, &memory)?;
    let device = stage.device;
    let inner = device.create_pool_over(&memory, 0..MIB, PoolOptions::default())?;
    drop(memory);
    let part = other.allocate_from(&inner, 300 * KIB)?;
    touch(&other, &part)?;
    check(&inner);
    inner.close()
}

fn closing(stage: &Stage<'_>) -> Answer {
    let queue = stage.queue()?;
    let pool = stage.pool(PoolOptions {
        release_threshold: Some(0),
        ..small(16 * MIB)
    });
    stage.device.set_current_pool(&pool)?;
    let answer = queue.allocate(MemoryKind::Device, MIB).and_then(|live| {
        touch(&queue, &live)?;
        queue.wait()?;
        pool.close()?;
        touch(&queue, &live)
    });
    pool.close()?;
    answer
}

fn reclaimed(stage: &Stage<'_>) -> Answer {
    let queue = stage.queue()?;
    let pool = stage.pool(small(4 * MIB));
    let cached = Arc::new(Mutex::new(vec![queue.allocate_from(&pool, 3 * MIB)?]));
    let held = Arc::clone(&cached);
    let _reclaimer = stage.device.add_reclaimer(move |_| {
        let memory = held.lock().unwrap().pop();
        if let Some(memory) = memory {
            use_or_leave(&memory);
        }
    });
    let answer = queue.allocate_from(&pool, 2 * MIB).map(drop);
    cached.lock().unwrap().clear();
    answer
}

/// Uses memory on its queue, if that takes the command.
fn use_or_leave(memory: &Allocation) {
    let _ = touch(memory.home(), memory);
}

fn out_of_order(stage: &Stage<'_>) -> Answer {
    let options = QueueOptions {
        out_of_order: true,
        ..QueueOptions::default()
    };
    let queue = stage.queue_with(&options)?;
    let pool = stage.pool(small(4 * MIB));
    let memory = queue.allocate_from(&pool, MIB)?;
    let held = hold(&queue)?;
    let answer = queue.barrier(&[]).map(drop).and_then(|()| {
        // So many reads that they are joined into one command.
        (0..70).try_for_each(|_| {
            let uses = [Use {
                allocation: &memory,
                access: Access::Read,
            }];
            queue.task("read", &uses, || Ok(())).map(drop)
        })
    });
    let is_read = queue.record().is_ok_and(|event| event.sequence() > 4);
    drop(memory);
    // Whichever call was refused, the free comes behind the reads.
    assert!(!is_read || pool.statistics().pending == MIB, "{answer:?}");
    drop(held);
    answer?;
    let memory = queue.allocate_from(&pool, MIB)?;
    let event = queue.record()?;
    let freed = queue.free(memory, &[&event]).map_err(|(error, _)| error);
    freed?.wait()
}

pub(crate) const PARTS: [fn(&Stage<'_>) -> Answer; 10] = [
    growth,
    reuse,
    inserted_wait,
    wait_for_memory,
    zeros,
    tags,
    over_memory,
    closing,
    reclaimed,
    out_of_order,
];
