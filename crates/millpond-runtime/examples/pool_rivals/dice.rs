//! Numbers that are the same in every run.

/// A generator by shifts and exclusive or.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The seed isn't zero.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    /// A size of `least << octaves` at most, small ones as often as large ones.
    pub(crate) fn size(&mut self, least: usize, octaves: usize) -> usize {
        let floor = least << self.roll(octaves);
        floor + self.roll(floor)
    }

    /// A size from 256 bytes to a MiB.
    pub(crate) fn usual_size(&mut self) -> usize {
        self.size(256, 12)
    }
}
