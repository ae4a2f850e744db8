//! Pointers to plain data of the caller's, which stays the caller's: structures, results, lists,
//! bytes, text. Like [`crate::handle`], where C's promises become Rust's.

use std::ffi::{CStr, c_char, c_void};

use crate::describe::CType;
use crate::handle::{Keep, Object};
use crate::status::{Problem, Result};

/// Plain data with a name in C.
pub trait Plain: Copy {
    /// Its name.
    const NAME: &'static str;
}

/// Where the caller gets plain data.
#[derive(Debug)]
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Puts a value there.
    ///
    /// # Errors
    /// [`Problem::Null`].
    pub(crate) fn put(self, value: T) -> Result<()> {
        if self.0.is_null() {
            return Err(Problem::Null {
                what: "the pointer for the result",
            });
        }
        // SAFETY: the caller hands in a pointer that may be written. What was there is plain data,
        // or nothing yet.
        unsafe { self.0.write(value) };
        Ok(())
    }
}

/// A structure of the caller's, to be read.
#[derive(Debug)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Plain> In<T> {
    /// A copy.
    ///
    /// # Errors
    /// [`Problem::Null`].
    pub(crate) fn get(&self) -> Result<T> {
        self.optional().ok_or(Problem::Null { what: T::NAME })
    }

    /// The same, unless the pointer is null.
    pub(crate) fn optional(&self) -> Option<T> {
        // SAFETY: the caller hands in a pointer to a structure, or null.
        unsafe { self.0.as_ref() }.copied()
    }
}

/// A structure that begins with its size, and is smaller in programs of earlier versions.
pub trait Growing: Plain {
    /// What the fields hold that an earlier version lacks.
    const DEFAULT: Self;
}

/// A structure to be read that begins with its size.
#[derive(Debug)]
#[repr(transparent)]
pub struct GrowingIn<T>(*const T);

impl<T: Growing> GrowingIn<T> {
    /// A copy, with defaults for what the caller's version lacks; all defaults for null.
    ///
    /// # Errors
    /// [`Problem::Argument`] for a size that no version has.
    pub(crate) fn get(&self) -> Result<T> {
        let mut known = T::DEFAULT;
        if !self.0.is_null() {
            let bytes = known_bytes(self.0)?;
            let target = (&raw mut known).cast::<u8>();
            // SAFETY: the caller's structure has at least these bytes and ours as many; fields are
            // plain data of which any bytes are values.
            unsafe { target.copy_from_nonoverlapping(self.0.cast::<u8>(), bytes) };
        }
        Ok(known)
    }
}

/// A structure to be filled in that begins with its size.
#[derive(Debug)]
#[repr(transparent)]
pub struct GrowingOut<T>(*mut T);

impl<T: Growing> GrowingOut<T> {
    /// Puts there what the caller's version knows.
    ///
    /// # Errors
    /// [`Problem::Null`]; [`Problem::Argument`] for a size that no version has.
    pub(crate) fn put(&self, value: &T) -> Result<()> {
        if self.0.is_null() {
            return Err(Problem::Null { what: T::NAME });
        }
        let bytes = known_bytes(self.0)? - size_of::<usize>();
        // SAFETY: every version begins with a size, which stays as it is.
        let target = unsafe { self.0.cast::<usize>().add(1) };
        // SAFETY: as above.
        let source = unsafe { (&raw const *value).cast::<usize>().add(1) };
        // SAFETY: so many bytes follow the size in the caller's structure and in ours.
        unsafe {
            target
                .cast::<u8>()
                .copy_from_nonoverlapping(source.cast(), bytes);
        };
        Ok(())
    }
}

/// The bytes that both sides know.
fn known_bytes<T: Growing>(structure: *const T) -> Result<usize> {
    // SAFETY: every version begins with a size.
    let size = unsafe { structure.cast::<usize>().read() };
    if size < size_of::<usize>() {
        return Err(Problem::Argument {
            what: T::NAME,
            reason: format!("its size is {size}, not sizeof({})", T::NAME),
        });
    }
    Ok(size.min(size_of::<T>()))
}

/// Elements whose number is an argument of its own.
#[derive(Debug)]
#[repr(transparent)]
pub struct List<T>(*const T);

impl<T> List<T> {
    /// The elements; none for a number of zero, whatever the pointer.
    ///
    /// # Errors
    /// [`Problem::Null`].
    pub(crate) fn get(&self, count: usize) -> Result<&[T]> {
        if count == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(Problem::Null { what: "a list" });
        }
        // SAFETY: the caller hands in a pointer to that many elements.
        Ok(unsafe { std::slice::from_raw_parts(self.0, count) })
    }

    /// Whether there is no list.
    pub(crate) const fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

/// Bytes to be written.
#[derive(Debug)]
#[repr(transparent)]
pub struct Bytes(*mut c_void);

impl Bytes {
    /// The bytes.
    ///
    /// # Errors
    /// [`Problem::Null`].
    pub(crate) fn get(&mut self, count: usize) -> Result<&mut [u8]> {
        if count == 0 {
            return Ok(&mut []);
        }
        if self.0.is_null() {
            return Err(Problem::Null { what: "a buffer" });
        }
        // SAFETY: the caller hands in that many bytes, which nobody else touches during the call.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0.cast(), count) })
    }
}

/// Text that ends with a zero byte.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// No text.
    pub(crate) const NONE: Self = Self(std::ptr::null());

    /// The text; what isn't UTF-8 is replaced.
    ///
    /// # Errors
    /// [`Problem::Null`].
    pub(crate) fn get(self) -> Result<String> {
        self.optional().ok_or(Problem::Null { what: "a text" })
    }

    /// The same, unless the pointer is null.
    pub(crate) fn optional(self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the caller hands in text that ends with a zero byte.
        let text = unsafe { CStr::from_ptr(self.0) };
        Some(text.to_string_lossy().into_owned())
    }
}

/// What lists are of.
pub trait Item {
    /// The type of an element that isn't changed, as C writes it.
    fn constant() -> String;
}

impl<T: Object> Item for Keep<T> {
    fn constant() -> String {
        format!("{} *const ", T::NAME)
    }
}

impl<T: Plain> Item for T {
    fn constant() -> String {
        format!("const {} ", T::NAME)
    }
}

impl Plain for usize {
    const NAME: &'static str = "size_t";
}

impl Plain for isize {
    const NAME: &'static str = "ptrdiff_t";
}

/// Bytes of anything.
impl Plain for u8 {
    const NAME: &'static str = "void";
}

impl<T: Plain> CType for *const T {
    fn declare(name: &str) -> String {
        format!("const {} *{name}", T::NAME)
    }
}

impl<T: CType> CType for Out<T> {
    fn declare(name: &str) -> String {
        format!("MP_KEEP {}", T::declare(&format!("*{name}")))
    }
}

impl<T: Plain> CType for In<T> {
    fn declare(name: &str) -> String {
        format!("MP_KEEP const {} *{name}", T::NAME)
    }
}

impl<T: Plain> CType for GrowingIn<T> {
    fn declare(name: &str) -> String {
        format!("MP_KEEP const {} *{name}", T::NAME)
    }
}

impl<T: Plain> CType for GrowingOut<T> {
    fn declare(name: &str) -> String {
        format!("MP_KEEP {} *{name}", T::NAME)
    }
}

impl<T: Item> CType for List<T> {
    fn declare(name: &str) -> String {
        format!("MP_KEEP {}*{name}", T::constant())
    }
}

impl CType for Bytes {
    fn declare(name: &str) -> String {
        format!("MP_KEEP void *{name}")
    }
}

impl CType for Text {
    fn declare(name: &str) -> String {
        format!("MP_KEEP const char *{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Grown {
        size: usize,
        old: u64,
        new: u64,
    }

    impl Plain for Grown {
        const NAME: &'static str = "mp_grown";
    }

    impl Growing for Grown {
        const DEFAULT: Self = Self {
            size: size_of::<Self>(),
            old: 1,
            new: 2,
        };
    }

    #[test]
    fn an_older_structure_is_read_and_written_as_far_as_it_goes() {
        let mut given = Grown {
            size: 16,
            old: 7,
            new: 8,
        };
        let known = GrowingIn(&raw const given).get().unwrap();
        assert_eq!((known.old, known.new), (7, 2));
        let answer = Grown {
            size: 24,
            old: 9,
            new: 9,
        };
        GrowingOut(&raw mut given).put(&answer).unwrap();
        assert_eq!((given.size, given.old, given.new), (16, 9, 8));
    }

    #[test]
    fn a_structure_without_a_size_is_refused() {
        let mut given = Grown {
            size: 0,
            ..Grown::DEFAULT
        };
        let refused = GrowingIn(&raw const given).get().err().unwrap();
        assert_eq!(
            refused.to_string(),
            "mp_grown: its size is 0, not sizeof(mp_grown)"
        );
        assert!(GrowingOut(&raw mut given).put(&Grown::DEFAULT).is_err());
        assert_eq!(
            GrowingIn::<Grown>(std::ptr::null()).get().unwrap(),
            Grown::DEFAULT
        );
    }

    #[test]
    fn no_elements_need_no_pointer() {
        assert_eq!(List::<u8>(std::ptr::null()).get(0).unwrap(), b"");
        let missing = List::<u8>(std::ptr::null()).get(1).err().unwrap();
        assert_eq!(missing.to_string(), "a list is null");
    }
}
