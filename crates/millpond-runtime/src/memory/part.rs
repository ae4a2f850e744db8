//! Parts of allocations that are used like allocations, each with a record of uses of its own.
//!
//! A part is at home where its whole is, so that one line guards both records. When its last handle
//! goes, the whole takes its uses over: whoever uses the whole, or gets its bytes next, comes behind
//! them. Parts that overlap know nothing of each other; who hands them out orders their uses.

use std::mem::ManuallyDrop;

use triomphe::{Arc, UniqueArc};

use crate::memory::tracking::Tracking;
use crate::memory::{Allocation, Block, Lent, Source};
use crate::queue::Native;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// What a part knows of its whole.
#[derive(Debug)]
pub(crate) struct Part {
    whole: Allocation,
    /// Whether one of the handles is that of whoever made the part, and counts for nobody.
    is_kept: AtomicBool,
    /// How many pools hand its bytes out, under records of their own.
    pools: AtomicUsize,
}

impl Part {
    pub(super) fn whole(&self) -> &Allocation {
        &self.whole
    }

    /// Has the whole come behind the uses of a part, under the line of their home.
    pub(super) fn pass_on(&self, tracking: &Tracking, home: &std::sync::Arc<Native>) {
        self.whole.block().tracking.inherit(home, tracking);
    }
}

impl Allocation {
    /// A part of this memory, with the handle of its maker. The range was checked.
    pub(crate) fn part(&self, begin: usize, bytes: usize) -> Self {
        let whole = self.block();
        let mut tracking = Tracking::default();
        tracking.set_timeless(whole.tracking.is_timeless());
        Self::new(Arc::new(Block {
            base: whole.base.offset(begin),
            capacity: bytes,
            bytes,
            kind: whole.kind,
            home: whole.home.clone(),
            tracking,
            source: Source::Part(Part {
                whole: self.clone(),
                is_kept: AtomicBool::new(true),
                pools: AtomicUsize::new(0),
            }),
            tag: None,
            lent: Lent::default(),
        }))
    }

    fn as_part(&self) -> Option<&Part> {
        match &self.block().source {
            Source::Part(part) => Some(part),
            Source::Pool { .. } | Source::Foreign(_) => None,
        }
    }

    /// How many handles users have.
    pub(crate) fn handles(&self) -> usize {
        match self.as_part() {
            Some(_) => self.home().core().with_line(|_| self.handles_under_line()),
            None => Arc::count(&self.0),
        }
    }

    /// The same, under the line of its home.
    pub(crate) fn handles_under_line(&self) -> usize {
        let is_kept = |part: &Part| part.is_kept.load(Relaxed);
        Arc::count(&self.0) - usize::from(self.as_part().is_some_and(is_kept))
    }

    /// Counts a pool over this memory that begins, or ends, under the line of its home.
    pub(crate) fn count_pool(&self, begins: bool) {
        if let Some(part) = self.as_part() {
            if begins {
                part.pools.fetch_add(1, Relaxed);
            } else {
                part.pools.fetch_sub(1, Relaxed);
            }
        }
    }

    /// Whether there are uses of a part which its record doesn't show: those of host code, and of
    /// allocations of a pool over it.
    pub(crate) fn has_hidden_uses(&self) -> bool {
        let is_lent = |part: &Part| part.pools.load(Relaxed) > 0;
        self.block().lent.is_any() || self.as_part().is_some_and(is_lent)
    }

    /// Begins a new life of a part's bytes, under the line of its home: behind all uses of the
    /// whole, of the part itself and of other parts, whose content is nobody's from now on. Nobody
    /// has a handle.
    pub(crate) fn begin_life<'a>(&'a self, others: impl Iterator<Item = &'a Self>) {
        let tracking = &self.block().tracking;
        let home = self.home().core().native();
        let whole = self.as_part().map(Part::whole);
        for memory in whole.into_iter().chain(others) {
            tracking.inherit(home, &memory.block().tracking);
        }
        tracking.forget_content();
        self.block().lent.end();
    }

    /// Has the whole come behind the uses of a part, under the line of its home.
    pub(crate) fn pass_on(&self) {
        if let Some(part) = self.as_part() {
            part.pass_on(&self.block().tracking, self.home().core().native());
        }
    }

    /// Takes the bytes of a part away from whoever has handles, under the line of its home. The
    /// answer is the same part anew, behind all uses so far.
    pub(crate) fn succeed(&self) -> Self {
        self.pass_on();
        self.block().tracking.revoke();
        let whole = self.as_part().map_or(self, Part::whole);
        whole.part(self.address().get() - whole.address().get(), self.bytes())
    }

    /// Ends the hold of a part's maker, under the line of its home. The answer is the part if nobody
    /// else has it, to be dropped without the line.
    pub(crate) fn let_go(self) -> Option<Block> {
        let mut handle = ManuallyDrop::new(self);
        // SAFETY: the handle isn't dropped, so that the field is taken once.
        let block = unsafe { ManuallyDrop::take(&mut handle.0) };
        if let Source::Part(part) = &block.source {
            part.is_kept.store(false, Relaxed);
        }
        Arc::into_unique(block).map(UniqueArc::into_inner)
    }
}
