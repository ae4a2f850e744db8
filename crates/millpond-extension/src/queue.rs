//! Queues, and tasks on them.

use std::ffi::CStr;
use std::ptr;

use pyo3::prelude::*;

use crate::error::{Result, check};
use crate::event::Event;
use crate::handle::handles;
use crate::import::table;
use crate::raw::mp_task;
use crate::task::{Operands, Outcome, Work, drop_work, run};

handles! {
    /// An ordered line of commands on a device: `millpond.Queue` in Python.
    Queue(mp_queue): mp_queue_retain, mp_queue_release, mp_queue_from_python, mp_queue_to_python;
}

impl Queue {
    /// Runs a closure over slices of arrays when the queue reaches it: behind all that was submitted
    /// on the same memory before, on any queue, and before all that is submitted later. It runs on a
    /// thread of the host without the interpreter lock, which it should not take, and may submit
    /// work but not wait for its queue. What it answers as an error, or a panic, fails the event and
    /// what depends on the memory.
    ///
    /// The arrays may go as soon as this returns.
    ///
    /// # Errors
    /// Operands that share memory of which one is written; a closed queue.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "operands are written where they are used, and go there"
    )]
    pub fn submit<O, R, F>(&self, name: &CStr, operands: O, body: F) -> Result<Event>
    where
        O: Operands,
        R: Outcome,
        F: for<'a> FnOnce(O::Given<'a>) -> R + Send + 'static,
    {
        let used = operands.used();
        let (named, places) = (used.named(), used.places()?);
        let body = Some(body);
        let task = mp_task {
            name: name.as_ptr(),
            run: Some(run::<O, R, F>),
            drop: Some(drop_work::<F>),
            context: Box::into_raw(Box::new(Work { places, body })).cast(),
        };
        Event::given(|event| {
            // SAFETY: the handles are counted for their owners, the lists are as long as said, the
            // context is the task's from here on, and the result's place may be written.
            unsafe {
                (table().mp_queue_submit)(
                    self.as_ptr(),
                    &raw const task,
                    named.as_ptr(),
                    named.len(),
                    ptr::null(),
                    0,
                    event,
                )
            }
        })
    }

    /// Waits for everything submitted so far, without the interpreter lock.
    ///
    /// # Errors
    /// The first failure that no wait has told.
    pub fn wait(&self, py: Python<'_>) -> Result<()> {
        // SAFETY: the handle is counted for this one.
        py.detach(|| check(unsafe { (table().mp_queue_wait)(self.as_ptr()) }))
    }

    /// Whether its device runs on the host: then tasks reach memory of every kind.
    pub(crate) fn runs_on_host(&self) -> Result<bool> {
        let mut device = ptr::null_mut();
        // SAFETY: the handle is counted for this one, and the result's place may be written.
        check(unsafe { (table().mp_queue_device)(self.as_ptr(), &raw mut device) })?;
        let mut answer = false;
        // SAFETY: the device was given just now, and the result's place may be written.
        let told = check(unsafe { (table().mp_device_runs_on_host)(device, &raw mut answer) });
        // SAFETY: the device was given just now, and isn't used again.
        unsafe { (table().mp_device_release)(device) };
        told.map(|()| answer)
    }
}
