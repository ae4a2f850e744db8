//! What C holds of an object, and what a pointer to it means: the only file that converts.
//!
//! A handle is a counted pointer: C owns one count of each handle that it was given, and lets go of
//! it by the `release` function of its type. A parameter's type says whose count it is:
//!
//! | type | header | meaning |
//! | --- | --- | --- |
//! | [`Keep`] | `MP_KEEP` | stays the caller's; looked at during the call |
//! | [`Take`] | `MP_TAKE` | the call takes the caller's count, whatever it answers |
//! | [`Give`] | `MP_GIVE` | the caller gets a count, if the call succeeds |
//!
//! Pointers to plain data are in [`crate::data`].

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::describe::CType;
use crate::status::{Problem, Result};

/// A type that C holds handles of. All of them may be used by any thread.
pub trait Object: Send + Sync + 'static {
    /// Its name in C.
    const NAME: &'static str;
}

/// An object with its count.
#[derive(Debug)]
pub struct Handle<T>(T);

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// The number of handles that C owns a count of.
pub fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

impl<T: Object> Handle<T> {
    fn counted(object: T) -> *const Self {
        LIVE.fetch_add(1, Ordering::Relaxed);
        Arc::into_raw(Arc::new(Self(object)))
    }

    /// The object.
    pub(crate) const fn object(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A handle that stays the caller's.
#[derive(Debug)]
#[repr(transparent)]
pub struct Keep<T>(*const Handle<T>);

// Not derived, which would ask the same of objects.
impl<T> Clone for Keep<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Keep<T> {}

impl<T: Object> Keep<T> {
    /// The object.
    ///
    /// # Errors
    /// [`Problem::Null`].
    pub fn get(&self) -> Result<&T> {
        self.optional().ok_or(Problem::Null { what: T::NAME })
    }

    /// The object, unless the pointer is null.
    pub fn optional(&self) -> Option<&T> {
        // SAFETY: only C makes values of this type, from handles that it owns a count of until the
        // call returns, or from null.
        let handle = unsafe { self.0.as_ref() };
        handle.map(|handle| &handle.0)
    }

    /// Gives the caller one more count.
    pub(crate) fn retain(self) {
        if !self.0.is_null() {
            // SAFETY: the pointer came from `Arc::into_raw`, and the caller owns a count of it.
            unsafe { Arc::increment_strong_count(self.0) };
        }
    }
}

/// A handle whose count the caller hands over.
#[derive(Debug)]
#[repr(transparent)]
pub struct Take<T>(*const Handle<T>);

impl<T: Object> Take<T> {
    /// The count, unless the pointer is null.
    pub(crate) fn take(self) -> Option<Arc<Handle<T>>> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the pointer came from `Arc::into_raw`, and the caller hands one count over.
        Some(unsafe { Arc::from_raw(self.0) })
    }
}

/// Where the caller gets a handle.
#[derive(Debug)]
#[repr(transparent)]
pub struct Give<T>(*mut *const Handle<T>);

impl<T: Object> Give<T> {
    /// The same, known to be there: asked before anything is done that would be lost.
    pub(crate) fn ready(self) -> Result<Self> {
        if self.0.is_null() {
            return Err(Problem::Null {
                what: "the pointer for the result",
            });
        }
        Ok(self)
    }

    /// Gives a handle, if it is wanted.
    pub(crate) fn give(self, object: T) {
        // SAFETY: the caller hands in a pointer that may be written, or null.
        if let Some(place) = unsafe { self.0.as_mut() } {
            *place = Handle::counted(object);
        }
    }
}

/// A handle as the answer of a function that says null for failure.
#[derive(Debug)]
#[repr(transparent)]
pub struct Given<T>(*const Handle<T>);

impl<T: Object> Given<T> {
    /// A handle.
    pub fn new(object: T) -> Self {
        Self(Handle::counted(object))
    }

    /// None.
    #[must_use]
    pub const fn null() -> Self {
        Self(std::ptr::null())
    }
}

impl<T: Object> CType for Keep<T> {
    fn declare(name: &str) -> String {
        format!("MP_KEEP {} *{name}", T::NAME)
    }
}

impl<T: Object> CType for Take<T> {
    fn declare(name: &str) -> String {
        format!("MP_TAKE {} *{name}", T::NAME)
    }
}

impl<T: Object> CType for Give<T> {
    fn declare(name: &str) -> String {
        format!("MP_GIVE {} **{name}", T::NAME)
    }
}

impl<T: Object> CType for Given<T> {
    fn declare(name: &str) -> String {
        format!("{} *{name}", T::NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Number(u8);

    impl Object for Number {
        const NAME: &'static str = "mp_number";
    }

    /// The one test that counts: tests of this crate run side by side.
    #[test]
    fn a_handle_lives_until_its_last_count_is_taken() {
        let before = live();
        let mut handle = std::ptr::null();
        Give(&raw mut handle).ready().unwrap().give(Number(7));
        assert_eq!(live(), before + 1);
        assert_eq!(Keep(handle).get().unwrap().0, 7);
        Keep(handle).retain();
        drop(Take(handle).take());
        assert_eq!((live(), Keep(handle).get().unwrap().0), (before + 1, 7));
        drop(Take(handle).take());
        assert_eq!(live(), before);
    }

    #[test]
    fn null_is_no_object_and_nothing_to_count() {
        let null = std::ptr::null::<Handle<Number>>();
        let problem = Keep(null).get().err().unwrap();
        assert_eq!(problem.to_string(), "mp_number is null");
        Keep(null).retain();
        assert!(Take(null).take().is_none());
        Give::<Number>(std::ptr::null_mut()).give(Number(1));
        assert!(Give::<Number>(std::ptr::null_mut()).ready().is_err());
    }
}
