//! Host tasks over typed buffers.
//!
//! [`Queue::call`] takes a tuple of operands and a closure over the slices that they stand for.
//! The closure runs on a host thread in order with everything else that uses the buffers, which
//! may be dropped before.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::memory::Operand;
use crate::memory::sealed::Elements;
use crate::queue::Queue;
use crate::queue::submit::Use;

/// A tuple of one to four operands: buffers and views, shared or mutable.
///
/// Sealed: the implementations here are all there are.
pub trait Operands {
    /// What the closure gets: a tuple of slices.
    type Slices<'s>;

    #[doc(hidden)]
    fn uses(&self) -> SmallVec<[Use<'_>; 4]>;

    #[doc(hidden)]
    fn elements(&self) -> SmallVec<[Elements; 4]>;

    /// # Safety
    /// As for [`Operand::slice`], of each of the elements.
    #[doc(hidden)]
    unsafe fn slices<'s>(elements: &[Elements]) -> Self::Slices<'s>;
}

macro_rules! tuples {
    ($(($($operand:ident $index:tt),*);)*) => { $(
        impl<$($operand: Operand),*> Operands for ($($operand,)*) {
            type Slices<'s> = ($($operand::Slice<'s>,)*);

            fn uses(&self) -> SmallVec<[Use<'_>; 4]> {
                SmallVec::from_iter([
                    $(Use { allocation: self.$index.memory(), access: self.$index.access() }),*
                ])
            }

            fn elements(&self) -> SmallVec<[Elements; 4]> {
                SmallVec::from_iter([$(self.$index.elements()),*])
            }

            unsafe fn slices<'s>(elements: &[Elements]) -> Self::Slices<'s> {
                // SAFETY: the caller promises for each of the elements what `slice` asks.
                ($(unsafe { $operand::slice(elements[$index]) },)*)
            }
        }
    )* };
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
}

impl Queue {
    /// Runs a closure over the elements of buffers, on a host thread, in order with everything
    /// else that uses them.
    ///
    /// ```
    /// # use millpond_runtime::{Buffer, MemoryKind, Queue};
    /// # fn f(queue: &Queue) -> millpond_runtime::Result<()> {
    /// let x = Buffer::from_slice(queue, MemoryKind::Device, &[1.0_f64, 2.0])?;
    /// let mut y = Buffer::zeroed(queue, MemoryKind::Device, 2)?;
    /// queue.call("square", (&x, &mut y), |(x, y)| {
    ///     for (y, x) in y.iter_mut().zip(x) {
    ///         *y = x * x;
    ///     }
    /// })?;
    /// drop(x);
    /// assert_eq!(y.to_vec()?, [1.0, 4.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Device memory of a device that the host can't reach; a closed queue. A panic of the closure
    /// surfaces at a wait.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "mutable operands can't be shared"
    )]
    pub fn call<O, F>(&self, name: impl Into<Arc<str>>, operands: O, body: F) -> Result<Event>
    where
        O: Operands,
        F: for<'s> FnOnce(O::Slices<'s>) + Send + 'static,
    {
        let uses = operands.uses();
        for use_ in &uses {
            let memory = use_.allocation;
            let device = memory.device();
            if !memory.kind().host_accessible() && !device.info().host_executed {
                let device = device.name().to_owned();
                return Err(Error::HostAccess {
                    kind: memory.kind(),
                    device,
                });
            }
        }
        let elements = operands.elements();
        self.task(name, &uses, move || {
            // SAFETY: buffers are initialised when they are made. This task's uses were recorded
            // when it was submitted, so until it ends the memory stays, and no conflicting command
            // runs; host views borrow their buffer and wait for it. Two operands overlap only if
            // both are shared, since they borrow their buffer. The closure can't keep the slices,
            // being generic over their lifetime.
            body(unsafe { O::slices(&elements) });
            Ok(())
        })
    }
}
