//! Streams of other libraries: order without a wait of the host's.
//!
//! A stream of another library is followed as lanes follow each other: it is given a write to a
//! counter, and what comes after it waits for that. It is held by a wait for the counter of a lane. The
//! device has one stream that it shows, for libraries that have a stream of the consumer's wait for
//! theirs, or theirs for the producer's.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use millpond_hal::Point;

use crate::api::{AT_LEAST, NON_BLOCKING, StreamHandle};
use crate::card::{CudaError, Current};
use crate::lanes::Signal;
use crate::queue::Standpoint;
use crate::station::Station;

/// What a device has to do with streams of others.
#[derive(Default)]
pub(crate) struct Streams(Mutex<Shared>);

#[derive(Default)]
struct Shared {
    /// The stream that is shown to others.
    shown: Option<StreamHandle>,
    /// The last write of each counter, the oldest first. A counter serves again when that is done, so
    /// that it never counts for two streams at once.
    marks: VecDeque<Signal>,
}

impl Streams {
    /// The stream that is shown to others.
    pub(crate) fn shown(&self, current: &Current<'_>) -> Result<StreamHandle, CudaError> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shown) = shared.shown {
            return Ok(shown);
        }
        let mut stream = StreamHandle(0);
        // SAFETY: the stream is written to a place of its type.
        let code = unsafe { current.api().stream_create(&raw mut stream, NON_BLOCKING) };
        current.check("cuStreamCreate", code)?;
        shared.shown = Some(stream);
        Ok(stream)
    }

    /// Marks where a stream stands.
    pub(crate) fn mark(
        &self,
        current: &Current<'_>,
        station: &Station,
        stream: StreamHandle,
    ) -> Result<Signal, CudaError> {
        refuse_capture(current, stream)?;
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = shared.marks.pop_front_if(|mark| mark.is_given());
        let next = match used {
            Some(mark) => mark.next(),
            None => station.lanes.new_counter(current)?.next(),
        };
        // SAFETY: whoever submits promises that the stream lives; counters stay where they are.
        let code = unsafe {
            current
                .api()
                .stream_write(stream, next.counter(), next.ticket(), 0)
        };
        let marked = current.check("cuStreamWriteValue64", code);
        if marked.is_err() {
            // The counter is as it was.
            shared.marks.extend(used);
            return marked.map(|()| next);
        }
        shared.marks.push_back(next);
        Ok(next)
    }

    /// Has a stream wait for points; those that the device hasn't got are the answer.
    ///
    /// # Safety
    /// The stream lives until this returns.
    pub(crate) unsafe fn hold(
        current: &Current<'_>,
        station: &Station,
        stream: StreamHandle,
        points: &[Point],
    ) -> Result<Vec<Point>, CudaError> {
        refuse_capture(current, stream)?;
        let mut left = Vec::new();
        for &point in points {
            match station.system.registry.standpoint(point) {
                Standpoint::Reached => {}
                Standpoint::Ahead => left.push(point),
                Standpoint::Given(signal) => {
                    // SAFETY: the caller's promise; counters stay where they are.
                    let code = unsafe {
                        current.api().stream_wait(
                            stream,
                            signal.counter(),
                            signal.ticket(),
                            AT_LEAST,
                        )
                    };
                    current.check("cuStreamWaitValue64", code)?;
                }
            }
        }
        Ok(left)
    }

    /// Ends the stream that was shown.
    pub(crate) fn close(&self, current: &Current<'_>) {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = shared.shown.take() {
            // SAFETY: made by `shown`, and the device that showed it is no more.
            let _ = unsafe { current.api().stream_destroy(stream) };
        }
    }
}

/// Fails for a stream whose work is recorded into a graph: what it is given isn't done now, and so
/// nothing may wait for it.
fn refuse_capture(current: &Current<'_>, stream: StreamHandle) -> Result<(), CudaError> {
    let mut status = 0;
    // SAFETY: the status is written to a place of its type.
    let code = unsafe { current.api().stream_capturing(stream, &raw mut status) };
    current.check("cuStreamIsCapturing", code)?;
    if status == 0 {
        return Ok(());
    }
    Err(CudaError::refused(
        "cuStreamIsCapturing",
        "the stream is being recorded into a graph".to_owned(),
    ))
}
