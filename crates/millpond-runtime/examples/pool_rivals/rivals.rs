//! Classic allocators, as plainly as they can be written: what a pool is measured against.
//!
//! Each manages numbers, not memory, under one mutex, as those do that are found in the field.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Hands out addresses of at least so many bytes, and takes them back.
pub(crate) trait Rival: Sync {
    /// What the table calls it.
    fn name(&self) -> &'static str;
    /// An address; the bytes are nobody else's.
    fn allocate(&self, bytes: usize) -> usize;
    /// Takes an address back.
    fn free(&self, address: usize, bytes: usize);
}

/// Free blocks by length, then by address.
type BySize = BTreeSet<(usize, usize)>;

/// Lengths of free blocks by address.
type ByAddress = BTreeMap<usize, usize>;

/// Sizes are multiples of this many bytes.
const GRANULE: usize = 256;

fn round(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(GRANULE)
}

/// Free blocks in a list by address, searched from the front for the smallest that fits.
pub(crate) struct List(Mutex<Vec<(usize, usize)>>);

impl List {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Mutex::new(vec![(GRANULE, bytes)]))
    }
}

impl Rival for List {
    fn name(&self) -> &'static str {
        "list, best fit"
    }

    fn allocate(&self, bytes: usize) -> usize {
        let size = round(bytes);
        let mut list = self.0.lock().unwrap();
        let fits = list.iter().enumerate().filter(|(_, block)| block.1 >= size);
        let (index, _) = fits.min_by_key(|(_, block)| block.1).unwrap();
        let (begin, len) = list[index];
        if len == size {
            list.remove(index);
        } else {
            list[index] = (begin + size, len - size);
        }
        begin
    }

    fn free(&self, address: usize, bytes: usize) {
        let size = round(bytes);
        let mut list = self.0.lock().unwrap();
        let index = list.partition_point(|block| block.0 < address);
        list.insert(index, (address, size));
        if index + 1 < list.len() && address + size == list[index + 1].0 {
            list[index].1 += list[index + 1].1;
            list.remove(index + 1);
        }
        if index > 0 && list[index - 1].0 + list[index - 1].1 == address {
            list[index - 1].1 += list[index].1;
            list.remove(index);
        }
    }
}

/// Free blocks in a set by size and a map by address.
pub(crate) struct Set(Mutex<(BySize, ByAddress)>);

impl Set {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Mutex::new((
            BTreeSet::from([(bytes, GRANULE)]),
            BTreeMap::from([(GRANULE, bytes)]),
        )))
    }
}

impl Rival for Set {
    fn name(&self) -> &'static str {
        "set, best fit"
    }

    fn allocate(&self, bytes: usize) -> usize {
        let size = round(bytes);
        let (by_size, by_address) = &mut *self.0.lock().unwrap();
        let &(len, begin) = by_size.range((size, 0)..).next().unwrap();
        by_size.remove(&(len, begin));
        by_address.remove(&begin);
        if len > size {
            by_size.insert((len - size, begin + size));
            by_address.insert(begin + size, len - size);
        }
        begin
    }

    fn free(&self, address: usize, bytes: usize) {
        let (mut begin, mut end) = (address, address + round(bytes));
        let (by_size, by_address) = &mut *self.0.lock().unwrap();
        if let Some((&before, &len)) = by_address.range(..begin).next_back()
            && before + len == begin
        {
            by_size.remove(&(len, before));
            by_address.remove(&before);
            begin = before;
        }
        if let Some(len) = by_address.remove(&end) {
            by_size.remove(&(len, end));
            end += len;
        }
        by_size.insert((end - begin, begin));
        by_address.insert(begin, end - begin);
    }
}

/// Best fit with coalescing: a set of free blocks for each power of two, as in XLA's allocator.
pub(crate) struct Bins(Mutex<(Vec<BySize>, ByAddress)>);

impl Bins {
    pub(crate) fn new(bytes: usize) -> Self {
        let mut bins = vec![BTreeSet::new(); 48];
        bins[Self::bin(bytes)].insert((bytes, GRANULE));
        Self(Mutex::new((bins, BTreeMap::from([(GRANULE, bytes)]))))
    }

    fn bin(bytes: usize) -> usize {
        (bytes / GRANULE).ilog2() as usize
    }
}

impl Rival for Bins {
    fn name(&self) -> &'static str {
        "bins, best fit"
    }

    fn allocate(&self, bytes: usize) -> usize {
        let size = round(bytes);
        let (bins, by_address) = &mut *self.0.lock().unwrap();
        let from = Self::bin(size);
        let (bin, len, begin) = (from..bins.len())
            .find_map(|bin| {
                let &(len, begin) = bins[bin].range((size, 0)..).next()?;
                Some((bin, len, begin))
            })
            .unwrap();
        bins[bin].remove(&(len, begin));
        by_address.remove(&begin);
        if len > size {
            bins[Self::bin(len - size)].insert((len - size, begin + size));
            by_address.insert(begin + size, len - size);
        }
        begin
    }

    fn free(&self, address: usize, bytes: usize) {
        let (mut begin, mut end) = (address, address + round(bytes));
        let (bins, by_address) = &mut *self.0.lock().unwrap();
        if let Some((&before, &len)) = by_address.range(..begin).next_back()
            && before + len == begin
        {
            bins[Self::bin(len)].remove(&(len, before));
            by_address.remove(&before);
            begin = before;
        }
        if let Some(len) = by_address.remove(&end) {
            bins[Self::bin(len)].remove(&(len, end));
            end += len;
        }
        bins[Self::bin(end - begin)].insert((end - begin, begin));
        by_address.insert(begin, end - begin);
    }
}

/// The system's allocator, which touches its memory.
pub(crate) struct Heap;

impl Rival for Heap {
    fn name(&self) -> &'static str {
        "system's heap"
    }

    fn allocate(&self, bytes: usize) -> usize {
        let layout = Layout::from_size_align(round(bytes), 64).unwrap();
        // SAFETY: the layout isn't empty.
        unsafe { System.alloc(layout) }.expose_provenance()
    }

    fn free(&self, address: usize, bytes: usize) {
        let layout = Layout::from_size_align(round(bytes), 64).unwrap();
        let pointer = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: each address was had from `allocate` with this size, and is freed once.
        unsafe { System.dealloc(pointer, layout) };
    }
}
