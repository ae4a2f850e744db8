//! Handles and descriptors that are of no use, and memory that can't be shared.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};

use millpond_hal::DeviceError;
use millpond_hal::Driver;
use millpond_hal::null::NullDriver;
use millpond_runtime::{
    Address, Device, Error, Export, HandleError, MemoryHandle, MemoryKind, PoolOptions, Queue,
    Release,
};

use crate::{MIB, exported, fill, import, open, pool, read, shareable, support};

/// Why a handle with this descriptor can't be imported.
fn refused(queue: &Queue, handle: &MemoryHandle, descriptor: BorrowedFd<'_>) -> HandleError {
    match import(queue, handle, descriptor) {
        Err(Error::Handle(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Why an export's handle can't be imported with another descriptor.
fn refused_with(export: &Export, descriptor: BorrowedFd<'_>) -> String {
    let queue = export.memory().queue();
    let error = refused(&queue, export.handle(), descriptor);
    let HandleError::Descriptor { reason, .. } = error else {
        panic!("{error:?}");
    };
    reason
}

/// A file in memory of as many bytes as these, sealed or not.
fn memory_file(bytes: usize, seals: libc::c_int) -> std::fs::File {
    // SAFETY: the name is a string, and the flags are the call's.
    let number = unsafe { libc::memfd_create(c"test".as_ptr(), libc::MFD_ALLOW_SEALING) };
    assert!(number >= 0);
    // SAFETY: the descriptor was made above, and nobody else has it.
    let file = unsafe { std::fs::File::from_raw_fd(number) };
    file.set_len(bytes as u64).unwrap();
    // SAFETY: a call on an open descriptor with a number.
    let answer = unsafe { libc::fcntl(number, libc::F_ADD_SEALS, seals) };
    assert_eq!(answer, 0);
    file
}

#[test]
fn a_descriptor_of_anything_else_is_told_by_what_it_is() {
    let queue = support::device().default_queue().unwrap();
    let export = exported(&queue, MIB, 1);
    let folder = std::env::temp_dir().join(format!("millpond-{}", std::process::id()));
    let file = std::fs::File::create(&folder).unwrap();
    std::fs::remove_file(&folder).unwrap();
    let (pipe, _end) = std::io::pipe().unwrap();
    let unsealed = memory_file(64 * MIB, 0);
    let number = export.as_fd().as_raw_fd();
    let read_only = std::fs::File::open(format!("/proc/self/fd/{number}")).unwrap();
    for (descriptor, reason) in [
        (file.as_fd(), "it isn't a file in memory"),
        (pipe.as_fd(), "it isn't a file in memory"),
        (
            unsealed.as_fd(),
            "the file isn't sealed against becoming shorter",
        ),
        (read_only.as_fd(), "it isn't open for reading and writing"),
    ] {
        assert_eq!(refused_with(&export, descriptor), reason);
    }
}

#[test]
fn a_descriptor_of_other_memory_is_refused_whatever_its_size() {
    let queue = support::device().default_queue().unwrap();
    let (export, another) = (exported(&queue, MIB, 1), exported(&queue, MIB, 2));
    let foreign = memory_file(64 * MIB, libc::F_SEAL_SHRINK);
    for descriptor in [another.as_fd(), foreign.as_fd()] {
        let error = refused(&queue, export.handle(), descriptor);
        assert!(matches!(error, HandleError::OtherArena { .. }), "{error:?}");
    }
    let number = export.as_fd().as_raw_fd();
    let right = open(&format!("/proc/self/fd/{number}"));
    assert!(import(&queue, export.handle(), right.as_fd()).is_ok());
}

#[test]
fn bytes_beyond_the_file_are_refused_with_its_size() {
    let queue = support::device().default_queue().unwrap();
    let export = exported(&queue, MIB, 1);
    let mut bytes = export.handle().to_bytes();
    // The length of the segment, which lies before begin and length of the memory.
    let at = MemoryHandle::BYTES - 24;
    bytes[at..at + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let handle = MemoryHandle::from_bytes(&bytes).unwrap();
    let answer = import(&queue, &handle, export.as_fd());
    // More than the machine has is refused by that.
    let is_refused = matches!(
        &answer,
        Err(Error::Handle(HandleError::Range { .. })
            | Error::Device(DeviceError::OutOfMemory { .. }))
    );
    assert!(is_refused, "{answer:?}");
    bytes[at..at + 8].copy_from_slice(&(64 * MIB as u64).to_le_bytes());
    let handle = MemoryHandle::from_bytes(&bytes).unwrap();
    assert_eq!(
        refused(&queue, &handle, export.as_fd()),
        HandleError::Range {
            begin: 0,
            bytes: 64 * MIB as u64,
            size: 32 * MIB as u64
        }
    );
}

#[test]
fn a_segment_that_is_said_to_be_shorter_has_a_mapping_of_its_own() {
    let device = support::device();
    let queue = device.default_queue().unwrap();
    let pool = pool(&device);
    let blocks: Vec<_> = (0..4)
        .map(|_| queue.allocate_from(&pool, 4 * MIB).unwrap())
        .collect();
    let exports: Vec<_> = blocks
        .iter()
        .map(|block| block.export(0..block.bytes()).unwrap())
        .collect();
    let shorter = |export: &Export| {
        let mut bytes = export.handle().to_bytes();
        let at = MemoryHandle::BYTES - 24;
        bytes[at..at + 8].copy_from_slice(&(4 * MIB as u64).to_le_bytes());
        MemoryHandle::from_bytes(&bytes)
    };
    let found: Vec<_> = exports
        .iter()
        .filter_map(|export| shorter(export).ok())
        .collect();
    assert_eq!(found.len(), 1, "the others lie beyond");
    let _short = import(&queue, &found[0], exports[0].as_fd()).unwrap();
    for (block, export) in blocks.iter().zip(&exports) {
        fill(block, 5);
        let seen = import(&queue, export.handle(), export.as_fd()).unwrap();
        assert_eq!(read(&seen), 5);
    }
}

#[test]
fn a_place_between_segments_is_refused() {
    let queue = support::device().default_queue().unwrap();
    let export = exported(&queue, MIB, 1);
    let mut bytes = export.handle().to_bytes();
    bytes[millpond_runtime::PoolHandle::BYTES] = 1;
    // So short that it lies in the file all the same.
    let at = MemoryHandle::BYTES - 24;
    bytes[at..at + 8].copy_from_slice(&(MIB as u64).to_le_bytes());
    let handle = MemoryHandle::from_bytes(&bytes).unwrap();
    let error = refused(&queue, &handle, export.as_fd());
    assert!(matches!(error, HandleError::Range { begin: 1, .. }));
}

#[test]
fn handles_of_another_backend_or_of_device_memory_are_refused() {
    let queue = support::device().default_queue().unwrap();
    let export = exported(&queue, MIB, 1);
    let altered = |at: usize, byte: u8| {
        let mut bytes = export.handle().to_bytes();
        bytes[at] = byte;
        MemoryHandle::from_bytes(&bytes).unwrap()
    };
    assert_eq!(
        refused(&queue, &altered(12, b'g'), export.as_fd()),
        HandleError::Backend {
            expected: "cpu".to_owned(),
            found: "gpu".to_owned()
        }
    );
    let answer = import(&queue, &altered(11, 0), export.as_fd());
    let what = "sharing device memory with other processes".to_owned();
    let device = "cpu".to_owned();
    let expected = Error::Device(DeviceError::Unsupported { device, what });
    assert_eq!(answer.map(drop), Err(expected));
}

#[test]
fn memory_of_another_pool_is_refused_by_an_imported_one() {
    let device = support::device();
    let queue = device.default_queue().unwrap();
    let pool = pool(&device);
    let imported = device
        .import_pool(&pool.handle().unwrap(), pool.descriptor().unwrap())
        .unwrap();
    let other = exported(&queue, MIB, 1);
    // SAFETY: nobody else uses the memory.
    let answer = unsafe { imported.import_memory(&queue, other.handle()) };
    assert!(matches!(
        answer,
        Err(Error::Handle(HandleError::Object { .. }))
    ));
    let elsewhere = support::device().default_queue().unwrap();
    // SAFETY: as above.
    let answer = unsafe { imported.import_memory(&elsewhere, other.handle()) };
    assert!(matches!(answer, Err(Error::DeviceMismatch { .. })));
}

/// Memory that no pool has.
static BYTES: [u8; 8] = [0; 8];

#[test]
fn f090_only_memory_of_shareable_pools_can_be_exported() {
    let device = support::device();
    let queue = device.default_queue().unwrap();
    let default = device.default_pool(MemoryKind::Shared);
    let refusal = "the default pool of shared memory on cpu can't be shared with other processes: \
                   make a pool with `shareable`";
    for answer in [default.handle().map(drop), default.descriptor().map(drop)] {
        assert_eq!(answer.unwrap_err().to_string(), refusal);
    }
    let plain = queue.allocate_from(&default, 100).unwrap();
    let error = plain.export(0..100).unwrap_err();
    assert_eq!(error.to_string(), format!("memory of {refusal}"));

    let export = exported(&queue, MIB, 1);
    let imported = import(&queue, export.handle(), export.as_fd()).unwrap();
    let error = imported.export(0..MIB).unwrap_err();
    assert!(matches!(error, Error::NotShareable { .. }), "{error}");
    let error = export.memory().export(0..MIB + 1).unwrap_err();
    assert!(matches!(error, Error::Bounds { .. }), "{error}");

    let release = Release::anywhere(|| ());
    let address = Address::of(BYTES.as_ptr());
    // SAFETY: the bytes are there for ever, and no command writes them.
    let foreign = unsafe { queue.import(MemoryKind::Host, address, 8, release) }.unwrap();
    let error = foreign.export(0..8).unwrap_err();
    assert!(matches!(error, Error::NotShareable { .. }), "{error}");
}

#[test]
fn pools_that_cannot_be_shared_are_not_made() {
    let device = support::device();
    assert_eq!(
        device.info().shareable,
        [MemoryKind::Shared, MemoryKind::Host]
    );
    let unsupported = |device: &Device, kind| {
        let answer = device.create_pool(kind, shareable());
        matches!(answer, Err(Error::Device(DeviceError::Unsupported { .. })))
    };
    assert!(unsupported(&device, MemoryKind::Device));
    let null = Device::open(NullDriver::default().devices().unwrap().remove(0));
    for kind in MemoryKind::ALL {
        assert!(unsupported(&null, kind));
    }
    let memory = device
        .default_queue()
        .unwrap()
        .allocate(MemoryKind::Host, MIB)
        .unwrap();
    let answer = device.create_pool_over(&memory, 0..MIB, shareable());
    assert!(matches!(answer, Err(Error::Invalid { .. })));
    let answer = device.create_pool_over(&memory, 0..MIB, PoolOptions::default());
    assert!(answer.is_ok());
}

#[test]
fn a_growth_that_the_driver_refuses_leaves_the_pool_as_it_was() {
    use millpond_hal::layers::{Fault, Layered};
    use millpond_runtime::Registry;
    use std::sync::Arc;

    let error = DeviceError::OutOfMemory {
        device: "cpu:0".to_owned(),
        kind: MemoryKind::Shared,
        bytes: 1,
        reason: "by plan".to_owned(),
    };
    // Growing is tried by what is usual, and then by what is needed.
    let fault = (1..=9).fold(Fault::default(), |fault, number| {
        fault.refuse_allocate(number, error.clone())
    });
    let driver = Arc::new(Layered::new(support::driver(), fault));
    let device = Registry::new(&[driver as _]).default_device().unwrap();
    let queue = device.default_queue().unwrap();
    let pool = pool(&device);
    let answer = queue.allocate_from(&pool, MIB);
    assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
    assert_eq!(pool.statistics().reserved, 0);
}
