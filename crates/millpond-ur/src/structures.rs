//! The interface's structures, and the chains that they form.

use crate::argument::{Answer, Flag, In, Pointer, Text};
use crate::buffer::Buffer;
use crate::command_buffer::Listed;
use crate::device::Device;
use crate::handle::Handle;
use crate::kernel::Kernel;
use crate::numbers::{
    AsyncAllocFlags, Code, ContextFlags, DevicePartition, EnqueueExtFlags, EventFlags,
    HostRegisterFlags, HostTaskFlags, KernelArgumentKind, MemFlags, NativeCommandFlags,
    PhysicalMemFlags, QueueFlags, StructureType, UsmAdviceFlags, UsmDeviceFlags, UsmHostFlags,
    UsmPoolFlags, UsmType,
};

/// What every structure begins with.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Header {
    /// What the structure is.
    pub(crate) kind: StructureType,
    /// The next one of the chain.
    pub(crate) next: In<Header>,
}

/// Structures with a header.
macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub(crate) struct $name {
            pub(crate) header: Header,
            $(pub(crate) $field: $kind,)*
        }
    )*};
}

structures! {
    /// How a context is made.
    ContextProperties { flags: ContextFlags }
    /// How a queue is made.
    QueueProperties { flags: QueueFlags }
    /// How a buffer is made.
    BufferProperties { host: Pointer }
    /// A part of a buffer.
    BufferRegion { origin: usize, size: usize }
    /// How memory is asked for.
    UsmDesc { hints: UsmAdviceFlags, align: u32 }
    /// The same for host memory.
    UsmHostDesc { flags: UsmHostFlags }
    /// The same for device and shared memory.
    UsmDeviceDesc { flags: UsmDeviceFlags }
    /// How a pool is made.
    UsmPoolDesc { flags: UsmPoolFlags }
    /// What a pool may hold.
    UsmPoolLimitsDesc { max_poolable_size: usize, min_driver_alloc_size: usize }
    /// Memory that a pool is made of.
    UsmPoolBufferDesc { memory: Pointer, size: usize, kind: UsmType, device: Handle<Device> }
    /// How memory is asked for in the order of a queue.
    AsyncAllocProperties { flags: AsyncAllocFlags }
    /// How a device is split.
    DevicePartitionProperties { properties: In<PartitionProperty>, count: usize }
    /// A program that could be chosen: what it was made for.
    DeviceBinary { target: Text }
    /// How a barrier is enqueued.
    EnqueueExtProperties { flags: EnqueueExtFlags }
    /// How a host task is enqueued.
    HostTaskProperties { flags: HostTaskFlags }
    /// How work is enqueued by a program itself.
    NativeCommandProperties { flags: NativeCommandFlags }
    /// How an event is made that may be used again.
    EventDesc { flags: EventFlags }
    /// How physical memory is made.
    PhysicalMemProperties { flags: PhysicalMemFlags }
    /// How memory of the host is registered.
    HostRegisterProperties { flags: HostRegisterFlags }
    /// How a command buffer is made.
    CommandBufferDesc { is_updatable: Flag, is_in_order: Flag, is_profiling: Flag }
    /// How a launch of a command buffer is changed.
    UpdateKernelLaunch {
        command: Handle<Listed>,
        kernel: Handle<Kernel>,
        buffer_count: u32,
        pointer_count: u32,
        value_count: u32,
        dimensions: u32,
        buffers: In<UpdateBuffer>,
        pointers: In<UpdatePointer>,
        values: In<UpdateValue>,
        offset: In<usize>,
        global: In<usize>,
        local: In<usize>,
    }
    /// Another buffer as an argument.
    UpdateBuffer { index: u32, properties: In<Header>, buffer: Handle<Buffer> }
    /// Another address as an argument.
    UpdatePointer { index: u32, properties: In<Header>, pointer: Pointer }
    /// Another value as an argument.
    UpdateValue { index: u32, size: usize, properties: In<Header>, value: Pointer }
    /// An argument of a kernel, of which the value is what the kind says.
    KernelArgument { kind: KernelArgumentKind, index: u32, size: usize, value: KernelValue }
}

/// The value of a kernel's argument: a pointer or a handle, and flags of a buffer.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct KernelValue {
    pub(crate) first: Pointer,
    pub(crate) flags: MemFlags,
}

/// A piece of how a device is split.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PartitionProperty {
    /// The way.
    pub(crate) kind: DevicePartition,
    /// A number of cores.
    pub(crate) value: u32,
}

/// A place in a buffer of three dimensions: the first in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct RectOffset {
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) z: u64,
}

/// The size of a part of a buffer of three dimensions: the first in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct RectRegion {
    pub(crate) width: u64,
    pub(crate) height: u64,
    pub(crate) depth: u64,
}

/// More structures than any chain has; one that has more is a circle.
const LONGEST: usize = 64;

/// The structures behind one: what each is, to be read by what it is.
///
/// # Errors
/// A chain without an end.
pub(crate) fn chain(header: Header) -> Answer<Vec<(StructureType, In<Header>)>> {
    let mut found = Vec::new();
    let mut next = header.next;
    while let Some(header) = next.value() {
        if found.len() == LONGEST {
            return Err(Code::INVALID_VALUE);
        }
        found.push((header.kind, next));
        next = header.next;
    }
    Ok(found)
}

/// Flags of buffers that say who may use them, of which there is one at most.
pub(crate) const ACCESS: MemFlags =
    MemFlags(MemFlags::READ_WRITE.0 | MemFlags::WRITE_ONLY.0 | MemFlags::READ_ONLY.0);
