//! Rows by the commands of a device whose memory the host can't reach: one copy or fill after the other.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use millpond::{Address, Event, Pattern, Queue};

use crate::argument::Answer;
use crate::grid::{Extent, Grid, PIECE};
use crate::mutants::{Rule, broken};
use crate::queue::{Done, Target};

/// Commands that are one for whoever enqueued them.
struct Steps<'a> {
    queue: &'a Queue,
    /// What all of them come after.
    after: &'a [&'a Event],
    /// The one that was made first.
    first: Option<Event>,
    /// Those that have nothing of the others behind them; the last on a queue with an order.
    ends: Vec<Event>,
}

impl<'a> Steps<'a> {
    /// None yet.
    fn new(queue: &'a Queue, after: &'a [&'a Event]) -> Self {
        Self {
            queue,
            after,
            first: None,
            ends: Vec::new(),
        }
    }

    /// Makes a command, behind another one of these where it needs it.
    fn step(
        &mut self,
        behind: Option<Event>,
        make: impl FnOnce(&Queue, &[&Event]) -> millpond::Result<Event>,
    ) -> millpond::Result<Event> {
        let ends = &mut self.ends;
        let made = if self.queue.is_in_order() {
            // What comes first has waited for all that there is to wait for.
            let after = if ends.is_empty() { self.after } else { &[] };
            let made = make(self.queue, after)?;
            ends.clear();
            made
        } else if let Some(behind) = behind {
            ends.retain(|end| end.sequence() != behind.sequence());
            make(self.queue, &[&behind])?
        } else {
            make(self.queue, self.after)?
        };
        self.ends.push(made.clone());
        self.first.get_or_insert_with(|| made.clone());
        Ok(made)
    }

    fn copy(
        &mut self,
        (src, dst): (Address, Address),
        bytes: usize,
        behind: Option<Event>,
    ) -> millpond::Result<Event> {
        self.step(behind, |queue, after| {
            // SAFETY: what the caller of the interface promises of these addresses, and what is written
            // by an earlier step; ranges don't overlap.
            unsafe { queue.copy_at(src, dst, bytes, after) }
        })
    }

    /// What all are together.
    fn end(self) -> millpond::Result<Done> {
        let last = match &self.ends[..] {
            [last] => last.clone(),
            ends => {
                let all: Vec<_> = ends.iter().collect();
                self.queue.task_at("rows", &[], &all, || Ok(()))?
            }
        };
        let first = self.first;
        Ok(Done { first, last })
    }
}

/// The same bytes in fewer rows, where there are no gaps between them.
fn without_gaps(extent: Extent, grids: &[Grid]) -> Extent {
    let Extent { width, height, .. } = extent;
    let are_dense = grids.iter().all(|grid| grid.row_pitch == width);
    if are_dense && height > 1 && !broken(Rule::RowPitch) {
        return Extent {
            width: width * height,
            height: 1,
            ..extent
        };
    }
    extent
}

/// Copies bytes between grids whose rows don't overlap.
pub(crate) fn copy(target: impl Target, src: Grid, dst: Grid, extent: Extent) -> Answer {
    let extent = without_gaps(extent, &[src, dst]);
    target.put(move |queue, after| {
        let mut steps = Steps::new(queue, after);
        for row in extent.rows() {
            steps.copy((src.row(row), dst.row(row)), extent.width, None)?;
        }
        steps.end()
    })
}

/// Fills a grid with a pattern, which goes on from row to row.
pub(crate) fn fill(target: impl Target, dst: Grid, extent: Extent, pattern: &[u8]) -> Answer {
    let extent = without_gaps(extent, &[dst]);
    let fits = extent.width.is_multiple_of(pattern.len());
    let simple = Pattern::new(pattern).filter(|_| fits);
    let unit = pattern.len();
    // Twice at least, so that a whole one follows wherever a row begins in it.
    let piece: Arc<[u8]> = pattern.repeat((PIECE / unit).max(2)).into();
    target.put(move |queue, after| {
        // Copies may read it until all have ended, also those before one that is refused.
        let piece = ManuallyDrop::new(Arc::clone(&piece));
        let mut steps = Steps::new(queue, after);
        for (number, row) in extent.rows().enumerate() {
            let begin = dst.row(row);
            if let Some(pattern) = simple {
                steps.step(None, |queue, after| {
                    // SAFETY: what the caller of the interface promises of the row.
                    unsafe { queue.fill_at(begin, extent.width, pattern, after) }
                })?;
                continue;
            }
            let phase = if broken(Rule::PatternGoesOn) {
                0
            } else {
                number * extent.width % unit
            };
            fill_row(&mut steps, begin, extent.width, (&piece, phase, unit))?;
        }
        let end = steps.end()?;
        end.last
            .on_complete(move |_| drop(ManuallyDrop::into_inner(piece)));
        Ok(end)
    })
}

/// Fills a row from a place in a pattern on: a piece comes from the host, the rest from what is there.
fn fill_row(
    steps: &mut Steps<'_>,
    row: Address,
    width: usize,
    (piece, phase, unit): (&[u8], usize, usize),
) -> millpond::Result<()> {
    let first = width.min(piece.len() - phase);
    let from = Address::of(&raw const piece[phase]);
    let mut last = steps.copy((from, row), first, None)?;
    // Whole patterns, behind which the row goes on as it begins.
    let mut done = first - first % unit;
    if first == width {
        return Ok(());
    }
    while done < width {
        let bytes = done.min(width - done);
        last = steps.copy((row, row.offset(done)), bytes, Some(last))?;
        done += bytes;
    }
    Ok(())
}
