//! Typed memory for Rust programs, with host access that the compiler checks.
//!
//! A [`Buffer`] owns its elements alone: it can't be cloned, commands that write it borrow it
//! mutably, and host views borrow it for as long as they live. So host access while a command
//! that was submitted *before* is pending waits, and a command that would write *during* host
//! access doesn't compile:
//!
//! ```compile_fail,E0502
//! # use millpond_runtime::{Buffer, MemoryKind, Queue};
//! # fn f(queue: &Queue) -> millpond_runtime::Result<()> {
//! let mut x = Buffer::from_slice(queue, MemoryKind::Shared, &[1.0_f32, 2.0])?;
//! let seen = x.host()?;
//! queue.call("double", (&mut x,), |(x,)| x.iter_mut().for_each(|x| *x *= 2.0))?;
//! assert_eq!(seen[0], 1.0);
//! # Ok(()) }
//! ```
//!
//! Neither does a view that outlives its buffer:
//!
//! ```compile_fail,E0505
//! # use millpond_runtime::{Buffer, MemoryKind, Queue};
//! # fn f(queue: &Queue) -> millpond_runtime::Result<()> {
//! let x = Buffer::from_slice(queue, MemoryKind::Shared, &[1.0_f32, 2.0])?;
//! let seen = x.host()?;
//! drop(x);
//! assert_eq!(seen[0], 1.0);
//! # Ok(()) }
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Deref, DerefMut, RangeBounds};

use millpond_types::MemoryKind;
use millpond_types::dtype::Element;

use crate::error::{Error, Result};
use crate::memory::Allocation;
use crate::queue::Queue;

/// `len` initialised elements of one type, owned alone. `Send` and `Sync`.
///
/// ```
/// # use millpond_runtime::{Buffer, MemoryKind, Queue};
/// # fn f(queue: &Queue) -> millpond_runtime::Result<()> {
/// let mut x = Buffer::from_slice(queue, MemoryKind::Device, &[1.0_f32, 2.0, 3.0])?;
/// queue.call("double", (&mut x,), |(x,)| x.iter_mut().for_each(|x| *x *= 2.0))?;
/// assert_eq!(x.to_vec()?, [2.0, 4.0, 6.0]);
/// # Ok(()) }
/// ```
pub struct Buffer<T: Element> {
    memory: Allocation,
    len: usize,
    element: PhantomData<T>,
}

/// Part of a buffer, to read.
#[derive(Clone, Copy)]
pub struct View<'a, T: Element> {
    memory: &'a Allocation,
    begin: usize,
    len: usize,
    element: PhantomData<&'a [T]>,
}

/// Part of a buffer, to read and write.
pub struct ViewMut<'a, T: Element> {
    memory: &'a Allocation,
    begin: usize,
    len: usize,
    element: PhantomData<&'a mut [T]>,
}

/// Finished elements, for host code to read.
pub struct Host<'a, T: Element>(&'a [T]);

/// Finished elements, for host code to read and write.
pub struct HostMut<'a, T: Element>(&'a mut [T]);

impl<T: Element> Buffer<T> {
    /// A buffer with a copy of these elements.
    ///
    /// # Errors
    /// Out of memory; a closed queue.
    pub fn from_slice(queue: &Queue, kind: MemoryKind, elements: &[T]) -> Result<Self> {
        let memory = queue.allocate(kind, size_of_val(elements))?;
        // SAFETY: elements of the table have no padding, so all their bytes are initialised; the
        // slice stays borrowed for as long as its bytes are.
        let bytes = unsafe {
            std::slice::from_raw_parts(elements.as_ptr().cast::<u8>(), size_of_val(elements))
        };
        memory.write(0, bytes)?;
        Ok(Self {
            memory,
            len: elements.len(),
            element: PhantomData,
        })
    }

    /// A buffer of zeros.
    ///
    /// # Errors
    /// Out of memory, also for sizes beyond the address space; a closed queue.
    pub fn zeroed(queue: &Queue, kind: MemoryKind, len: usize) -> Result<Self> {
        let bytes = len.saturating_mul(size_of::<T>());
        let memory = queue.allocate(kind, bytes)?;
        if let Some(zero) = millpond_hal::Pattern::new(&[0]) {
            queue.fill(&memory, 0..bytes, zero)?;
        }
        Ok(Self {
            memory,
            len,
            element: PhantomData,
        })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory.
    pub fn memory(&self) -> &Allocation {
        &self.memory
    }

    /// A part of it, to read.
    ///
    /// # Errors
    /// [`Error::Bounds`] for a range outside of it.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>> {
        let (begin, len) = self.part(&range)?;
        Ok(View {
            memory: &self.memory,
            begin,
            len,
            element: PhantomData,
        })
    }

    /// A part of it, to read and write.
    ///
    /// # Errors
    /// [`Error::Bounds`] for a range outside of it.
    pub fn view_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>> {
        let (begin, len) = self.part(&range)?;
        Ok(ViewMut {
            memory: &self.memory,
            begin,
            len,
            element: PhantomData,
        })
    }

    /// A copy of the elements, after everything that writes them.
    ///
    /// # Errors
    /// The failure of the last writer.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut elements = vec![T::default(); self.len];
        let bytes = self.len * size_of::<T>();
        // SAFETY: the vector's elements are initialised and have no padding; the bytes that the
        // read puts there were written from elements of the same type, so they are valid ones.
        let target =
            unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast::<u8>(), bytes) };
        self.memory.read(0, target)?;
        Ok(elements)
    }

    /// The elements in place, after everything that writes them.
    ///
    /// # Errors
    /// [`Error::HostAccess`] for device memory; the failure of the last writer.
    pub fn host(&self) -> Result<Host<'_, T>> {
        self.check_host()?;
        self.memory.wait_written()?;
        let elements = self.memory.address().as_ptr::<T>().cast_const();
        // SAFETY: the allocation is alive and aligned and holds `len` initialised elements. What
        // writes it has finished, and commands that write borrow the buffer mutably, which the
        // view's lifetime excludes.
        Ok(Host(unsafe {
            std::slice::from_raw_parts(elements, self.len)
        }))
    }

    /// The elements in place, after everything that uses them.
    ///
    /// # Errors
    /// [`Error::HostAccess`] for device memory; the failure of the last writer.
    pub fn host_mut(&mut self) -> Result<HostMut<'_, T>> {
        self.check_host()?;
        self.memory.wait_idle()?;
        let elements = self.memory.address().as_ptr::<T>();
        // SAFETY: as for `host`; what uses it at all has finished, and commands that use it borrow
        // the buffer, which the view's lifetime excludes.
        Ok(HostMut(unsafe {
            std::slice::from_raw_parts_mut(elements, self.len)
        }))
    }

    fn check_host(&self) -> Result<()> {
        let kind = self.memory.kind();
        if kind.host_accessible() {
            return Ok(());
        }
        Err(Error::HostAccess {
            kind,
            device: self.memory.device().name().to_owned(),
        })
    }

    /// Begin and length of a range of elements.
    fn part(&self, range: &impl RangeBounds<usize>) -> Result<(usize, usize)> {
        let begin = match range.start_bound() {
            Bound::Included(&begin) => begin,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        if begin > end || end > self.len {
            let size = size_of::<T>();
            return Err(Error::Bounds {
                operation: format!("view of elements {begin}..{end}"),
                begin: begin.saturating_mul(size),
                end: end.saturating_mul(size),
                size: self.len * size,
            });
        }
        Ok((begin, end - begin))
    }
}

/// What [`Queue::call`] takes as one operand: a buffer or a view, shared or mutable.
///
/// Sealed: the implementations here are all there are.
pub trait Operand: sealed::Raw {
    /// What the closure gets: a slice, shared or mutable.
    type Slice<'s>;

    /// The slice that a command may use while it runs.
    ///
    /// # Safety
    /// The elements are initialised, and for the lifetime valid and free of conflicting uses.
    #[doc(hidden)]
    unsafe fn slice<'s>(elements: sealed::Elements) -> Self::Slice<'s>;
}

pub(crate) mod sealed {
    //! What the runtime needs of an operand and nobody else may give.

    use millpond_hal::{Access, Address};

    use crate::memory::Allocation;

    /// Elements in memory that a running command owns or shares.
    #[derive(Clone, Copy, Debug)]
    pub struct Elements {
        pub(crate) address: Address,
        pub(crate) len: usize,
    }

    /// Memory, part and use of an operand.
    pub trait Raw {
        fn memory(&self) -> &Allocation;
        fn elements(&self) -> Elements;
        fn access(&self) -> Access;
    }
}

macro_rules! operands {
    ($([$($life:lifetime)?] $operand:ty, $slice:ty, $access:ident, $begin:expr, $make:ident;)*) => { $(
        impl<$($life,)? T: Element> sealed::Raw for $operand {
            fn memory(&self) -> &Allocation {
                self.memory.borrowed()
            }

            fn elements(&self) -> sealed::Elements {
                let begin: fn(&Self) -> usize = $begin;
                let address = self.memory.address().offset(begin(self) * size_of::<T>());
                sealed::Elements { address, len: self.len }
            }

            fn access(&self) -> millpond_hal::Access {
                millpond_hal::Access::$access
            }
        }

        impl<$($life,)? T: Element> Operand for $operand {
            type Slice<'s> = $slice;

            unsafe fn slice<'s>(elements: sealed::Elements) -> $slice {
                let first = elements.address.as_ptr::<T>();
                // SAFETY: what the caller promises is what a slice of elements of this type needs;
                // allocations are aligned for every element type.
                unsafe { std::slice::$make(first, elements.len) }
            }
        }
    )* };
}

operands! {
    ['a] &'a Buffer<T>, &'s [T], Read, |_| 0, from_raw_parts;
    ['a] &'a mut Buffer<T>, &'s mut [T], Update, |_| 0, from_raw_parts_mut;
    ['a] View<'a, T>, &'s [T], Read, |view| view.begin, from_raw_parts;
    ['a] ViewMut<'a, T>, &'s mut [T], Update, |view| view.begin, from_raw_parts_mut;
}

impl<T: Element> Deref for Host<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0
    }
}

impl<T: Element> Deref for HostMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0
    }
}

impl<T: Element> DerefMut for HostMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0
    }
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} × {}, {:?})", self.len, T::DTYPE, self.memory)
    }
}

macro_rules! debug_as_len {
    ($($view:ident),*) => { $(
        impl<T: Element> fmt::Debug for $view<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let len = self.len;
                write!(f, concat!(stringify!($view), "({} × {})"), len, T::DTYPE)
            }
        }
    )* };
}

debug_as_len!(View, ViewMut);

impl<T: Element> fmt::Debug for Host<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Element> fmt::Debug for HostMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
