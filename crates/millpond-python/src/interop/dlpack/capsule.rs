//! The two structures with owners, and the capsules that they travel in.

use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

use super::structure::{Array, Legacy, Versioned};

/// A structure with an owner, which travels in a capsule of its own name.
///
/// # Safety
/// `delete` calls the structure's deleter, and `array` reads the array of a structure that wasn't
/// deleted.
pub(super) unsafe trait Managed {
    /// The name of a capsule that nobody has consumed.
    const NAME: &'static CStr;
    /// Its name once somebody has.
    const USED: &'static CStr;

    /// Tells the owner that the array is no longer used.
    ///
    /// # Safety
    /// It is told once, and nothing is read afterwards.
    unsafe fn delete(managed: *mut Self);

    /// The array.
    ///
    /// # Safety
    /// It wasn't deleted.
    unsafe fn array(managed: *const Self) -> Array;
}

// SAFETY: both functions are as asked.
unsafe impl Managed for Legacy {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";

    unsafe fn delete(managed: *mut Self) {
        // SAFETY: the caller's promise.
        if let Some(deleter) = unsafe { (*managed).deleter } {
            // SAFETY: the caller's promise: it is called once.
            unsafe { deleter(managed) };
        }
    }

    unsafe fn array(managed: *const Self) -> Array {
        // SAFETY: the caller's promise.
        unsafe { (*managed).array }
    }
}

// SAFETY: both functions are as asked.
unsafe impl Managed for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";

    unsafe fn delete(managed: *mut Self) {
        // SAFETY: the caller's promise.
        if let Some(deleter) = unsafe { (*managed).deleter } {
            // SAFETY: the caller's promise: it is called once.
            unsafe { deleter(managed) };
        }
    }

    unsafe fn array(managed: *const Self) -> Array {
        // SAFETY: the caller's promise.
        unsafe { (*managed).array }
    }
}

/// Puts a structure in a capsule, which deletes it unless somebody consumes it.
///
/// # Errors
/// No memory; then the structure was deleted.
///
/// # Safety
/// The structure is there until its deleter is called, which nobody else does.
pub(super) unsafe fn wrap<M: Managed>(
    py: Python<'_>,
    managed: *mut M,
) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the pointer isn't null and the name is static, as capsules ask.
    let capsule =
        unsafe { ffi::PyCapsule_New(managed.cast(), M::NAME.as_ptr(), Some(destroy::<M>)) };
    if capsule.is_null() {
        // SAFETY: the structure has no other owner.
        unsafe { M::delete(managed) };
    }
    // SAFETY: it is null with an exception set, or a new reference.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

unsafe extern "C" fn destroy<M: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with the capsule that it destroys.
    let fresh = unsafe { ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) } == 1;
    if fresh {
        // SAFETY: the capsule is valid under that name.
        let managed = unsafe { ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()) };
        // SAFETY: nobody consumed the capsule, so the structure is the capsule's to delete.
        unsafe { M::delete(managed.cast()) };
    }
}

/// A structure that was taken out of its capsule; dropping it deletes it.
pub(super) struct Taken<M: Managed>(*mut M);

// SAFETY: the structure is owned, and DLPack lets the deleter be called from any thread.
unsafe impl<M: Managed> Send for Taken<M> {}

// SAFETY: what is shared reads the structure only, which nobody writes.
unsafe impl<M: Managed> Sync for Taken<M> {}

impl<M: Managed> Taken<M> {
    /// Consumes a capsule; `None` if it holds another structure, or was consumed.
    pub(super) fn out_of(capsule: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let object = capsule.as_ptr();
        // SAFETY: the interpreter is attached and the object is alive; any object may be asked.
        let fresh = unsafe { ffi::PyCapsule_IsValid(object, M::NAME.as_ptr()) } == 1;
        if !fresh {
            return Ok(None);
        }
        // SAFETY: the capsule is valid under that name.
        let managed: *mut c_void = unsafe { ffi::PyCapsule_GetPointer(object, M::NAME.as_ptr()) };
        // SAFETY: as above; the new name is static. From now on the capsule deletes nothing.
        let status = unsafe { ffi::PyCapsule_SetName(object, M::USED.as_ptr()) };
        if status != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        Ok(Some(Self(managed.cast())))
    }

    /// The array.
    pub(super) fn array(&self) -> Array {
        // SAFETY: it is deleted by the destructor only.
        unsafe { M::array(self.0) }
    }
}

impl Taken<Versioned> {
    /// The structure's version, which all versions begin with, and its flags if it is of ours.
    pub(super) fn version_and_flags(&self) -> (super::structure::Version, u64) {
        // SAFETY: it is deleted by the destructor only.
        let version = unsafe { (*self.0).version };
        if version.major != super::structure::VERSION.major {
            return (version, 0);
        }
        // SAFETY: as above, and the layout is that of our version.
        (version, unsafe { (*self.0).flags })
    }
}

impl<M: Managed> Drop for Taken<M> {
    fn drop(&mut self) {
        // SAFETY: it was taken out of a capsule, which no longer deletes it.
        unsafe { M::delete(self.0) };
    }
}

/// A structure that still is its giver's. Once it is accepted, dropping it deletes it.
pub(super) struct Offered<M: Managed> {
    taken: ManuallyDrop<Taken<M>>,
    accepted: AtomicBool,
}

impl<M: Managed> Offered<M> {
    /// A structure that somebody offers.
    ///
    /// # Safety
    /// It is there until this is dropped, or, once it is accepted, until it is deleted by that.
    pub(super) const unsafe fn new(managed: *mut M) -> Self {
        Self {
            taken: ManuallyDrop::new(Taken(managed)),
            accepted: AtomicBool::new(false),
        }
    }

    /// Takes it over.
    pub(super) fn accept(&self) {
        self.accepted.store(true, Ordering::Release);
    }
}

impl<M: Managed> std::ops::Deref for Offered<M> {
    type Target = Taken<M>;

    fn deref(&self) -> &Taken<M> {
        &self.taken
    }
}

impl<M: Managed> Drop for Offered<M> {
    fn drop(&mut self) {
        if self.accepted.load(Ordering::Acquire) {
            // SAFETY: it isn't used again, and was given away with the acceptance.
            unsafe { ManuallyDrop::drop(&mut self.taken) };
        }
    }
}
