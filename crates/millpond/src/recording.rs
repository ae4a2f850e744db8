//! The recording that `MILLPOND_RECORD` asks for: of the default device's default pool, for as long
//! as the process runs, to a file of its own for each process.

use std::fs::File;
use std::process;
use std::sync::{Mutex, PoisonError};

use millpond_runtime::{MemoryKind, RecordingWriter, Registry};

use crate::process::default_of;

static STATE: Mutex<State> = Mutex::new(State::Off);

enum State {
    Off,
    Running {
        writer: RecordingWriter,
        path: String,
    },
    /// Why there is none, or not all of it.
    Failed(String),
}

/// Begins the recording, to the path with a dot and the number of the process behind it.
pub(crate) fn begin(registry: &Registry, path: &str) {
    let path = format!("{path}.{}", process::id());
    let Ok(device) = default_of(registry) else {
        return;
    };
    let pool = device.default_pool(MemoryKind::Device);
    let begun = File::create(&path)
        .map_err(|error| error.to_string())
        .and_then(|file| pool.record_to(file).map_err(|error| error.to_string()));
    set(match begun {
        Ok(writer) => State::Running { writer, path },
        Err(reason) => failed(&path, &reason),
    });
}

/// Ends it, so that the file is complete.
pub(crate) fn end() {
    if let State::Running { writer, path } = set(State::Off)
        && let Err(error) = writer.finish()
    {
        set(failed(&path, &error.to_string()));
    }
}

/// What went wrong with the recording that the environment asks for, as a message.
///
/// ```
/// assert_eq!(millpond::recording_problem(), None);
/// ```
pub fn recording_problem() -> Option<String> {
    match &*STATE.lock().unwrap_or_else(PoisonError::into_inner) {
        State::Failed(message) => Some(message.clone()),
        State::Off | State::Running { .. } => None,
    }
}

fn failed(path: &str, reason: &str) -> State {
    State::Failed(format!("MILLPOND_RECORD: recording to '{path}': {reason}"))
}

/// Sets the state; the one before.
fn set(state: State) -> State {
    let mut current = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *current, state)
}
