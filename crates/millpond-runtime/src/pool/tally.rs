//! Bytes of cached blocks, bulky ones apart: as long as they are cached, what lies around them can't
//! be merged, and requests part larger pieces instead.

use crate::pool::class::BULKY;

/// A sum of blocks' bytes, by whether the blocks are bulky.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally([usize; 2]);

impl Tally {
    pub(crate) const fn new(small: usize, bulky: usize) -> Self {
        Self([small, bulky])
    }

    /// Whether a block of so many bytes is a bulky one.
    #[inline]
    pub(crate) const fn is_bulky(capacity: usize) -> bool {
        capacity > BULKY
    }

    /// Bytes of the others.
    #[inline]
    pub(crate) const fn small(&self) -> usize {
        self.0[0]
    }

    /// Says how many of these there are.
    #[inline]
    pub(crate) fn set_small(&mut self, bytes: usize) {
        self.0[0] = bytes;
    }

    /// Counts a block.
    #[inline]
    pub(crate) fn add(&mut self, capacity: usize) {
        self.0[usize::from(Self::is_bulky(capacity))] += capacity;
    }

    /// Counts one that is gone.
    #[inline]
    pub(crate) fn remove(&mut self, capacity: usize) {
        self.0[usize::from(Self::is_bulky(capacity))] -= capacity;
    }

    /// Bytes of all.
    #[inline]
    pub(crate) const fn all(&self) -> usize {
        self.0[0] + self.0[1]
    }

    /// Bytes of bulky blocks.
    #[inline]
    pub(crate) const fn bulky(&self) -> usize {
        self.0[1]
    }

    /// Whether a block of so many bytes leaves the blocks of its sort within a limit.
    #[inline]
    pub(crate) fn has_room(&self, capacity: usize, limit: &Self) -> bool {
        let sort = usize::from(Self::is_bulky(capacity));
        self.0[sort] + capacity <= limit.0[sort]
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn bulky_blocks_are_counted_apart() {
        let mut tally = Tally::default();
        for capacity in [256, 1 << 20, (1 << 20) + (128 << 10), 1 << 30] {
            tally.add(capacity);
        }
        let (small, bulky) = (256 + (1 << 20), (1 << 20) + (128 << 10) + (1 << 30));
        assert_eq!(tally, Tally::new(small, bulky));
        assert_eq!((tally.all(), tally.bulky()), (small + bulky, bulky));
        tally.remove(1 << 30);
        assert!(tally.has_room(256, &Tally::new(2 << 20, 0)));
        assert!(!tally.has_room(2 << 20, &Tally::new(1 << 30, 3 << 20)));
        assert!(tally.has_room(2 << 20, &Tally::new(0, 4 << 20)));
    }
}
