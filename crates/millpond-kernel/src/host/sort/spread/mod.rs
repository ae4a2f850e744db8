//! Long rows that many threads sort together: parted by keys from a sample, then part by part.
//!
//! Two kernels run after one another. [`Group`] makes items of each piece of a row and groups them
//! by the parts that they belong to; [`SortParts`] fetches a part from all pieces, sorts it and
//! writes the result.

pub(super) mod group;
mod parts;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use millpond_types::DType;

use super::item::{Alone, Form, Item, Lengthy, Packed, Paired};
use super::key::{Key, Raw};
use super::{Shape, Sort, with_form};

pub use group::Group;
pub use parts::SortParts;

/// Keys that the parts lie between.
pub(super) const PIVOTS: usize = 63;

/// Parts of a row.
pub(super) const PARTS: usize = PIVOTS + 1;

/// Elements of a piece.
const PIECE: Range<usize> = 1 << 14..1 << 16;

/// Pieces of a row, as long as that makes none too small or large.
const PIECES: usize = 32;

/// Elements that are looked at for each pivot.
const SAMPLES: usize = 16;

/// An item as words.
type Words = [u64; 3];

/// What the kernels of one sort share.
pub(super) struct Spread {
    sort: Sort,
    /// Elements of a piece, and pieces of a row.
    piece: usize,
    pieces: usize,
    /// The pivots of each row, as words; found by whoever needs them first.
    pivots: Box<[OnceLock<Box<[Words]>>]>,
    /// Where each part begins within each piece, by row, piece and part.
    starts: Box<[AtomicU64]>,
    /// Whether equal items of a row may stand for different elements.
    ambiguous: Box<[AtomicBool]>,
}

impl Spread {
    pub(super) fn new(sort: Sort) -> Self {
        let piece = sort.length.div_ceil(PIECES).clamp(PIECE.start, PIECE.end);
        let pieces = sort.length.div_ceil(piece);
        Self {
            piece,
            pieces,
            pivots: of(sort.rows),
            starts: of(sort.rows * pieces * PARTS),
            ambiguous: of(sort.rows),
            sort,
        }
    }

    /// The row of piece number `index`, and the piece's elements within it.
    fn piece(&self, index: usize) -> (usize, Range<usize>) {
        let begin = index % self.pieces * self.piece;
        let end = self.sort.length.min(begin + self.piece);
        (index / self.pieces, begin..end)
    }

    /// Where the parts of piece number `index` begin, counted through all rows.
    fn starts(&self, index: usize) -> &[AtomicU64] {
        &self.starts[index * PARTS..][..PARTS]
    }

    /// The items of a part within each piece of a row, counted from the row's first.
    fn runs(&self, row: usize, part: usize) -> impl Iterator<Item = Range<usize>> {
        (row * self.pieces..(row + 1) * self.pieces).map(move |index| {
            let (_, piece) = self.piece(index);
            let starts = self.starts(index);
            let begin = |start: &AtomicU64| piece.start + start.load(Ordering::Relaxed) as usize;
            begin(&starts[part])..starts.get(part + 1).map_or(piece.end, begin)
        })
    }

    /// How many items of a row are before a part.
    fn before(&self, row: usize, part: usize) -> usize {
        let pieces = row * self.pieces..(row + 1) * self.pieces;
        let starts = pieces.map(|index| self.starts(index)[part].load(Ordering::Relaxed) as usize);
        starts.sum()
    }

    fn item_size(&self) -> usize {
        macro_rules! size {
            ($form:ty) => {
                size_of::<<$form as Form>::Item>()
            };
        }
        with_form!(self.sort, size)
    }

    /// Bytes of the items of all rows.
    fn items(&self) -> usize {
        self.sort.rows * self.sort.length * self.item_size()
    }

    /// The pivots of a row, rising.
    fn pivots<F: Form>(&self, row: usize, elements: &[F::Raw]) -> [F::Item; PIVOTS] {
        let packed = self.pivots[row].get_or_init(|| {
            let count = PARTS * SAMPLES;
            let step = elements.len() / count;
            let mut sample: Vec<F::Item> = (0..count)
                .map(|number| {
                    // Not at even distances, which patterns of the elements might follow.
                    let jitter = (number.wrapping_mul(0x9e37_79b1) >> 7) % step.max(1);
                    let at = number * step + jitter;
                    let key = elements[at].key(self.sort.rule());
                    F::item(key.turned(self.sort.descending), at as u64)
                })
                .collect();
            sample.sort_unstable();
            let every = sample.chunks_exact(SAMPLES).skip(1);
            every.map(|chunk| chunk[0].pack()).collect()
        });
        std::array::from_fn(|number| F::Item::unpack(packed[number]))
    }
}

/// A sort by two kernels.
#[derive(Debug)]
pub struct SpreadSort(Arc<Spread>);

impl SpreadSort {
    pub(super) const fn new(spread: Arc<Spread>) -> Self {
        Self(spread)
    }

    /// Bytes of scratch memory, aligned to 16.
    #[must_use]
    pub fn scratch_bytes(&self) -> usize {
        self.0.items()
    }

    /// The first kernel: its operands are the scratch memory and the input.
    #[must_use]
    pub fn group(&self) -> Group {
        Group(Arc::clone(&self.0))
    }

    /// The second: its operands are the outputs, the scratch memory and the input.
    #[must_use]
    pub fn sort_parts(self) -> SortParts {
        SortParts(self.0)
    }
}

impl fmt::Debug for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sort.describe("", f)
    }
}

fn of<T: Default>(count: usize) -> Box<[T]> {
    std::iter::repeat_with(T::default).take(count).collect()
}
