//! Products of matrices by a kernel of ours: of integers, which no library multiplies, of what lies in no
//! form of a library's, and sums of products along lines, which it takes longer for.

use std::fmt::Write;

use millpond_hal::code::{Arguments, Call, Launch, Launches, Machine};
use millpond_hal::library::{Axis, LibraryWork, Matrix, Task};
use millpond_types::DType;
use smallvec::SmallVec;

use super::{MOST_BLOCKS, STACK, launch, several};

/// Rows and columns of a tile, as the source has it.
const TILE: usize = 64;

/// Threads of a block.
const THREADS: usize = 256;

/// Products up to which a warp takes a sum.
const SHORT: usize = 1024;

/// Products worth a block of their own, and what pieces have a multiple of.
const PIECE: usize = 8192;
const WHOLE: usize = 4096;

/// Bytes of the largest number.
const NUMBER: usize = 16;

/// What matrices are made of.
pub(super) struct Elements {
    /// The type of an element, and of a sum.
    element: &'static str,
    total: &'static str,
    /// The entries for matrices, for sums, and for sums of pieces.
    pub(super) entries: [&'static str; 3],
}

macro_rules! elements {
    ($name:literal: $element:literal, $total:literal) => {
        Elements {
            element: $element,
            total: $total,
            entries: [
                concat!("tiles_", $name),
                concat!("sums_", $name),
                concat!("merge_", $name),
            ],
        }
    };
}

/// All of them. What wraps is the same whether signed or not.
pub(super) const ELEMENTS: [Elements; 8] = [
    elements!("u8": "unsigned char", "unsigned int"),
    elements!("u16": "unsigned short", "unsigned int"),
    elements!("u32": "unsigned int", "unsigned int"),
    elements!("u64": "word", "word"),
    elements!("f32": "float", "float"),
    elements!("f64": "double", "double"),
    elements!("c64": "Pair<float>", "Pair<float>"),
    elements!("c128": "Pair<double>", "Pair<double>"),
];

/// The number of what a dtype's matrices are made of.
fn elements_of(dtype: DType) -> Option<usize> {
    Some(match dtype {
        DType::Bool | DType::Float16 | DType::Bfloat16 => return None,
        DType::Float32 => 4,
        DType::Float64 => 5,
        DType::Complex64 => 6,
        DType::Complex128 => 7,
        integer => integer.size().ilog2() as usize,
    })
}

/// A stack of products.
pub(super) struct Product {
    elements: usize,
    item: usize,
    conjugates: bool,
    /// The result, and the two that are multiplied.
    operands: [Matrix; 3],
    stack: SmallVec<[Axis; 2]>,
}

/// How sums are shared.
struct Shares {
    /// Threads that take one.
    lanes: usize,
    /// Products of a piece, and pieces of a sum.
    piece: usize,
    pieces: usize,
}

impl Product {
    pub(super) fn of(work: &LibraryWork) -> Option<Self> {
        let (Task::Product { conjugates }, &[result, lhs, rhs]) = (work.task, &work.operands[..])
        else {
            return None;
        };
        Some(Self {
            elements: elements_of(result.dtype)?,
            item: result.dtype.size(),
            conjugates,
            operands: [result, lhs, rhs],
            stack: several(&work.stack)?,
        })
    }

    /// Whether each result is one sum.
    pub(super) fn is_sum(&self) -> bool {
        let [result, ..] = &self.operands;
        result.rows == 1 && result.columns == 1
    }

    const fn elements(&self) -> &'static Elements {
        &ELEMENTS[self.elements]
    }

    fn count(&self) -> usize {
        self.stack.iter().map(|axis| axis.size).product()
    }

    fn inner(&self) -> usize {
        self.operands[1].columns
    }

    fn shares(&self, machine: &Machine) -> Shares {
        let (count, length) = (self.count(), self.inner());
        if length <= SHORT && count > 1 {
            return Shares {
                lanes: machine.warp as usize,
                piece: length,
                pieces: 1,
            };
        }
        let resident =
            machine.multiprocessors as usize * (machine.resident_threads as usize / THREADS);
        let wanted = (resident / count).min(length.div_ceil(PIECE)).max(1);
        let piece = length.div_ceil(wanted).next_multiple_of(WHOLE).max(WHOLE);
        Shares {
            lanes: THREADS,
            piece,
            pieces: length.div_ceil(piece).max(1),
        }
    }

    pub(super) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"product ");
        key.extend(self.elements().entries[0].as_bytes());
    }

    pub(super) fn source(&self) -> String {
        let Elements {
            element,
            total,
            entries: [tiles, sums, merge],
        } = self.elements();
        let mut text = include_str!("../numbers.cuh").to_owned();
        let _ = write!(
            text,
            "\ntypedef {element} Element;\ntypedef {total} Total;\n\n{}",
            include_str!("product.cuh")
        );
        for (entry, body) in [(tiles, "tiles"), (sums, "sums"), (merge, "merge")] {
            let _ = writeln!(
                text,
                "\nextern \"C\" __global__ void __launch_bounds__(THREADS) {entry}(Product it) {{ {body}(it); }}"
            );
        }
        text
    }

    pub(super) fn scratch(&self, machine: &Machine) -> usize {
        let Shares { pieces, .. } = self.shares(machine);
        if self.is_sum() && pieces > 1 {
            self.count() * pieces * NUMBER
        } else {
            0
        }
    }

    pub(super) fn launches(&self, call: &Call<'_>) -> Launches {
        let shares = self.shares(call.machine);
        let arguments = self.arguments(call, &shares);
        let [tiles, sums, merge] = self.elements().entries;
        let one = |entry, blocks: usize| -> Launch {
            launch(entry, blocks.min(MOST_BLOCKS), THREADS, arguments.clone())
        };
        let count = self.count();
        if !self.is_sum() {
            let [result, ..] = &self.operands;
            let blocks = result.rows.div_ceil(TILE) * result.columns.div_ceil(TILE);
            return Launches::from_iter([one(tiles, count.saturating_mul(blocks))]);
        }
        let groups = THREADS / shares.lanes;
        let mut launches =
            Launches::from_iter([one(sums, (count * shares.pieces).div_ceil(groups))]);
        if shares.pieces > 1 {
            launches.push(one(merge, count));
        }
        launches
    }

    fn arguments(&self, call: &Call<'_>, shares: &Shares) -> Arguments {
        let mut arguments = Arguments::default();
        let mut push = |word: i64| arguments.push(word.to_ne_bytes());
        let item = self.item as isize;
        for (operand, base) in self.operands.iter().zip(call.bases) {
            push(base.get().wrapping_add_signed(operand.begin) as i64);
        }
        push(call.scratch.get() as i64);
        let [result, ..] = &self.operands;
        for size in [result.rows, result.columns, self.inner(), self.count()] {
            push(size as i64);
        }
        for step in self.operands.iter().flat_map(|operand| operand.steps) {
            push((step / item) as i64);
        }
        let axis = |index: usize| self.stack.get(index);
        (0..STACK).for_each(|index| push(axis(index).map_or(1, |axis| axis.size as i64)));
        for operand in 0..self.operands.len() {
            for index in 0..STACK {
                push(axis(index).map_or(0, |axis| (axis.steps[operand] / item) as i64));
            }
        }
        push(self.conjugates.into());
        for size in [shares.lanes, shares.piece, shares.pieces] {
            push(size as i64);
        }
        arguments
    }
}
