//! The failures of a queue, in the order in which they happened and by command.

use std::collections::HashMap;

use millpond_hal::Failure;

/// The failures of a queue.
#[derive(Default)]
pub(super) struct Failures {
    /// In the order in which they happened.
    list: Vec<(u64, Failure)>,
    /// Where among them that of a command is.
    places: HashMap<u64, usize>,
}

impl Failures {
    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// That of a command.
    pub(super) fn of(&self, sequence: u64) -> Option<&Failure> {
        let place = *self.places.get(&sequence)?;
        self.list.get(place).map(|(_, failure)| failure)
    }

    /// All but the first `skip`.
    pub(super) fn after(&self, skip: usize) -> &[(u64, Failure)] {
        self.list.get(skip..).unwrap_or_default()
    }

    pub(super) fn add(&mut self, sequence: u64, failure: Failure) {
        self.places.insert(sequence, self.list.len());
        self.list.push((sequence, failure));
    }
}
