//! A set of keys that is asked much more often than it is made.
//!
//! Keys of a small range are bits of a table; others go to a table of their own hashes, most of
//! which stays free, so that few have to be passed on the way to one.

use millpond_hal::KernelError;

use crate::host::sort::reserve;

/// Bits of the largest table that is always made: it fits the first-level cache.
const SMALL_RANGE: u64 = 1 << 16;

/// Bits of a table for each key. With more of them hashes take less memory.
const BITS_PER_KEY: u64 = 128;

/// Places of hashes for each key, at least: so many that the first one mostly decides, which the
/// processor guesses.
const PLACES_PER_KEY: u64 = 4;

/// A set of unsigned integers.
#[derive(Debug)]
pub(super) enum Set {
    /// Whether each integer from `first` on is there.
    Range { first: u64, bits: Vec<u64> },
    /// Each key in the first free place from that of its hash on. A free place holds `free`, which
    /// is a key itself: whoever looks for it finds it there.
    Hashed { free: u64, places: Vec<u64> },
}

impl Set {
    /// The set of some keys, of which there are `count` at most.
    ///
    /// # Errors
    /// No host memory.
    pub(super) fn new(
        keys: impl Iterator<Item = u64> + Clone,
        count: usize,
    ) -> Result<Self, KernelError> {
        let (mut first, mut last) = (u64::MAX, u64::MIN);
        for key in keys.clone() {
            first = first.min(key);
            last = last.max(key);
        }
        if first > last {
            let bits = Vec::new();
            return Ok(Self::Range { first: 0, bits });
        }
        let range = last - first;
        if is_range(range, count) {
            let mut bits = filled((range / 64 + 1) as usize, 0)?;
            for key in keys {
                let bit = key - first;
                bits[(bit / 64) as usize] |= 1 << (bit % 64);
            }
            return Ok(Self::Range { first, bits });
        }
        let size = (PLACES_PER_KEY * count as u64).next_power_of_two() as usize;
        let mut places = filled(size, first)?;
        for key in keys {
            // One that is free already, or another's place that is its own.
            let place = find(&places, first, key);
            places[place] = key;
        }
        let free = first;
        Ok(Self::Hashed { free, places })
    }

    /// Answers for each key whether it is there, or, with `invert`, isn't: as a truth value's byte.
    #[inline(always)]
    pub(super) fn look_up<'a>(
        &self,
        keys: impl Iterator<Item = u64>,
        answers: impl Iterator<Item = &'a mut u8>,
        invert: bool,
    ) {
        match self {
            Self::Range { first, bits } => {
                for (key, answer) in keys.zip(answers) {
                    let bit = key.wrapping_sub(*first);
                    let word = bits.get((bit / 64) as usize).copied().unwrap_or(0);
                    *answer = u8::from((word >> (bit % 64) & 1 == 1) != invert);
                }
            }
            Self::Hashed { free, places } => {
                for (key, answer) in keys.zip(answers) {
                    let found = places[find(places, *free, key)] == key;
                    *answer = u8::from(found != invert);
                }
            }
        }
    }
}

/// Whether a table has a bit for each integer between so many keys, of which the last is `range` behind
/// the first.
pub(super) const fn is_range(range: u64, count: usize) -> bool {
    range < SMALL_RANGE || range / BITS_PER_KEY < count as u64
}

/// Where a key is, or where it would have to be put.
#[inline(always)]
fn find(places: &[u64], free: u64, key: u64) -> usize {
    let mask = places.len() - 1;
    let mut place = hash(key) as usize & mask;
    while places[place & mask] != key && places[place & mask] != free {
        place += 1;
    }
    place & mask
}

/// Bits that depend on all of the key's: the last steps of the hash of the name Murmur.
#[inline(always)]
const fn hash(key: u64) -> u64 {
    let key = (key ^ key >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let key = (key ^ key >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ key >> 33
}

/// Some words of one value.
fn filled(count: usize, value: u64) -> Result<Vec<u64>, KernelError> {
    let mut words = reserve("isin", count)?;
    words.resize(count, value);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(set: &Set, keys: &[u64]) -> Vec<bool> {
        let mut answers = vec![u8::MAX; keys.len()];
        set.look_up(keys.iter().copied(), answers.iter_mut(), false);
        answers.iter().map(|answer| *answer == 1).collect()
    }

    #[test]
    fn a_set_has_its_keys_and_no_others() {
        let near: Vec<u64> = (0..500).map(|number| 1000 + 3 * number).collect();
        let far: Vec<u64> = (0..500).map(|number| number << 54 | number).collect();
        let ends = vec![u64::MIN, u64::MAX, 1, u64::MAX - 1];
        for keys in [near, far, ends, vec![], vec![7], vec![u64::MAX]] {
            let set = Set::new(keys.iter().copied(), keys.len()).unwrap();
            assert!(found(&set, &keys).iter().all(|found| *found));
            let around = keys
                .iter()
                .flat_map(|key| [key.wrapping_sub(1), key.wrapping_add(1), key ^ 1 << 63]);
            let around: Vec<u64> = around.collect();
            let wanted: Vec<bool> = around.iter().map(|key| keys.contains(key)).collect();
            assert_eq!(found(&set, &around), wanted);
        }
    }

    #[test]
    fn sets_take_memory_for_their_keys_and_not_for_all_between() {
        let near = (0..10_000).map(|number| 10 * number);
        assert!(matches!(Set::new(near, 10_000), Ok(Set::Range { .. })));
        let keys = [0, u64::MAX / 2, u64::MAX];
        let Set::Hashed { places, .. } = Set::new(keys.into_iter(), keys.len()).unwrap() else {
            panic!("a table of all keys between was made");
        };
        assert_eq!(places.len(), 16);
    }
}
