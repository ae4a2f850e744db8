//! A host task that holds its queue until a test lets it go on.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::functions::Functions;
use super::shapes::Handle;

#[derive(Default)]
struct State {
    moment: Mutex<Moment>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
enum Moment {
    #[default]
    Before,
    Inside,
    Open,
}

impl State {
    fn set(&self, moment: Moment) {
        let mut now = self.moment.lock().unwrap_or_else(PoisonError::into_inner);
        if *now < moment {
            *now = moment;
        }
        self.changed.notify_all();
    }

    fn wait_for(&self, moment: Moment) {
        let now = self.moment.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(now, |now| *now < moment));
    }
}

extern "C" fn hold(data: *mut c_void) {
    // SAFETY: what `close` passed, a count of its own.
    let state = unsafe { Arc::from_raw(data.cast::<State>().cast_const()) };
    state.set(Moment::Inside);
    state.wait_for(Moment::Open);
}

/// A closed gate, which opens when it is dropped.
pub(crate) struct Gate {
    state: Arc<State>,
    pub(crate) event: Handle,
}

impl Gate {
    /// Closes a queue; none where there are no host tasks. A thread of the device waits in it when this
    /// returns, so that no thread which helps the device does.
    pub(crate) fn close(queue: Handle) -> Option<Self> {
        let state = Arc::new(State::default());
        let data = Arc::into_raw(Arc::clone(&state)).cast_mut().cast();
        let mut event = ptr::null_mut();
        let code = (Functions::get().urEnqueueHostTaskExp)(
            queue,
            hold,
            data,
            ptr::null(),
            0,
            ptr::null(),
            &raw mut event,
        );
        if code == 44 {
            eprintln!("skipped: there are no host tasks");
            return None;
        }
        assert_eq!(code, 0, "host task");
        state.wait_for(Moment::Inside);
        Some(Self { state, event })
    }

    pub(crate) fn open(&self) {
        self.state.set(Moment::Open);
    }

    /// Opens it from another thread.
    pub(crate) fn opener(&self) -> impl FnOnce() + Send + use<> {
        let state = Arc::clone(&self.state);
        move || state.set(Moment::Open)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
        (Functions::get().urEventRelease)(self.event);
    }
}
