//! Arguments as C passes them: pointers that may be null, each with a type that says what it is for.
//!
//! A value of these types is only ever made by a caller of the interface, who promises by its
//! specification that a pointer is null or may be read or written as its type says, for the time of
//! the call. That is what each `SAFETY` comment here rests on; whether it is null is checked.

use std::ffi::{CStr, c_char, c_void};
use std::slice;

use crate::numbers::Code;

/// What a call comes to: nothing, or the code of what is wrong.
pub(crate) type Answer<T = ()> = Result<T, Code>;

/// A value that is read.
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// None.
    pub(crate) const NULL: Self = Self(std::ptr::null());

    /// The value, where there is one.
    pub(crate) fn value(self) -> Option<T> {
        // SAFETY: by the caller's promise; see the file's first lines.
        unsafe { self.0.as_ref() }.copied()
    }

    /// The value.
    pub(crate) fn required(self) -> Answer<T> {
        self.value().ok_or(Code::INVALID_NULL_POINTER)
    }

    /// The value, which may begin at any address.
    pub(crate) fn unaligned(self) -> Answer<T> {
        if self.0.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        // SAFETY: by the caller's promise.
        Ok(unsafe { self.0.read_unaligned() })
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Several values behind one another.
    pub(crate) fn list<'a>(self, len: usize) -> Answer<&'a [T]> {
        if len == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if !self.0.is_aligned()
            || size_of::<T>()
                .checked_mul(len)
                .is_none_or(|bytes| bytes > isize::MAX as usize)
        {
            return Err(Code::INVALID_SIZE);
        }
        // SAFETY: by the caller's promise; the number of bytes was checked.
        Ok(unsafe { slice::from_raw_parts(self.0, len) })
    }

    pub(crate) fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }
}

/// A place that is written.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// No place.
    pub(crate) const NULL: Self = Self(std::ptr::null_mut());

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The same, unless it is null.
    pub(crate) fn required(self) -> Answer<Self> {
        if self.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        Ok(self)
    }

    /// What is there before, where the interface says that something is.
    pub(crate) fn value(self) -> Option<T>
    where
        T: Copy,
    {
        // SAFETY: by the caller's promise, which is to have written what is read here.
        unsafe { self.0.as_ref() }.copied()
    }

    /// The same place, where values are read that the caller has written there.
    pub(crate) fn reads<U: Copy>(self) -> In<U> {
        In(self.0.cast_const().cast())
    }

    /// Writes a value, where there is a place for it.
    pub(crate) fn set(self, value: T) {
        if !self.is_null() {
            // SAFETY: by the caller's promise.
            unsafe { self.0.write(value) }
        }
    }

    /// Writes values behind one another.
    pub(crate) fn set_all(self, values: impl IntoIterator<Item = T>) {
        for (index, value) in values.into_iter().enumerate() {
            Self(self.0.wrapping_add(index)).set(value);
        }
    }
}

/// Pointers are copied, whatever they are to.
macro_rules! copied {
    ($($pointer:ident)*) => {$(
        impl<T> Clone for $pointer<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $pointer<T> {}
    )*};
}
copied! { In Out }

/// An address of memory that commands use: nothing is read or written by the call itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Pointer(*mut c_void);

impl Pointer {
    /// The address.
    pub(crate) fn required(self) -> Answer<usize> {
        match self.number() {
            0 => Err(Code::INVALID_NULL_POINTER),
            address => Ok(address),
        }
    }

    /// The address, 0 for none.
    pub(crate) fn number(self) -> usize {
        self.0.expose_provenance()
    }

    /// So many bytes, which the call itself reads.
    pub(crate) fn bytes<'a>(self, len: usize) -> &'a [u8] {
        // SAFETY: by the caller's promise.
        unsafe { slice::from_raw_parts(self.0.cast(), len) }
    }

    /// A pointer to an address.
    pub(crate) fn to(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address))
    }
}

/// What a callback is given back.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct UserData(*mut c_void);

// SAFETY: nothing here looks behind it; whoever registers a callback answers for the threads on
// which it is called.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

/// A text that ends with a zero.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// The text.
    pub(crate) fn required<'a>(self) -> Answer<&'a CStr> {
        if self.0.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        // SAFETY: by the caller's promise: it ends with a zero.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }

    /// The text, if there is one.
    pub(crate) fn optional<'a>(self) -> Option<&'a CStr> {
        self.required().ok()
    }

    /// A text that lives as long as the process.
    pub(crate) fn of(text: &'static CStr) -> Self {
        Self(text.as_ptr())
    }
}

/// A truth value, of which C may pass any byte.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Flag(u8);

impl Flag {
    pub(crate) fn is_set(self) -> bool {
        self.0 != 0
    }
}
