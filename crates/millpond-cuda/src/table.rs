//! Functions of a library that is loaded at run time: one list, and what it becomes, a trait and a table
//! of pointers that the library fills.
//!
//! What stands behind the trait may be a library that was loaded or a fake that tests control. A
//! function that a library lacks is an answer instead of a panic.

/// Makes the trait and the table of a list of functions: the name of the method, the library's name of
/// the function, and its arguments. They answer a code, which has a word for a missing function.
macro_rules! functions {
    (
        $(#[$meta:meta])*
        $trait:ident, $table:ident -> $code:ident;
        $($method:ident = $symbol:literal ($($argument:ident: $type:ty),*);)*
    ) => {
        $(#[$meta])*
        ///
        /// Arguments and meaning are those of the function in CUDA's documentation that a row names,
        /// and what CUDA asks of the arguments is what the caller of a method owes.
        pub(crate) trait $trait: Send + Sync {
            $(
                #[allow(clippy::too_many_arguments, reason = "as many as CUDA's function has")]
                unsafe fn $method(&self, $($argument: $type),*) -> $code;
            )*
        }

        /// The functions that a library has.
        pub(super) struct $table {
            $($method: Option<unsafe extern "C" fn($($type),*) -> $code>,)*
            /// Keeps the code in memory.
            _library: libloading::Library,
        }

        impl $table {
            /// Looks every function up; the names are those that the library lacks.
            ///
            /// # Safety
            /// The library is the one of the list: its functions have the types that are declared
            /// here.
            pub(super) unsafe fn of(library: libloading::Library) -> (Self, Vec<&'static str>) {
                let mut missing = Vec::new();
                $(
                    // SAFETY: the caller's promise.
                    let symbol = unsafe { library.get(concat!($symbol, "\0").as_bytes()) };
                    let $method = symbol.ok().map(|symbol| *symbol);
                    if $method.is_none() {
                        missing.push($symbol);
                    }
                )*
                (Self { $($method,)* _library: library }, missing)
            }
        }

        impl $trait for $table {
            $(
                unsafe fn $method(&self, $($argument: $type),*) -> $code {
                    match self.$method {
                        // SAFETY: the caller's promise; the library is loaded while `self` lives.
                        Some(function) => unsafe { function($($argument),*) },
                        None => $code::MISSING,
                    }
                }
            )*
        }
    };
}

pub(crate) use functions;
