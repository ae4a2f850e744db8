//! Pools of the fake driver.
//!
//! Memory of a pool may be used from the step of its stream at which it begins to that at which it
//! ends, and a use elsewhere is an illegal address: so a command that isn't ordered behind an
//! allocation, or before its free, is found. What is free is used again by the rules of the real
//! driver, whole blocks of the same size only; the rest is given up where there is no room.

use std::collections::{BTreeMap, BTreeSet};

use super::world::{Kind, Step, World};
use crate::api::{
    Code, Ordinal, Pointer, PoolHandle, PoolPlace, PoolProperties, StreamHandle, pool,
};

/// What every allocation is a multiple of.
const GRANULE: usize = 512;

/// The pools of a driver.
#[derive(Default)]
pub(super) struct Pools {
    all: BTreeMap<PoolHandle, Pool>,
    /// Of which pool live memory is, and how much.
    live: BTreeMap<Pointer, (PoolHandle, usize)>,
    /// Frees that streams have yet to come to, by numbers.
    ends: BTreeSet<usize>,
}

struct Pool {
    device: Ordinal,
    maximum: usize,
    attributes: BTreeMap<i32, u64>,
    free: Vec<Free>,
    /// Devices that were let in.
    access: usize,
    destroyed: bool,
}

/// Memory that was freed.
#[derive(Clone, Copy)]
struct Free {
    address: Pointer,
    bytes: usize,
    stream: StreamHandle,
    /// The number of its free.
    end: usize,
    /// Whether the driver has seen that it is over, where somebody waited.
    seen: bool,
}

impl Pool {
    fn get(&self, attribute: i32) -> usize {
        self.attributes.get(&attribute).map_or(0, |&it| it as usize)
    }

    /// Changes a count, whose most is the next attribute.
    fn count(&mut self, attribute: i32, value: usize) {
        let high = self.get(attribute + 1).max(value);
        self.attributes.insert(attribute, value as u64);
        self.attributes.insert(attribute + 1, high as u64);
    }

    fn allows(&self, rule: i32) -> bool {
        self.get(rule) as u32 != 0
    }
}

impl World {
    pub(super) fn add_pool(&mut self, device: Ordinal, properties: &PoolProperties) -> PoolHandle {
        let handle = PoolHandle(self.next());
        self.insert_pool(handle, device, properties.maximum);
        handle
    }

    /// The pool of a device that is there from the beginning.
    pub(super) fn default_pool(&mut self, device: Ordinal) -> PoolHandle {
        let handle = PoolHandle(usize::MAX - device as usize);
        if !self.pools.all.contains_key(&handle) {
            self.insert_pool(handle, device, 0);
        }
        handle
    }

    fn insert_pool(&mut self, handle: PoolHandle, device: Ordinal, maximum: usize) {
        let rules = [
            pool::FOLLOW_EVENTS,
            pool::OPPORTUNISTIC,
            pool::INTERNAL_DEPENDENCIES,
        ];
        let pool = Pool {
            device,
            maximum: if maximum == 0 { usize::MAX } else { maximum },
            attributes: rules.map(|rule| (rule, 1)).into(),
            free: Vec::new(),
            access: 0,
            destroyed: false,
        };
        self.pools.all.insert(handle, pool);
    }

    /// How many pools there are that were made, with those that wait for their last memory.
    pub(super) fn count_pools(&self) -> usize {
        let made = |handle: &&PoolHandle| handle.0 < usize::MAX / 2;
        self.pools.all.keys().filter(made).count()
    }

    pub(super) fn destroy_pool(&mut self, handle: PoolHandle) -> Code {
        match self.pools.all.get_mut(&handle) {
            Some(pool) if !pool.destroyed => pool.destroyed = true,
            _ => return Code::INVALID_VALUE,
        }
        self.sweep(handle);
        Code::SUCCESS
    }

    pub(super) fn let_into_pool(&mut self, handle: PoolHandle, count: usize) -> Code {
        self.with_pool(handle, |pool| pool.access += count)
    }

    /// How many devices were let into a pool.
    pub(super) fn pool_access(&self, handle: PoolHandle) -> Option<usize> {
        self.pools.all.get(&handle).map(|pool| pool.access)
    }

    fn with_pool(&mut self, handle: PoolHandle, body: impl FnOnce(&mut Pool)) -> Code {
        match self.pools.all.get_mut(&handle) {
            Some(pool) if !pool.destroyed => {
                body(pool);
                Code::SUCCESS
            }
            _ => Code::INVALID_VALUE,
        }
    }

    pub(super) fn pool_value(&self, handle: PoolHandle, attribute: i32) -> Option<u64> {
        let pool = self.pools.all.get(&handle)?;
        Some(pool.get(attribute) as u64)
    }

    pub(super) fn set_pool_value(
        &mut self,
        handle: PoolHandle,
        attribute: i32,
        value: u64,
    ) -> Code {
        match attribute {
            pool::RESERVED_HIGH | pool::USED_HIGH => {
                if value != 0 {
                    return Code::INVALID_VALUE;
                }
                self.with_pool(handle, |pool| {
                    let now = pool.get(attribute - 1);
                    pool.attributes.insert(attribute, now as u64);
                })
            }
            pool::RESERVED | pool::USED => Code::INVALID_VALUE,
            _ => self.with_pool(handle, |pool| {
                pool.attributes.insert(attribute, value);
            }),
        }
    }

    /// Takes memory, in the order of a stream.
    pub(super) fn allocate_from_pool(
        &mut self,
        handle: PoolHandle,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<Pointer, Code> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        if !self.streams.contains_key(&stream) {
            return Err(Code::INVALID_HANDLE);
        }
        let bytes = bytes.next_multiple_of(GRANULE);
        let found = self.find_free(handle, bytes, stream)?;
        let (address, until) = match found {
            Some(found) => found,
            None => match self.grow(handle, bytes) {
                Some(address) => (address, None),
                None => self
                    .find_pending(handle, bytes)
                    .ok_or(Code::OUT_OF_MEMORY)?,
            },
        };
        let pool = self.pools.all.get_mut(&handle);
        let pool = pool.ok_or(Code::INVALID_VALUE)?;
        pool.count(pool::USED, pool.get(pool::USED) + bytes);
        let device = pool.device;
        self.pools.live.insert(address, (handle, bytes));
        let steps = self.streams.get_mut(&stream);
        let steps = steps.ok_or(Code::INVALID_HANDLE)?;
        steps.extend(until.map(Step::Until));
        steps.push_back(Step::Begin(address, device));
        Ok(address)
    }

    /// What was freed on the stream, or has completed where that counts.
    fn find_free(
        &mut self,
        handle: PoolHandle,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<Option<(Pointer, Option<usize>)>, Code> {
        let Pools {
            all: pools, ends, ..
        } = &mut self.pools;
        let pool = pools.get_mut(&handle).filter(|pool| !pool.destroyed);
        let pool = pool.ok_or(Code::INVALID_VALUE)?;
        let opportunistic = pool.allows(pool::OPPORTUNISTIC);
        let fits = |free: &Free| {
            let over = opportunistic && !ends.contains(&free.end);
            free.bytes == bytes && (free.stream == stream || over)
        };
        let index = pool.free.iter().rposition(fits);
        Ok(index.map(|index| (pool.free.remove(index).address, None)))
    }

    /// New memory, for which other free memory goes.
    fn grow(&mut self, handle: PoolHandle, bytes: usize) -> Option<Pointer> {
        let pool = self.pools.all.get(&handle)?;
        let device = pool.device;
        let own = pool.maximum.checked_sub(bytes)?;
        let all = self.room_for_pools.checked_sub(bytes)?;
        if self.reserved(handle) > own || self.reserved_by_all() > all {
            let others = self.reserved_by_all() - self.reserved(handle);
            self.give_up(handle, own.min(all.saturating_sub(others)), true);
        }
        let reserved = self.reserved(handle);
        if reserved > own || self.reserved_by_all() > all {
            return None;
        }
        let address = self.add(bytes, GRANULE, Kind::Pooled(device))?;
        let pool = self.pools.all.get_mut(&handle)?;
        pool.count(pool::RESERVED, reserved + bytes);
        Some(address)
    }

    fn reserved(&self, handle: PoolHandle) -> usize {
        let pool = self.pools.all.get(&handle);
        pool.map_or(0, |pool| pool.get(pool::RESERVED))
    }

    fn reserved_by_all(&self) -> usize {
        let pools = self.pools.all.values();
        pools.map(|pool| pool.get(pool::RESERVED)).sum()
    }

    /// What is free when another stream has come so far, where that may be waited for.
    fn find_pending(
        &mut self,
        handle: PoolHandle,
        bytes: usize,
    ) -> Option<(Pointer, Option<usize>)> {
        let pool = self.pools.all.get_mut(&handle)?;
        if !pool.allows(pool::INTERNAL_DEPENDENCIES) {
            return None;
        }
        let index = pool.free.iter().position(|free| free.bytes == bytes)?;
        let free = pool.free.remove(index);
        Some((free.address, Some(free.end)))
    }

    /// Frees memory, in the order of a stream.
    pub(super) fn free_to_pool(&mut self, address: Pointer, stream: StreamHandle) -> Code {
        if !self.streams.contains_key(&stream) {
            return Code::INVALID_HANDLE;
        }
        let Some((handle, bytes)) = self.pools.live.remove(&address) else {
            return Code::INVALID_VALUE;
        };
        let end = self.next();
        self.pools.ends.insert(end);
        if let Some(pool) = self.pools.all.get_mut(&handle) {
            pool.count(pool::USED, pool.get(pool::USED) - bytes);
            pool.free.push(Free {
                address,
                bytes,
                stream,
                end,
                seen: false,
            });
        }
        if let Some(steps) = self.streams.get_mut(&stream) {
            steps.push_back(Step::End(address, end));
        }
        Code::SUCCESS
    }

    /// Sees that the frees of a stream are over which has come to its end.
    pub(super) fn observe(&mut self, stream: StreamHandle) {
        let pools = self.pools.all.values_mut();
        for free in pools.flat_map(|pool| &mut pool.free) {
            free.seen |= free.stream == stream;
        }
    }

    /// Gives free memory up of which it is seen that it is free, until so much is left.
    pub(super) fn trim_pool(&mut self, handle: PoolHandle, keep: usize) -> Code {
        self.give_up(handle, keep, false)
    }

    /// The same, of all that is free if what is unseen counts as well.
    fn give_up(&mut self, handle: PoolHandle, keep: usize, unseen: bool) -> Code {
        let Pools {
            all: pools, ends, ..
        } = &mut self.pools;
        let Some(pool) = pools.get_mut(&handle) else {
            return Code::INVALID_VALUE;
        };
        let mut gone = Vec::new();
        let mut reserved = pool.get(pool::RESERVED);
        pool.free.retain(|free| {
            let is_free = !ends.contains(&free.end) && (free.seen || unseen);
            let goes = reserved > keep && is_free;
            if goes {
                reserved -= free.bytes;
                gone.push(free.address);
            }
            !goes
        });
        pool.count(pool::RESERVED, reserved);
        for address in gone {
            self.remove(address);
        }
        Code::SUCCESS
    }

    /// What other processes are told of memory that lives: how long it is.
    pub(super) fn tell_place(&self, address: Pointer) -> Option<PoolPlace> {
        let (_, bytes) = self.pools.live.get(&address)?;
        let mut told: PoolPlace = [0; 64];
        told[..8].copy_from_slice(&(*bytes as u64).to_ne_bytes());
        Some(told)
    }

    /// Memory as long as what was told of.
    pub(super) fn open_place(&mut self, device: Ordinal, told: PoolPlace) -> Result<Pointer, Code> {
        let bytes = u64::from_ne_bytes(*told.first_chunk().expect("it is longer")) as usize;
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let block = self.add(bytes, GRANULE, Kind::Device(device));
        block.ok_or(Code::OUT_OF_MEMORY)
    }

    /// Whether a stream may go on that waits for a free.
    pub(super) fn has_ended(&self, end: usize) -> bool {
        !self.pools.ends.contains(&end)
    }

    /// A stream has come to a free; whether the memory was there.
    pub(super) fn end(&mut self, address: Pointer, end: usize) -> bool {
        self.pools.ends.remove(&end);
        let ended = self.retire(address);
        let handles: Vec<_> = self.pools.all.keys().copied().collect();
        for handle in handles {
            self.sweep(handle);
        }
        ended
    }

    /// Lets go of a pool that was destroyed, as far as it is free.
    fn sweep(&mut self, handle: PoolHandle) {
        let pools = &self.pools.all;
        if !pools.get(&handle).is_some_and(|pool| pool.destroyed) {
            return;
        }
        self.give_up(handle, 0, true);
        let empty = self.pool_value(handle, pool::RESERVED) == Some(0);
        if empty {
            self.pools.all.remove(&handle);
        }
    }
}
