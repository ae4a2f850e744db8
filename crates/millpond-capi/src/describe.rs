//! What a C compiler must know of types and functions, told by the Rust types themselves.
//!
//! Each type that crosses the border says how C declares a variable of it ([`CType`]). Functions,
//! structures and enumerations are declared once, by macros that make the Rust item and its
//! description; [`crate::bindings`] prints headers from the descriptions.

use std::ffi::{c_char, c_void};

/// A type that has the same layout in C.
pub trait CType {
    /// The declaration in C of a variable of this name.
    fn declare(name: &str) -> String;
}

macro_rules! plain_types {
    ($($rust:ty = $c:literal;)*) => { $(
        impl CType for $rust {
            fn declare(name: &str) -> String {
                join($c, name)
            }
        }
    )* };
}

plain_types! {
    bool = "bool";
    u32 = "uint32_t";
    i32 = "int32_t";
    u64 = "uint64_t";
    usize = "size_t";
    isize = "ptrdiff_t";
    *mut c_void = "void *";
    *const c_char = "const char *";
    () = "void";
}

/// A type and a name, as C writes them side by side.
pub(crate) fn join(c: &str, name: &str) -> String {
    if c.ends_with('*') || name.is_empty() {
        format!("{c}{name}")
    } else {
        format!("{c} {name}")
    }
}

/// A function of the interface.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name in C.
    pub name: &'static str,
    /// Lines of documentation.
    pub doc: &'static [&'static str],
    /// Names and declarations of the arguments.
    pub arguments: Vec<(&'static str, String)>,
    /// What it answers, as C writes the type.
    pub answer: String,
}

/// A structure of plain data.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Its name in C.
    pub name: &'static str,
    /// Lines of documentation.
    pub doc: &'static [&'static str],
    /// Documentation and declaration of each field.
    pub fields: Vec<(&'static [&'static str], String)>,
}

/// What an item is in C.
pub trait Described {
    /// The type of a pointer to the function.
    type Pointer;

    /// The pointer.
    const POINTER: Self::Pointer;

    /// The function.
    fn function() -> Function;
}

/// Functions of the interface: each is exported by its name, and described.
///
/// The body's `Result` becomes the status that C gets; a panic becomes `MP_PANIC`. Functions that
/// can't fail say what they answer, and have a body that can't panic.
///
/// Tables hold a function of their own that isn't exported: a name may stand for that of another
/// library in the process, which has a runtime of its own.
macro_rules! functions {
    ($(
        $(#[doc = $doc:literal])+
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $answer:ty)? $body:block
    )+) => { $(
        $crate::describe::functions! {
            @with [$crate::describe::functions!(@answer $($answer)?)]
            $(#[doc = $doc])+
            $name($($argument: $type),*) $(-> $answer)? $body
        }
    )+ };
    (@with [$result:ty] $(#[doc = $doc:literal])+ $name:ident($($argument:ident: $type:ty),*)
        $(-> $answer:ty)? $body:block) => {
        $(#[doc = $doc])+
        ///
        /// # Safety
        /// As the header says of the arguments.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            $name::call($($argument),*)
        }

        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "named as the function that it describes")]
        #[derive(Debug)]
        pub enum $name {}

        impl $name {
            extern "C" fn call($($argument: $type),*) -> $result {
                $crate::describe::functions!(@run $body $($answer)?)
            }
        }

        impl $crate::describe::Described for $name {
            type Pointer = unsafe extern "C" fn($($type),*) -> $result;

            const POINTER: Self::Pointer = Self::call;

            fn function() -> $crate::describe::Function {
                $crate::describe::Function {
                    name: stringify!($name),
                    doc: &[$($doc),+],
                    arguments: vec![$((
                        stringify!($argument),
                        <$type as $crate::describe::CType>::declare(stringify!($argument)),
                    )),*],
                    answer: <$result as $crate::describe::CType>::declare(""),
                }
            }
        }
    };
    (@run $body:block) => { $crate::panic::guard(move || $body) };
    (@run $body:block $answer:ty) => { $body };
    (@answer) => { $crate::status::Status };
    (@answer $answer:ty) => { $answer };
}

/// A structure of plain data, and its description.
macro_rules! structure {
    ($(#[doc = $doc:literal])+ $c:ident = $name:ident { $( $(#[doc = $of:literal])+ $field:ident: $type:ty, )+ }) => {
        $(#[doc = $doc])+
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $( $(#[doc = $of])+ pub $field: $type, )+
        }

        impl $name {
            /// What it is in C.
            pub fn structure() -> $crate::describe::Structure {
                $crate::describe::Structure {
                    name: stringify!($c),
                    doc: &[$($doc),+],
                    fields: vec![$((
                        &[$($of),+],
                        <$type as $crate::describe::CType>::declare(stringify!($field)),
                    )),+],
                }
            }
        }

        impl $crate::data::Plain for $name {
            const NAME: &'static str = stringify!($c);
        }
    };
}

pub(crate) use {functions, structure};
