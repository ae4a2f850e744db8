//! The times of what a device does, by events that it notes, on the clock of the process.
//!
//! Two events stand around a command whose times are wanted. The driver tells how long one came
//! after another, with few digits; so their distance to the clock of the process is taken by an
//! *anchor*, an event whose time is known, which moves along.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use millpond_hal::recorder::now;

use crate::api::{EventHandle, StreamHandle};
use crate::card::{CudaError, Current};
use crate::lanes::Lane;
use crate::pace::Pace;

/// How far the anchor may be behind: the driver's answers are exact to a microsecond then.
const REACH: Duration = Duration::from_secs(4);

/// The events around a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    begin: EventHandle,
    end: EventHandle,
}

/// The events of a device that nobody uses, and its clock.
#[derive(Debug, Default)]
pub(crate) struct Clock(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    free: Vec<EventHandle>,
    anchor: Option<(EventHandle, Duration)>,
}

impl State {
    fn event(&mut self, current: &Current<'_>) -> Result<EventHandle, CudaError> {
        if let Some(event) = self.free.pop() {
            return Ok(event);
        }
        let mut event = EventHandle(0);
        // SAFETY: the event is written to a place of its type; 0 asks for times.
        let code = unsafe { current.api().event_create(&raw mut event, 0) };
        current.check("cuEventCreate", code)?;
        Ok(event)
    }
}

fn note(current: &Current<'_>, event: EventHandle, stream: StreamHandle) -> Result<(), CudaError> {
    // SAFETY: both are this backend's.
    let code = unsafe { current.api().event_record(event, stream) };
    current.check("cuEventRecord", code)
}

/// How long `end` came after `begin`; nothing, if it came before.
fn between(
    current: &Current<'_>,
    begin: EventHandle,
    end: EventHandle,
) -> Result<Duration, CudaError> {
    let mut milliseconds = 0.0;
    // SAFETY: the number is written to a place of its type; the device has passed both events.
    let code = unsafe {
        current
            .api()
            .event_elapsed(&raw mut milliseconds, begin, end)
    };
    current.check("cuEventElapsedTime", code)?;
    Ok(Duration::from_secs_f64(
        f64::from(milliseconds.max(0.0)) / 1e3,
    ))
}

impl Around {
    /// Notes the end of the command.
    pub(crate) fn end(self, current: &Current<'_>, stream: StreamHandle) -> Result<(), CudaError> {
        note(current, self.end, stream)
    }
}

impl Clock {
    /// Sets the clock, by a lane that is idle; it is set once.
    pub(crate) fn set(&self, current: &Current<'_>, lane: &mut Lane) -> Result<(), CudaError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.anchor.is_some() {
            return Ok(());
        }
        let event = state.event(current)?;
        note(current, event, lane.stream)?;
        let ticket = lane.mark(current)?;
        let pace = Pace::new();
        while lane.done() < ticket {
            if pace.step(None) {
                lane.probe(current)?;
            }
        }
        state.anchor = Some((event, now()));
        Ok(())
    }

    /// Notes the beginning of a command.
    pub(crate) fn begin(
        &self,
        current: &Current<'_>,
        stream: StreamHandle,
    ) -> Result<Around, CudaError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let around = Around {
            begin: state.event(current)?,
            end: state.event(current)?,
        };
        note(current, around.begin, stream)?;
        Ok(around)
    }

    /// When a command that has ended began and ended.
    pub(crate) fn times(
        &self,
        current: &Current<'_>,
        around: Around,
    ) -> Result<(Duration, Duration), CudaError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Around { begin, end } = around;
        let (anchor, time) = state.anchor.unwrap_or((begin, now()));
        let ahead = between(current, anchor, begin)?;
        let began = time + ahead;
        let ended = began + between(current, begin, end)?;
        state.free.push(begin);
        if ahead > REACH {
            state.anchor = Some((end, ended));
            state.free.push(anchor);
        } else {
            state.free.push(end);
        }
        Ok((began, ended))
    }

    /// Ends the events that nobody uses.
    pub(crate) fn close(&self, current: &Current<'_>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let anchor = state.anchor.take().map(|(event, _)| event);
        let events = std::mem::take(&mut state.free);
        for event in events.into_iter().chain(anchor) {
            // SAFETY: the event is this backend's, and nobody has it any more.
            let _ = unsafe { current.api().event_destroy(event) };
        }
    }
}
