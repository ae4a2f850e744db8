//! Elements of arrays, as types of Rust.

use crate::raw::{
    MP_FLOAT32, MP_FLOAT64, MP_INT8, MP_INT16, MP_INT32, MP_INT64, MP_UINT8, MP_UINT16, MP_UINT32,
    MP_UINT64, mp_dtype,
};

mod sealed {
    pub trait Sealed {}
}

/// A type whose values are the elements of a dtype. Every pattern of bits is a value, since memory
/// that comes from elsewhere holds whatever was put there; so `bool` is none.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The dtype.
    const DTYPE: mp_dtype;
}

macro_rules! elements {
    ($($rust:ty = $dtype:ident;)+) => { $(
        impl sealed::Sealed for $rust {}

        impl Element for $rust {
            const DTYPE: mp_dtype = $dtype;
        }
    )+ };
}

elements! {
    i8 = MP_INT8;
    i16 = MP_INT16;
    i32 = MP_INT32;
    i64 = MP_INT64;
    u8 = MP_UINT8;
    u16 = MP_UINT16;
    u32 = MP_UINT32;
    u64 = MP_UINT64;
    f32 = MP_FLOAT32;
    f64 = MP_FLOAT64;
}
