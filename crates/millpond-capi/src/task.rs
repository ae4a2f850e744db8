//! What C hands over to be called later: tasks, callbacks, owners of memory.
//!
//! Each has a context, which the call takes: it is let go of by `drop` exactly once, whether or not
//! the function was called before, and also where the call that took it fails.

use std::ffi::c_void;

use millpond::Release;
use millpond::runtime::{Access, Status as EventState, TaskResult, Use};
use millpond::tensor::Tensor;

use crate::data::{List, Text};
use crate::describe::{CType, structure};
use crate::handle::Keep;
use crate::memory::Memory;
use crate::number::Number;
use crate::status::{self, Problem, Result, Status};

/// A function of the program that does the work of a task.
pub type Run = Option<unsafe extern "C" fn(*mut c_void) -> i32>;
/// A function of the program that is told of an event's end.
pub type Call = Option<unsafe extern "C" fn(*mut c_void, Number<EventState>)>;
/// A function of the program that lets go of a context.
pub type Drop = Option<unsafe extern "C" fn(*mut c_void)>;

impl CType for Run {
    fn declare(name: &str) -> String {
        format!("mp_status (*{name})(void *context)")
    }
}

impl CType for Call {
    fn declare(name: &str) -> String {
        format!("void (*{name})(void *context, mp_event_state state)")
    }
}

impl CType for Drop {
    fn declare(name: &str) -> String {
        format!("void (*{name})(void *context)")
    }
}

structure! {
    /// Work for a thread of the host. Exceptions must not leave its functions.
    mp_task = Task {
        /// What messages call it; may be null.
        name: Text,
        /// Does the work. Another answer than MP_OK makes the event fail, with the message of mp_error_set or of the
        /// call that failed. It may submit work, but not wait for the queue, which waits for it.
        run: Run,
        /// Lets go of the context, also if the task is never run; may be null.
        drop: Drop,
        /// Handed to both; any thread may use it.
        context: *mut c_void,
    }
}

structure! {
    /// A function to be called once.
    mp_callback = Callback {
        /// Called by a thread that it must not block.
        call: Call,
        /// Lets go of the context, also if the function is never called; may be null.
        drop: Drop,
        /// Handed to both; any thread may use it.
        context: *mut c_void,
    }
}

structure! {
    /// Whoever owns memory.
    mp_owner = Owner {
        /// Told once, by any thread, when the last use of the memory has completed; may be null.
        release: Drop,
        /// Handed to it.
        context: *mut c_void,
    }
}

structure! {
    /// What work does with the memory of a memory object or of an array, of which one is null.
    mp_use = MemoryUse {
        /// The memory.
        memory: Keep<Memory>,
        /// Or the array in it.
        array: Keep<Tensor>,
        /// What is done.
        access: Number<Access>,
    }
}

/// A context that is let go of when this is dropped.
#[derive(Debug)]
struct Context {
    pointer: *mut c_void,
    drop: Drop,
}

// SAFETY: the header says that any thread may use a context, one at a time, as here.
unsafe impl Send for Context {}

impl std::ops::Drop for Context {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            // SAFETY: the program says that the function takes this context, once.
            unsafe { drop(self.pointer) };
        }
    }
}

impl Task {
    /// Takes the context: the name, and what is to be run.
    pub(crate) fn take(
        self,
    ) -> Result<(String, impl FnOnce() -> TaskResult + Send + use<> + 'static)> {
        let context = Context {
            pointer: self.context,
            drop: self.drop,
        };
        let run = self.run.ok_or(Problem::Null {
            what: "run of mp_task",
        })?;
        let name = self.name.optional().unwrap_or_else(|| "native".to_owned());
        let body = move || {
            // All of it, not just its pointer.
            let context = context;
            status::forget();
            // SAFETY: the program says that the function takes this context.
            match unsafe { run(context.pointer) } {
                0 => Ok(()),
                number => Err(status::last().map_or_else(
                    || format!("it returned {}", Status::name(number).to_string_lossy()),
                    |problem| problem.to_string(),
                )),
            }
        };
        Ok((name, body))
    }
}

impl Callback {
    /// Takes the context: what is to be called.
    pub(crate) fn take(self) -> Result<impl FnOnce(EventState) + Send + use<> + 'static> {
        let context = Context {
            pointer: self.context,
            drop: self.drop,
        };
        let call = self.call.ok_or(Problem::Null {
            what: "call of mp_callback",
        })?;
        Ok(move |state| {
            let context = context;
            // SAFETY: the program says that the function takes this context.
            unsafe { call(context.pointer, Number::of(state)) };
        })
    }
}

impl Owner {
    /// Takes the context: it is told when this is dropped.
    pub(crate) fn take(self) -> Release {
        let context = Context {
            pointer: self.context,
            drop: self.release,
        };
        Release::anywhere(move || drop(context))
    }
}

/// What a list of uses names.
pub(crate) fn uses(list: &List<MemoryUse>, count: usize) -> Result<Vec<Use<'_>>> {
    list.get(count)?.iter().map(MemoryUse::named).collect()
}

impl MemoryUse {
    fn named(&self) -> Result<Use<'_>> {
        let refuse = |reason: &str| Problem::Argument {
            what: "mp_use",
            reason: reason.to_owned(),
        };
        let access = self.access.get()?;
        let (allocation, read_only) = match (self.memory.optional(), self.array.optional()) {
            (Some(memory), None) => (&memory.allocation, memory.read_only),
            (None, Some(array)) => (array.memory(), array.is_read_only()),
            _ => return Err(refuse("either memory or array is to be set")),
        };
        if read_only && access.writes() {
            return Err(refuse("it is read-only, and to be written"));
        }
        Ok(Use { allocation, access })
    }
}
