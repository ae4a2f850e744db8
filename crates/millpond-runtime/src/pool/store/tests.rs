//! Cutting, merging, ages and dedicated segments.

use std::alloc::Layout;

use millpond_hal::RawAllocation;
use millpond_types::MemoryKind;

use super::*;

fn segment(begin: usize, len: usize, zeroed: bool) -> RawAllocation {
    RawAllocation {
        address: Address::new(begin),
        layout: Layout::from_size_align(len, 256).unwrap(),
        kind: MemoryKind::Device,
        zeroed,
    }
}

fn base(cut: Option<Cut>) -> Option<usize> {
    cut.map(|cut| cut.base.get())
}

#[test]
fn the_smallest_sufficient_extent_is_cut_and_neighbours_merge() {
    let mut store = Store::default();
    store.add_segment(segment(0x1_0000, 0x1000, false), false);
    store.add_segment(segment(0x9_0000, 0x400, false), false);
    assert_eq!(base(store.take(0x400, 1)), Some(0x9_0000));
    let a = store.take(0x400, 1).unwrap().base;
    let b = store.take(0x400, 1).unwrap().base;
    assert_eq!(store.take(0x1000, 1), None);
    store.put(a, 0x400, Conditions::new());
    store.put(b, 0x400, Conditions::new());
    assert_eq!(store.largest_free(), 0x1000);
    assert_eq!(base(store.take(0x1000, 1)), Some(0x1_0000));
    assert_eq!(store.free_bytes(), 0);
}

#[test]
fn f022_extents_of_adjacent_segments_stay_apart() {
    for swapped in [false, true] {
        let mut store = Store::default();
        store.add_segment(segment(0x1_0000, 0x400, false), false);
        store.add_segment(segment(0x1_0400, 0x400, false), false);
        let (a, b) = (store.take(0x400, 1).unwrap(), store.take(0x400, 1).unwrap());
        let (first, second) = if swapped { (b, a) } else { (a, b) };
        store.put(first.base, 0x400, Conditions::new());
        store.put(second.base, 0x400, Conditions::new());
        assert_eq!(store.take(0x800, 1), None);
        assert_eq!(store.idle_segments(0, usize::MAX).len(), 2);
        assert_eq!(store.free_bytes(), 0);
        assert!(store.is_empty());
    }
}

#[test]
fn what_was_never_touched_is_known_to_be_zero_and_nothing_else_is() {
    let mut store = Store::default();
    store.add_segment(segment(0x1_0000, 0x1000, true), false);
    let first = store.take(0x400, 1).unwrap();
    let second = store.take(0x400, 1).unwrap();
    assert!(first.zeroed && second.zeroed);
    store.put(second.base, 0x400, Conditions::new());
    // Merged with what was used before it: the back is untouched still.
    let again = store.take(0x400, 1).unwrap();
    assert_eq!(again.base, second.base);
    assert!(!again.fresh && !again.zeroed);
    let third = store.take(0x400, 1).unwrap();
    assert!(third.zeroed);
    let dirty = segment(0x9_0000, 0x400, false);
    store.add_segment(dirty, false);
    let fresh = store.take(0x400, 1).unwrap();
    let other = store.take(0x400, 1).unwrap();
    let (dirty, zero) = if fresh.base.get() == 0x9_0000 {
        (fresh, other)
    } else {
        (other, fresh)
    };
    assert!(dirty.fresh && !dirty.zeroed && zero.zeroed);
}

#[test]
fn aligned_requests_leave_what_they_skip() {
    let mut store = Store::default();
    store.add_segment(segment(0x1_0100, 0x2000, false), false);
    assert_eq!(base(store.take(0x400, 0x1000)), Some(0x1_1000));
    assert_eq!(store.free_bytes(), 0x2000 - 0x400);
    assert_eq!(base(store.take(0xf00, 1)), Some(0x1_0100));
    assert_eq!(store.take(0x1000, 0x1000), None, "too little behind it");
}

#[test]
fn a_dedicated_segment_serves_nobody_else() {
    let mut store = Store::default();
    store.add_segment(segment(0x1_0000, 0x1000, false), true);
    let cut = store.take_dedicated(Address::new(0x1_0000), 0xc00);
    assert_eq!(store.take(0x400, 1), None);
    assert!(store.idle_dedicated().is_empty());
    store.put(cut.base, 0xc00, Conditions::new());
    assert_eq!(store.take(0x400, 1), None);
    assert_eq!(store.idle_dedicated().len(), 1);
    assert!(store.is_empty() && store.free_bytes() == 0);
}

#[test]
fn what_comes_at_once_is_merged_as_if_it_came_one_by_one() {
    let mut store = Store::default();
    store.add_segment(segment(0x1_0000, 0x1000, false), false);
    store.add_segment(segment(0x1_1000, 0x1000, false), false);
    let mut cuts: Vec<Address> = (0..8).map(|_| store.take(0x400, 1).unwrap().base).collect();
    cuts.sort();
    assert_eq!((store.bytes(), store.unused_bytes()), (0x2000, 0));
    let last = cuts.pop().unwrap();
    store.put_all(cuts.iter().map(|&begin| (begin, 0x400, Conditions::new())));
    assert_eq!((store.free_bytes(), store.unused_bytes()), (0x1c00, 0x1000));
    assert_eq!(store.largest_free(), 0x1000, "segments stay apart");
    store.put(last, 0x400, Conditions::new());
    assert_eq!(store.free.len(), 2);
    assert_eq!((store.free_bytes(), store.unused_bytes()), (0x2000, 0x2000));
    let cut = store.take(0x400, 1).unwrap();
    assert_eq!(store.idle_segments(0, usize::MAX).len(), 1);
    assert_eq!((store.bytes(), store.unused_bytes()), (0x1000, 0));
    store.put(cut.base, 0x400, Conditions::new());
    assert_eq!(store.idle_segments(0, usize::MAX).len(), 1);
    assert_eq!((store.bytes(), store.unused_bytes()), (0, 0));
}

/// The best place for a request: the smallest extent that has it, by looking at all of them.
fn best_fit(store: &Store, size: usize, align: usize) -> Option<(usize, usize)> {
    let fits = store.free.iter().filter_map(|(&begin, extent)| {
        let base = begin.next_multiple_of(align);
        (base + size <= begin + extent.len).then_some((extent.len, begin))
    });
    fits.min()
}

#[test]
fn f023_the_best_fit_is_found_for_every_size_and_alignment() {
    let mut seed = 99_u64;
    let mut roll = |sides: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % sides
    };
    let mut store = Store::default();
    for index in 0..6 {
        store.add_segment(
            segment(0x10_0000 + index * 0x4_0000, 0x4_0000, false),
            false,
        );
    }
    let mut used: Vec<(Address, usize)> = Vec::new();
    let mut missed = 0;
    for _ in 0..4_000 {
        let size = (1 + roll(60)) * 0x100;
        let align = 1 << roll(14);
        let best = best_fit(&store, size, align);
        let cut = store.take(size, align);
        assert_eq!(
            cut.is_some(),
            best.is_some(),
            "{size} bytes, aligned to {align}"
        );
        match (cut, best) {
            (Some(cut), Some((len, begin))) => {
                let base = cut.base.get();
                assert!(base.is_multiple_of(align));
                assert_eq!(
                    base,
                    begin.next_multiple_of(align),
                    "in the extent of {len}"
                );
                used.push((cut.base, size));
            }
            _ => missed += 1,
        }
        while used.len() > 140 || (roll(2) == 0 && !used.is_empty()) {
            let (base, size) = used.swap_remove(roll(used.len()));
            store.put(base, size, Conditions::new());
        }
    }
    assert!(missed < 2_000);
}
