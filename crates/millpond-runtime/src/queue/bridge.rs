//! Work of other drivers that commands of a queue come behind: a gate on the queue stands for it, since
//! a driver knows its own points only.

use std::sync::Arc;

use millpond_hal::Gate;
use smallvec::SmallVec;

use crate::queue::Native;

/// Work of another driver that a gate on this queue stands for.
pub(super) struct Bridge {
    pub(super) gate: Gate,
    pub(super) queue: Arc<Native>,
    pub(super) sequence: u64,
    /// Whether its failure is passed on.
    pub(super) content: bool,
}

/// Opens the gates when what they stand for is over; no line may be locked.
pub(super) fn open_when_reached(bridges: SmallVec<[Bridge; 1]>) {
    for Bridge {
        gate,
        queue,
        sequence,
        content,
    } in bridges
    {
        let source = Arc::clone(&queue);
        queue.hal().on_reached(
            sequence,
            Box::new(move || {
                let outcome = source.hal().outcome(sequence).unwrap_or(Ok(()));
                gate.open(if content { outcome } else { Ok(()) });
            }),
        );
    }
}
