//! Classic allocators, as plainly as they can be written: what a pool is measured against.
//!
//! Each manages numbers, not memory, under one mutex, as those do that are found in the field. What
//! one has reserved is the end of its highest block so far: as if its memory could grow in place,
//! which is more than a driver offers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::allocator::Allocator;

/// Sizes are multiples of this many bytes, and addresses begin with it.
const GRANULE: usize = 256;

/// A way to keep free extents, with their neighbours merged.
pub(crate) trait Extents: Send {
    const NAME: &'static str;

    const LINEAR: bool = false;

    /// One extent of so many bytes.
    fn new(bytes: usize) -> Self;

    /// The begin of the smallest extent that fits, of which so many bytes are taken.
    fn take(&mut self, size: usize) -> Option<usize>;

    /// Takes bytes back.
    fn put(&mut self, begin: usize, size: usize);
}

/// An allocator of them: a lock, and how far its memory was used.
#[derive(Debug)]
pub(crate) struct Locked<E>(Mutex<(E, usize)>);

impl<E: Extents> Locked<E> {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Mutex::new((E::new(bytes), 0)))
    }
}

impl<E: Extents> Allocator for Locked<E> {
    type Block = (usize, usize);

    const NAME: &'static str = E::NAME;
    const LINEAR: bool = E::LINEAR;

    fn allocate(&self, bytes: usize) -> Option<(usize, usize)> {
        let size = bytes.max(1).next_multiple_of(GRANULE);
        let (extents, highest) = &mut *self.0.lock().unwrap();
        let begin = extents.take(size)?;
        *highest = (*highest).max(begin + size - GRANULE);
        Some((begin, size))
    }

    fn free(&self, (begin, size): (usize, usize)) {
        self.0.lock().unwrap().0.put(begin, size);
    }

    fn reserved(&self) -> Option<usize> {
        Some(self.0.lock().unwrap().1)
    }
}

/// A list by address, searched from the front for the smallest that fits.
#[derive(Debug)]
pub(crate) struct ByPlace(Vec<(usize, usize)>);

/// As in RMM's pool.
pub(crate) type List = Locked<ByPlace>;

impl Extents for ByPlace {
    const NAME: &'static str = "list";
    const LINEAR: bool = true;

    fn new(bytes: usize) -> Self {
        Self(vec![(GRANULE, bytes)])
    }

    fn take(&mut self, size: usize) -> Option<usize> {
        let list = &mut self.0;
        let fits = list.iter().enumerate().filter(|(_, block)| block.1 >= size);
        let (index, &(begin, len)) = fits.min_by_key(|(_, block)| block.1)?;
        if len == size {
            list.remove(index);
        } else {
            list[index] = (begin + size, len - size);
        }
        Some(begin)
    }

    fn put(&mut self, begin: usize, size: usize) {
        let list = &mut self.0;
        let index = list.partition_point(|block| block.0 < begin);
        list.insert(index, (begin, size));
        if index + 1 < list.len() && begin + size == list[index + 1].0 {
            list[index].1 += list[index + 1].1;
            list.remove(index + 1);
        }
        if index > 0 && list[index - 1].0 + list[index - 1].1 == begin {
            list[index - 1].1 += list[index].1;
            list.remove(index);
        }
    }
}

/// Sets by size, one for each `OCTAVES` powers of two, and a map by address.
#[derive(Debug)]
pub(crate) struct Sets<const OCTAVES: u32> {
    /// Lengths, then addresses.
    by_size: Vec<BTreeSet<(usize, usize)>>,
    /// Lengths by address.
    by_place: BTreeMap<usize, usize>,
}

/// One set: as in CuPy's pool and the adapter of Unified Runtime for Level Zero.
pub(crate) type Set = Locked<Sets<{ usize::BITS }>>;

/// A bin for each power of two: best fit with coalescing, as in XLA and TensorFlow.
pub(crate) type Bins = Locked<Sets<1>>;

impl<const OCTAVES: u32> Sets<OCTAVES> {
    fn bin(len: usize) -> usize {
        (len.ilog2() / OCTAVES) as usize
    }

    fn insert(&mut self, begin: usize, len: usize) {
        self.by_size[Self::bin(len)].insert((len, begin));
        self.by_place.insert(begin, len);
    }

    fn remove(&mut self, begin: usize, len: usize) {
        self.by_size[Self::bin(len)].remove(&(len, begin));
        self.by_place.remove(&begin);
    }
}

impl<const OCTAVES: u32> Extents for Sets<OCTAVES> {
    const NAME: &'static str = if OCTAVES == 1 { "bins" } else { "set" };

    fn new(bytes: usize) -> Self {
        let bins = usize::BITS.div_ceil(OCTAVES) as usize;
        let mut sets = Self {
            by_size: vec![BTreeSet::new(); bins],
            by_place: BTreeMap::new(),
        };
        sets.insert(GRANULE, bytes);
        sets
    }

    fn take(&mut self, size: usize) -> Option<usize> {
        let mut bins = self.by_size[Self::bin(size)..].iter();
        let &(len, begin) = bins.find_map(|bin| bin.range((size, 0)..).next())?;
        self.remove(begin, len);
        if len > size {
            self.insert(begin + size, len - size);
        }
        Some(begin)
    }

    fn put(&mut self, begin: usize, size: usize) {
        let (mut begin, mut end) = (begin, begin + size);
        let before = self.by_place.range(..begin).next_back();
        if let Some((&before, &len)) = before.filter(|&(before, len)| before + len == begin) {
            self.remove(before, len);
            begin = before;
        }
        if let Some(&len) = self.by_place.get(&end) {
            self.remove(end, len);
            end += len;
        }
        self.insert(begin, end - begin);
    }
}
