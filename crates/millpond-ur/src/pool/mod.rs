//! Pools, as the interface sees them: one handle for memory of several kinds.
//!
//! The runtime's pools have one kind of memory each; what stands behind a handle is made of them, one
//! for each device and kind that is asked for. A pool that is made for a device gives out device and
//! shared memory; one that is made for a context, and a default one, gives out host memory too; one over
//! a buffer gives out the buffer's kind. Limits hold for each kind.

mod current;
mod description;
mod device;
mod plain;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use millpond::{MemoryKind, PoolOptions, Statistics};

use crate::argument::Answer;
use crate::context::Context;
use crate::device::Device;
use crate::error::code;
use crate::handle::{Handle, Place, create, kinds};
use crate::mutants::{Rule, broken};
use crate::numbers::Code;

pub(crate) use current::{Chosen, Current, DefaultPools, choose};
pub(crate) use description::Description;
pub(crate) use device::{
    urUSMPoolCreateExp, urUSMPoolDestroyExp, urUSMPoolGetDefaultDevicePoolExp,
    urUSMPoolGetDevicePoolExp, urUSMPoolGetInfoExp, urUSMPoolSetDevicePoolExp, urUSMPoolSetInfoExp,
    urUSMPoolTrimToExp,
};
pub(crate) use plain::{urUSMPoolCreate, urUSMPoolGetInfo, urUSMPoolRelease, urUSMPoolRetain};

/// What a pool made for a device gives out.
pub(crate) const OF_DEVICE: &[MemoryKind] = &[MemoryKind::Device, MemoryKind::Shared];
/// What a pool made for a context gives out.
pub(crate) const OF_CONTEXT: &[MemoryKind] = &MemoryKind::ALL;

/// A pool.
pub(crate) struct Pool {
    place: Place<Pool>,
    context: Weak<Context>,
    /// The same, but for the context's own default pools.
    _keeps: Option<Arc<Context>>,
    devices: Vec<Arc<Device>>,
    kinds: Vec<MemoryKind>,
    is_default: bool,
    depth: usize,
    state: Mutex<State>,
}

kinds! { Pool: INVALID_ARGUMENT }

struct State {
    /// How further ones are made.
    options: PoolOptions,
    made: Vec<millpond::Pool>,
    is_closed: bool,
}

/// What a pool is made of.
pub(crate) struct Parts<'a> {
    pub(crate) devices: &'a [Arc<Device>],
    pub(crate) kinds: &'a [MemoryKind],
    pub(crate) options: PoolOptions,
    /// Those that are there already: of a buffer, or a device's default ones.
    pub(crate) made: Vec<millpond::Pool>,
    /// How many pools over memory it is, one in the memory of another.
    pub(crate) depth: usize,
}

impl Pool {
    /// A pool of a program's own.
    fn make(context: &Arc<Context>, parts: Parts<'_>) -> Answer<Arc<Self>> {
        let pool = Self::of(context, Some(Arc::clone(context)), false, parts)?;
        if !pool.is_over_buffer() {
            // What is wrong with the options is told now.
            pool.runtime(&pool.devices[0], pool.kinds[0])?;
        }
        Ok(pool)
    }

    fn of(
        context: &Arc<Context>,
        keeps: Option<Arc<Context>>,
        is_default: bool,
        parts: Parts<'_>,
    ) -> Answer<Arc<Self>> {
        create(|place| Self {
            place,
            context: Arc::downgrade(context),
            _keeps: keeps,
            devices: parts.devices.to_vec(),
            kinds: parts.kinds.to_vec(),
            is_default,
            depth: parts.depth,
            state: Mutex::new(State {
                options: parts.options,
                made: parts.made,
                is_closed: false,
            }),
        })
    }

    /// How many pools over memory it is, one in the memory of another.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    fn is_over_buffer(&self) -> bool {
        self.depth > 0
    }

    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    fn context(&self) -> Answer<Arc<Context>> {
        self.context.upgrade().ok_or(Code::INVALID_CONTEXT)
    }

    /// # Errors
    /// Another context's pool, or another device's.
    fn check(&self, context: &Arc<Context>, device: &Arc<Device>) -> Answer {
        let is_theirs = std::ptr::eq(self.context.as_ptr(), Arc::as_ptr(context));
        if !is_theirs && !broken(Rule::PoolContext) {
            return Err(Code::INVALID_CONTEXT);
        }
        if !self.devices.iter().any(|own| Arc::ptr_eq(own, device)) {
            return Err(Code::INVALID_DEVICE);
        }
        Ok(())
    }

    /// The runtime's pool of a device and a kind, made when it is first asked for.
    ///
    /// # Errors
    /// A pool that was closed; a kind that it hasn't.
    pub(crate) fn runtime(&self, device: &Arc<Device>, kind: MemoryKind) -> Answer<millpond::Pool> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Code::INVALID_OPERATION);
        }
        if !self.kinds.contains(&kind) && !broken(Rule::PoolKind) {
            return Err(Code::INVALID_ARGUMENT);
        }
        let is_meant =
            |pool: &&millpond::Pool| pool.kind() == kind && pool.device() == device.runtime();
        if let Some(pool) = state.made.iter().find(is_meant) {
            return Ok(pool.clone());
        }
        let pool = device.runtime().create_pool(kind, state.options.clone());
        let pool = pool.map_err(|error| code(&error))?;
        state.made.push(pool.clone());
        Ok(pool)
    }

    /// Those of the runtime's that there are.
    fn made(&self) -> Vec<millpond::Pool> {
        self.state().made.clone()
    }

    /// What all of them hold.
    fn statistics(&self) -> Statistics {
        let mut sum = Statistics::default();
        for one in self.made().iter().map(millpond::Pool::statistics) {
            if broken(Rule::Used) && sum.used > 0 {
                continue;
            }
            sum.used += one.used;
            sum.used_high += one.used_high;
            sum.reserved += if broken(Rule::Reserved) {
                one.used
            } else {
                one.reserved
            };
            sum.reserved_high += one.reserved_high;
        }
        sum
    }

    /// Gives out no more memory. What it gave out stays valid.
    fn close(&self) {
        self.state().is_closed = true;
        if !self.is_default {
            for pool in self.made() {
                // Only default pools refuse.
                let _ = pool.close();
            }
        }
    }

    /// Gives free memory back to the system until at most `keep` bytes are kept.
    fn trim(&self, keep: usize) -> Answer {
        let made = self.made();
        for pool in &made {
            let others = made.iter().filter(|other| *other != pool);
            let others: usize = others.map(|other| other.statistics().reserved).sum();
            let keep = if broken(Rule::Trim) {
                0
            } else {
                keep.saturating_sub(others)
            };
            pool.trim(keep).map_err(|error| code(&error))?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("place", &self.place)
            .field("kinds", &self.kinds)
            .finish_non_exhaustive()
    }
}
