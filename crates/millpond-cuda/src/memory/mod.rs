//! Memory of the three kinds, and where an address lies.
//!
//! Device memory from 2 MiB on is physical memory that is mapped into addresses of its own, which
//! the other devices that can are let into as well; smaller pieces come from the driver's own
//! allocator. Host memory is pinned and reached by all devices. Shared memory is managed by the
//! driver, which moves its pages. Of device memory the driver has pools of its own as well.
//!
//! Pools stand in front of this, so it keeps nothing.

mod mapped;
mod place;
pub(crate) mod pool;
mod pool_arena;

use std::alloc::Layout;

use millpond_hal::{Address, DeviceError, RawAllocation};
use millpond_types::MemoryKind;

pub(crate) use place::{Place, Places, Record};
pub(crate) use pool::{CudaPool, Frees};
pub(crate) use pool_arena::PoolArena;

use crate::api::{ATTACH_GLOBAL, PORTABLE, Pointer, attribute};
use crate::card::{Card, CudaError, Current};
use crate::device::System;
use mapped::Mapped;

/// What device memory is mapped from; the driver's granularity divides it.
const LARGE: usize = 2 << 20;

/// Alignment that the driver gives each allocation by itself.
const NATURAL: usize = 256;

/// How memory was had.
#[derive(Debug)]
pub(crate) enum Origin {
    /// By `cuMemAlloc`.
    Plain,
    /// By mapping.
    Mapped(Mapped),
    /// From a pool of the driver's.
    Pool,
    /// By `cuMemHostAlloc`.
    Pinned,
    /// By `cuMemAllocManaged`.
    Managed,
}

/// Takes memory from the driver.
pub(crate) fn allocate(
    card: &Card,
    system: &System,
    kind: MemoryKind,
    asked: Layout,
) -> Result<RawAllocation, DeviceError> {
    let refused = |error: &CudaError| card.no_memory(kind, asked, error);
    let limit = card.info.max_allocation;
    // Of managed memory the driver would promise any amount, and then move pages for ever.
    if asked.size() > limit {
        return Err(DeviceError::OutOfMemory {
            device: card.label().to_owned(),
            kind,
            bytes: asked.size(),
            reason: format!("the device has {limit} bytes"),
        });
    }
    let layout = rounded(asked);
    let current = card.enter().map_err(|error| refused(&error))?;
    let mapped =
        kind == MemoryKind::Device && layout.size() >= LARGE && card.has(attribute::VIRTUAL_MEMORY);
    let (first, record) = if mapped {
        let mapped = Mapped::new(&current, card, system, layout)?;
        let record = Record {
            bytes: mapped.bytes(),
            place: Place::Device(card.ordinal),
            base: mapped.first(),
            origin: Origin::Mapped(mapped),
        };
        (record.base, record)
    } else {
        plain(&current, card, kind, layout).map_err(|error| refused(&error))?
    };
    let bytes = if mapped { record.bytes } else { layout.size() };
    let layout = Layout::from_size_align(bytes, layout.align()).unwrap_or(layout);
    system.places.insert(first, record);
    Ok(RawAllocation {
        address: Address::new(first as usize),
        layout,
        kind,
        zeroed: false,
    })
}

/// Memory of the driver's allocators: more than asked for where those align less.
fn plain(
    current: &Current<'_>,
    card: &Card,
    kind: MemoryKind,
    layout: Layout,
) -> Result<(Pointer, Record), CudaError> {
    let spare = if layout.align() > NATURAL {
        layout.align()
    } else {
        0
    };
    let bytes = layout.size() + spare;
    let mut base: Pointer = 0;
    let (place, origin) = match kind {
        MemoryKind::Device => {
            // SAFETY: the address is written to a place of its type.
            let code = unsafe { current.api().allocate(&raw mut base, bytes) };
            current.check("cuMemAlloc", code)?;
            (Place::Device(card.ordinal), Origin::Plain)
        }
        MemoryKind::Host => {
            let mut pointer = std::ptr::null_mut();
            // SAFETY: as above.
            let code = unsafe {
                current
                    .api()
                    .allocate_host(&raw mut pointer, bytes, PORTABLE)
            };
            current.check("cuMemHostAlloc", code)?;
            base = pointer.expose_provenance() as Pointer;
            (Place::Pinned, Origin::Pinned)
        }
        MemoryKind::Shared => {
            // SAFETY: as above.
            let code = unsafe {
                current
                    .api()
                    .allocate_managed(&raw mut base, bytes, ATTACH_GLOBAL)
            };
            current.check("cuMemAllocManaged", code)?;
            (Place::Managed, Origin::Managed)
        }
    };
    let record = Record {
        bytes,
        place,
        base,
        origin,
    };
    Ok((base.next_multiple_of(layout.align() as Pointer), record))
}

/// Gives memory back. An answer of the driver's can't be passed on: it is that of a device which is
/// lost, whose memory went with it.
///
/// # Safety
/// The memory came from [`allocate`], was not given back yet, and nothing uses it.
pub(crate) unsafe fn release(card: &Card, system: &System, allocation: &RawAllocation) {
    let first = allocation.address.get() as Pointer;
    let Some(record) = system.places.remove(first) else {
        debug_assert!(false, "no memory at {first:#x}");
        return;
    };
    let Ok(current) = card.enter_lost() else {
        return;
    };
    let api = current.api();
    let code = match record.origin {
        // SAFETY: the address is the one that the driver gave; the caller promises the rest.
        Origin::Plain | Origin::Managed | Origin::Pool => unsafe { api.free(record.base) },
        Origin::Pinned => {
            let pointer = std::ptr::with_exposed_provenance_mut(record.base as usize);
            // SAFETY: as above.
            unsafe { api.free_host(pointer) }
        }
        Origin::Mapped(mapped) => {
            // SAFETY: nothing uses the memory, by the caller's promise.
            unsafe { mapped.end(&current) };
            return;
        }
    };
    let _ = current.check("release", code);
}

/// What is taken for a request: no empty piece, and whole words.
fn rounded(asked: Layout) -> Layout {
    let align = asked.align().max(NATURAL);
    let size = asked.size().max(1).next_multiple_of(NATURAL);
    Layout::from_size_align(size, align).unwrap_or(asked)
}
