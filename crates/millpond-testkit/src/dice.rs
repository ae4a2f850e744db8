//! Numbers that look random and are the same in every run, on every machine and in every version of
//! whatever else is used: a seed that failed once fails again, and measured programs stay the same.
//! So they don't come from a library, whose sequences change with its versions.

/// A generator by shifts and exclusive or (Marsaglia's of 64 bits).
///
/// ```
/// use millpond_testkit::dice::Dice;
///
/// let (mut one, mut same) = (Dice::new(7), Dice::new(7));
/// assert_eq!([(); 3].map(|()| one.roll(6)), [(); 3].map(|()| same.roll(6)));
/// ```
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed. Small seeds begin with small numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        // Nothing but zeros follows zero.
        Self(if seed == 0 { 1 } else { seed })
    }

    /// One of many: neighbouring numbers give unlike sequences.
    #[must_use]
    pub const fn numbered(number: u64) -> Self {
        Self((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `sides`, which isn't zero.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    /// A size of less than `least << octaves`, small ones as often as large ones.
    pub fn size(&mut self, least: usize, octaves: usize) -> usize {
        let floor = least << self.roll(octaves);
        floor + self.roll(floor)
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn a_seed_has_the_same_numbers_for_ever() {
        let rolls = |mut dice: Dice| [(); 4].map(|()| dice.roll(1000));
        assert_eq!(rolls(Dice::new(7)), [164, 837, 587, 810]);
        assert_eq!(rolls(Dice::new(0)), rolls(Dice::new(1)));
        assert_ne!(rolls(Dice::numbered(0)), rolls(Dice::numbered(1)));
    }

    #[test]
    fn sizes_are_within_their_octaves() {
        let mut dice = Dice::new(3);
        assert!((0..1000).all(|_| (64..64 << 10).contains(&dice.size(64, 10))));
    }
}
