//! Wait lists: what a command comes after.

use smallvec::SmallVec;

use crate::argument::{Answer, In};
use crate::event::Event;
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::Code;

/// Events that a command waits for.
#[derive(Debug)]
pub(crate) struct Waits(SmallVec<[millpond::Event; 4]>);

impl Waits {
    /// What the events of a list stand for now, of whichever contexts they are.
    ///
    /// # Errors
    /// A list without events, or events without a list; something else than events in it.
    pub(crate) fn new(count: u32, list: In<Handle<Event>>) -> Answer<Self> {
        if broken(Rule::WaitListForm) && (list.is_null() || count == 0) {
            return Ok(Self(SmallVec::new()));
        }
        if list.is_null() != (count == 0) {
            return Err(Code::INVALID_EVENT_WAIT_LIST);
        }
        let handles = list
            .list(count as usize)
            .map_err(|_| Code::INVALID_EVENT_WAIT_LIST)?;
        let found = |handle: &Handle<Event>| {
            let event = handle.get();
            event
                .map(|event| event.runtime())
                .map_err(|_| Code::INVALID_EVENT_WAIT_LIST)
        };
        if broken(Rule::WaitListEntries) {
            return Ok(Self(
                handles.iter().filter_map(|one| found(one).ok()).collect(),
            ));
        }
        let events = handles.iter().map(found);
        Ok(Self(events.collect::<Answer<_>>()?))
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the runtime knows them as.
    pub(crate) fn runtime(&self) -> SmallVec<[&millpond::Event; 4]> {
        if broken(Rule::WaitLists) {
            return SmallVec::new();
        }
        self.0.iter().collect()
    }
}
