//! Buffers: memory that is known by a handle.
//!
//! Theirs is memory at home on a context's first device that every device and the host reach, or the
//! program's own. What is enqueued on a buffer is ordered by the queue and its events only.

use std::sync::Arc;

use millpond::{Allocation, MemoryKind};

use crate::argument::{Answer, In, Out, Pointer};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::error::memory_code;
use crate::handle::{Handle, Kind, Place, create, kinds};
use crate::mutants::{Rule, broken};
use crate::numbers::{BufferCreateType, Code, MemFlags, MemInfo};
use crate::property::Property;
use crate::structures::{ACCESS, BufferProperties, BufferRegion, Header};
use crate::usm::{allocate_now, free_behind_all};

/// A buffer, or a part of one.
#[derive(Debug)]
pub(crate) struct Buffer {
    place: Place<Buffer>,
    context: Arc<Context>,
    flags: MemFlags,
    size: usize,
    address: usize,
    memory: Memory,
}

kinds! { Buffer: INVALID_MEM_OBJECT }

/// Whose a buffer's bytes are.
#[derive(Debug)]
enum Memory {
    /// Its own, until it goes.
    Own(Option<Allocation>),
    /// The program's.
    Host,
    /// Another buffer's, which lives as long.
    Part { _whole: Arc<Buffer> },
}

impl Buffer {
    fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    /// The first byte.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// # Errors
    /// Bytes outside of the buffer.
    pub(crate) fn check_range(&self, offset: usize, size: usize) -> Answer {
        let ends = offset.checked_add(size).is_some_and(|end| end <= self.size);
        if !ends && !broken(Rule::BufferRanges) {
            return Err(Code::INVALID_SIZE);
        }
        Ok(())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Memory::Own(memory) = &mut self.memory
            && let Some(memory) = memory.take()
            && let Err((_, memory)) = free_behind_all(&self.context, memory)
        {
            // Commands that nobody can wait for any more may use it.
            std::mem::forget(memory);
        }
    }
}

/// What memory buffers are of: what moves to where it is used, where that isn't the host anyway.
fn kind_on(device: &Device) -> MemoryKind {
    if device.is_host() {
        MemoryKind::Host
    } else {
        MemoryKind::Shared
    }
}

/// # Errors
/// Flags that mean nothing, or contradict each other.
fn check_flags(flags: MemFlags) -> Answer {
    flags.check()?;
    if (flags.0 & ACCESS.0).count_ones() > 1 {
        return Err(Code::INVALID_VALUE);
    }
    Ok(())
}

entry! {
    fn urMemBufferCreate(
        context: Handle<Context>,
        flags: MemFlags,
        size: usize,
        properties: In<BufferProperties>,
        buffer: Out<Handle<Buffer>>,
    ) {
        let context = context.get()?;
        let buffer = buffer.required()?;
        flags.check()?;
        let host = properties.value().map_or(0, |properties| properties.host.number());
        let needs_host =
            MemFlags(MemFlags::USE_HOST_POINTER.0 | MemFlags::ALLOC_COPY_HOST_POINTER.0);
        if flags.has(needs_host) != (host != 0) {
            return Err(Code::INVALID_HOST_PTR);
        }
        check_flags(flags)?;
        if flags.has(MemFlags::USE_HOST_POINTER) && flags.0 & !ACCESS.0 & !MemFlags::USE_HOST_POINTER.0 != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let device = Arc::clone(context.first());
        if size == 0 || size > device.runtime().info().max_allocation {
            return Err(Code::INVALID_BUFFER_SIZE);
        }
        if host.checked_add(size).is_none() && !broken(Rule::HostEnd) {
            return Err(Code::INVALID_HOST_PTR);
        }
        let (address, memory) = if flags.has(MemFlags::USE_HOST_POINTER) {
            (host, Memory::Host)
        } else {
            let kind = kind_on(&device);
            let pool = device.runtime().current_pool(kind);
            let memory = allocate_now(&device, &pool, size, 1);
            let memory = memory.map_err(|error| memory_code(&error, kind))?;
            if flags.has(MemFlags::ALLOC_COPY_HOST_POINTER) {
                let bytes = Pointer::to(host).bytes(size);
                memory.write(0, bytes).map_err(|error| memory_code(&error, kind))?;
            }
            (memory.address().get(), Memory::Own(Some(memory)))
        };
        buffer.set(create(|place| Buffer { place, context, flags, size, address, memory })?.handle());
        Ok(())
    }

    fn urMemRetain(buffer: Handle<Buffer>) {
        buffer.retain()
    }

    /// Gives a reference back. With the last the memory goes, once everything that was enqueued in the
    /// context so far is done.
    fn urMemRelease(buffer: Handle<Buffer>) {
        buffer.release().map(drop)
    }

    fn urMemBufferPartition(
        buffer: Handle<Buffer>,
        flags: MemFlags,
        how: BufferCreateType,
        region: In<BufferRegion>,
        part: Out<Handle<Buffer>>,
    ) {
        let whole = buffer.get()?;
        flags.check()?;
        if how != BufferCreateType::REGION {
            return Err(Code::INVALID_ENUMERATION);
        }
        let region = region.required()?;
        let part = part.required()?;
        check_flags(flags)?;
        // A part can't be used in a way that the whole can't.
        let narrow = |flag: MemFlags| whole.flags.has(flag) && flags.has(ACCESS) && !flags.has(flag);
        if narrow(MemFlags::WRITE_ONLY) || narrow(MemFlags::READ_ONLY) {
            return Err(Code::INVALID_VALUE);
        }
        if matches!(whole.memory, Memory::Part { .. }) {
            return Err(Code::INVALID_MEM_OBJECT);
        }
        let BufferRegion { origin, size, .. } = region;
        let is_in = whole.check_range(origin, size).is_ok();
        if size == 0 || !is_in {
            return Err(Code::INVALID_BUFFER_SIZE);
        }
        let made = create(|place| Buffer {
            place,
            context: Arc::clone(&whole.context),
            flags: if flags.has(ACCESS) { flags } else { whole.flags },
            size,
            address: whole.address + if broken(Rule::PartOrigin) { 0 } else { origin },
            memory: Memory::Part { _whole: whole },
        })?;
        part.set(made.handle());
        Ok(())
    }

    fn urMemGetInfo(
        buffer: Handle<Buffer>,
        what: MemInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let buffer = buffer.get()?;
        let property: Property = match what {
            MemInfo::SIZE => buffer.size.into(),
            MemInfo::CONTEXT => buffer.context.handle().into(),
            MemInfo::REFERENCE_COUNT => buffer.place.references().into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    /// The address of a buffer's bytes, the same for every device.
    fn urMemGetNativeHandle(buffer: Handle<Buffer>, device: Handle<Device>, native: Out<usize>) {
        let buffer = buffer.get()?;
        device.optional()?;
        native.required()?.set(buffer.address);
        Ok(())
    }

    /// The buffer at an address. Others can't be made this way, as nobody says how many bytes they have.
    fn urMemBufferCreateWithNativeHandle(
        native: usize,
        context: Handle<Context>,
        _properties: In<Header>,
        buffer: Out<Handle<Buffer>>,
    ) {
        let context = context.get()?;
        let buffer = buffer.required()?;
        let same = Buffer::table().search(|one| {
            let is_whole = !matches!(one.memory, Memory::Part { .. });
            is_whole
                && (one.address == native || broken(Rule::NativeBuffer))
                && Arc::ptr_eq(&one.context, &context)
        });
        let same = same.ok_or(Code::UNSUPPORTED_FEATURE)?.handle();
        same.retain()?;
        buffer.set(same);
        Ok(())
    }
}
