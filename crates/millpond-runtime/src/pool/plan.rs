//! What would make room for a request: the smallest sufficient set of pending frees.
//!
//! Free and pending extents that lie side by side in one segment form a run. Any stretch of a run
//! that is long enough would do; the one that waits for the fewest unfinished commands is chosen,
//! and of those the one that waits for the fewest bytes. One pass over the extents finds it.

use std::collections::VecDeque;

use crate::pool::store::{Conditions, Run, Store};

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
            let mut conditions = Conditions::new();
            let pending = window.iter().filter_map(|(run, _)| run.conditions);
            for (queue, sequence) in pending.flatten() {
                let known = conditions
                    .iter_mut()
                    .find(|(known, _)| known.id() == queue.id());
                match known {
                    Some((_, known)) if queue.in_order => *known = (*known).max(*sequence),
                    _ => conditions.push((queue.clone(), *sequence)),
                }
            }
            best = Some((total, conditions));
        }
    }
    best.map(|(_, conditions)| conditions)
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
