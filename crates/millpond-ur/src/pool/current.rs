//! Default pools, current pools, and which pool an allocation comes from.
//!
//! A device's current pool is the runtime's: one for each device and kind, for the whole process, so
//! that what a library allocates without naming a pool comes from the pool that the program set. What is
//! kept here is by which handle that pool is known.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use millpond::{MemoryKind, PoolOptions};

use crate::argument::Answer;
use crate::context::Context;
use crate::device::Device;
use crate::error::code;
use crate::mutants::{Rule, broken};
use crate::pool::{Parts, Pool};

/// The default pools of a context, one handle for each device.
#[derive(Debug, Default)]
pub(crate) struct DefaultPools(Mutex<Vec<Arc<Pool>>>);

impl DefaultPools {
    /// That of a device: always the same.
    pub(crate) fn of(&self, context: &Arc<Context>, device: &Arc<Device>) -> Answer<Arc<Pool>> {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |pool: &&Arc<Pool>| Arc::ptr_eq(&pool.devices[0], device);
        if let Some(pool) = pools.iter().find(is_meant) {
            return Ok(Arc::clone(pool));
        }
        let made = MemoryKind::ALL.map(|kind| device.runtime().default_pool(kind));
        let parts = Parts {
            devices: std::slice::from_ref(device),
            kinds: &MemoryKind::ALL,
            options: PoolOptions::default(),
            made: made.to_vec(),
            depth: 0,
        };
        let pool = Pool::of(context, None, true, parts)?;
        pools.push(Arc::clone(&pool));
        Ok(pool)
    }
}

/// The handles of the pools that were set as a device's current ones, by kind.
#[derive(Debug, Default)]
pub(crate) struct Current(Mutex<[Weak<Pool>; 3]>);

impl Current {
    /// The pool that was set for a kind, while there is one.
    fn get(&self, kind: MemoryKind) -> Option<Arc<Pool>> {
        let pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pools[kind as usize].upgrade()
    }

    /// Sets a device's current pool of each kind that the pool has.
    pub(crate) fn set(&self, device: &Arc<Device>, pool: &Arc<Pool>) -> Answer {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for &kind in &pool.kinds {
            let one = pool.runtime(device, kind)?;
            if broken(Rule::CurrentPool) {
                continue;
            }
            device
                .runtime()
                .set_current_pool(&one)
                .map_err(|error| code(&error))?;
            pools[kind as usize] = Arc::downgrade(pool);
        }
        Ok(())
    }
}

/// A pool, by its handle and as the runtime knows it.
pub(crate) struct Chosen {
    pub(crate) pool: Arc<Pool>,
    pub(crate) runtime: millpond::Pool,
}

/// The pool that an allocation comes from: the one that is named, or the device's current one.
///
/// # Errors
/// A pool of another context or device; one that was closed; one without memory of the kind.
pub(crate) fn choose(
    context: &Arc<Context>,
    device: &Arc<Device>,
    named: Option<Arc<Pool>>,
    kind: MemoryKind,
) -> Answer<Chosen> {
    if let Some(pool) = named {
        pool.check(context, device)?;
        let runtime = pool.runtime(device, kind)?;
        return Ok(Chosen { pool, runtime });
    }
    let runtime = device.runtime().current_pool(kind);
    // A default pool has a handle in each context, whoever made it current.
    let is_default = runtime == device.runtime().default_pool(kind);
    let set = device.current().get(kind).filter(|_| !is_default);
    let pool = match set {
        Some(pool) if pool.made().contains(&runtime) => pool,
        _ => context.default_pools.of(context, device)?,
    };
    Ok(Chosen { pool, runtime })
}
