//! How products are cut into pieces, so that all threads have some.
//!
//! Results are cut into blocks, large enough that packing the operands anew for each costs little.
//! Where a result is too small for that, its sums are cut as well, and the *parts* of each sum are
//! added in order at the end. Of the product of a matrix and its own transpose only the blocks on
//! and above the diagonal are computed: the others mirror them.
//!
//! Cuts follow from sizes and the number of threads, so the same device gives the same bits each
//! time.

use std::ops::Range;

use super::Size;

/// Multiplications that a piece should have at least: about a tenth of a millisecond.
const LEAST: usize = 1 << 21;

/// The same for products with a vector, where memory is what takes time.
const LEAST_THIN: usize = 1 << 17;

/// Pieces for each thread: enough that one which joins late doesn't hold the others up.
const PIECES_PER_THREAD: usize = 4;

/// Pieces for each thread with which work is even: sums are cut where there are fewer.
const EVEN: usize = 2;

/// Sizes of blocks are multiples of this: whole vectors and whole lines of the caches.
const ALIGNED: usize = 64;

/// Blocks along the diagonal of a mirrored product: with so many, 9/16 of its blocks are computed.
const DIAGONAL: usize = 8;

/// The sides of such blocks at least: with smaller ones packing takes what mirroring spares.
const LEAST_SIDE: usize = 128;

/// What a product is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    size: Size,
    /// Rows and columns of a block, and terms of a part of its sums.
    block: [usize; 3],
    /// Blocks along the rows and the columns, and parts of each sum.
    counts: [usize; 3],
    is_mirrored: bool,
}

/// Where a block is, and which part of its sums is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
    pub(super) inner: Range<usize>,
}

impl Cut {
    /// One piece.
    pub(super) fn whole(size: Size) -> Self {
        Self::new(size, [size.rows, size.columns, size.inner], false)
    }

    /// Pieces of so many products, for so many threads.
    pub(super) fn of(size: Size, products: usize, threads: usize) -> Self {
        let mut block = [size.rows, size.columns];
        if threads < 2 {
            return Self::whole(size);
        }
        let is_thin = size.rows.min(size.columns) == 1;
        let least = if is_thin { LEAST_THIN } else { LEAST };
        let wanted = threads.saturating_mul(PIECES_PER_THREAD);
        let mut pieces = products;
        while pieces < wanted {
            let axis = usize::from(block[1] >= block[0]);
            let half = (block[axis] / 2).next_multiple_of(ALIGNED);
            let part = block[0].saturating_mul(block[1]) / 2;
            if half >= block[axis] || part.saturating_mul(size.inner) < least {
                break;
            }
            block[axis] = half;
            pieces *= 2;
        }
        Self::new(size, [block[0], block[1], size.inner], false).in_parts(products, threads, least)
    }

    /// The same blocks, with sums that aren't cut.
    pub(super) fn with_whole_sums(self) -> Self {
        let [rows, columns, _] = self.block;
        Self::new(
            self.size,
            [rows, columns, self.size.inner],
            self.is_mirrored,
        )
    }

    /// Pieces of products of matrices and their own transposes.
    pub(super) fn mirrored(size: Size, products: usize, threads: usize) -> Self {
        let plain = Self::of(size, products, threads);
        let aligned = |side: usize| side.next_multiple_of(ALIGNED);
        let mut side = aligned(size.rows.div_ceil(DIAGONAL)).max(LEAST_SIDE);
        let wanted = threads.saturating_mul(PIECES_PER_THREAD);
        let pieces = |side: usize| triangle(size.rows.div_ceil(side)).saturating_mul(products);
        while side > LEAST_SIDE && pieces(side) < wanted {
            side = aligned(side / 2).max(LEAST_SIDE);
        }
        // One block mirrors nothing, and little work isn't worth another call.
        if side >= size.rows || side * side * size.inner < LEAST_THIN {
            return plain;
        }
        Self::new(size, [side, side, size.inner], true).in_parts(products, threads, LEAST)
    }

    /// The same with the sums cut too, if there are few blocks and each is much work.
    fn in_parts(self, products: usize, threads: usize, least: usize) -> Self {
        let pieces = products.saturating_mul(self.blocks()).max(1);
        if pieces >= EVEN.saturating_mul(threads) {
            return self;
        }
        let wanted = threads.saturating_mul(PIECES_PER_THREAD) / pieces;
        let parts = wanted.min(self.work() / least).max(1);
        let [rows, columns, inner] = self.block;
        let terms = inner.div_ceil(parts).next_multiple_of(ALIGNED);
        Self::new(self.size, [rows, columns, terms], self.is_mirrored)
    }

    fn new(size: Size, block: [usize; 3], is_mirrored: bool) -> Self {
        let lengths = [size.rows, size.columns, size.inner];
        let mut counts = [0, 1, 2].map(|axis| lengths[axis].div_ceil(block[axis].max(1)));
        // A sum of nothing is zero, which somebody has to write.
        counts[2] = counts[2].max(1);
        Self {
            size,
            block,
            counts,
            is_mirrored,
        }
    }

    /// Blocks of a product that are computed.
    pub(super) const fn blocks(&self) -> usize {
        let [rows, columns, _] = self.counts;
        if self.is_mirrored {
            triangle(rows)
        } else {
            rows * columns
        }
    }

    /// Pieces of a product: the parts of the first block, then those of the next.
    pub(super) const fn pieces(&self) -> usize {
        self.blocks() * self.counts[2]
    }

    /// Parts of each sum.
    pub(super) const fn parts(&self) -> usize {
        self.counts[2]
    }

    /// Whether the block of a piece has a mirror image that isn't computed.
    pub(super) fn mirrors(&self, piece: &Piece) -> bool {
        self.is_mirrored && piece.rows != piece.columns
    }

    /// Multiplications of a whole piece.
    pub(super) fn work(&self) -> usize {
        let [rows, columns, inner] = self.block;
        rows.saturating_mul(columns).saturating_mul(inner)
    }

    /// The piece of this number.
    pub(super) fn piece(&self, number: usize) -> Piece {
        let [_, along_columns, parts] = self.counts;
        let (block, part) = (number / parts, number % parts);
        let (row, column) = if self.is_mirrored {
            above_diagonal(block, along_columns)
        } else {
            (block / along_columns, block % along_columns)
        };
        let lengths = [self.size.rows, self.size.columns, self.size.inner];
        let range = |axis: usize, at: usize| {
            let begin = at * self.block[axis];
            begin..lengths[axis].min(begin + self.block[axis])
        };
        Piece {
            rows: range(0, row),
            columns: range(1, column),
            inner: range(2, part),
        }
    }
}

/// Blocks on and above a diagonal of so many.
const fn triangle(count: usize) -> usize {
    count * (count + 1) / 2
}

/// The row and column of a block, counted along the rows of a square from the diagonal on.
const fn above_diagonal(number: usize, count: usize) -> (usize, usize) {
    let (mut row, mut left) = (0, number);
    while left >= count - row {
        left -= count - row;
        row += 1;
    }
    (row, row + left)
}
