//! The heaps of the process: the C library's and mimalloc, both asked directly.
//!
//! They keep what others freed before them, so that what they have reserved can't be told.

use std::ffi::c_void;
use std::ptr::NonNull;

use crate::allocator::Allocator;

/// An address that a heap handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(NonNull<c_void>);

// SAFETY: an address is a number; both heaps take memory back on any thread.
unsafe impl Send for Place {}

/// The heap of the C library.
#[derive(Debug)]
pub(crate) struct System;

impl Allocator for System {
    type Block = Place;

    const NAME: &'static str = "malloc";
    const BOUNDED: bool = false;

    fn allocate(&self, bytes: usize) -> Option<Place> {
        // SAFETY: the function has no requirements.
        NonNull::new(unsafe { libc::malloc(bytes) }).map(Place)
    }

    fn free(&self, block: Place) {
        // SAFETY: the address comes from `malloc` and is given back once, since it was moved here.
        unsafe { libc::free(block.0.as_ptr()) };
    }

    fn reserved(&self) -> Option<usize> {
        None
    }
}

/// mimalloc.
#[derive(Debug)]
pub(crate) struct Mimalloc;

impl Allocator for Mimalloc {
    type Block = Place;

    const NAME: &'static str = "mimalloc";
    const BOUNDED: bool = false;

    fn allocate(&self, bytes: usize) -> Option<Place> {
        // SAFETY: the function has no requirements.
        NonNull::new(unsafe { libmimalloc_sys::mi_malloc(bytes) }).map(Place)
    }

    fn free(&self, block: Place) {
        // SAFETY: the address comes from `mi_malloc` and is given back once, since it was moved
        // here.
        unsafe { libmimalloc_sys::mi_free(block.0.as_ptr()) };
    }

    fn reserved(&self) -> Option<usize> {
        None
    }
}
