//! Who goes first, and what is left of it.

use std::os::fd::AsFd;

use millpond_runtime::Error;

use crate::partner::{Partner, parse, whereabouts};
use crate::{MIB, exported, fill, import, open, pool, read, support};

#[test]
fn imported_memory_outlives_the_process_that_owns_it() {
    let queue = support::device().default_queue().unwrap();
    let mut owner = Partner::start();
    let told = owner.export(2 * MIB, 5);
    let (handle, path) = parse(&told);
    let seen = import(&queue, &handle, open(path).as_fd()).unwrap();
    owner.kill();
    assert_eq!(read(&seen), 5);
    fill(&seen, 6);
    assert_eq!(read(&seen), 6);
}

#[test]
fn a_descriptor_is_enough_to_import_memory_of_a_process_that_is_gone() {
    let queue = support::device().default_queue().unwrap();
    let mut owner = Partner::start();
    let told = owner.export(MIB, 5);
    let (handle, path) = parse(&told);
    let file = open(path);
    owner.kill();
    assert_eq!(read(&import(&queue, &handle, file.as_fd()).unwrap()), 5);
}

#[test]
fn an_importer_that_dies_takes_nothing_with_it() {
    let queue = support::device().default_queue().unwrap();
    let export = exported(&queue, MIB, 1);
    let mut importer = Partner::start();
    let seen = importer.open(&export);
    importer.fill(seen, 2);
    importer.kill();
    assert_eq!(read(export.memory()), 2);
    let mut another = Partner::start();
    let seen = another.open(&export);
    assert_eq!(another.read(seen), 2);
}

#[test]
fn an_export_keeps_the_bytes_from_being_handed_out_again() {
    let device = support::device();
    let queue = device.default_queue().unwrap();
    let pool = pool(&device);
    let memory = queue.allocate_from(&pool, MIB).unwrap();
    let address = memory.address();
    let export = memory.export(0..MIB).unwrap();
    drop(memory);
    let other = queue.allocate_from(&pool, MIB).unwrap();
    assert_ne!(other.address(), address);
    assert_eq!(pool.statistics().live, 2);
    drop(export);
    let again = queue.allocate_from(&pool, MIB).unwrap();
    assert_eq!(again.address(), address);
    assert!(!again.is_host_shared(), "it is new memory");
}

#[test]
fn memory_that_is_exported_cannot_be_freed_on_a_queue() {
    let queue = support::device().default_queue().unwrap();
    let memory = queue.allocate_from(&pool(queue.device()), MIB).unwrap();
    let export = memory.export(0..MIB).unwrap();
    let Err((Error::Shared { handles, .. }, memory)) = queue.free(memory, &[]) else {
        panic!("it was freed");
    };
    assert_eq!(handles, 1);
    drop(export);
    assert!(queue.free(memory, &[]).is_ok());
}

#[test]
fn an_importer_that_stays_too_long_sees_zeros_and_harms_nobody() {
    let device = support::device();
    let queue = device.default_queue().unwrap();
    let pool = pool(&device);
    let memory = queue.allocate_from(&pool, MIB).unwrap();
    fill(&memory, 1);
    let export = memory.export(0..MIB).unwrap();
    let mut importer = Partner::start();
    let seen = importer.open(&export);
    drop((memory, export));
    pool.trim(0).unwrap();
    assert_eq!(pool.statistics().reserved, 0);
    assert_eq!(importer.read(seen), 0);
    importer.fill(seen, 9);
    // What the pool gets next lies elsewhere in the file, so nobody finds the nine there.
    let next = queue.allocate_from(&pool, MIB).unwrap();
    assert_eq!(read(&next), 0);
    assert_eq!(importer.read(seen), 9);
}

#[test]
fn exports_of_a_pool_that_is_gone_are_as_good_as_before() {
    let queue = support::device().default_queue().unwrap();
    // The pool's only handle went with the call.
    let export = exported(&queue, MIB, 4);
    assert_eq!(
        read(&import(&queue, export.handle(), export.as_fd()).unwrap()),
        4
    );
}

#[test]
fn f088_a_thousand_blocks_of_one_segment_take_one_mapping_and_one_descriptor() {
    let mut owner = Partner::start();
    let mut importer = Partner::start();
    let ((owned, _), (had, _)) = (owner.counts(), importer.counts());
    let blocks = owner.export_blocks(1000, 1000);
    assert_eq!(blocks.len(), 1000);
    assert_eq!(owner.counts(), (owned + 1, 1));
    let seen: Vec<usize> = blocks.iter().map(|told| importer.open_as(told)).collect();
    assert_eq!(importer.counts(), (had + 1, 1));
    for (byte, block) in seen.iter().enumerate() {
        importer.fill(*block, byte as u8);
    }
    for (byte, block) in seen.iter().enumerate() {
        assert_eq!(importer.read(*block), byte as u8);
    }
    importer.close_all();
    assert_eq!(importer.counts(), (had, 0));
    owner.close_all();
    assert_eq!(owner.counts(), (owned, 0));
}

#[test]
fn the_same_memory_can_be_opened_again_and_again() {
    let queue = support::device().default_queue().unwrap();
    let export = exported(&queue, MIB, 1);
    let mut importer = Partner::start();
    let before = importer.counts();
    for byte in 1..20 {
        let seen = importer.open(&export);
        fill(export.memory(), byte);
        assert_eq!(importer.read(seen), byte);
        importer.close_all();
        assert_eq!(importer.counts(), before);
    }
    let told = whereabouts(&export);
    let (first, second) = (importer.open_as(&told), importer.open_as(&told));
    importer.fill(first, 30);
    assert_eq!(importer.read(second), 30);
    assert_eq!(importer.counts().1, before.1 + 1);
}
