//! From a row to an [`Operation`](super::Operation): the loops of its bodies.

use millpond_types::DType;

use crate::host::body::Body;

/// A loop and the dtype of the operands that it is for.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The dtype of the operands; where they differ, of the last one.
    pub dtype: DType,
    /// The loop.
    pub body: &'static dyn Body,
}

/// The loops of an operation, by dtype.
#[derive(Clone, Copy, Debug)]
pub struct Table([Option<&'static dyn Body>; DType::ALL.len()]);

impl Table {
    /// The table of these entries.
    #[must_use]
    pub(crate) const fn new(groups: &[&[Entry]]) -> Self {
        let mut table = [None; DType::ALL.len()];
        let mut group = 0;
        while group < groups.len() {
            let mut index = 0;
            while index < groups[group].len() {
                let entry = groups[group][index];
                table[entry.dtype as usize] = Some(entry.body);
                index += 1;
            }
            group += 1;
        }
        Self(table)
    }

    /// The loop for a dtype.
    #[inline]
    pub(crate) const fn at(&self, dtype: DType) -> Option<&'static dyn Body> {
        self.0[dtype as usize]
    }
}

/// The name of an operation whose row had to be called otherwise, as `where` is a keyword.
pub(super) const fn spoken(row: &'static str) -> &'static str {
    match row.as_bytes() {
        [.., b'_'] => row.split_at(row.len() - 1).0,
        _ => row,
    }
}

/// The loops of one body, for each dtype of a kind.
///
/// Half types without bodies of their own, by `half`, are computed by those of `float32`.
///
/// `real` and `complex` bodies are run as they are; those of `lane`, `complex_lane` and
/// `complex_part`, which gives a real number, are guarded: run at lanes, and again at floats where
/// that gave NaN.
macro_rules! group {
    ($arity:ident bool $body:ident) => {
        group!(@plain $arity $body Truth: Bool bool)
    };
    ($arity:ident int $body:ident) => {
        group!(@plain $arity $body Integer:
            Int8 i8, Int16 i16, Int32 i32, Int64 i64, Uint8 u8, Uint16 u16, Uint32 u32, Uint64 u64)
    };
    ($arity:ident half $body:ident) => {
        group!(@plain $arity $body Short: Float16 f16, Bfloat16 bf16)
    };
    ($arity:ident real $body:ident) => {
        group!(@plain $arity $body Number: Float32 f32, Float64 f64)
    };
    ($arity:ident complex $body:ident) => {
        group!(@plain $arity $body Number: Complex64 f32, Complex128 f64)
    };
    ($arity:ident lane $body:ident) => {
        group!(@guarded $arity $body
            Float32 f32: Lane<f32> => Lane<f32>,
            Float64 f64: Lane<f64> => Lane<f64>)
    };
    ($arity:ident complex_lane $body:ident) => {
        group!(@guarded $arity $body
            Complex64 f32: Complex<Lane<f32>> => Complex<Lane<f32>>,
            Complex128 f64: Complex<Lane<f64>> => Complex<Lane<f64>>)
    };
    ($arity:ident complex_part $body:ident) => {
        group!(@guarded $arity $body
            Complex64 f32: Complex<Lane<f32>> => Lane<f32>,
            Complex128 f64: Complex<Lane<f64>> => Lane<f64>)
    };
    (@plain $arity:ident $body:ident $symbol:ident: $($dtype:ident $number:ty),*) => {
        &[$( Entry {
            dtype: DType::$dtype,
            body: &group!(@new $arity)(
                super::super::$body::<$number>,
                group!(@template $arity $body $symbol),
            ),
        } ),*]
    };
    (@guarded $arity:ident $body:ident $($dtype:ident $float:ty: $value:ty => $output:ty),*) => {
        &[$( Entry {
            dtype: DType::$dtype,
            body: &group!(@new_guarded $arity)(
                group!(@function $arity $body Lane<$float>, $value, $output),
                super::super::$body::<$float>,
                group!(@template $arity $body Number),
            ),
        } ),*]
    };
    (@template $arity:ident $body:ident $symbol:ident) => {
        Template {
            name: concat!(module_path!(), "::", stringify!($body)),
            trace: || trace::$arity(super::super::$body::<trace::$symbol>),
        }
    };
    (@function unary $body:ident $real:ty, $value:ty, $output:ty) => {
        group!(@function ($value,) $output, |x| super::super::$body::<$real>(x.0))
    };
    (@function binary $body:ident $real:ty, $value:ty, $output:ty) => {
        group!(@function ($value, $value) $output, |x| super::super::$body::<$real>(x.0, x.1))
    };
    (@function ($($value:ty),+ $(,)?) $output:ty, |$x:ident| $call:expr) => {{
        #[derive(Clone, Copy)]
        struct Fast;

        impl Function<($($value,)+)> for Fast {
            type Output = $output;

            #[inline(always)]
            fn call(self, $x: ($($value,)+)) -> $output {
                $call
            }
        }

        Fast
    }};
    (@new unary) => { Unary::new };
    (@new binary) => { Binary::new };
    (@new ternary) => { Ternary::new };
    (@new_guarded unary) => { GuardedUnary::new };
    (@new_guarded binary) => { GuardedBinary::new };
}
pub(super) use group;

/// Makes a chapter's rows the statics of a module `rows`, with the list of them as `ALL`.
macro_rules! registry {
    ($(
        $(#[doc = $documentation:literal])*
        $arity:ident $name:ident($($argument:ident),+) { $($group:ident $body:ident),+ $(,)? }
        ulp $ulp:literal $(refuses $kind:ident)?
        $({ $($given:literal),+ => $shown:literal })?;
    )*) => {
        /// The operations of the chapter, each by its name.
        #[allow(
            non_upper_case_globals,
            unused_imports,
            reason = "a row's static is called as the operation; chapters use what they need"
        )]
        pub mod rows {
            use crate::ops::Operation;

            $(
                // A module for each row, so that the compiler keeps its loops apart from others.
                mod $name {
                    use half::{bf16, f16};
                    use millpond_types::DType;

                    use crate::device::{Template, trace};
                    use crate::host::body::{
                        Binary, Function, GuardedBinary, GuardedUnary, Ternary, Unary,
                    };
                    use crate::math::{Complex, Lane};
                    use crate::ops::row::{Entry, Table, group};
                    use crate::ops::Operation;

                    $(#[doc = $documentation])*
                    pub static $name: Operation = Operation {
                        name: $crate::ops::row::spoken(stringify!($name)),
                        arguments: &[$(stringify!($argument)),+],
                        documentation: concat!($($documentation),*),
                        ulp: $ulp,
                        refuses: $crate::ops::row::refused!($($kind)?),
                        example: $crate::ops::row::example!($($($given),+ => $shown)?),
                        table: {
                            const GROUPS: &[&[Entry]] = &[$(group!($arity $group $body)),+];
                            Table::new(GROUPS)
                        },
                    };
                }
                pub use self::$name::$name;
            )*

            pub(in crate::ops) const ALL: &[&Operation] = &[$(&$name),*];
        }
    };
}
pub(super) use registry;

/// What a row refuses outright, though it could be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Truth values.
    Bool,
}

macro_rules! refused {
    () => {
        None
    };
    ($what:ident) => {
        Some($crate::ops::row::Refusal::$what)
    };
}
pub(super) use refused;

macro_rules! example {
    () => {
        None
    };
    ($($given:literal),+ => $shown:literal) => {
        Some($crate::ops::Example { operands: &[$($given),+], result: $shown })
    };
}
pub(super) use example;
