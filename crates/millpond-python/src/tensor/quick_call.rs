//! Calls of element-wise functions as Python has them at hand: by the address of arguments, without a
//! tuple (PEP 590).
//!
//! The class that PyO3 makes has no place for such an entry. So the functions are objects of a class
//! derived from it, which have one more field, the entry's address; a member tells Python where that
//! is. What isn't an array, or an array and what it combines with, goes on as a tuple and a
//! dictionary, to the call that the class has already.

use std::ffi::{c_int, c_uint, c_ulong};
use std::{ptr, slice};

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyDict, PyTuple, PyType};
use pyo3::{Borrowed, ffi};

use super::elementwise::ElementwiseFunction;
use crate::interop::native::guarded;

/// As Python's headers have it in every version, though its stable interface only since 3.12.
const HAVE_VECTORCALL: c_ulong = 1 << 11;

/// What is set in a number of arguments where the place before the first may be used.
const OFFSET: usize = 1 << (usize::BITS - 1);

/// The class of the functions.
pub(super) struct QuickClass<'py> {
    class: Bound<'py, PyType>,
    base: Bound<'py, PyType>,
    /// Where an object has the address of its entry.
    offset: usize,
}

impl<'py> QuickClass<'py> {
    /// Makes the class.
    ///
    /// # Errors
    /// Those of Python.
    pub(super) fn new(py: Python<'py>) -> PyResult<Self> {
        let base = py.get_type::<ElementwiseFunction>();
        let offset: c_int = base.getattr("__basicsize__")?.extract()?;
        let mut members = [
            ffi::PyMemberDef {
                name: c"__vectorcalloffset__".as_ptr(),
                type_code: ffi::Py_T_PYSSIZET,
                offset: offset as isize,
                flags: ffi::Py_READONLY,
                doc: ptr::null(),
            },
            ffi::PyMemberDef::default(),
        ];
        let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
        let mut slots = [
            slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
            slot(ffi::Py_tp_call, slot_of(&base, ffi::Py_tp_call)?.as_ptr()),
            slot(0, ptr::null_mut()),
        ];
        let flags =
            ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION | HAVE_VECTORCALL;
        let mut spec = ffi::PyType_Spec {
            name: c"millpond.tensor.ElementwiseFunction".as_ptr(),
            basicsize: offset + size_of::<ffi::vectorcallfunc>() as c_int,
            itemsize: 0,
            flags: flags as c_uint,
            slots: slots.as_mut_ptr(),
        };
        let bases = PyTuple::new(py, [&base])?;
        // SAFETY: members and slots end with an empty one, and Python copies them; names are static. An
        // object has the size of the base's, which may be derived from, and of an entry.
        let class = unsafe { ffi::PyType_FromSpecWithBases(&raw mut spec, bases.as_ptr()) };
        // SAFETY: it is null with an exception set, or a new reference.
        let class = unsafe { Bound::from_owned_ptr_or_err(py, class) }?;
        // Python gives each class a documentation, which would hide that of the functions.
        let documentation = base.getattr("__dict__")?.get_item("__doc__")?;
        class.setattr("__doc__", documentation)?;
        // Python has read it, and it is nobody else's business.
        class.delattr("__vectorcalloffset__")?;
        Ok(Self {
            class: class.cast_into()?,
            base,
            offset: offset as usize,
        })
    }

    /// The class as an object.
    pub(super) fn object(&self) -> &Bound<'py, PyType> {
        &self.class
    }

    /// The function of this name.
    ///
    /// # Errors
    /// A name that there isn't.
    pub(super) fn function(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = self.class.py();
        let new = slot_of(&self.base, ffi::Py_tp_new)?;
        // SAFETY: it is what the slot of this number has.
        let new = unsafe { std::mem::transmute::<*mut _, ffi::newfunc>(new.as_ptr()) };
        let arguments = PyTuple::new(py, [name])?;
        let class = self.class.as_type_ptr();
        // SAFETY: the class is derived from the one whose objects it makes.
        let function = unsafe { new(class, arguments.as_ptr(), ptr::null_mut()) };
        // SAFETY: it is null with an exception set, or a new reference.
        let function = unsafe { Bound::from_owned_ptr_or_err(py, function) }?;
        let entry = function.as_ptr().wrapping_byte_add(self.offset);
        // SAFETY: an object of the class has an entry there, aligned as all that follows an object.
        unsafe { entry.cast::<ffi::vectorcallfunc>().write(enter) };
        Ok(function)
    }
}

/// What a class has in a slot.
fn slot_of(class: &Bound<'_, PyType>, slot: c_int) -> PyResult<ptr::NonNull<std::ffi::c_void>> {
    // SAFETY: it is a class, made from slots as these are.
    let found = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), slot) };
    ptr::NonNull::new(found)
        .ok_or_else(|| PySystemError::new_err(format!("{class} has nothing in slot {slot}")))
}

/// Where Python enters.
unsafe extern "C" fn enter(
    function: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(ptr::null_mut(), |py| {
        // SAFETY: Python calls the entry of an object with the object.
        let function = unsafe { Borrowed::from_ptr(py, function) };
        // SAFETY: the entry is written to objects of that class only.
        let function = unsafe { function.cast_unchecked::<ElementwiseFunction>() };
        // SAFETY: it is null, or a tuple of strings.
        let names = unsafe { Bound::from_borrowed_ptr_or_opt(py, names) };
        let count = count & !OFFSET;
        let named = names.as_ref().map_or(Ok(0), PyAnyMethods::len)?;
        let all = match count + named {
            0 => &[],
            // SAFETY: there are so many, the named ones last.
            all => unsafe { slice::from_raw_parts(arguments, all) },
        };
        let argument = |&object: &*mut ffi::PyObject| {
            // SAFETY: arguments are objects, which the caller has during the call.
            unsafe { Borrowed::from_ptr(py, object) }
        };
        let quick = match all {
            [first] if names.is_none() => function.get().quickly(argument(first), None)?,
            [first, second] if names.is_none() => {
                let second = Some(argument(second));
                function.get().quickly(argument(first), second)?
            }
            _ => None,
        };
        if let Some(result) = quick {
            return Ok(result.into_ptr());
        }
        let positional = PyTuple::new(py, all[..count].iter().map(argument))?;
        let keywords = names.map(|names| -> PyResult<_> {
            let keywords = PyDict::new(py);
            for (name, value) in names.try_iter()?.zip(&all[count..]) {
                keywords.set_item(name?, argument(value))?;
            }
            Ok(keywords)
        });
        let keywords = keywords.transpose()?;
        let keywords = keywords.as_ref().map_or(ptr::null_mut(), Bound::as_ptr);
        let call = slot_of(&py.get_type::<ElementwiseFunction>(), ffi::Py_tp_call)?;
        // SAFETY: it is what the slot of this number has.
        let call = unsafe { std::mem::transmute::<*mut _, ffi::ternaryfunc>(call.as_ptr()) };
        // SAFETY: the object is of that class, the arguments are a tuple, and a dictionary or null.
        let answer = unsafe { call(function.as_ptr(), positional.as_ptr(), keywords) };
        // SAFETY: it is null with an exception set, or a new reference.
        unsafe { Bound::from_owned_ptr_or_err(py, answer) }.map(Bound::into_ptr)
    })
}
