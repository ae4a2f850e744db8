//! What is asked of a pool, and what is granted of it.

use std::sync::Arc;
use std::time::Instant;

use crate::pool::class::{self, Class};
use crate::pool::options::Reuse;
use crate::queue::QueueCore;

/// What is asked of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) bytes: usize,
    pub(crate) align: usize,
    /// Which reuse rules apply to this one.
    pub(crate) reuse: Reuse,
    pub(crate) wait: Wait,
}

/// How long a request may wait for memory that is about to be freed (rule R6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// As long as it takes.
    #[default]
    Forever,
    /// Until this moment.
    Until(Instant),
    /// Not at all.
    Never,
}

/// A request with the size it is granted.
#[derive(Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) queue: &'a Arc<QueueCore>,
    pub(crate) request: Request,
    pub(crate) class: Class,
    pub(crate) size: usize,
    /// The most that may be granted.
    pub(crate) most: usize,
}

impl Wish<'_> {
    /// Bytes that have the request in them wherever they begin.
    pub(crate) fn aligned_size(&self) -> usize {
        self.size + self.request.align.saturating_sub(class::GRANULE)
    }

    /// The same for no more than was asked for: what is left to try where memory is short.
    pub(crate) fn exact(&self) -> Self {
        let size = class::exact(self.request.bytes);
        Self {
            class: match self.class {
                Class::Dedicated => Class::Dedicated,
                Class::Small(_) | Class::Large | Class::Exact => Class::Exact,
            },
            size,
            most: size,
            ..*self
        }
    }
}
