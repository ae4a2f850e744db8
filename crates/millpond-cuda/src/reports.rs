//! Words in the host's memory by which kernels tell what they found.

use std::sync::{Mutex, PoisonError};

use millpond_hal::Address;
use millpond_hal::code::Report;

use crate::api::{PORTABLE, Pointer};
use crate::card::{CudaError, Current};

/// Bytes that the words of one command lie in.
const STRIDE: usize = 64;

/// Bytes that words are had in.
const BLOCK: usize = 64 << 10;

/// The words of one command: all zero until the device writes there.
#[derive(Debug)]
pub(crate) struct Words(Pointer);

impl Words {
    pub(crate) const fn address(&self) -> Address {
        Address::new(self.0 as usize)
    }

    const fn pointer(&self) -> *mut Report {
        std::ptr::with_exposed_provenance_mut(self.0 as usize)
    }

    /// What the device has written, if it has ended what it was given the words for.
    pub(crate) fn read(&self) -> Option<Report> {
        // SAFETY: the words lie in memory that `Reports` keeps, are aligned, and are written by a
        // device only, which has ended that.
        let report = unsafe { self.pointer().read_volatile() };
        (report[0] != 0).then_some(report)
    }
}

/// Words that nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<Store>);

#[derive(Debug, Default)]
struct Store {
    free: Vec<Words>,
    blocks: Vec<Pointer>,
}

impl Reports {
    /// Words that are all zero.
    pub(crate) fn take(&self, current: &Current<'_>) -> Result<Words, CudaError> {
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(words) = store.free.pop() {
            return Ok(words);
        }
        let mut block = std::ptr::null_mut();
        // SAFETY: the address is written to a place of its type.
        let code = unsafe { current.api().allocate_host(&raw mut block, BLOCK, PORTABLE) };
        current.check("cuMemHostAlloc", code)?;
        // SAFETY: the block is as long, new, and the host's to write.
        unsafe { block.cast::<u8>().write_bytes(0, BLOCK) };
        let first = block.expose_provenance() as Pointer;
        store.blocks.push(first);
        let words = (1..BLOCK / STRIDE).map(|index| Words(first + (index * STRIDE) as Pointer));
        store.free.extend(words);
        Ok(Words(first))
    }

    /// Gives words back that the device writes no more.
    pub(crate) fn give(&self, words: Words) {
        // SAFETY: as for `read`; nobody else has them.
        unsafe { words.pointer().write([0; 4]) };
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        store.free.push(words);
    }

    /// Gives the memory back; no words are in use.
    pub(crate) fn close(&self, current: &Current<'_>) {
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        store.free.clear();
        for block in std::mem::take(&mut store.blocks) {
            let pointer = std::ptr::with_exposed_provenance_mut(block as usize);
            // SAFETY: had from the driver by `take`; nobody has words of it any more.
            let _ = unsafe { current.api().free_host(pointer) };
        }
    }
}
