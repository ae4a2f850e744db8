//! Answers to questions about objects: the bytes of a value, and how they are handed over.

use smallvec::SmallVec;

use crate::argument::{Answer, Out};
use crate::handle::Handle;
use crate::numbers::Code;

/// A value as the interface hands it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Property(SmallVec<[u8; 16]>);

impl From<u32> for Property {
    fn from(value: u32) -> Self {
        Self(SmallVec::from_slice(&value.to_ne_bytes()))
    }
}

impl From<u64> for Property {
    fn from(value: u64) -> Self {
        Self(SmallVec::from_slice(&value.to_ne_bytes()))
    }
}

impl From<usize> for Property {
    fn from(value: usize) -> Self {
        Self(SmallVec::from_slice(&value.to_ne_bytes()))
    }
}

impl From<bool> for Property {
    fn from(value: bool) -> Self {
        Self(SmallVec::from_slice(&[u8::from(value)]))
    }
}

impl From<&str> for Property {
    fn from(value: &str) -> Self {
        let mut bytes = SmallVec::from_slice(value.as_bytes());
        bytes.push(0);
        Self(bytes)
    }
}

impl<T: crate::handle::Kind> From<Handle<T>> for Property {
    fn from(value: Handle<T>) -> Self {
        value.native().into()
    }
}

impl<T: Into<Self> + Copy> From<&[T]> for Property {
    fn from(values: &[T]) -> Self {
        Self(values.iter().flat_map(|&value| value.into().0).collect())
    }
}

impl Property {
    /// Bytes that aren't a number.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self(SmallVec::from_slice(bytes))
    }

    /// Hands it over: its size where that is asked for, and its bytes where there is room.
    ///
    /// # Errors
    /// A place without a size or a size without a place; nothing that is asked for; too little room.
    pub(crate) fn answer(self, room: usize, value: Out<u8>, size: Out<usize>) -> Answer {
        if value.is_null() && (room != 0 || size.is_null()) {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if !value.is_null() && room < self.0.len() {
            return Err(Code::INVALID_SIZE);
        }
        self.answer_whole(value, size)
    }

    /// The same where the caller doesn't say how much room there is.
    pub(crate) fn answer_whole(self, value: Out<u8>, size: Out<usize>) -> Answer {
        if value.is_null() && size.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        size.set(self.0.len());
        if !value.is_null() {
            value.set_all(self.0);
        }
        Ok(())
    }
}
