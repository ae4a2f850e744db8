//! A pool of one's own: what a service does to stay within its memory.
//!
//! Shows: a pool with a maximum, the thread's current pool, allocations and frees in queue order,
//! a tag with a budget, a reclaimer that drops a cache, and an error that explains itself.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;
use std::sync::{Arc, Mutex};

use millpond::tensor::{Place, creation};
use millpond::{
    AllocateOptions, Error as RuntimeError, Fit, Level, MemoryKind, PoolOptions, QueueOptions, Tag,
};

const MIB: usize = 1 << 20;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = millpond::default_device()?;
    let queue = device.create_queue(&QueueOptions::default())?;
    let pool = device.create_pool(
        MemoryKind::Device,
        PoolOptions {
            name: Some("pool of the service".to_owned()),
            maximum_size: Some(16 * MIB),
            ..PoolOptions::default()
        },
    )?;

    // Arrays made in the scope come from the pool, also those of libraries that know nothing of it.
    {
        let _scope = pool.scope();
        let x = creation::zeros(&[1000], millpond::DType::Float32, &Place::on(&queue))?;
        let y = (&x + 1)?;
        assert!(y.memory().is_from(&pool));
    }

    // In queue order: the event says from when on the bytes may be used by their address.
    let (memory, begun) = queue.allocate_with(&pool, MIB, &AllocateOptions::default())?;
    begun.wait()?;
    let freed = queue.free(memory, &[]).map_err(|(error, _)| error)?;
    freed.wait()?;

    // A tag counts what is granted while it is in force, and refuses what is beyond its budget.
    let tenant = Tag::new("tenant");
    tenant.set_budget(Some(4 * MIB));
    {
        let _counted = tenant.scope();
        let kept = queue.allocate_from(&pool, 3 * MIB)?;
        let refused = queue.allocate_from(&pool, 3 * MIB);
        assert!(matches!(refused, Err(RuntimeError::Budget { .. })));
        assert_eq!((tenant.used(), tenant.live()), (3 * MIB, 1));
        drop(kept);
    }

    // What can be given up is given up when it is needed, and not before.
    let cache = Arc::new(Mutex::new(vec![
        queue.allocate_from(&pool, 8 * MIB)?,
        queue.allocate_from(&pool, 8 * MIB)?,
    ]));
    assert_eq!(pool.fit(8 * MIB), Fit::Never);
    let entries = Arc::clone(&cache);
    let reclaimer = device.add_reclaimer(move |pressure| {
        if pressure.level >= Level::Growth
            && let Ok(mut entries) = entries.lock()
        {
            entries.pop();
        }
    });
    let needed = queue.allocate_from(&pool, 8 * MIB)?;
    drop(reclaimer);

    // Without it the error says who has the memory.
    let Err(RuntimeError::OutOfMemory(report)) = queue.allocate_from(&pool, 8 * MIB) else {
        return Err("the pool is full".into());
    };
    assert_eq!((report.live, report.maximum_size), (2, Some(16 * MIB)));
    println!("{report}");
    drop((needed, cache));
    Ok(())
}
