//! Arrays for tests: memory with guard bytes, layouts of every sort, and elements to compare.

use std::ops::Range;
use std::sync::MutexGuard;

use millpond_hal::{Address, HostKernel, KernelError};
use millpond_types::{DType, Kind, Layout, Scalar};
use num_complex::Complex;

use crate::Operation;
use crate::simd::{self, Level};

/// What fills memory that nobody may write.
const GUARD: u8 = 0xA5;

/// How an array lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    Contiguous,
    Offset,
    Sliced,
    Reversed,
    Transposed,
    Broadcast,
}

impl Lie {
    pub(crate) const ALL: &'static [Self] = &[
        Self::Contiguous,
        Self::Offset,
        Self::Sliced,
        Self::Reversed,
        Self::Transposed,
        Self::Broadcast,
    ];

    /// A layout of two axes.
    pub(crate) fn layout(self, rows: usize, columns: usize) -> Layout {
        let (r, c) = (rows as isize, columns as isize);
        let (strides, offset) = match self {
            Self::Contiguous => ([c, 1], 0),
            Self::Offset => ([c, 1], 3),
            Self::Sliced => ([3 * c, 2], 1),
            Self::Reversed => ([-c, -1], (rows * columns).saturating_sub(1)),
            Self::Transposed => ([1, r], 0),
            Self::Broadcast => ([0, 1], 2),
        };
        Layout::new(&[rows, columns], &strides, offset).unwrap()
    }
}

/// A layout of one axis without gaps.
pub(crate) fn line(size: usize) -> Layout {
    Layout::contiguous(&[size], 1).unwrap()
}

/// The operand dtypes of a call whose operands are of `dtype`.
pub(crate) fn operands(operation: &Operation, dtype: DType) -> Vec<DType> {
    let mut dtypes = vec![dtype; operation.arity()];
    if operation.name() == "where" {
        dtypes[0] = DType::Bool;
    }
    dtypes
}

/// An array of some dtype and layout, in memory with guards on both sides.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
    memory: Vec<u64>,
    /// Bytes of the memory before the address.
    begin: usize,
}

impl Array {
    /// An array of guard bytes.
    pub(crate) fn blank(dtype: DType, layout: Layout) -> Self {
        let bytes = layout.span().end * dtype.size();
        let memory = vec![u64::from_ne_bytes([GUARD; 8]); bytes.div_ceil(8) + 2];
        Self {
            dtype,
            layout,
            memory,
            begin: 0,
        }
    }

    /// An array with the elements that `value` gives for each number.
    pub(crate) fn of(dtype: DType, layout: Layout, value: impl Fn(usize) -> Scalar) -> Self {
        let mut array = Self::blank(dtype, layout);
        for index in 0..array.layout.size() {
            let bytes = value(index).to_bytes(dtype);
            let at = array.place(index);
            array.bytes_mut()[at].copy_from_slice(&bytes[..dtype.size()]);
        }
        array
    }

    /// The same elements, so many bytes further on: less than a word.
    pub(crate) fn moved(mut self, bytes: usize) -> Self {
        let memory = self.bytes().to_vec();
        let all = self.bytes_mut();
        all[bytes..].copy_from_slice(&memory[..memory.len() - bytes]);
        all[..bytes].fill(GUARD);
        self.begin += bytes;
        self
    }

    pub(crate) fn address(&mut self) -> Address {
        Address::of(self.memory.as_mut_ptr()).offset(self.begin)
    }

    fn bytes(&self) -> &[u8] {
        let len = self.memory.len() * 8;
        // SAFETY: the same memory as bytes.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.memory.len() * 8;
        // SAFETY: the same memory as bytes.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), len) }
    }

    /// The bytes of element number `index` in row-major order.
    fn place(&self, index: usize) -> Range<usize> {
        let mut rest = index;
        let mut at = self.layout.offset() as isize;
        for (&size, &stride) in self.layout.shape().iter().zip(self.layout.strides()).rev() {
            at += (rest % size) as isize * stride;
            rest /= size;
        }
        let begin = self.begin + at as usize * self.dtype.size();
        begin..begin + self.dtype.size()
    }

    pub(crate) fn raw(&self, index: usize) -> &[u8] {
        &self.bytes()[self.place(index)]
    }

    pub(crate) fn raw_mut(&mut self, index: usize) -> &mut [u8] {
        let place = self.place(index);
        &mut self.bytes_mut()[place]
    }

    pub(crate) fn element(&self, index: usize) -> Scalar {
        Scalar::from_bytes(self.dtype, self.raw(index)).unwrap()
    }

    /// Panics if a byte that belongs to no element was changed.
    pub(crate) fn check_guards(&self) {
        let mut owned = vec![false; self.bytes().len()];
        for index in 0..self.layout.size() {
            owned[self.place(index)].fill(true);
        }
        let mut bytes = self.bytes().iter().zip(owned);
        assert!(
            bytes.all(|(byte, owned)| owned || *byte == GUARD),
            "written beside {self:?}"
        );
    }
}

/// Runs a kernel over ranges that `cut` gives the ends of, then finishes it.
pub(crate) fn run(kernel: &dyn HostKernel, arrays: &mut [&mut Array], cuts: &[usize]) {
    try_run(kernel, arrays, cuts).unwrap();
}

/// The same; the first error of a range.
pub(crate) fn try_run(
    kernel: &dyn HostKernel,
    arrays: &mut [&mut Array],
    cuts: &[usize],
) -> Result<(), KernelError> {
    let bases: Vec<_> = arrays.iter_mut().map(|array| array.address()).collect();
    assert_eq!(bases.len(), kernel.operands());
    for (operand, array) in arrays.iter().enumerate() {
        let bytes = kernel.footprint(operand).bytes;
        assert!(bytes.end <= array.layout.span().end * array.dtype.size());
    }
    let mut begin = 0;
    for end in cuts.iter().copied().chain([kernel.extent()]) {
        let end = end.clamp(begin, kernel.extent());
        // SAFETY: the arrays have the layouts that the kernel was made of.
        unsafe { kernel.run(&bases, begin..end) }?;
        begin = end;
    }
    // SAFETY: as above.
    unsafe { kernel.finish(&bases) }
}

/// Forces a level while it lives; one test at a time.
pub(crate) struct AtLevel(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl AtLevel {
    pub(crate) fn new(level: Level) -> Self {
        let guard = simd::tests::hold();
        simd::force(level);
        Self(guard)
    }
}

impl Drop for AtLevel {
    fn drop(&mut self) {
        simd::force(Level::Avx512);
    }
}

/// The levels that this processor has.
pub(crate) fn levels() -> impl Iterator<Item = Level> {
    Level::ALL
        .iter()
        .copied()
        .filter(|&level| level <= simd::supported())
}

/// Numbers that operations tend to get wrong, and ordinary ones.
pub(crate) fn sample(dtype: DType, index: usize) -> Scalar {
    const ODD: &[f64] = &[
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        3.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-3,
        17.0,
        -0.999,
        40.25,
        1e4,
        -7.0,
        2.0,
        1e-30,
        0.75,
        -3.0,
    ];
    let odd = ODD[index * 7 % ODD.len()];
    match dtype.kind() {
        Kind::Bool => Scalar::Bool(index.is_multiple_of(3)),
        Kind::Int | Kind::Uint => {
            let value = index as i128 * 37 % 101;
            Scalar::Int(if dtype.kind() == Kind::Int {
                value - 50
            } else {
                value
            })
        }
        Kind::Float if index.is_multiple_of(3) => Scalar::Float(odd),
        Kind::Float => Scalar::Float((index % 97) as f64 * 0.21 - 9.0),
        Kind::Complex => {
            let re = (index % 89) as f64 * 0.07 - 3.0;
            let im = (index % 31) as f64 * 0.13 - 2.0;
            Scalar::Complex(Complex::new(re, im))
        }
    }
}

/// Whether two elements of a dtype are the same, but for `ulp` units in the last place of the
/// larger part. NaNs are the same.
pub(crate) fn is_close(dtype: DType, a: Scalar, b: Scalar, ulp: u32) -> bool {
    let epsilon = match dtype.real() {
        DType::Float16 => 9.8e-4,
        DType::Bfloat16 => 7.9e-3,
        DType::Float32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    match (a, b) {
        (Scalar::Float(_) | Scalar::Complex(_), _) => {
            let (a, b) = (a.to_complex(), b.to_complex());
            let scale = [a.re, a.im, b.re, b.im]
                .into_iter()
                .filter(|part| part.is_finite())
                .fold(f64::from(f32::MIN_POSITIVE), |largest, part| {
                    largest.max(part.abs())
                });
            let near = |a: f64, b: f64| {
                a == b
                    || (a.is_nan() && b.is_nan())
                    || (a - b).abs() <= f64::from(ulp) * epsilon * scale
            };
            near(a.re, b.re) && near(a.im, b.im)
        }
        _ => a == b,
    }
}
