//! A queue of a device: the state that its commands share, and how they move on.
//!
//! What the device carries out is given to a lane at once, by the thread that submits it, and
//! follows other commands of the device by their signals: no thread has to look on. What needs the
//! host is carried out by threads when what it follows has ended, and what comes after it is held
//! back until then.
//!
//! Nobody is told by the device that it has finished: whoever asks, waits or submits looks at the
//! counters of the lanes and lets the queue move on, and the courier does where nobody would.
//!
//! No lock is held while foreign code runs, and no two locks of queues are held at once.

mod dependent;
mod early;
mod fill;
mod handle;
mod host;
mod hosted;
mod issue;
mod launch;
mod library;
mod line;
mod registry;
mod route;
mod wait;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use millpond_hal::recorder::{Recorder, now};
use millpond_hal::{Failure, FailureKind, Progress, QueueId, QueueOptions};
use smallvec::SmallVec;

pub(crate) use dependent::Callback;
pub(crate) use handle::QueueHandle;
pub(crate) use launch::give as give_launch;
pub(crate) use line::Standpoint;
pub(crate) use registry::Registry;

use crate::clock::Around;
use crate::crew::guard;
use crate::lanes::{Lane, Signal};
use crate::station::Station;
use dependent::Effects;
use line::{Begun, Line};

/// Something for a thread to carry out.
pub(crate) enum Work {
    /// A command.
    Command(Arc<CudaQueue>, Begun),
    /// The programs that are to be made for a device.
    Orders(Arc<Station>),
}

impl Work {
    /// Does it; the answer is what the thread may do next.
    pub(crate) fn carry_out(self) -> Option<Self> {
        match self {
            Self::Command(queue, begun) => queue.carry_out(begun),
            Self::Orders(station) => {
                station.orders.serve(&station);
                None
            }
        }
    }
}

/// Lanes of an out-of-order queue, at most.
const LANES: usize = 4;

/// A queue. It lives while somebody holds a handle or a command isn't finished.
pub(crate) struct CudaQueue {
    id: QueueId,
    in_order: bool,
    progress: Progress,
    /// Commands submitted so far.
    submitted: AtomicU64,
    state: Mutex<State>,
    /// Wakes threads that wait for what the device has no part in.
    wake: Condvar,
    station: Arc<Station>,
}

/// What the lock of a queue guards.
pub(crate) struct State {
    line: Line,
    lanes: SmallVec<[Lane; 1]>,
    /// Where times are kept.
    recorder: Option<Recorder>,
    /// Room for the key of a kernel's program.
    key: Vec<u8>,
}

impl CudaQueue {
    pub(crate) fn new(options: &QueueOptions, station: &Arc<Station>) -> Arc<Self> {
        let queue = Arc::new(Self {
            id: QueueId::next(),
            in_order: !options.out_of_order,
            progress: Progress::default(),
            submitted: AtomicU64::new(0),
            state: Mutex::new(State {
                line: Line::new(!options.out_of_order),
                lanes: SmallVec::new(),
                recorder: options.profiling.then(Recorder::default),
                key: Vec::new(),
            }),
            wake: Condvar::new(),
            station: Arc::clone(station),
        });
        station.system.registry.insert(&queue);
        queue
    }

    pub(crate) fn identity(&self) -> QueueId {
        self.id
    }

    pub(crate) fn station(&self) -> &Arc<Station> {
        &self.station
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets everything move on that may.
    fn advance(self: &Arc<Self>, state: &mut State, effects: &mut Effects) {
        loop {
            self.settle(state, effects);
            let Some(mut begun) = state.line.begin() else {
                break;
            };
            if let Some(recorder) = &mut state.recorder {
                recorder.started(begun.sequence, now());
            }
            if begun.failure.is_none() {
                begun.failure = self.station.card.loss().cloned();
            }
            if begun.route.on_host() {
                effects.run(begun);
            } else {
                self.launch(state, begun, effects);
            }
        }
        self.publish(state);
        if state.line.wants_courier() && !state.line.enlisted {
            state.line.enlisted = true;
            self.station.courier.enlist(Arc::clone(self));
        }
    }

    /// Tells everybody how far the queue is.
    fn publish(&self, state: &State) {
        self.progress.advance(state.line.completed());
        if state.line.sleepers > 0 {
            self.wake.notify_all();
        }
    }

    /// Finishes what the device has done; everything, of a device that is lost.
    fn settle(&self, state: &mut State, effects: &mut Effects) {
        let loss = self.station.card.loss();
        for index in 0..state.lanes.len() {
            let done = match loss {
                Some(_) => None,
                None => Some(state.lanes[index].done()),
            };
            while let Some(flight) = state.line.flights.land(index, done) {
                let inherited = state.line.inherited(flight.sequence);
                let failure = inherited.or(flight.failure).or_else(|| loss.cloned());
                if let Some(landing) = flight.landing {
                    if let Some((goal, bytes)) = landing.goal.filter(|_| failure.is_none()) {
                        // SAFETY: the command's memory is there until it has finished (A1), and
                        // what uses it comes before or after; the device has filled the buffer.
                        unsafe { landing.buffer.store(goal, bytes) };
                    }
                    self.station.staging.give(landing.buffer);
                }
                let told = flight.report.and_then(|report| {
                    let told = report.failure();
                    self.station.reports.give(report.words);
                    told
                });
                let failure = failure.or(told);
                let times = flight.around.and_then(|around| self.times(around));
                self.end(state, flight.sequence, failure, effects);
                if let (Some(recorder), Some((began, ended))) = (&mut state.recorder, times) {
                    recorder.corrected(flight.sequence, began, ended);
                }
            }
        }
    }

    fn end(
        &self,
        state: &mut State,
        sequence: u64,
        failure: Option<Failure>,
        effects: &mut Effects,
    ) {
        if failure.is_some() {
            self.progress.count_failure();
        }
        if let Some(recorder) = &mut state.recorder {
            recorder.finished(sequence, now());
        }
        state.line.finish(sequence, failure, effects);
    }

    /// When the device began and ended a command, by its own word.
    fn times(&self, around: Around) -> Option<(Duration, Duration)> {
        let current = self.station.card.enter().ok()?;
        self.station.clock.times(&current, around).ok()
    }

    /// Looks at what the device has done, and lets the queue move on.
    fn poll(self: &Arc<Self>) {
        let mut effects = Effects::of(self);
        self.advance(&mut self.lock(), &mut effects);
        effects.carry_out();
    }

    /// The courier's look: whether something moved, and whether it should come again. After a
    /// pause it asks the driver whether the device still works, too.
    pub(crate) fn look_after(self: &Arc<Self>, paused: bool) -> (bool, bool) {
        if paused {
            self.probe();
        }
        let window = self.lock().line.window().cloned();
        if let Some(kernel) = window {
            // It waits for more to do, for a moment. A panic comes again when the kernel is launched.
            let _ = guard(|| {
                kernel.begin();
                Ok(())
            });
        }
        let before = self.progress.completed();
        let mut effects = Effects::of(self);
        let stays = {
            let mut state = self.lock();
            self.advance(&mut state, &mut effects);
            let stays = state.line.wants_courier();
            state.line.enlisted = stays;
            stays
        };
        effects.carry_out();
        (self.progress.completed() > before, stays)
    }

    /// Asks the driver whether the device still works; if not, that is noted.
    fn probe(&self) {
        let stream = self.lock().lanes.first().map(|lane| lane.stream);
        if let (Some(stream), Ok(current)) = (stream, self.station.card.enter()) {
            // What is wrong is noted by the card.
            let _ = Lane::probe_stream(stream, &current);
        }
    }

    /// Ends a command that was begun.
    fn conclude(self: &Arc<Self>, sequence: u64, failure: Option<Failure>) -> Effects {
        let mut effects = Effects::of(self);
        let mut state = self.lock();
        self.end(&mut state, sequence, failure, &mut effects);
        self.advance(&mut state, &mut effects);
        effects
    }

    /// A gate that the queue had reached was opened, or will never be.
    fn pass_gate(self: &Arc<Self>, sequence: u64, outcome: Result<(), Failure>) {
        let gated = self.lock().line.is_gated(sequence);
        if gated {
            self.conclude(sequence, outcome.err()).carry_out();
        }
    }

    /// Points that a command comes after have moved far enough.
    fn unblock(
        self: &Arc<Self>,
        sequence: u64,
        count: u32,
        signals: &[Signal],
        failure: Option<&Failure>,
    ) -> Effects {
        let mut effects = Effects::of(self);
        let mut state = self.lock();
        state.line.unblock(sequence, count, signals, failure);
        self.advance(&mut state, &mut effects);
        effects
    }

    /// Whether everything is finished, after a look; if not, whether something is under way.
    pub(crate) fn standing(self: &Arc<Self>) -> Standing {
        self.poll();
        let state = self.lock();
        if state.line.is_done() {
            Standing::Done
        } else if state.line.in_flight() || state.line.is_running() {
            Standing::Moving
        } else {
            Standing::Still
        }
    }

    /// Lets commands that stand still fail.
    pub(crate) fn give_up(self: &Arc<Self>, failure: &Failure) {
        let mut effects = Effects::of(self);
        let gates = {
            let mut state = self.lock();
            let gates = state.line.give_up(failure);
            self.advance(&mut state, &mut effects);
            gates
        };
        effects.carry_out();
        for sequence in gates {
            self.pass_gate(sequence, Err(failure.clone()));
        }
    }

    /// Makes the callbacks for commands that a lost device will never get.
    pub(crate) fn release_early(self: &Arc<Self>) {
        let early = self.lock().line.take_early();
        let failure = Failure::new(FailureKind::Lost, "command", "it was never submitted");
        let mut effects = Effects::of(self);
        for (_, dependent) in early {
            effects.finished(dependent, Some(&failure));
        }
        effects.carry_out();
    }

    fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }
}

/// How a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Everything is finished.
    Done,
    /// Something is under way.
    Moving,
    /// Nothing moves: it waits for a gate or for another queue.
    Still,
}

impl Drop for CudaQueue {
    fn drop(&mut self) {
        self.station.system.registry.remove(self.id);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for lane in state.lanes.drain(..) {
            self.station.lanes.give(lane);
        }
    }
}
