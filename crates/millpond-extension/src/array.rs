//! Arrays, and what a task may do with their elements.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr;
use std::slice;

use crate::element::Element;
use crate::error::{Error, Result, check};
use crate::handle::{handles, told};
use crate::import::table;
use crate::queue::Queue;
use crate::raw::{MP_MEMORY_DEVICE, MP_READ, MP_UPDATE, MP_WRITE, mp_access, mp_dtype, mp_use};
use crate::task::Place;

handles! {
    /// Elements of one dtype, laid out in memory: `millpond.tensor.Array` in Python.
    Array(mp_array): mp_array_retain, mp_array_release, mp_array_from_python, mp_array_to_python;
}

impl Array {
    /// A new array on a queue, in row-major order, of device memory. Its elements are whatever the
    /// memory held: hand it to a task that [writes](Self::writes) it.
    ///
    /// # Errors
    /// No memory; a closed queue.
    pub fn new<T: Element>(queue: &Queue, shape: &[usize]) -> Result<Self> {
        Self::given(|array| {
            // SAFETY: the handle is counted for its owner, the shape is as long as said, and the
            // result's place may be written.
            unsafe {
                (table().mp_array_allocate)(
                    queue.as_ptr(),
                    MP_MEMORY_DEVICE,
                    T::DTYPE,
                    shape.len(),
                    shape.as_ptr(),
                    array,
                )
            }
        })
    }

    /// The queue that work on it goes to.
    ///
    /// # Errors
    /// After the shutdown, and in a forked child; the same holds for what follows.
    pub fn queue(&self) -> Result<Queue> {
        // SAFETY: the handle is counted for this one, and the result's place may be written.
        Queue::given(|queue| unsafe { (table().mp_array_queue)(self.as_ptr(), queue) })
    }

    /// The sizes of the axes.
    ///
    /// # Errors
    /// As above.
    pub fn shape(&self) -> Result<&[usize]> {
        let shape = told!(self, mp_array_shape, ptr::null())?;
        let ndim = told!(self, mp_array_ndim, 0)?;
        // SAFETY: there are as many, which stay as long as the handle.
        Ok(unsafe { slice::from_raw_parts(shape, ndim) })
    }

    /// The steps of the axes, in elements.
    ///
    /// # Errors
    /// As above.
    pub fn strides(&self) -> Result<&[isize]> {
        let strides = told!(self, mp_array_strides, ptr::null())?;
        let ndim = told!(self, mp_array_ndim, 0)?;
        // SAFETY: there are as many, which stay as long as the handle.
        Ok(unsafe { slice::from_raw_parts(strides, ndim) })
    }

    /// The number of elements.
    ///
    /// # Errors
    /// As above.
    pub fn size(&self) -> Result<usize> {
        told!(self, mp_array_size, 0)
    }

    /// Whether elements follow one another in row-major order.
    ///
    /// # Errors
    /// As above.
    pub fn is_contiguous(&self) -> Result<bool> {
        told!(self, mp_array_is_contiguous, false)
    }

    /// Whether the elements must not be written.
    ///
    /// # Errors
    /// As above.
    pub fn is_read_only(&self) -> Result<bool> {
        told!(self, mp_array_is_read_only, false)
    }

    /// The elements for a task that reads them.
    ///
    /// # Errors
    /// Elements of another dtype or with gaps between them, and memory that the host doesn't reach.
    pub fn reads<T: Element>(&self) -> Result<Reads<T>> {
        self.place::<T>(MP_READ)
            .map(|place| Reads(place, PhantomData))
    }

    /// The elements for a task that overwrites all of them; it may look at what they were, which
    /// can be anything.
    ///
    /// # Errors
    /// As for [`Array::reads`]; elements that must not be written.
    pub fn writes<T: Element>(&self) -> Result<Writes<T>> {
        self.place::<T>(MP_WRITE)
            .map(|place| Writes(place, PhantomData))
    }

    /// The elements for a task that reads and writes them.
    ///
    /// # Errors
    /// As for [`Array::writes`].
    pub fn updates<T: Element>(&self) -> Result<Updates<T>> {
        self.place::<T>(MP_UPDATE)
            .map(|place| Updates(place, PhantomData))
    }

    fn place<T: Element>(&self, access: mp_access) -> Result<Used> {
        let dtype: mp_dtype = told!(self, mp_array_dtype, 0)?;
        if dtype != T::DTYPE {
            let (found, wanted) = (name_of(dtype)?, name_of(T::DTYPE)?);
            return Err(Error::invalid(format!(
                "the array has elements of {found}, not of {wanted}"
            )));
        }
        if !self.is_contiguous()? {
            let (shape, strides) = (self.shape()?, self.strides()?);
            return Err(Error::invalid(format!(
                "an array of shape {shape:?} with strides {strides:?} has gaps: copy it"
            )));
        }
        if !self.queue()?.runs_on_host()? && self.is_device_memory()? {
            return Err(Error::invalid(
                "tasks of the host don't reach the array's memory",
            ));
        }
        let place = Place {
            address: told!(self, mp_array_data, ptr::null_mut())?.cast(),
            count: self.size()?,
            bytes: self.size()? * size_of::<T>(),
            access,
        };
        Ok(Used {
            array: self.clone(),
            place,
        })
    }

    fn is_device_memory(&self) -> Result<bool> {
        let mut memory = ptr::null_mut();
        // SAFETY: the handle is counted for this one, and the result's place may be written.
        check(unsafe { (table().mp_array_memory)(self.as_ptr(), &raw mut memory) })?;
        let mut kind = MP_MEMORY_DEVICE;
        // SAFETY: the memory was given just now, and the result's place may be written.
        let told = check(unsafe { (table().mp_memory_kind)(memory, &raw mut kind) });
        // SAFETY: the memory was given just now, and isn't used again.
        unsafe { (table().mp_memory_release)(memory) };
        told.map(|()| kind == MP_MEMORY_DEVICE)
    }
}

fn name_of(dtype: mp_dtype) -> Result<String> {
    let mut name = ptr::null();
    // SAFETY: the result's place may be written.
    check(unsafe { (table().mp_dtype_name)(dtype, &raw mut name) })?;
    // SAFETY: names are static texts.
    let name = unsafe { CStr::from_ptr(name) };
    Ok(name.to_string_lossy().into_owned())
}

/// An array, and where its elements are. The submission names the array; the task has the place only, so that it
/// keeps nothing alive.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Used {
    array: Array,
    pub(crate) place: Place,
}

impl Used {
    pub(crate) const fn as_use(&self) -> mp_use {
        mp_use {
            memory: ptr::null_mut(),
            array: self.array.as_ptr(),
            access: self.place.access,
        }
    }
}

/// An array whose elements a task reads.
#[derive(Clone, Debug)]
pub struct Reads<T>(pub(crate) Used, PhantomData<T>);

/// An array all of whose elements a task overwrites.
#[derive(Clone, Debug)]
pub struct Writes<T>(pub(crate) Used, PhantomData<T>);

/// An array whose elements a task reads and writes.
#[derive(Clone, Debug)]
pub struct Updates<T>(pub(crate) Used, PhantomData<T>);
