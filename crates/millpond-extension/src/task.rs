//! Tasks: a closure with slices of arrays, to be run when a queue reaches it.

use std::any::Any;
use std::ffi::{CString, c_void};
use std::fmt::Display;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use crate::array::{Reads, Updates, Used, Writes};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::import::table;
use crate::raw::{MP_OK, MP_READ, MP_TASK, mp_access, mp_status, mp_use};

/// Where the elements of an array are.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(crate) address: *mut u8,
    pub(crate) count: usize,
    pub(crate) bytes: usize,
    pub(crate) access: mp_access,
}

// SAFETY: the address is used by the task only, which the runtime orders with all others.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Place {
    fn range(&self) -> Range<usize> {
        let begin = self.address.addr();
        begin..begin + self.bytes
    }

    /// Whether a task must not have both: they share bytes, and one of them may be written.
    fn conflicts(&self, other: &Self) -> bool {
        let (mine, others) = (self.range(), other.range());
        let shared = mine.start.max(others.start) < mine.end.min(others.end);
        shared && (self.access != MP_READ || other.access != MP_READ)
    }

    /// # Safety
    /// The task runs that named the array, and `T` is its element.
    unsafe fn slice<'a, T>(&self) -> &'a [T] {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: the caller's promise: the elements are there, aligned, and nobody writes them.
        unsafe { slice::from_raw_parts(self.address.cast(), self.count) }
    }

    /// # Safety
    /// As above, and the task may write the array; it is asked for once.
    unsafe fn slice_mut<'a, T>(&self) -> &'a mut [T] {
        if self.count == 0 {
            return &mut [];
        }
        // SAFETY: the caller's promise: the elements are there, aligned, and nobody else's; those of
        // other operands lie elsewhere.
        unsafe { slice::from_raw_parts_mut(self.address.cast(), self.count) }
    }
}

mod sealed {
    use super::{Place, Used};

    pub trait Sealed {}

    /// One operand of a task.
    pub trait Operand {
        type Given<'a>;

        fn used(&self) -> Used;

        /// # Safety
        /// As for [`Operands::give`](super::Operands::give).
        unsafe fn give<'a>(place: &Place) -> Self::Given<'a>;
    }
}

use sealed::Operand;

/// What a task works on: a tuple of one to six [`Reads`], [`Writes`] and [`Updates`].
pub trait Operands: sealed::Sealed {
    /// What its closure gets: a tuple of slices.
    type Given<'a>;

    #[doc(hidden)]
    fn used(&self) -> Uses;

    /// # Safety
    /// The places are those of [`Operands::used`], the task runs that named them, and asks once.
    #[doc(hidden)]
    unsafe fn give<'a>(places: &Places) -> Self::Given<'a>;
}

/// What a task names, and where that is.
#[doc(hidden)]
#[derive(Debug)]
pub struct Uses(Vec<Used>);

/// Where the elements are that a task works on.
#[doc(hidden)]
#[derive(Debug)]
pub struct Places(Vec<Place>);

macro_rules! operand {
    ($name:ident: $given:ty, $slice:ident) => {
        impl<T: Element> Operand for $name<T> {
            type Given<'a> = $given;

            fn used(&self) -> Used {
                self.0.clone()
            }

            unsafe fn give<'a>(place: &Place) -> Self::Given<'a> {
                // SAFETY: the caller's promise; the dtype was looked at when this was made.
                unsafe { place.$slice() }
            }
        }
    };
}

operand! { Reads: &'a [T], slice }
operand! { Writes: &'a mut [T], slice_mut }
operand! { Updates: &'a mut [T], slice_mut }

macro_rules! operands {
    ($($($name:ident $number:tt)+;)+) => { $(
        impl<$($name: Operand),+> sealed::Sealed for ($($name,)+) {}

        impl<$($name: Operand),+> Operands for ($($name,)+) {
            type Given<'a> = ($($name::Given<'a>,)+);

            fn used(&self) -> Uses {
                Uses(vec![$(self.$number.used()),+])
            }

            unsafe fn give<'a>(places: &Places) -> Self::Given<'a> {
                // SAFETY: the caller's promise, for each by itself.
                ($(unsafe { $name::give(&places.0[$number]) },)+)
            }
        }
    )+ };
}

operands! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
}

impl Uses {
    /// As the submission names them.
    pub(crate) fn named(&self) -> Vec<mp_use> {
        self.0.iter().map(Used::as_use).collect()
    }

    /// As the task finds them.
    ///
    /// # Errors
    /// Operands that share bytes, of which one is written.
    pub(crate) fn places(&self) -> Result<Places> {
        for (number, used) in self.0.iter().enumerate() {
            let mut before = self.0[..number].iter();
            if let Some(first) = before.position(|other| other.place.conflicts(&used.place)) {
                return Err(Error::invalid(format!(
                    "operands {first} and {number} of the task share memory, and one of them is written"
                )));
            }
        }
        Ok(Places(self.0.iter().map(|used| used.place).collect()))
    }
}

/// What a task's closure may answer: nothing, or a result whose error says why the task failed.
pub trait Outcome {
    /// The reason of a failure.
    fn failure(self) -> Option<String>;
}

impl Outcome for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<E: Display> Outcome for std::result::Result<(), E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}

/// What a task needs: owned by it.
pub(crate) struct Work<F> {
    pub(crate) places: Places,
    /// Taken when it is run.
    pub(crate) body: Option<F>,
}

/// Runs a task.
///
/// # Safety
/// `context` is a [`Work`] of this type that the runtime runs, once.
pub(crate) unsafe extern "C" fn run<O, R, F>(context: *mut c_void) -> mp_status
where
    O: Operands,
    R: Outcome,
    F: for<'a> FnOnce(O::Given<'a>) -> R,
{
    // SAFETY: the caller's promise.
    let work: &mut Work<F> = unsafe { &mut *context.cast() };
    let Some(body) = work.body.take() else {
        return MP_OK;
    };
    // SAFETY: the task runs, and asks once.
    let given = unsafe { O::give(&work.places) };
    let ended = catch_unwind(AssertUnwindSafe(|| body(given).failure()));
    let Some(failure) = ended.unwrap_or_else(|panic| Some(reason(panic.as_ref()))) else {
        return MP_OK;
    };
    let message = CString::new(failure.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the text lives until the call returns.
    unsafe { (table().mp_error_set)(message.as_ptr()) };
    MP_TASK
}

/// Lets go of what a task needs, whether it ran or not.
///
/// # Safety
/// `context` is a [`Work`] of this type in a box, and isn't used again.
pub(crate) unsafe extern "C" fn drop_work<F>(context: *mut c_void) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(context.cast::<Work<F>>()) });
}

fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "it panicked: {}",
        text.as_deref().unwrap_or("without a message")
    )
}
