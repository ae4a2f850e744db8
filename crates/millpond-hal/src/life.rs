//! What pools tell of the life of the memory that they hand out.
//!
//! Drivers don't need to know: memory is theirs until it goes back. Layers that check programs do.

use std::ops::Range;
use std::sync::Arc;

use crate::point::Point;

/// Something that happens to a range of bytes which a pool manages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Life<'a> {
    /// The bytes become an allocation. Who uses them by their address must come after the points.
    Begin {
        /// The bytes.
        bytes: Range<usize>,
        /// The allocation's place on its queue.
        at: Point,
        /// What must have been reached before a use.
        after: &'a [Point],
        /// The source line it comes from, where lines are traced.
        origin: Option<Arc<str>>,
    },
    /// The allocation is freed, behind the points. No use may come later, nor be unordered with
    /// all of them.
    End {
        /// The bytes.
        bytes: Range<usize>,
        /// The free's place on its queue.
        at: Point,
        /// What the free comes after.
        after: &'a [Point],
        /// The source line it comes from, where lines are traced.
        origin: Option<Arc<str>>,
    },
    /// A part of an allocation becomes a pool of its own.
    Lend {
        /// The bytes.
        bytes: Range<usize>,
    },
    /// That pool is no more; the part belongs to its allocation again.
    Return {
        /// The bytes.
        bytes: Range<usize>,
    },
}
