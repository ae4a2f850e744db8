//! Pools of the driver's own, behind the interface of the runtime's.
//!
//! Each allocation and each free is a command, and which freed bytes serve again is the driver's to
//! say: there are no classes, no caches and no segments here. What stays is all that a program sees of
//! a pool: limits and counts, tags, reclaimers, waiting for frees, the report of what is missing. A
//! free here does what no other does: it has its queue give the memory back, without a wait.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use millpond_hal as hal;
use millpond_hal::{Address, DriverPool, DriverPoolState, DriverReuse};

use crate::pool::options::{PoolOptions, Reuse};
use crate::pool::statistics::Statistics;
use crate::pool::store::Conditions;
use crate::queue::{Native, interrupt_holds};
use crate::sync::{Mutex, lock};

/// A pool of the driver's, with what the driver doesn't say of it.
pub(crate) struct Driven {
    pub(crate) pool: Arc<dyn DriverPool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Memory that was freed, by its first byte, until the free has completed or the driver has
    /// handed it out again.
    frees: BTreeMap<usize, Freed>,
    /// Where memory begins that is handed out further on, for its alignment.
    begins: HashMap<usize, usize>,
    next: u64,
}

/// A range that was freed.
#[derive(Clone)]
struct Freed {
    /// The free that it is a part of.
    number: u64,
    bytes: usize,
    /// The free's place, once it is submitted.
    at: Option<(Arc<Native>, u64)>,
}

impl Freed {
    fn is_over(&self, reached: &impl Fn(&Native, u64) -> bool) -> bool {
        let at = self.at.as_ref();
        at.is_some_and(|(queue, sequence)| reached(queue, *sequence))
    }
}

impl Driven {
    pub(crate) fn new(pool: Arc<dyn DriverPool>) -> Self {
        Self {
            pool,
            state: Mutex::default(),
        }
    }

    /// Bytes that a request takes; `None` if there is no such size.
    pub(crate) fn granted(&self, bytes: usize, align: usize) -> Option<usize> {
        let granule = self.pool.granule();
        let spare = if align > granule { align } else { 0 };
        let sum = bytes.max(1).checked_add(spare)?;
        let granted = sum.checked_next_multiple_of(granule)?;
        isize::try_from(granted).ok()?;
        Some(granted)
    }

    /// Notes that the driver has handed bytes out, of which an allocation begins at a multiple of the
    /// alignment: where that is.
    pub(crate) fn begin(&self, first: Address, bytes: usize, align: usize) -> Address {
        let begin = first.get();
        let mut state = lock(&self.state);
        state.take(begin, begin + bytes);
        let aligned = begin.next_multiple_of(align);
        if aligned != begin {
            state.begins.insert(aligned, begin);
        }
        Address::new(aligned)
    }

    /// The first byte of an allocation as the driver knows it.
    pub(crate) fn first(&self, base: Address) -> Address {
        let state = lock(&self.state);
        let begin = state.begins.get(&base.get()).copied();
        begin.map_or(base, Address::new)
    }

    /// Notes that a free is about to be submitted: its number, and where the bytes begin.
    pub(crate) fn begin_free(&self, base: Address, bytes: usize) -> (u64, Address) {
        let mut state = lock(&self.state);
        state.next += 1;
        let number = state.next;
        let begin = state.begins.remove(&base.get()).unwrap_or(base.get());
        let freed = Freed {
            number,
            bytes,
            at: None,
        };
        state.frees.insert(begin, freed);
        (number, Address::new(begin))
    }

    /// Notes where on its queue a free is; nowhere, of one that wasn't submitted.
    pub(crate) fn end_free(&self, number: u64, at: Option<&(Arc<Native>, u64)>) {
        let mut state = lock(&self.state);
        if at.is_none() {
            state.frees.retain(|_, freed| freed.number != number);
        }
        for freed in state.frees.values_mut() {
            if freed.number == number {
                freed.at = at.cloned();
            }
        }
    }

    /// Forgets the frees that are over, after asking the drivers.
    pub(crate) fn poll(&self) {
        let pending: Conditions = lock(&self.state)
            .frees
            .values()
            .filter_map(|freed| freed.at.clone())
            .collect();
        let mut over = pending;
        // Nothing to do under the lock.
        over.retain(|(queue, sequence)| queue.reached(*sequence));
        let is_over = |queue: &Native, sequence: u64| {
            let mut over = over.iter();
            over.any(|(other, at)| other.id() == queue.id() && *at == sequence)
        };
        let mut state = lock(&self.state);
        state.frees.retain(|_, freed| !freed.is_over(&is_over));
    }

    /// The frees that aren't over: their bytes and places.
    pub(crate) fn pending(&self) -> Vec<(usize, (Arc<Native>, u64))> {
        let state = lock(&self.state);
        let frees = state.frees.values();
        frees
            .filter_map(|freed| Some((freed.bytes, freed.at.clone()?)))
            .collect()
    }

    /// What the driver says that the pool has; nothing, of a lost device.
    pub(crate) fn state(&self) -> DriverPoolState {
        interrupt_holds();
        self.pool.state().unwrap_or_default()
    }

    /// Has the driver's count of the most that was used begin anew.
    pub(crate) fn reset_used_high(&self) {
        interrupt_holds();
        // A refusal is that of a lost device, which has nothing.
        let _ = self.pool.reset_used_high();
    }

    /// The same of the most that was reserved.
    pub(crate) fn reset_reserved_high(&self) {
        interrupt_holds();
        let _ = self.pool.reset_reserved_high();
    }

    /// Adds what the driver knows, and what is pending, to counts of what is used.
    pub(crate) fn complete(&self, sum: &mut Statistics) {
        self.poll();
        let state = self.state();
        let freed: usize = lock(&self.state)
            .frees
            .values()
            .map(|freed| freed.bytes)
            .sum();
        sum.reserved = state.reserved.max(sum.used);
        sum.pending = freed.min(sum.reserved - sum.used);
        sum.cached = sum.reserved - sum.used - sum.pending;
        sum.reserved_high = state.reserved_high.max(sum.reserved);
    }
}

impl State {
    /// Takes a range out of what was freed.
    fn take(&mut self, begin: usize, end: usize) {
        let before = self.frees.range(..end);
        let met: Vec<usize> = before
            .rev()
            .take_while(|(first, freed)| **first + freed.bytes > begin)
            .map(|(first, _)| *first)
            .collect();
        for first in met {
            let Some(freed) = self.frees.remove(&first) else {
                continue;
            };
            let last = first + freed.bytes;
            for (part, bytes) in [
                (first, begin.saturating_sub(first)),
                (end, last.saturating_sub(end)),
            ] {
                if bytes > 0 {
                    let rest = Freed {
                        bytes,
                        ..freed.clone()
                    };
                    self.frees.insert(part, rest);
                }
            }
        }
    }
}

/// How a driver's pool is made.
pub(crate) fn driver_options(options: &PoolOptions) -> hal::DriverPoolOptions {
    hal::DriverPoolOptions {
        maximum_size: options.maximum_size,
        release_threshold: options.release_threshold,
        reuse: driver_reuse(options.reuse),
        shareable: options.shareable,
    }
}

pub(crate) fn driver_reuse(reuse: Reuse) -> DriverReuse {
    DriverReuse {
        follow_events: reuse.follow_events,
        opportunistic: reuse.opportunistic,
        internal_dependencies: reuse.internal_dependencies,
    }
}

impl fmt::Debug for Driven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freed(number: u64, bytes: usize) -> Freed {
        Freed {
            number,
            bytes,
            at: None,
        }
    }

    fn ranges(state: &State) -> Vec<(usize, usize, u64)> {
        let frees = state.frees.iter();
        frees
            .map(|(first, freed)| (*first, freed.bytes, freed.number))
            .collect()
    }

    #[test]
    fn what_is_handed_out_again_is_pending_no_more() {
        let mut state = State::default();
        state.frees.insert(0, freed(1, 100));
        state.frees.insert(100, freed(2, 100));
        state.frees.insert(300, freed(3, 100));
        state.take(50, 120);
        assert_eq!(
            ranges(&state),
            [(0, 50, 1), (120, 80, 2), (300, 100, 3)],
            "the ends of two"
        );
        state.take(320, 340);
        assert_eq!(
            ranges(&state),
            [(0, 50, 1), (120, 80, 2), (300, 20, 3), (340, 60, 3)],
            "the middle of one"
        );
        state.take(0, 400);
        assert_eq!(ranges(&state), []);
        state.take(0, 400);
    }
}
