//! The layout class of an element-wise kernel: what its source depends on besides its steps.

use smallvec::SmallVec;

use crate::device::elements::Elements;
use crate::device::tile::turned_axis;

/// Elements from which indices need more than 31 bits.
pub(super) const LONG: usize = if cfg!(test) { 1 << 16 } else { 1 << 31 };

/// Bytes of the widest access.
const WIDEST: usize = 16;

/// How an array runs along the innermost axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Each element follows the one before.
    Follows,
    /// All are the same.
    Constant,
    /// At any distance.
    Strided,
}

/// The layout class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) axes: usize,
    pub(super) runs: SmallVec<[Run; 4]>,
    pub(super) is_long: bool,
    /// Elements of a pack; one, if there are none.
    pub(super) pack: usize,
    /// The axis that some array runs along instead of the innermost.
    pub(super) turned: Option<usize>,
}

impl Class {
    pub(super) fn new(elements: &Elements) -> Self {
        let inner = elements.axes.len() - 1;
        let runs: SmallVec<[Run; 4]> = elements
            .arrays
            .iter()
            .map(|array| match array.strides[inner] {
                0 => Run::Constant,
                stride if stride == array.dtype.size() as isize => Run::Follows,
                _ => Run::Strided,
            })
            .collect();
        let largest = elements.arrays.iter().map(|array| array.dtype.size()).max();
        Self {
            axes: elements.axes.len(),
            is_long: elements.size() >= LONG,
            pack: if runs.contains(&Run::Strided) || elements.has_picks() {
                1
            } else {
                WIDEST / largest.unwrap_or(WIDEST)
            },
            turned: turned_axis(elements, &runs).filter(|_| !elements.has_picks()),
            runs,
        }
    }

    /// The name of the type of indices.
    pub(super) fn index(&self) -> &'static str {
        if self.is_long { "mp::u64" } else { "mp::u32" }
    }

    /// Whether an array runs along the axis that is turned.
    pub(super) fn is_turned(&self, elements: &Elements, array: usize) -> bool {
        let array_at = &elements.arrays[array];
        let runs = |axis: usize| array_at.strides[axis] == array_at.dtype.size() as isize;
        self.runs[array] == Run::Strided && self.turned.is_some_and(runs)
    }

    pub(super) fn key(&self, key: &mut Vec<u8>) {
        let turned = self.turned.map_or(u8::MAX, |axis| axis as u8);
        key.extend([self.axes as u8, u8::from(self.is_long), turned]);
        key.extend(self.runs.iter().map(|&run| run as u8));
    }
}
