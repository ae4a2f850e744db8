//! Whose the bytes of pools are.

use std::collections::BTreeMap;
use std::ops::Range;

use super::finding::Actor;
use crate::point::Point;

/// Allocations and freed memory, by where they begin.
#[derive(Debug, Default)]
pub(super) struct Lives {
    cells: BTreeMap<usize, Cell>,
    /// Parts of allocations that are pools of their own, each with the end of the part.
    lent: BTreeMap<usize, (usize, Lives)>,
}

#[derive(Clone, Debug)]
struct Cell {
    end: usize,
    state: State,
}

/// What became of bytes last.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// They are an allocation, whose users come after the points.
    Live(Actor, Vec<Point>),
    /// They were freed.
    Freed(Actor),
}

impl Lives {
    /// Sets what became of bytes; what it was before, part by part.
    pub(super) fn set(&mut self, bytes: &Range<usize>, state: State) -> Vec<(Range<usize>, State)> {
        if let Some(part) = self.part_around(bytes) {
            return part.set(bytes, state);
        }
        if bytes.is_empty() {
            return Vec::new();
        }
        let before = self.take(bytes);
        let cell = Cell {
            end: bytes.end,
            state,
        };
        self.cells.insert(bytes.start, cell);
        before
    }

    /// What became of bytes, part by part; nothing of bytes that no pool told of.
    pub(super) fn of(&self, bytes: &Range<usize>) -> Vec<(Range<usize>, &State)> {
        if let Some((_, (end, part))) = self.lent.range(..=bytes.start).next_back()
            && bytes.end <= *end
        {
            return part.of(bytes);
        }
        let first = self.cells.range(..=bytes.start).next_back();
        let first = first.map_or(bytes.start, |(&begin, _)| begin);
        let cells = self.cells.range(first..bytes.end.max(first));
        let parts = cells.filter_map(|(&begin, cell)| {
            let part = begin.max(bytes.start)..cell.end.min(bytes.end);
            (!part.is_empty()).then_some((part, &cell.state))
        });
        parts.collect()
    }

    /// Makes a part of an allocation a pool of its own.
    pub(super) fn lend(&mut self, bytes: &Range<usize>) {
        if let Some(part) = self.part_around(bytes) {
            return part.lend(bytes);
        }
        self.lent.insert(bytes.start, (bytes.end, Self::default()));
    }

    /// Forgets that pool.
    pub(super) fn take_back(&mut self, bytes: &Range<usize>) {
        if self
            .lent
            .get(&bytes.start)
            .is_some_and(|(end, _)| *end == bytes.end)
        {
            self.lent.remove(&bytes.start);
        } else if let Some(part) = self.part_around(bytes) {
            part.take_back(bytes);
        }
    }

    /// Forgets bytes that go back to the driver.
    pub(super) fn forget(&mut self, bytes: &Range<usize>) {
        drop(self.take(bytes));
    }

    fn part_around(&mut self, bytes: &Range<usize>) -> Option<&mut Self> {
        let (_, (end, part)) = self.lent.range_mut(..=bytes.start).next_back()?;
        (bytes.end <= *end).then_some(part)
    }

    /// Takes cells out; those that lie across an end are cut there.
    fn take(&mut self, bytes: &Range<usize>) -> Vec<(Range<usize>, State)> {
        for at in [bytes.start, bytes.end] {
            if let Some((_, cell)) = self.cells.range_mut(..at).next_back()
                && at < cell.end
            {
                let rest = cell.clone();
                cell.end = at;
                self.cells.insert(at, rest);
            }
        }
        let begins: Vec<usize> = self.cells.range(bytes.clone()).map(|(&at, _)| at).collect();
        let taken = begins.into_iter().filter_map(|begin| {
            let cell = self.cells.remove(&begin)?;
            Some((begin..cell.end, cell.state))
        });
        taken.collect()
    }
}
