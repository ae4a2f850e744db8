//! Memory as the driver gives it.

use std::alloc::Layout;
use std::sync::Arc;

use millpond_hal::{Device, DeviceError};
use millpond_types::MemoryKind;

use super::raw::Memory;

/// Addresses fit the layout, and the allocation tells what was asked for.
pub fn memory_of_every_kind_is_aligned_as_asked(device: &Arc<dyn Device>) {
    for kind in MemoryKind::ALL {
        for bytes in [1, 63, 64, 65, 4096, (1 << 20) + 1] {
            for align in [1, device.info().alignment, 4096] {
                let layout = Layout::from_size_align(bytes, align).expect("a small layout");
                let memory = Memory::with_layout(device, kind, layout)
                    .unwrap_or_else(|error| panic!("{kind} memory of {layout:?}: {error}"));
                let allocation = memory.allocation();
                assert_ne!(allocation.address.get(), 0, "{kind} {layout:?}");
                assert_eq!(allocation.address.get() % align, 0, "{kind} {layout:?}");
                assert_eq!(allocation.kind, kind);
            }
        }
    }
}

/// Allocations that live at one time share no byte.
pub fn live_allocations_do_not_overlap(device: &Arc<dyn Device>) {
    let mut live: Vec<Memory> = (0..60)
        .map(|i| Memory::new(device, MemoryKind::ALL[i % 3], 1 + i * 37).expect("a little memory"))
        .collect();
    live.sort_by_key(Memory::address);
    for pair in live.windows(2) {
        let first = pair[0].allocation();
        let end = first.address.offset(first.layout.size());
        assert!(end <= pair[1].address(), "{pair:?} overlap");
    }
}

/// Releases follow no order, and released memory can be had again.
pub fn memory_comes_back_in_any_order(device: &Arc<dyn Device>) {
    for round in 0..10 {
        let mut live: Vec<Memory> = (0..20)
            .map(|_| Memory::new(device, MemoryKind::Shared, 1 << 16).expect("a little memory"))
            .collect();
        while !live.is_empty() {
            live.swap_remove(round % live.len());
        }
    }
}

/// An error, not a crash, and it carries the bytes.
pub fn an_impossible_size_is_out_of_memory_with_its_bytes(device: &Arc<dyn Device>) {
    let size = isize::MAX as usize - 4095;
    let layout = Layout::from_size_align(size, 64).expect("just below the largest layout");
    for kind in MemoryKind::ALL {
        match Memory::with_layout(device, kind, layout) {
            Err(DeviceError::OutOfMemory {
                kind: named, bytes, ..
            }) => {
                assert_eq!(named, kind);
                assert!(bytes >= size, "{bytes} of {size} bytes");
            }
            other => panic!("{size} bytes of {kind} memory: {other:?}"),
        }
    }
}
