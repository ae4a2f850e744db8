//! Conversion of contiguous elements from one dtype to another.
//!
//! Values convert as in C where C defines it. Floats become integers by cutting towards zero and
//! clamping, NaN becomes zero; complex numbers become real ones by their real part; anything but
//! zero becomes true. Half types pass through `float32`, or through `float64` where they would be
//! rounded twice otherwise.

use std::mem::MaybeUninit;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use millpond_types::DType;
use millpond_types::rounding::{bf16_from_f64, f16_from_f64};
use num_complex::Complex;

use crate::host::level::{Work, at_level};
use crate::host::value::Value;
use crate::simd::Level;

/// Elements that pass through a wider type at a time, where one side is a half type.
const HALF_BLOCK: usize = 256;

/// Calls `$with!(Type)` with the type that holds a dtype other than the half ones.
macro_rules! full {
    ($dtype:expr, $with:ident) => {
        match $dtype {
            DType::Bool => $with!(bool),
            DType::Int8 => $with!(i8),
            DType::Int16 => $with!(i16),
            DType::Int32 => $with!(i32),
            DType::Int64 => $with!(i64),
            DType::Uint8 => $with!(u8),
            DType::Uint16 => $with!(u16),
            DType::Uint32 => $with!(u32),
            DType::Uint64 => $with!(u64),
            DType::Float32 | DType::Float16 | DType::Bfloat16 => $with!(f32),
            DType::Float64 => $with!(f64),
            DType::Complex64 => $with!(Complex<f32>),
            DType::Complex128 => $with!(Complex<f64>),
        }
    };
}

/// Converts `count` elements.
///
/// # Safety
/// `src` is valid for reads of `count` initialised elements of dtype `from`, `dst` for writes of
/// `count` elements of dtype `to`; both are aligned and don't overlap.
pub unsafe fn cast(
    level: Level,
    (from, src): (DType, *const u8),
    (to, dst): (DType, *mut u8),
    count: usize,
) {
    if from == to {
        // SAFETY: the caller vouches for both sides.
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, count * from.size()) };
    }
    let (half_src, half_dst) = (is_half(from), is_half(to));
    if !half_src && !half_dst {
        // SAFETY: as the caller vouches.
        return unsafe { convert(level, (from, src), (to, dst), count) };
    }
    if rounds_twice(from, to) {
        for begin in (0..count).step_by(HALF_BLOCK) {
            let src = src.wrapping_add(begin * from.size());
            let dst = dst.wrapping_add(begin * to.size());
            let part = HALF_BLOCK.min(count - begin);
            // SAFETY: `part` elements of either side of the caller's.
            unsafe { narrow_wide(level, (from, src), (to, dst), part) };
        }
        return;
    }
    let mut buffer = [0.0_f32; HALF_BLOCK];
    for begin in (0..count).step_by(HALF_BLOCK) {
        let part = HALF_BLOCK.min(count - begin);
        let src = src.wrapping_add(begin * from.size());
        let dst = dst.wrapping_add(begin * to.size());
        let middle = &mut buffer[..part];
        let wide = middle.as_mut_ptr().cast::<u8>();
        if half_src {
            // SAFETY: `src` begins `part` elements of the caller's.
            unsafe { widen(level, from, src, middle) };
        } else {
            // SAFETY: as above; the buffer has room for `part` elements.
            unsafe { convert(level, (from, src), (DType::Float32, wide), part) };
        }
        if half_dst {
            // SAFETY: `dst` begins `part` elements of the caller's.
            unsafe { narrow(level, to, middle, dst) };
        } else {
            // SAFETY: as above.
            unsafe { convert(level, (DType::Float32, wide), (to, dst), part) };
        }
    }
}

/// Whether arithmetic on the dtype goes through `float32`.
pub const fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::Bfloat16)
}

/// Whether conversion to a half type by way of `float32` may round twice: not where that holds
/// every value short of what is infinite in the half type.
const fn rounds_twice(from: DType, to: DType) -> bool {
    match from {
        DType::Float64 | DType::Complex128 => is_half(to),
        DType::Int32 | DType::Int64 | DType::Uint32 | DType::Uint64 => {
            matches!(to, DType::Bfloat16)
        }
        _ => false,
    }
}

/// Converts to a half type by way of `float64`, and rounds once.
///
/// # Safety
/// As for [`cast`], with `count` of [`HALF_BLOCK`] at most, and a half type to convert to.
unsafe fn narrow_wide(
    level: Level,
    (from, src): (DType, *const u8),
    (to, dst): (DType, *mut u8),
    count: usize,
) {
    let mut buffer = [0.0_f64; HALF_BLOCK];
    let wide = &mut buffer[..count];
    match from {
        DType::Int64 => {
            // SAFETY: as the caller vouches.
            let src: &[i64] = unsafe { std::slice::from_raw_parts(src.cast(), count) };
            for (wide, &value) in wide.iter_mut().zip(src) {
                *wide = to_odd(value.unsigned_abs()).copysign(value as f64);
            }
        }
        DType::Uint64 => {
            // SAFETY: as the caller vouches.
            let src: &[u64] = unsafe { std::slice::from_raw_parts(src.cast(), count) };
            for (wide, &value) in wide.iter_mut().zip(src) {
                *wide = to_odd(value);
            }
        }
        _ => {
            let wide = (DType::Float64, wide.as_mut_ptr().cast());
            // SAFETY: `count` elements of the caller's, and a buffer with room for them.
            unsafe { convert(level, (from, src), wide, count) };
        }
    }
    if to == DType::Float16 {
        // SAFETY: the caller vouches for the room.
        let dst: &mut [MaybeUninit<f16>] =
            unsafe { std::slice::from_raw_parts_mut(dst.cast(), count) };
        for (dst, &wide) in dst.iter_mut().zip(&*wide) {
            dst.write(f16_from_f64(wide));
        }
    } else {
        // SAFETY: the caller vouches for the room.
        let dst: &mut [MaybeUninit<bf16>] =
            unsafe { std::slice::from_raw_parts_mut(dst.cast(), count) };
        for (dst, &wide) in dst.iter_mut().zip(&*wide) {
            dst.write(bf16_from_f64(wide));
        }
    }
}

/// The value, or where `float64` lacks it one of both beside it that isn't in the middle between
/// two halves.
fn to_odd(value: u64) -> f64 {
    const LOST: u64 = 0xfff;
    let kept = value & !LOST | if value & LOST == 0 { 0 } else { 0x800 };
    if value >> f64::MANTISSA_DIGITS == 0 {
        value as f64
    } else {
        kept as f64
    }
}

/// Both sides as slices.
///
/// # Safety
/// As for [`cast`], with the dtypes of the types.
#[inline(always)]
unsafe fn sides<'a, S, D>(
    src: *const u8,
    dst: *mut u8,
    count: usize,
) -> (&'a [S], &'a mut [MaybeUninit<D>]) {
    // SAFETY: the caller vouches for the source.
    let src = unsafe { std::slice::from_raw_parts(src.cast(), count) };
    // SAFETY: the caller vouches for the destination.
    let dst = unsafe { std::slice::from_raw_parts_mut(dst.cast(), count) };
    (src, dst)
}

/// # Safety
/// As for [`cast`]; neither dtype is a half one.
unsafe fn convert(
    level: Level,
    (from, src): (DType, *const u8),
    (to, dst): (DType, *mut u8),
    count: usize,
) {
    macro_rules! source {
        ($s:ty) => {{
            macro_rules! target {
                ($d:ty) => {{
                    // SAFETY: as the caller vouches; the types are those of the dtypes.
                    let (src, dst) = unsafe { sides(src, dst, count) };
                    at_level(level, Convert::<$s, $d> { src, dst });
                }};
            }
            full!(to, target)
        }};
    }
    full!(from, source);
}

struct Convert<'a, S: Value, D: Value> {
    src: &'a [S::Storage],
    dst: &'a mut [MaybeUninit<D::Storage>],
}

impl<S: Value + Cast<D>, D: Value> Work for Convert<'_, S, D> {
    type Home = Self;

    #[inline(always)]
    fn work(self) {
        for (dst, src) in self.dst.iter_mut().zip(self.src) {
            dst.write(S::load(*src).cast().store());
        }
    }
}

/// # Safety
/// `src` holds as many elements of the half dtype as `dst`.
unsafe fn widen(level: Level, from: DType, src: *const u8, dst: &mut [f32]) {
    if from == DType::Float16 {
        // SAFETY: the caller vouches for the elements.
        let src: &[f16] = unsafe { std::slice::from_raw_parts(src.cast(), dst.len()) };
        src.convert_to_f32_slice(dst);
    } else {
        // SAFETY: the caller vouches for the elements.
        let src: &[u16] = unsafe { std::slice::from_raw_parts(src.cast(), dst.len()) };
        at_level(level, Widen { src, dst });
    }
}

struct Widen<'a> {
    src: &'a [u16],
    dst: &'a mut [f32],
}

impl Work for Widen<'_> {
    type Home = Self;

    #[inline(always)]
    fn work(self) {
        for (dst, &src) in self.dst.iter_mut().zip(self.src) {
            *dst = f32::from_bits(u32::from(src) << 16);
        }
    }
}

/// # Safety
/// `dst` has room for as many elements of the half dtype as there are in `src`.
unsafe fn narrow(level: Level, to: DType, src: &[f32], dst: *mut u8) {
    if to == DType::Float16 {
        let mut block = [f16::ZERO; HALF_BLOCK];
        let block = &mut block[..src.len()];
        block.convert_from_f32_slice(src);
        // SAFETY: the caller vouches for the room.
        unsafe { std::ptr::copy_nonoverlapping(block.as_ptr(), dst.cast(), block.len()) };
    } else {
        // SAFETY: the caller vouches for the room.
        let dst = unsafe { std::slice::from_raw_parts_mut(dst.cast(), src.len()) };
        at_level(level, Narrow { src, dst });
    }
}

struct Narrow<'a> {
    src: &'a [f32],
    dst: &'a mut [MaybeUninit<u16>],
}

impl Work for Narrow<'_> {
    type Home = Self;

    #[inline(always)]
    fn work(self) {
        for (dst, &src) in self.dst.iter_mut().zip(self.src) {
            // To nearest, ties to even; a NaN keeps its sign and becomes quiet.
            let bits = src.to_bits();
            let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
            let quiet = bits >> 16 | 0x0040;
            dst.write(if src.is_nan() { quiet } else { rounded } as u16);
        }
    }
}

/// One number as another type.
trait Cast<D> {
    fn cast(self) -> D;
}

macro_rules! casts {
    (from $($s:ty),*; to $d:tt) => { $( casts!(@pairs $s; $d); )* };
    (@pairs $s:ty; ($($d:ty),*)) => {
        $( impl Cast<$d> for $s {
            #[inline(always)]
            fn cast(self) -> $d {
                self as $d
            }
        } )*
        impl Cast<bool> for $s {
            #[inline(always)]
            fn cast(self) -> bool {
                self != Self::default()
            }
        }
        casts!(@complex $s; f32 f64);
    };
    (@complex $s:ty; $($r:ty)*) => { $(
        impl Cast<Complex<$r>> for $s {
            #[inline(always)]
            fn cast(self) -> Complex<$r> {
                Complex::new(self as $r, 0.0)
            }
        }
    )* };
}

casts! {
    from i8, i16, i32, i64, u8, u16, u32, u64;
    to (i8, i16, i32, i64, u8, u16, u32, u64, f32, f64)
}

casts! {
    from f32, f64;
    to (i64, u32, u64, f32, f64)
}

/// Floats to integers by way of `i32`, which processors convert to in vectors.
macro_rules! narrow_casts {
    ($($s:ty => $($d:ty),*;)*) => { $( $(
        impl Cast<$d> for $s {
            #[allow(clippy::cast_lossless, reason = "one of the types is `i32` itself")]
            #[inline(always)]
            fn cast(self) -> $d {
                const BEYOND: $s = -(i32::MIN as $s);
                let inside = self.abs() < BEYOND;
                // SAFETY: zero, or within the range of `i32`.
                let whole: i32 = unsafe { (if inside { self } else { 0.0 }).to_int_unchecked() };
                let whole = if self >= BEYOND { i32::MAX } else { whole };
                let whole = if self <= -BEYOND { i32::MIN } else { whole };
                whole.clamp(<$d>::MIN as i32, <$d>::MAX as i32) as $d
            }
        }
    )* )* };
}

narrow_casts! {
    f32 => i8, i16, i32, u8, u16;
    f64 => i8, i16, i32, u8, u16;
}

impl<D> Cast<D> for bool
where
    u8: Cast<D>,
{
    #[inline(always)]
    fn cast(self) -> D {
        u8::from(self).cast()
    }
}

macro_rules! from_complex {
    ($($r:ty),*) => { $(
        from_complex!(@real $r: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

        impl Cast<bool> for Complex<$r> {
            #[inline(always)]
            fn cast(self) -> bool {
                self.re != 0.0 || self.im != 0.0
            }
        }

        impl<D> Cast<Complex<D>> for Complex<$r>
        where
            $r: Cast<D>,
        {
            #[inline(always)]
            fn cast(self) -> Complex<D> {
                Complex { re: self.re.cast(), im: self.im.cast() }
            }
        }
    )* };
    (@real $r:ty: $($d:ty)*) => { $(
        impl Cast<$d> for Complex<$r> {
            #[inline(always)]
            fn cast(self) -> $d {
                self.re.cast()
            }
        }
    )* };
}

from_complex!(f32, f64);
