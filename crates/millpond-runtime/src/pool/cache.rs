//! A queue's cache of freed blocks: the first tier of a pool.
//!
//! Blocks freed by their home queue wait here, by size class, newest last. The queue itself takes
//! the newest without any check: on an in-order queue every later command is ordered behind the
//! free (rule R1), and on any queue the block's tracking orders whoever uses it next. Others take
//! the oldest. The cache is guarded by the queue's line.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use triomphe::UniqueArc;

use crate::memory::Block;
use crate::pool::class::{BULKY_CLASS, CLASSES, Class};
use crate::pool::core::LEAST_CACHE_LIMIT;
use crate::pool::keepers::{Keeper, Keepers, Others};
use crate::pool::live::Live;
use crate::pool::pile::Pile;
use crate::pool::tally::Tally;
use crate::queue::Native;

/// How many blocks without a size class are kept.
const LARGE_BLOCKS: usize = 8;

/// How many of the newest blocks of a class are asked about.
const LOOK: usize = 8;

/// Freed blocks of one pool and one queue, and what is in use of it. It has cache lines of its own:
/// threads that use a queue each have nothing in common that one of them writes.
#[repr(align(128))]
pub(crate) struct Cache {
    classes: [Pile; CLASSES],
    /// Those without a size class.
    large: Vec<UniqueArc<Block>>,
    /// Blocks that other queues may still be using; they come back when these are done.
    parked: VecDeque<UniqueArc<Block>>,
    /// Bytes of all blocks here.
    bytes: Tally,
    /// Bulky bytes up to which it is no use to look for blocks that nobody uses any more.
    patience: usize,
    /// The queue.
    home: Arc<Native>,
    /// Says to others of which classes there may be blocks.
    keeper: Arc<Keeper>,
    /// All who had a cache of the pool when this queue looked last.
    keepers: Others,
    /// What is in use of it.
    pub(crate) live: Live,
}

impl Cache {
    /// An empty one of a queue, by which others know it.
    pub(crate) fn new(home: &Arc<Native>, keeper: Arc<Keeper>) -> Self {
        Self {
            home: Arc::clone(home),
            keeper,
            keepers: Others::default(),
            classes: [const { Pile::new() }; CLASSES],
            large: Vec::new(),
            parked: VecDeque::new(),
            bytes: Tally::default(),
            patience: 0,
            live: Live::default(),
        }
    }

    /// The queue whose cache it is.
    pub(crate) fn home(&self) -> &Arc<Native> {
        &self.home
    }

    /// Looks who else has a cache of the pool.
    pub(crate) fn look_around(&mut self, keepers: &Keepers) {
        keepers.refresh(&mut self.keepers);
    }

    /// Who else, as of the last look, may have blocks of a class.
    pub(crate) fn others(&self, class: Class) -> impl Iterator<Item = &Arc<Keeper>> {
        let is_other = move |other: &&Arc<Keeper>| {
            other.kept.may_have(class) && !Arc::ptr_eq(other, &self.keeper)
        };
        self.keepers.iter().filter(is_other)
    }

    /// The newest block that fits: of the class, or of at most `most` bytes.
    #[inline]
    pub(crate) fn take(
        &mut self,
        class: Class,
        size: usize,
        most: usize,
    ) -> Option<UniqueArc<Block>> {
        let block = match class {
            Class::Small(index) => self.classes[usize::from(index)].pop(),
            Class::Large | Class::Exact => take_large(&mut self.large, size, most, |_| true),
            Class::Dedicated => None,
        }?;
        self.bytes.remove(block.capacity);
        Some(block)
    }

    /// The newest block of a class by its number, if that isn't a bulky one.
    #[inline]
    pub(crate) fn take_handy(&mut self, index: usize, size: usize) -> Option<UniqueArc<Block>> {
        let block = self.classes[index].pop()?;
        self.bytes.set_small(self.bytes.small() - size);
        Some(block)
    }

    /// Where a block of such a class goes whose life ends, if there is room for it without asking what
    /// else is there.
    #[inline]
    pub(crate) fn place_for(&mut self, block: &Block, index: u8) -> Option<Place<'_>> {
        let small = self.bytes.small() + block.capacity;
        let is_handy = usize::from(index) < BULKY_CLASS;
        (is_handy && small <= LEAST_CACHE_LIMIT.small()).then_some(Place {
            cache: self,
            index,
            small,
        })
    }

    /// A block that fits and that `allow` accepts, for the queue itself: the newest few are asked
    /// about, then the oldest.
    pub(crate) fn take_if(
        &mut self,
        class: Class,
        size: usize,
        most: usize,
        allow: impl Fn(&Block) -> bool,
    ) -> Option<UniqueArc<Block>> {
        if let Class::Small(index) = class {
            let pile = &mut self.classes[usize::from(index)];
            if let Some(block) = pile.pop_newest_if(LOOK, &allow) {
                self.bytes.remove(block.capacity);
                return Some(block);
            }
        }
        self.take_oldest(class, size, most, |block, _| allow(block))
    }

    /// The oldest block that fits and that `allow` accepts, for another queue.
    pub(crate) fn take_oldest(
        &mut self,
        class: Class,
        size: usize,
        most: usize,
        allow: impl Fn(&Block, &Native) -> bool,
    ) -> Option<UniqueArc<Block>> {
        let home = &*self.home;
        let allow = |block: &Block| allow(block, home);
        let block = match class {
            Class::Small(index) => {
                // The first is the oldest and most likely done; looking further costs O(n).
                let pile = &mut self.classes[usize::from(index)];
                let block = pile.pop_oldest_if(allow);
                if pile.is_empty() {
                    self.keeper.kept.forget(class);
                }
                block
            }
            Class::Large | Class::Exact => {
                let block = take_large(&mut self.large, size, most, allow);
                if self.large.is_empty() {
                    self.keeper.kept.forget(class);
                }
                block
            }
            Class::Dedicated => None,
        }?;
        self.bytes.remove(block.capacity);
        Some(block)
    }

    /// Whether there is a block without a class of just this size.
    pub(crate) fn has_exact(&self, size: usize) -> bool {
        self.large.iter().any(|block| block.capacity == size)
    }

    /// Whether there are blocks that other queues may still be using.
    #[inline]
    pub(crate) fn has_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Keeps a block of a class whose life has ended, and which nobody uses but the queue itself.
    #[inline]
    pub(crate) fn put_small(&mut self, block: UniqueArc<Block>, index: u8) {
        self.live.count_out(block.capacity, block.bytes);
        self.bytes.add(block.capacity);
        self.keeper.kept.note(Class::Small(index));
        self.classes[usize::from(index)].push(block);
    }

    /// Keeps a freed block. `parked` says that other queues may still use it.
    #[inline]
    pub(crate) fn put(&mut self, block: UniqueArc<Block>, class: Class, parked: bool) {
        self.bytes.add(block.capacity);
        if !parked {
            self.keeper.kept.note(class);
        }
        match class {
            _ if parked => self.parked.push_back(block),
            Class::Small(index) => self.classes[usize::from(index)].push(block),
            // Dedicated blocks aren't cached; should one come here it is as good as any large one.
            Class::Large | Class::Exact | Class::Dedicated => self.large.push(block),
        }
    }

    /// Bytes of all blocks here.
    #[inline]
    pub(crate) fn bytes(&self) -> &Tally {
        &self.bytes
    }

    /// Whether there are more large blocks, or more bytes, than should be kept.
    #[inline]
    pub(crate) fn is_full(&self, limit: usize) -> bool {
        self.large.len() > LARGE_BLOCKS || (self.bytes.all() > limit && self.is_beyond(limit))
    }

    /// Whether there are more bulky bytes than should be kept from being merged.
    #[inline]
    pub(crate) fn is_bulky(&self, limit: usize) -> bool {
        self.bytes.bulky() > limit && self.bulky_bytes() > limit.max(self.patience)
    }

    /// Bulky bytes beside the newest large block.
    fn bulky_bytes(&self) -> usize {
        // A block of no class may be as small as any, where memory is short.
        let newest = Some(self.newest_large()).filter(|&bytes| Tally::is_bulky(bytes));
        self.bytes.bulky() - newest.unwrap_or_default()
    }

    /// Bytes of the newest large block, which may be the next one asked for whatever its size is.
    fn newest_large(&self) -> usize {
        self.large.last().map_or(0, |block| block.capacity)
    }

    /// Whether there are more bytes beside the newest large block.
    fn is_beyond(&self, limit: usize) -> bool {
        self.bytes.all() - self.newest_large() > limit
    }

    /// Takes out the oldest blocks, until half of the limits is free.
    pub(crate) fn evict(&mut self, limit: usize) -> Vec<UniqueArc<Block>> {
        let mut evicted = Vec::new();
        if self.large.len() > LARGE_BLOCKS {
            evicted.extend(self.large.drain(..LARGE_BLOCKS / 2));
        }
        for block in &evicted {
            self.bytes.remove(block.capacity);
        }
        while self.is_beyond(limit / 2) && self.large.len() > 1 {
            let half = self.large.len() / 2;
            for block in self.large.drain(..half) {
                self.bytes.remove(block.capacity);
                evicted.push(block);
            }
        }
        // The largest classes first: few blocks give much memory.
        let newest = self.newest_large();
        for pile in self.classes.iter_mut().rev() {
            while self.bytes.all() - newest > limit / 2 && !pile.is_empty() {
                let half = pile.len().div_ceil(2);
                for block in pile.drain(half) {
                    self.bytes.remove(block.capacity);
                    evicted.push(block);
                }
            }
        }
        evicted
    }

    /// Takes out bulky blocks that `is_quiet` says nobody uses, until half of the limit is free: the
    /// oldest of each class, the largest classes first.
    pub(crate) fn evict_bulky(
        &mut self,
        limit: usize,
        is_quiet: impl Fn(&Block) -> bool,
    ) -> Vec<UniqueArc<Block>> {
        let mut evicted = Vec::new();
        let most = limit / 2 + self.bytes.bulky() - self.bulky_bytes();
        let is_done = |bytes: &Tally| bytes.bulky() <= most;
        let older = self.large.len().saturating_sub(1);
        let bytes = &mut self.bytes;
        evicted.extend(self.large.extract_if(..older, |block| {
            let leaves = !is_done(bytes) && is_quiet(block);
            if leaves {
                bytes.remove(block.capacity);
            }
            leaves
        }));
        for pile in self.classes[BULKY_CLASS..].iter_mut().rev() {
            while !is_done(bytes)
                && let Some(block) = pile.pop_oldest_if(&is_quiet)
            {
                bytes.remove(block.capacity);
                evicted.push(block);
            }
        }
        // What is in use now may be so for long: nobody looks again for every block.
        let left = self.bulky_bytes();
        let is_short = left > limit / 2;
        self.patience = if is_short { left + limit / 2 } else { 0 };
        evicted
    }

    /// Takes out everything.
    pub(crate) fn clear(&mut self) -> Vec<UniqueArc<Block>> {
        self.bytes = Tally::default();
        let mut all = Vec::new();
        for index in self.keeper.kept.classes() {
            all.extend(self.classes[index].drain(usize::MAX));
        }
        all.append(&mut self.large);
        all.extend(self.parked.drain(..));
        self.keeper.kept.clear();
        all
    }

    /// Takes out every block that `is_quiet` says nobody uses.
    pub(crate) fn take_quiet(
        &mut self,
        is_quiet: impl Fn(&Block) -> bool,
    ) -> Vec<UniqueArc<Block>> {
        let mut quiet = Vec::new();
        for index in self.keeper.kept.classes() {
            let pile = &mut self.classes[index];
            if pile.iter().all(|block| is_quiet(block)) {
                quiet.extend(pile.drain(usize::MAX));
                continue;
            }
            for block in std::mem::take(pile).drain(usize::MAX) {
                if is_quiet(&block) {
                    quiet.push(block);
                } else {
                    pile.push(block);
                }
            }
        }
        if self.has_parked() {
            for block in std::mem::take(&mut self.parked) {
                if is_quiet(&block) {
                    quiet.push(block);
                } else {
                    self.parked.push_back(block);
                }
            }
        }
        quiet.extend(self.large.extract_if(.., |block| is_quiet(block)));
        for block in &quiet {
            self.bytes.remove(block.capacity);
        }
        quiet
    }

    /// Takes out the parked blocks that `is_ready` accepts, looking at the few that have been here
    /// longest; where that is none of them, others come first the next time.
    pub(crate) fn unpark(&mut self, is_ready: impl Fn(&Block) -> bool) -> Vec<UniqueArc<Block>> {
        let mut ready = Vec::new();
        let mut waiting = 0;
        for _ in 0..self.parked.len().min(16) {
            if !is_ready(&self.parked[waiting]) {
                waiting += 1;
            } else if let Some(block) = self.parked.remove(waiting) {
                self.bytes.remove(block.capacity);
                ready.push(block);
            }
        }
        if ready.is_empty() {
            self.parked.rotate_left(waiting);
        }
        ready
    }

    /// Every block here, for statistics.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &UniqueArc<Block>> {
        let kept = self.keeper.kept.classes();
        kept.flat_map(|index| self.classes[index].iter())
            .chain(&self.large)
            .chain(&self.parked)
    }
}

/// The newest that fits and that `allow` accepts.
fn take_large(
    large: &mut Vec<UniqueArc<Block>>,
    size: usize,
    most: usize,
    allow: impl Fn(&Block) -> bool,
) -> Option<UniqueArc<Block>> {
    let fits = |block: &Block| block.capacity >= size && block.capacity <= most;
    let position = large
        .iter()
        .rposition(|block| fits(block) && allow(block))?;
    Some(large.remove(position))
}

/// A place for a block in a cache.
pub(crate) struct Place<'a> {
    cache: &'a mut Cache,
    /// The block's class.
    index: u8,
    /// Bytes of blocks that aren't bulky, with it.
    small: usize,
}

impl Place<'_> {
    /// Keeps the block, which nobody uses but the queue itself.
    #[expect(
        clippy::inline_always,
        reason = "behind so many questions a compiler takes it for unlikely, and calls it"
    )]
    #[inline(always)]
    pub(crate) fn put(self, block: UniqueArc<Block>) {
        let Self {
            cache,
            index,
            small,
        } = self;
        cache.bytes.set_small(small);
        cache.live.count_out(block.capacity, block.bytes);
        cache.keeper.kept.note(Class::Small(index));
        cache.classes[usize::from(index)].push(block);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.keeper.leave();
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("bytes", &self.bytes)
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}
