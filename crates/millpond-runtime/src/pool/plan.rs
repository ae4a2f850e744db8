//! What would make room for a request: the smallest sufficient set of pending frees.
//!
//! Free and pending extents that lie side by side in one segment form a run. Any stretch of a run
//! that is long enough would do; the one that waits for the fewest unfinished commands is chosen,
//! and of those the one that waits for the fewest bytes. One pass over the pending extents and
//! their neighbours finds it.
//!
//! Where no run is long enough, whole segments that nobody uses may go back to the driver, so that
//! the pool can grow by what it needs.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::pool::core::PoolCore;
use crate::pool::store::{Conditions, Run, Store};
use crate::queue::Native;
use crate::sync::lock;

/// Commands that aren't over before the points are reached: how much work stands in the way.
pub(crate) fn remaining(conditions: &Conditions, timeless: bool) -> u64 {
    conditions
        .iter()
        .map(|(queue, sequence)| sequence.saturating_sub(queue.known(timeless)))
        .sum()
}

/// Points after which `size` bytes lie free in one piece; none if even all of them don't help.
pub(crate) fn smallest_sufficient(
    store: &Store,
    size: usize,
    timeless: bool,
) -> Option<Conditions> {
    if store.largest_free() >= size {
        return Some(Conditions::new());
    }
    if store.free_bytes() + store.pending_bytes() < size {
        return None;
    }
    let mut window: VecDeque<(Run<'_>, u64)> = VecDeque::new();
    let mut total = Stretch::default();
    let mut best: Option<(Stretch, Conditions)> = None;
    for run in store.runs().filter(|run| !run.dedicated) {
        let adjoins = window.back().is_some_and(|(last, _)| {
            last.segment == run.segment && last.begin + last.len == run.begin
        });
        if !adjoins {
            window.clear();
            total = Stretch::default();
        }
        let work = run
            .conditions
            .map_or(0, |conditions| remaining(conditions, timeless));
        total.add(&run, work);
        window.push_back((run, work));
        while let Some((first, work)) = window.front()
            && total.len - first.len >= size
        {
            total.remove(first, *work);
            window.pop_front();
        }
        if total.len >= size && best.as_ref().is_none_or(|(best, _)| total.is_better(best)) {
            let pending = window.iter().filter_map(|(run, _)| run.conditions);
            best = Some((total, joined(pending.flatten())));
        }
    }
    best.map(|(_, conditions)| conditions)
}

/// Points after which segments of at least `bytes` in sum are wholly free, those with the least
/// work first; none if even all segments that nobody uses don't help.
pub(crate) fn smallest_release(store: &Store, bytes: usize, timeless: bool) -> Option<Conditions> {
    if store.unused_bytes() < bytes {
        return None;
    }
    let with_work = store.unused_segments().map(|(len, pending)| {
        let work = pending.clone().map(|points| remaining(points, timeless));
        (work.sum::<u64>(), len, pending)
    });
    let mut segments: Vec<_> = with_work.collect();
    segments.sort_by_key(|&(work, len, _)| (work, Reverse(len)));
    let mut sum = 0;
    let enough = segments.iter().position(|(_, len, _)| {
        sum += len;
        sum >= bytes
    })?;
    let chosen = segments.into_iter().take(enough + 1);
    Some(joined(chosen.flat_map(|(_, _, pending)| pending).flatten()))
}

/// The same points, those of an in-order queue as one.
fn joined<'a>(points: impl Iterator<Item = &'a (Arc<Native>, u64)>) -> Conditions {
    let mut conditions = Conditions::new();
    for (queue, sequence) in points {
        let known = conditions
            .iter_mut()
            .find(|(known, _)| known.id() == queue.id());
        match known {
            Some((_, known)) if queue.in_order => *known = (*known).max(*sequence),
            _ => conditions.push((Arc::clone(queue), *sequence)),
        }
    }
    conditions
}

impl PoolCore {
    /// Points after which a request of `size` bytes would fit, in one piece or by growing once
    /// segments have gone back; none if even all frees that are pending don't help.
    pub(crate) fn what_makes_room(&self, size: usize) -> Option<Conditions> {
        let (short, timeless) = (self.shortage(size), self.is_timeless());
        let store = lock(&self.store);
        smallest_sufficient(&store, size, timeless)
            .or_else(|| (short > 0).then(|| smallest_release(&store, short, timeless))?)
    }
}

/// Extents side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    len: usize,
    work: u64,
    pending: usize,
}

impl Stretch {
    fn add(&mut self, run: &Run<'_>, work: u64) {
        self.len += run.len;
        self.work += work;
        self.pending += run.conditions.map_or(0, |_| run.len);
    }

    fn remove(&mut self, run: &Run<'_>, work: u64) {
        self.len -= run.len;
        self.work -= work;
        self.pending -= run.conditions.map_or(0, |_| run.len);
    }

    fn is_better(&self, other: &Self) -> bool {
        (self.work, self.pending) < (other.work, other.pending)
    }
}
