//! Who is told when a command begins and ends.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use millpond_hal::{Device, Failure, Watch};

use super::raw::Line;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Began,
    Ran,
    Ended(Option<String>),
}

/// Notes what it is told.
#[derive(Debug, Default)]
pub(super) struct Witness(Mutex<Vec<Told>>);

impl Witness {
    fn note(&self, told: Told) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(told);
    }

    /// All of it. A command has finished before its watch is told so.
    pub(super) fn all(&self) -> Vec<Told> {
        loop {
            let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(list.last(), Some(Told::Ended(_))) {
                return list.clone();
            }
            drop(list);
            thread::yield_now();
        }
    }
}

/// What is told of a command that goes well.
pub(super) const WELL: [Told; 2] = [Told::Began, Told::Ended(None)];

impl Watch for Witness {
    fn began(&self) {
        self.note(Told::Began);
    }

    fn ended(&self, failure: Option<&Failure>) {
        let reason = failure.map(|failure| failure.reason().to_owned());
        self.note(Told::Ended(reason));
    }
}

/// Watches the next command of a line.
pub(super) fn watched(line: &Line) -> Arc<Witness> {
    let witness = Arc::new(Witness::default());
    line.watch_next(Arc::clone(&witness) as Arc<dyn Watch>);
    witness
}

/// Before the body, after the body, and once each.
pub fn a_watch_is_told_around_the_body_of_a_task(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let witness = watched(&line);
    let inside = Arc::clone(&witness);
    line.wait(line.run(&[], move || inside.note(Told::Ran)));
    assert_eq!(witness.all(), [Told::Began, Told::Ran, Told::Ended(None)]);
}

/// A failure is told; a command that fails with what it follows never begins.
pub fn a_watch_is_told_of_failures(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let failing = watched(&line);
    let point = line.task(&[], || Err("no such luck".to_owned()));
    let following = watched(&line);
    line.wait(line.run(&[point], || {}));
    let ended = Told::Ended(Some("no such luck".to_owned()));
    assert_eq!(failing.all(), [Told::Began, ended.clone()]);
    assert_eq!(following.all(), [ended]);
}

/// A gate ends when it is opened, not when it is reached.
pub fn a_watched_gate_ends_when_it_is_open(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let witness = watched(&line);
    let (gate, point) = line.gate(&[]);
    let inside = Arc::clone(&witness);
    let other = Line::in_order(device);
    let opening = other.run(&[], move || {
        inside.note(Told::Ran);
        gate.open(Ok(()));
    });
    other.wait(opening);
    line.wait(point);
    let told = witness.all();
    let ran = told.iter().position(|told| *told == Told::Ran);
    assert!(
        ran < told.iter().position(|told| matches!(told, Told::Ended(_))),
        "{told:?}"
    );
}
