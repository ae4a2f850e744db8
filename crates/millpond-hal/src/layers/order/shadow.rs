//! Who used which bytes last.

use std::collections::BTreeMap;
use std::ops::Range;

use super::finding::{Actor, Conflict};
use crate::kernel::Access;
use crate::point::Point;

/// Disjoint ranges of bytes, by where they begin.
#[derive(Debug, Default)]
pub(super) struct Shadow(BTreeMap<usize, Cell>);

#[derive(Clone, Debug)]
struct Cell {
    end: usize,
    write: Option<Actor>,
    /// Since the last write.
    reads: Vec<Actor>,
}

impl Shadow {
    /// Notes a use of bytes, and tells of the uses before it that it isn't ordered behind.
    pub(super) fn record(
        &mut self,
        bytes: &Range<usize>,
        actor: &Actor,
        access: Access,
        is_ordered: &impl Fn(Point) -> bool,
        tell: &mut impl FnMut(Range<usize>, &Actor, Conflict),
    ) {
        if bytes.is_empty() {
            return;
        }
        self.split(bytes.start);
        self.split(bytes.end);
        let mut reached = bytes.start;
        let mut gaps = Vec::new();
        let mut told: Vec<Point> = Vec::new();
        for (&begin, cell) in self.0.range_mut(bytes.clone()) {
            if begin > reached {
                gaps.push(reached..begin);
            }
            reached = cell.end;
            let writes = access.writes();
            let reads = cell
                .reads
                .iter()
                .filter(|_| writes)
                .map(|read| (read, false));
            for (first, first_writes) in cell.write.iter().map(|write| (write, true)).chain(reads) {
                let same = first.point == actor.point || told.contains(&first.point);
                if !same && !is_ordered(first.point) {
                    told.push(first.point);
                    let conflict = Conflict::Unordered {
                        first_writes,
                        second_writes: writes,
                    };
                    let part = begin.max(bytes.start)..cell.end.min(bytes.end);
                    tell(part, first, conflict);
                }
            }
            if writes {
                cell.write = Some(actor.clone());
                cell.reads.clear();
            } else {
                // A read that this one happens after matters no more: who must follow it follows
                // this one.
                cell.reads.retain(|read| !is_ordered(read.point));
                cell.reads.push(actor.clone());
            }
        }
        if reached < bytes.end {
            gaps.push(reached..bytes.end);
        }
        for gap in gaps {
            let (write, reads) = if access.writes() {
                (Some(actor.clone()), Vec::new())
            } else {
                (None, vec![actor.clone()])
            };
            self.0.insert(
                gap.start,
                Cell {
                    end: gap.end,
                    write,
                    reads,
                },
            );
        }
        self.join(bytes);
    }

    /// Who used bytes last, part by part: the last writer and the readers since.
    pub(super) fn users(&self, bytes: &Range<usize>) -> Vec<(Range<usize>, &Actor)> {
        let first = self.0.range(..=bytes.start).next_back();
        let first = first.map_or(bytes.start, |(&begin, _)| begin);
        let mut users: Vec<(Range<usize>, &Actor)> = Vec::new();
        for (&begin, cell) in self.0.range(first..bytes.end.max(first)) {
            let part = begin.max(bytes.start)..cell.end.min(bytes.end);
            for user in cell.write.iter().chain(&cell.reads) {
                let is_new = users.iter().all(|(_, known)| known.point != user.point);
                if !part.is_empty() && is_new {
                    users.push((part.clone(), user));
                }
            }
        }
        users
    }

    /// Forgets bytes that go back to the driver.
    pub(super) fn forget(&mut self, bytes: &Range<usize>) {
        self.split(bytes.start);
        self.split(bytes.end);
        let gone: Vec<usize> = self
            .0
            .range(bytes.clone())
            .map(|(&begin, _)| begin)
            .collect();
        for begin in gone {
            self.0.remove(&begin);
        }
    }

    /// Has a cell begin here, if one lies across.
    fn split(&mut self, at: usize) {
        if let Some((&begin, cell)) = self.0.range_mut(..at).next_back()
            && begin < at
            && at < cell.end
        {
            let mut rest = cell.clone();
            cell.end = at;
            rest.end = rest.end.max(at);
            self.0.insert(at, rest);
        }
    }

    /// Makes one cell of cells that were just written together.
    fn join(&mut self, bytes: &Range<usize>) {
        let mut cells = self.0.range(bytes.clone());
        let Some((&first, one)) = cells.next() else {
            return;
        };
        let same = |cell: &Cell| {
            cell.reads.is_empty()
                && one.reads.is_empty()
                && cell.write.as_ref().map(|actor| actor.point)
                    == one.write.as_ref().map(|actor| actor.point)
        };
        let rest: Vec<usize> = cells
            .take_while(|(_, cell)| same(cell))
            .map(|(&begin, _)| begin)
            .collect();
        for begin in rest {
            if let Some(cell) = self.0.remove(&begin)
                && let Some(one) = self.0.get_mut(&first)
            {
                one.end = cell.end;
            }
        }
    }
}
