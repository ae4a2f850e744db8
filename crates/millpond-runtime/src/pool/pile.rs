//! Freed blocks of one class, by age.
//!
//! The newest has a place of its own, so that memory which is freed and asked for in turn never
//! comes by the list of the others.

use std::collections::VecDeque;

use triomphe::UniqueArc;

use crate::memory::Block;

/// Blocks in the order in which they were freed.
#[derive(Default)]
pub(crate) struct Pile {
    /// Newer than all others, unless it was taken.
    newest: Option<UniqueArc<Block>>,
    older: VecDeque<UniqueArc<Block>>,
}

impl Pile {
    pub(crate) const fn new() -> Self {
        Self {
            newest: None,
            older: VecDeque::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.newest.is_none() && self.older.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.older.len() + usize::from(self.newest.is_some())
    }

    /// Adds a block that was freed just now.
    #[inline]
    pub(crate) fn push(&mut self, block: UniqueArc<Block>) {
        if let Some(before) = self.newest.replace(block) {
            self.set_aside(before);
        }
    }

    /// Apart, since the list may have to grow.
    #[inline(never)]
    fn set_aside(&mut self, block: UniqueArc<Block>) {
        self.older.push_back(block);
    }

    /// Takes the newest.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<UniqueArc<Block>> {
        self.newest.take().or_else(|| self.older.pop_back())
    }

    /// Takes the oldest, if `allow` accepts it.
    pub(crate) fn pop_oldest_if(
        &mut self,
        allow: impl Fn(&Block) -> bool,
    ) -> Option<UniqueArc<Block>> {
        if self.older.is_empty() {
            return self.newest.take_if(|block| allow(block));
        }
        self.older.pop_front_if(|block| allow(block))
    }

    /// Takes the newest that `allow` accepts, asking about so many.
    pub(crate) fn pop_newest_if(
        &mut self,
        look: usize,
        allow: impl Fn(&Block) -> bool,
    ) -> Option<UniqueArc<Block>> {
        if let Some(block) = self.newest.take_if(|block| allow(block)) {
            return Some(block);
        }
        let look = look - usize::from(self.newest.is_some());
        let newest = self.older.len().saturating_sub(look)..self.older.len();
        let position = newest
            .rev()
            .find(|&position| allow(&self.older[position]))?;
        self.older.remove(position)
    }

    /// Takes out so many, the oldest first.
    pub(crate) fn drain(&mut self, count: usize) -> impl Iterator<Item = UniqueArc<Block>> {
        let newest = if count > self.older.len() {
            self.newest.take()
        } else {
            None
        };
        let older = count.min(self.older.len());
        self.older.drain(..older).chain(newest)
    }

    /// The blocks, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &UniqueArc<Block>> {
        self.older.iter().chain(&self.newest)
    }
}
