//! Where elements stand in a sorted array, by halving.
//!
//! Several are looked for at the same time: where the array is larger than the caches, each step
//! waits for memory, and they wait together.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Access, Address, DeviceCode, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use crate::host::level::{Work, at_level};
use crate::host::sort::key::{Key, Raw, Rule, with_raw, with_rule};
use crate::host::sort::{elements, places};
use crate::simd;

/// Elements that are looked for together.
const TOGETHER: usize = 16;

/// Elements that are worth a thread.
const GRAIN: usize = 1024;

/// What is asked of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// How many elements of the sorted array are below it, as `int64`.
    Left,
    /// How many aren't above it, as `int64`.
    Right,
    /// Whether it equals none (`false`) or one (`true`), or the other way about, as `bool`. A NaN
    /// equals nothing.
    Member {
        /// Whether answers are turned.
        invert: bool,
    },
}

/// A search for the elements of one array in another, both contiguous and of one dtype.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    /// What is asked.
    pub find: Find,
    /// The dtype of both.
    pub dtype: DType,
    /// Elements of the sorted array, and the bytes that they begin at.
    pub sorted: (usize, usize),
    /// Elements that are looked for, and the bytes that they begin at.
    pub wanted: (usize, usize),
    /// Where the positions begin, if the first array is sorted only through them: `int64`, one for
    /// each of its elements.
    pub sorter: Option<usize>,
}

/// The kernel of a [`Finder`]. Operands are the output, which begins at its base, the sorted
/// array, the one with what is looked for, and the positions if there are some.
#[derive(Clone, Copy)]
pub struct FindKernel(pub(super) Finder);

impl From<Finder> for FindKernel {
    fn from(finder: Finder) -> Self {
        Self(finder)
    }
}

impl FindKernel {
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn find<R: Raw>(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) -> Result<(), KernelError> {
        let finder = &self.0;
        let at = |operand: usize, begin: usize| {
            let base: *mut u8 = bases[operand].as_ptr();
            base.wrapping_add(begin).cast_const()
        };
        let (length, begin) = finder.sorted;
        // SAFETY: the whole array, which the caller vouches for.
        let sorted: &[R] = unsafe { elements(at(1, begin), 0, length) };
        let begin = at(2, finder.wanted.1);
        // SAFETY: elements that the caller vouches for.
        let wanted: &[R] = unsafe { elements(begin, range.start, range.len()) };
        let sorter: Option<&[i64]> = finder.sorter.map(|begin| {
            // SAFETY: as many positions, which the caller vouches for.
            unsafe { elements(at(3, begin), 0, length) }
        });
        let output = bases[0].as_ptr();
        let rule = Rule::of(finder.dtype);
        let level = simd::current();
        if let Find::Member { invert } = finder.find {
            // SAFETY: the outputs of these elements, which no other call writes.
            let output: &mut [u8] = unsafe { places(output, range.start, range.len()) };
            let found = |number: usize, place: usize| {
                let element: R = wanted[number];
                let next = sorted.get(place);
                let is_member = !element.is_nan(rule)
                    && next.is_some_and(|next| next.key(rule) == element.key(rule));
                output[number] = u8::from(is_member != invert);
            };
            at_level(level, Search::new(sorted, wanted, rule, is_below, found));
            return Ok(());
        }
        // SAFETY: as above.
        let output: &mut [i64] = unsafe { places(output, range.start, range.len()) };
        if let Some(sorter) = sorter {
            return through(sorted, wanted, sorter, rule, finder.find, output);
        }
        let found = |number: usize, place: usize| output[number] = place as i64;
        if finder.find == Find::Left {
            at_level(level, Search::new(sorted, wanted, rule, is_below, found));
        } else {
            at_level(level, Search::new(sorted, wanted, rule, is_up_to, found));
        }
        Ok(())
    }
}

#[inline(always)]
fn is_below<K: Key>(element: K, wanted: K) -> bool {
    element < wanted
}

#[inline(always)]
fn is_up_to<K: Key>(element: K, wanted: K) -> bool {
    element <= wanted
}

/// Tells `found` the number of each wanted element and how many of the sorted ones are before it.
struct Search<'a, R, B, F> {
    sorted: &'a [R],
    wanted: &'a [R],
    rule: Rule,
    is_before: B,
    found: F,
}

impl<'a, R, B, F> Search<'a, R, B, F>
where
    R: Raw,
    B: Fn(R::Key, R::Key) -> bool,
    F: FnMut(usize, usize),
{
    const fn new(sorted: &'a [R], wanted: &'a [R], rule: Rule, is_before: B, found: F) -> Self {
        Self {
            sorted,
            wanted,
            rule,
            is_before,
            found,
        }
    }

    #[inline(always)]
    fn run(mut self, rule: Rule) {
        let (chunks, rest) = self.wanted.as_chunks::<TOGETHER>();
        for (number, chunk) in chunks.iter().enumerate() {
            let places = self.places(chunk.map(|element| element.key(rule)), rule);
            for (more, place) in places.into_iter().enumerate() {
                (self.found)(number * TOGETHER + more, place);
            }
        }
        let first = self.wanted.len() - rest.len();
        for (more, element) in rest.iter().enumerate() {
            let [place] = self.places([element.key(rule)], rule);
            (self.found)(first + more, place);
        }
    }

    /// How many of the sorted elements are before each of `N` keys.
    #[inline(always)]
    fn places<const N: usize>(&self, keys: [R::Key; N], rule: Rule) -> [usize; N] {
        let sorted = self.sorted;
        let mut places = [0; N];
        let mut left = sorted.len();
        if left == 0 {
            return places;
        }
        while left > 1 {
            let half = left / 2;
            for (place, key) in places.iter_mut().zip(keys) {
                // SAFETY: a place and what is left behind it never go past the end.
                let element = unsafe { sorted.get_unchecked(*place + half - 1) };
                // Without a branch, which would be guessed wrong half of the time.
                *place += half * usize::from((self.is_before)(element.key(rule), key));
            }
            left -= half;
        }
        for (place, key) in places.iter_mut().zip(keys) {
            *place += usize::from((self.is_before)(sorted[*place].key(rule), key));
        }
        places
    }
}

impl<R, B, F> Work for Search<'_, R, B, F>
where
    R: Raw,
    B: Fn(R::Key, R::Key) -> bool,
    F: FnMut(usize, usize),
{
    type Home = R;

    #[inline(always)]
    fn work(self) {
        let rule = self.rule;
        let run = |rule: Rule| self.run(rule);
        with_rule!(rule, run);
    }
}

/// The same of an array that is sorted through positions.
fn through<R: Raw>(
    sorted: &[R],
    wanted: &[R],
    sorter: &[i64],
    rule: Rule,
    find: Find,
    output: &mut [i64],
) -> Result<(), KernelError> {
    let length = sorted.len();
    let element = |place: usize| {
        let position = sorter[place];
        let index = if position < 0 {
            position + length as i64
        } else {
            position
        };
        let found = usize::try_from(index)
            .ok()
            .and_then(|index| sorted.get(index));
        found.ok_or_else(|| outside(position, length))
    };
    for (wanted, output) in wanted.iter().zip(output) {
        let key = wanted.key(rule);
        let (mut low, mut high) = (0, length);
        while low < high {
            let middle = low + (high - low) / 2;
            let found = element(middle)?.key(rule);
            if found < key || (find == Find::Right && found == key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        *output = low as i64;
    }
    Ok(())
}

/// A position of a sorter that isn't one of an element.
pub(super) fn outside(position: i64, length: usize) -> KernelError {
    KernelError::from(format!(
        "searchsorted: position {position} of the sorter is out of bounds for {length} elements"
    ))
}

impl fmt::Debug for FindKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: elements of the operands are touched, as many as the footprints say.
unsafe impl HostKernel for FindKernel {
    fn operands(&self) -> usize {
        3 + usize::from(self.0.sorter.is_some())
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let Finder {
            sorted,
            wanted,
            dtype,
            sorter,
            ..
        } = self.0;
        let read = |begin: usize, bytes: usize| Footprint {
            bytes: begin..begin + bytes,
            access: Access::Read,
        };
        match operand {
            0 => {
                let item = match self.0.find {
                    Find::Member { .. } => 1,
                    _ => size_of::<i64>(),
                };
                Footprint::filled(0..wanted.0 * item, wanted.0 * item)
            }
            1 => read(sorted.1, sorted.0 * dtype.size()),
            2 => read(wanted.1, wanted.0 * dtype.size()),
            _ => read(sorter.unwrap_or(0), sorted.0 * size_of::<i64>()),
        }
    }

    fn extent(&self) -> usize {
        self.0.wanted.0
    }

    fn grain(&self) -> usize {
        GRAIN
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        macro_rules! run {
            ($raw:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.find::<$raw>(bases, range) }
            };
        }
        with_raw!(self.0.dtype, run)
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        Some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0.find {
            Find::Member { .. } => "isin",
            _ => "searchsorted",
        };
        let Finder {
            sorted,
            wanted,
            dtype,
            ..
        } = self.0;
        write!(f, "{name}({dtype} ({},), ({},))", sorted.0, wanted.0)
    }
}
