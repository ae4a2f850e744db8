//! What is on its way on lanes, and how it tells what it found.

use std::collections::VecDeque;
use std::sync::Arc;

use millpond_hal::{Command, Entry, Failure, HostKernel};
use smallvec::SmallVec;

use crate::clock::Around;
use crate::crew::guard;
use crate::library::error_of;
use crate::reports::Words;
use crate::staging::Landing;

/// Where a kernel tells what it found, and what that means.
pub(in crate::queue) struct Report {
    pub(in crate::queue) words: Words,
    pub(in crate::queue) kernel: Arc<dyn HostKernel>,
    pub(in crate::queue) origin: Option<Arc<str>>,
}

/// A command that is on its way on a lane.
pub(in crate::queue) struct Flight {
    pub(in crate::queue) ticket: u64,
    pub(in crate::queue) sequence: u64,
    /// The entry that it runs, which stays loaded as long.
    #[expect(dead_code, reason = "held for its own sake")]
    pub(in crate::queue) held: Option<Arc<dyn Entry>>,
    /// Where it tells what it found.
    pub(in crate::queue) report: Option<Report>,
    /// What is to be done with what the device has brought.
    pub(in crate::queue) landing: Option<Landing>,
    /// The events around it, where times are kept.
    pub(in crate::queue) around: Option<Around>,
    /// Set if a part of it was refused.
    pub(in crate::queue) failure: Option<Failure>,
}

impl Report {
    /// The failure that the device told of, if it did.
    pub(in crate::queue) fn failure(&self) -> Option<Failure> {
        let report = self.words.read()?;
        let told = guard(|| {
            let code = self.kernel.device_code();
            // A kernel without code of its own was work of the libraries.
            Ok(code.map_or_else(|| error_of(report), |code| code.error(report)))
        });
        let (kind, reason) = match told {
            Ok(error) => (error.kind, error.reason),
            Err(panic) => panic,
        };
        let command = Command::Launch {
            kernel: Arc::clone(&self.kernel),
            bases: SmallVec::new(),
        };
        Some(command.fail(kind, reason, self.origin.clone()))
    }
}

/// What is on its way, for each lane of a queue.
#[derive(Default)]
pub(in crate::queue) struct Flights {
    lanes: SmallVec<[VecDeque<Flight>; 1]>,
    /// How many have yet to land.
    landings: usize,
}

impl Flights {
    /// The queue has one more lane.
    pub(in crate::queue) fn add_lane(&mut self) {
        self.lanes.push(VecDeque::new());
    }

    /// How many are on a lane.
    pub(in crate::queue) fn on(&self, lane: usize) -> usize {
        self.lanes[lane].len()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.lanes.iter().all(VecDeque::is_empty)
    }

    /// Whether one brings bytes that are to be taken from its buffer.
    pub(super) const fn have_landings(&self) -> bool {
        self.landings > 0
    }

    pub(super) fn add(&mut self, lane: usize, flight: Flight) {
        self.landings += usize::from(flight.landing.is_some());
        if let Some(flights) = self.lanes.get_mut(lane) {
            flights.push_back(flight);
        }
    }

    /// The next of a lane up to a ticket, or of all.
    pub(in crate::queue) fn land(&mut self, lane: usize, done: Option<u64>) -> Option<Flight> {
        let flights = self.lanes.get_mut(lane)?;
        let flight =
            flights.pop_front_if(|flight| done.is_none_or(|done| flight.ticket <= done))?;
        self.landings -= usize::from(flight.landing.is_some());
        Some(flight)
    }
}
