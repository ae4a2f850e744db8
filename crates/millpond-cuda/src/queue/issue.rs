//! How a command is given to the device.

use std::sync::Arc;

use millpond_hal::{Advice, Command};

use super::dependent::Effects;
use super::fill;
use super::line::{Begun, Flight};
use super::route::Route;
use super::{CudaQueue, LANES, State};
use crate::api::{Pointer, PoolHandle, READ_MOSTLY};
use crate::card::{CudaError, Current};
use crate::lanes::Lane;
use crate::program::LoadedEntry;
use crate::staging::Landing;

impl CudaQueue {
    /// Gives a command to a lane, or ends it if there is nothing to give.
    pub(super) fn issue(
        self: &Arc<Self>,
        state: &mut State,
        mut begun: Begun,
        effects: &mut Effects,
    ) {
        let sequence = begun.sequence;
        if let Some(watch) = begun.notes.watch.take().filter(|_| begun.failure.is_none()) {
            effects.began(watch);
        }
        let at_rest = begun.signals.is_empty() && (!self.in_order || !state.line.in_flight());
        if begun.failure.is_some() || (begun.route == Route::Nothing && at_rest) {
            self.end(state, sequence, begun.failure, effects);
            return;
        }
        let fail = |error: &CudaError| begun.fail_by(error);
        let current = match self.station.card.enter() {
            Ok(current) => current,
            Err(error) => return self.end(state, sequence, Some(fail(&error)), effects),
        };
        let index = match self.choose(state) {
            Ok(index) => index,
            Err(error) => return self.end(state, sequence, Some(fail(&error)), effects),
        };
        let lane = &mut state.lanes[index];
        // Behind what is under way nothing has to be given that does nothing.
        let mut around = None;
        let (mut landing, mut report) = (None, None);
        let (outcome, ticket) = if begun.route == Route::Nothing && begun.signals.is_empty() {
            (Ok(()), Ok(lane.last().ticket()))
        } else {
            let timed = state.recorder.is_some();
            let outcome = follow(&current, lane, &begun).and_then(|()| {
                if timed {
                    around = Some(self.station.clock.begin(&current, lane.stream)?);
                }
                match begun.route {
                    // It does nothing, behind what it follows; a copy of nothing has no addresses.
                    Route::Nothing => {}
                    Route::Kernel => self.give_launches(&current, lane, &begun, &mut report)?,
                    _ => self.give(&current, lane, &begun, &mut landing)?,
                }
                around.map_or(Ok(()), |around| around.end(&current, lane.stream))
            });
            // A part may be under way although another was refused.
            (outcome, lane.mark(&current))
        };
        let failure = outcome.err().map(|error| fail(&error));
        match ticket {
            Ok(ticket) => {
                let flight = Flight {
                    ticket,
                    sequence,
                    held: match &begun.command {
                        Command::Run { entry, .. } => Some(Arc::clone(entry)),
                        _ => None,
                    },
                    report,
                    landing,
                    around: around.filter(|_| failure.is_none()),
                    failure,
                };
                let signal = lane.last();
                state.line.issued(index, signal, flight, effects);
            }
            Err(error) => {
                // Of a device that can't number its work nothing is known: a buffer that it may
                // still use is never given back.
                let failure = failure.unwrap_or_else(|| fail(&error));
                self.end(state, sequence, Some(failure), effects);
            }
        }
    }

    /// The lane for the next command: the only one of a queue in order, else one that is idle.
    pub(super) fn choose(&self, state: &mut State) -> Result<usize, CudaError> {
        let most = if self.in_order { 1 } else { LANES };
        let lanes = &mut state.lanes;
        if let Some(idle) = lanes.iter().position(Lane::is_idle) {
            return Ok(idle);
        }
        if lanes.len() < most {
            lanes.push(self.station.lanes.take(&self.station.card)?);
            state.line.flights.add_lane();
            return Ok(lanes.len() - 1);
        }
        let shortest = (0..lanes.len()).min_by_key(|&index| state.line.flights.on(index));
        Ok(shortest.unwrap_or(0))
    }

    /// Gives the parts of a command to a stream.
    fn give(
        &self,
        current: &Current<'_>,
        lane: &Lane,
        begun: &Begun,
        landing: &mut Option<Landing>,
    ) -> Result<(), CudaError> {
        let (api, stream) = (current.api(), lane.stream);
        match begun.command {
            Command::Copy { src, dst, bytes } => {
                let (mut from, mut to) = (src.get() as Pointer, dst.get() as Pointer);
                if matches!(begun.route, Route::Upload | Route::Download) {
                    let buffer = self.station.staging.small(current)?;
                    let goal = if begun.route == Route::Upload {
                        // SAFETY: the command's source is there and filled: what it follows has
                        // ended, as far as the host sees it (A1, A3). The buffer is new.
                        unsafe { buffer.load(src.get(), bytes) };
                        from = buffer.address;
                        None
                    } else {
                        to = buffer.address;
                        Some((dst.get(), bytes))
                    };
                    *landing = Some(Landing { buffer, goal });
                }
                // SAFETY: the submitter promised A1 to A3 for both ranges; a buffer is as long as
                // a small copy at least.
                let code = unsafe { api.copy(to, from, bytes, stream) };
                current.check("cuMemcpyAsync", code)
            }
            Command::Fill {
                dst,
                pattern,
                bytes,
            } => {
                // SAFETY: the submitter promised A1 to A3 for the range.
                unsafe { fill::give(current, stream, dst, pattern, bytes) }
            }
            Command::Run {
                ref entry,
                ref grid,
            } => match LoadedEntry::of(&**entry, &self.station) {
                Some(entry) => entry.give(current, stream, grid),
                None => Ok(()),
            },
            Command::Prefetch { address, bytes } => {
                let (address, ordinal) = (address.get() as Pointer, self.station.card.ordinal);
                // SAFETY: a hint on managed memory that is there (A1).
                let code = unsafe { api.prefetch(address, bytes, ordinal, stream) };
                hint(current, "cuMemPrefetchAsync", code)
            }
            Command::Advise {
                address,
                bytes,
                advice: Advice::ReadMostly,
            } => {
                let (address, ordinal) = (address.get() as Pointer, self.station.card.ordinal);
                // SAFETY: as above. It takes effect at once, which a hint may.
                let code = unsafe { api.advise(address, bytes, READ_MOSTLY, ordinal) };
                hint(current, "cuMemAdvise", code)
            }
            Command::Free {
                ref pool, address, ..
            } => {
                let base = address.get() as Pointer;
                // First, as the driver may give it to anybody once it has it back.
                self.station.system.places.remove(base);
                // SAFETY: a pool gave the memory at this address, and its uses come before (A3).
                let code = unsafe { api.pool_free(base, stream) };
                let frees = &self.station.system.frees;
                frees.note(PoolHandle(pool.handle()), stream);
                current.check("cuMemFreeAsync", code)
            }
            // An allocation was made when it was submitted. The driver has no word for other advice;
            // a barrier is order alone.
            _ => Ok(()),
        }
    }
}

/// A hint that the driver doesn't take is no failure, unless the device is lost.
fn hint(
    current: &Current<'_>,
    call: &'static str,
    code: crate::api::Code,
) -> Result<(), CudaError> {
    match current.check(call, code) {
        Err(error) if error.loss().is_none() => Ok(()),
        answer => answer,
    }
}

/// Makes a stream wait for what a command follows.
fn follow(current: &Current<'_>, lane: &Lane, begun: &Begun) -> Result<(), CudaError> {
    let mut signals = begun.signals.iter();
    signals.try_for_each(|&signal| lane.follow(current, signal))
}
