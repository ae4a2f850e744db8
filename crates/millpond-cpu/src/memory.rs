//! Memory from the system.
//!
//! Small blocks come from the program's allocator. Large ones are mapped: aligned to the size of a
//! huge page and advised to use them, because touching fresh memory page by page costs more than
//! most of what is then done with it; and given back to the system when they are released.
//!
//! Pools stand in front of this, so it keeps nothing.

use std::alloc::{self, Layout};
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use millpond_hal::{Address, DeviceError, RawAllocation};
use millpond_types::MemoryKind;
use rustix::io::Errno;
use rustix::mm::{self, MapFlags, ProtFlags};

/// Alignment of every allocation: a cache line, and the widest vector.
pub(crate) const ALIGNMENT: usize = 64;

/// The size of a huge page, from which memory is mapped.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// The unit that mappings are rounded up to; a multiple of every page size in use that divides a
/// huge page. What a mapping has beyond the request is no part of the allocation, so that limits of
/// pools are met exactly; nobody touches it, so that it isn't there but as addresses.
const MAP_UNIT: usize = 64 << 10;

const PROTECTION: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

const TOO_LARGE: &str = "the size is beyond the address space";

/// How a device's memory is had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Largest single allocation.
    pub(crate) largest: usize,
    /// Whether to ask for huge pages.
    pub(crate) huge_pages: bool,
}

/// The answer to a request for so many bytes that gets none, for a reason.
fn refusal(device: &str, kind: MemoryKind, bytes: usize) -> impl Fn(String) -> DeviceError + Copy {
    move |reason| DeviceError::OutOfMemory {
        device: device.to_owned(),
        kind,
        bytes,
        reason,
    }
}

impl Memory {
    /// Takes memory from the system.
    pub(crate) fn allocate(
        &self,
        device: &str,
        kind: MemoryKind,
        asked: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        let out_of_memory = refusal(device, kind, asked.size());
        let layout = self.check(asked).map_err(out_of_memory)?;
        let mapped = is_mapped(layout);
        let pointer = if mapped {
            self.map(layout).map_err(|error| {
                let error = std::io::Error::from(error);
                out_of_memory(error.to_string())
            })?
        } else {
            // SAFETY: `round_up` answers no layout of size 0.
            let pointer = unsafe { alloc::alloc(layout) };
            NonNull::new(pointer)
                .ok_or_else(|| out_of_memory("the allocator has none left".to_owned()))?
        };
        Ok(RawAllocation {
            address: Address::of(pointer.as_ptr()),
            layout,
            kind,
            zeroed: mapped,
        })
    }

    /// Maps an aligned block.
    fn map(&self, layout: Layout) -> rustix::io::Result<NonNull<u8>> {
        let size = mapped_size(layout);
        let block = reserve(size, layout.align(), PROTECTION)?;
        self.advise(block, size);
        NonNull::new(block.cast()).ok_or(Errno::NOMEM)
    }

    /// Maps bytes of a file, which are there, for all processes to see what is written.
    pub(crate) fn map_file(
        &self,
        file: BorrowedFd<'_>,
        begin: u64,
        layout: Layout,
    ) -> rustix::io::Result<Address> {
        let size = layout.size();
        let block = reserve(size, layout.align(), ProtFlags::empty())?;
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: it replaces the mapping made above, of the same size, which nobody knows yet.
        let answer = unsafe { mm::mmap(block, size, PROTECTION, flags, file, begin) };
        if let Err(errno) = answer {
            unmap(block, size);
            return Err(errno);
        }
        self.advise(block, size);
        Ok(Address::of(block.cast::<u8>()))
    }

    /// What a request becomes that is always mapped, however small.
    pub(crate) fn mapped_layout(
        &self,
        device: &str,
        kind: MemoryKind,
        asked: Layout,
    ) -> Result<Layout, DeviceError> {
        let out_of_memory = refusal(device, kind, asked.size());
        let layout = self.check(asked).map_err(out_of_memory)?;
        let size = layout.size().next_multiple_of(MAP_UNIT);
        Layout::from_size_align(size, layout.align()).map_err(|_| out_of_memory(TOO_LARGE.into()))
    }

    /// What is really taken for a request, or why it can't be.
    fn check(&self, asked: Layout) -> Result<Layout, String> {
        if asked.size() > self.largest {
            return Err(format!("the largest allocation is {} bytes", self.largest));
        }
        round_up(asked).ok_or_else(|| TOO_LARGE.to_owned())
    }

    fn advise(&self, block: *mut c_void, size: usize) {
        if self.huge_pages {
            // SAFETY: callers pass a mapping that they have just made; the advice changes no
            // content. Where the kernel has no huge pages it refuses, and the memory is as good
            // but slower.
            let _ = unsafe { mm::madvise(block, size, mm::Advice::LinuxHugepage) };
        }
    }
}

/// A new anonymous mapping that is aligned: maps more, then unmaps what sticks out on both sides.
fn reserve(size: usize, align: usize, protection: ProtFlags) -> rustix::io::Result<*mut c_void> {
    let align = align.max(HUGE_PAGE);
    let span = size.checked_add(align).ok_or(Errno::NOMEM)?;
    // SAFETY: a new anonymous mapping where the system chooses touches nothing that exists.
    let start =
        unsafe { mm::mmap_anonymous(std::ptr::null_mut(), span, protection, MapFlags::PRIVATE) }?;
    let head = start.addr().wrapping_neg() % align;
    let block = start.wrapping_byte_add(head);
    unmap(start, head);
    unmap(block.wrapping_byte_add(size), align - head);
    Ok(block)
}

/// Unmaps memory that was had as one mapping.
///
/// # Safety
/// The memory came from [`Memory::map_file`], wasn't given back yet, and nobody uses it.
pub(crate) unsafe fn unmap_whole(allocation: &RawAllocation) {
    let pointer = allocation.address.as_ptr::<u8>();
    unmap(pointer.cast(), allocation.layout.size());
}

/// Gives memory back to the system.
///
/// # Safety
/// The memory came from [`Memory::allocate`], wasn't given back yet, and nobody uses it.
pub(crate) unsafe fn release(allocation: &RawAllocation) {
    let pointer = allocation.address.as_ptr::<u8>();
    if is_mapped(allocation.layout) {
        unmap(pointer.cast(), mapped_size(allocation.layout));
    } else {
        // SAFETY: the caller's promise; the layout is the one that the memory was had with.
        unsafe { alloc::dealloc(pointer, allocation.layout) };
    }
}

/// The layout that is really taken: aligned and padded. `None` beyond the address space.
fn round_up(asked: Layout) -> Option<Layout> {
    let align = asked.align().max(ALIGNMENT);
    let size = asked.size().max(1).checked_next_multiple_of(ALIGNMENT)?;
    Layout::from_size_align(size, align).ok()
}

/// Whether memory of a layout that was rounded up is mapped.
fn is_mapped(layout: Layout) -> bool {
    layout.size() >= HUGE_PAGE
}

/// The bytes of the mapping of such a layout.
fn mapped_size(layout: Layout) -> usize {
    layout.size().next_multiple_of(MAP_UNIT)
}

/// Unmaps a part of a mapping that this module made.
fn unmap(start: *mut c_void, size: usize) {
    if size > 0 {
        // SAFETY: private function: callers pass ranges of mappings of this module, which nobody
        // uses (`reserve` and `map_file` those
        // they never gave out, `release` and `unmap_whole` those that their callers vouch for).
        let answer = unsafe { mm::munmap(start, size) };
        // It fails only for want of a table entry in the kernel; the range then stays mapped,
        // which wastes address space and nothing else.
        debug_assert!(answer.is_ok(), "munmap of {size} bytes: {answer:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Memory = Memory {
        largest: isize::MAX as usize,
        huge_pages: true,
    };

    fn take(size: usize, align: usize) -> Result<RawAllocation, DeviceError> {
        let layout = Layout::from_size_align(size, align).expect("a layout");
        MEMORY.allocate("cpu:0", MemoryKind::Shared, layout)
    }

    #[test]
    fn blocks_are_aligned_writable_and_honest_about_zeros() {
        for size in [
            0,
            1,
            64,
            100,
            4096,
            HUGE_PAGE - 1,
            HUGE_PAGE,
            3 * HUGE_PAGE + 5,
        ] {
            for align in [1, 64, 4096, 4 << 20] {
                let block = take(size, align).expect("memory");
                assert_eq!(block.address.get() % align.max(ALIGNMENT), 0);
                assert_eq!(block.layout.size(), size.max(1).next_multiple_of(ALIGNMENT));
                let pointer = block.address.as_ptr::<u8>();
                let last = pointer.wrapping_add(block.layout.size() - 1);
                if block.zeroed {
                    // SAFETY: the last byte of a block that is initialised, by what it says.
                    assert_eq!(unsafe { last.read() }, 0);
                }
                // SAFETY: the block is as long as its layout says.
                unsafe { pointer.write_bytes(0xa5, block.layout.size()) };
                // SAFETY: the last byte, just written.
                assert_eq!(unsafe { last.read() }, 0xa5);
                // SAFETY: nobody uses it.
                unsafe { release(&block) };
            }
        }
    }

    #[test]
    fn large_blocks_begin_at_a_huge_page() {
        let block = take(5 * HUGE_PAGE / 2, 64).expect("memory");
        assert_eq!(block.address.get() % HUGE_PAGE, 0);
        assert!(block.zeroed);
        // SAFETY: nobody uses it.
        unsafe { release(&block) };
    }

    #[test]
    fn what_the_system_refuses_is_explained() {
        // Within a layout's range, beyond any address space.
        let bytes = isize::MAX as usize - HUGE_PAGE;
        let Err(DeviceError::OutOfMemory {
            device,
            kind,
            bytes: told,
            reason,
        }) = take(bytes, 1)
        else {
            panic!("the address space is smaller than {bytes} bytes");
        };
        assert_eq!((device.as_str(), kind), ("cpu:0", MemoryKind::Shared));
        assert_eq!(told, bytes);
        assert!(reason.contains("memory"), "{reason}");
        let Err(DeviceError::OutOfMemory { reason, .. }) = take(isize::MAX as usize, 1) else {
            panic!("rounded up the size is no longer a layout");
        };
        assert!(reason.contains("address space"), "{reason}");
    }

    #[test]
    fn more_than_the_device_has_is_refused() {
        let memory = Memory {
            largest: 1000,
            ..MEMORY
        };
        let layout = Layout::from_size_align(1001, 1).expect("a layout");
        let answer = memory.allocate("cpu:0", MemoryKind::Host, layout);
        let text = answer.expect_err("too much").to_string();
        assert!(
            text.contains("1001") && text.contains("1000 bytes"),
            "{text}"
        );
    }
}
