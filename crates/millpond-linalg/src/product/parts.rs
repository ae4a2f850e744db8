//! Parts of the sums of blocks, kept until all of them are there.

use std::sync::{Mutex, PoisonError};

use millpond_hal::KernelError;

use super::OPERATION;
use crate::number::Number;

/// Elements of a block as words: any number is aligned to them, and is any of their bits.
type Words = Vec<u64>;

/// A place for each part, by block, then by part.
pub(super) struct Parts(Box<[Mutex<Words>]>);

impl Parts {
    /// Places for so many parts.
    pub(super) fn new(count: usize) -> Self {
        Self(std::iter::repeat_with(Mutex::default).take(count).collect())
    }

    /// Keeps a part.
    pub(super) fn keep(&self, number: usize, words: Words) {
        *self.0[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = words;
    }

    /// Adds the parts of a block in order, of which the first has this number, and forgets them.
    pub(super) fn sum<T: Number>(&self, first: usize, count: usize) -> Words {
        let mut sums = self.take(first);
        for number in first + 1..first + count {
            let part = self.take(number);
            for (sum, &term) in elements_mut::<T>(&mut sums)
                .iter_mut()
                .zip(elements::<T>(&part))
            {
                *sum = sum.add(term);
            }
        }
        sums
    }

    fn take(&self, number: usize) -> Words {
        std::mem::take(
            &mut self.0[number]
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// Room for so many bytes.
///
/// # Errors
/// No host memory.
pub(super) fn room(bytes: usize) -> Result<Words, KernelError> {
    let count = bytes.div_ceil(size_of::<u64>());
    let mut words = Words::new();
    if words.try_reserve_exact(count).is_err() {
        let reason = format!("{OPERATION}: no host memory for {bytes} bytes");
        return Err(KernelError::from(reason));
    }
    words.resize(count, 0);
    Ok(words)
}

/// The elements that words are.
pub(super) fn elements<T: Number>(words: &[u64]) -> &[T] {
    let count = size_of_val(words) / size_of::<T>();
    // SAFETY: as many numbers as fit the words, whose alignment is no less and whose bits are some number.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), count) }
}

fn elements_mut<T: Number>(words: &mut [u64]) -> &mut [T] {
    let count = size_of_val(words) / size_of::<T>();
    // SAFETY: as for `elements`, and borrowed for writing.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), count) }
}
