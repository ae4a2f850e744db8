//! The life of one worker thread.
//!
//! A worker takes what the board offers, spins for a moment when there is nothing, then sleeps. It
//! keeps the board's crew alive but not the executor, whose end is what ends it.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::Crew;
use super::board::{Job, Rest};
use crate::queue::Role;
use crate::sync::{Arc, spin_loop, thread, thread_local};

/// How long a thread that has nothing to do looks for work before it sleeps. About the price of
/// waking a thread, so spinning at most doubles the cost of a wait.
pub(crate) const SPIN: Duration = Duration::from_micros(50);

/// Looks between two readings of the clock.
const LOOKS: u32 = 32;

thread_local! {
    /// The crew that this thread works for, if it is a worker.
    static CREW: RefCell<Option<Arc<Crew>>> = const { RefCell::new(None) };
}

/// The crew that the calling thread works for.
pub(crate) fn current() -> Option<Arc<Crew>> {
    // A thread that is at its end has forgotten it, and waits for nothing of its own any more.
    CREW.try_with(|crew| crew.borrow().clone()).ok().flatten()
}

/// Looks for `found` for a moment, giving way to other threads; answers whether it came true.
pub(crate) fn spin_until(until: Instant, found: impl Fn() -> bool) -> bool {
    loop {
        for _ in 0..LOOKS {
            if found() {
                return true;
            }
            spin_loop();
        }
        if Instant::now() >= until {
            return false;
        }
        thread::yield_now();
    }
}

/// The body of a worker thread.
pub(crate) fn work(crew: &Arc<Crew>) {
    serve(Some(Arc::clone(crew)));
    let own = thread::current();
    let board = &crew.board;
    loop {
        let (job, call) = board.take();
        crew.answer(call);
        match job {
            Some(Job::Line(queue)) => queue.pursue(),
            Some(Job::Share(spread)) => {
                if let Some((queue, begun)) = spread.participate(&Role::Worker) {
                    queue.pursue_from(begun);
                }
            }
            None => {
                if crew.spins
                    && spin_until(Instant::now() + SPIN, || {
                        board.has_offers() || crew.is_finished()
                    })
                    && !crew.is_finished()
                {
                    board.seen();
                    continue;
                }
                match board.rest(&own, || crew.is_finished()) {
                    Rest::Again => {}
                    Rest::Park => {
                        thread::park();
                        board.awake(own.id());
                    }
                    Rest::Leave => break,
                }
            }
        }
    }
    serve(None);
}

/// Notes whom this thread works for from now on.
fn serve(crew: Option<Arc<Crew>>) {
    drop(CREW.with(|current| current.replace(crew)));
}
