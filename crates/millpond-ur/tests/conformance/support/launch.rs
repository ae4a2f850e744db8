//! Launches of kernels, in the way that a loader has: with their arguments, or with those that were set
//! before.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::Code;

use super::shapes::{Handle, Header, KERNEL_ARGUMENT, KernelArgument};
use super::world::{World, list, ok};

/// An argument.
#[derive(Clone, Copy)]
pub(crate) enum Argument<'a> {
    Value(&'a [u8]),
    Pointer(*const c_void),
    Buffer(Handle),
    Local(usize),
}

/// Items along each axis, and those of a group, unless the adapter chooses.
#[derive(Clone, Copy)]
pub(crate) struct Items<'a> {
    pub(crate) global: &'a [usize],
    pub(crate) local: Option<&'a [usize]>,
}

impl Argument<'_> {
    pub(crate) fn described(self, index: u32) -> KernelArgument {
        let (kind, size, value) = match self {
            Self::Value(bytes) => (0, bytes.len(), bytes.as_ptr().cast()),
            Self::Pointer(to) => (1, 8, to),
            Self::Buffer(buffer) => (2, 8, buffer.cast_const()),
            Self::Local(bytes) => (3, bytes, ptr::null()),
        };
        KernelArgument {
            header: Header::new(KERNEL_ARGUMENT),
            kind,
            index,
            size,
            value,
            flags: u32::from(kind == 2),
        }
    }

    pub(crate) fn set(self, world: &World, kernel: Handle, index: u32) -> u32 {
        let f = world.f;
        match self {
            Self::Value(bytes) => {
                let value = bytes.as_ptr().cast();
                (f.urKernelSetArgValue)(kernel, index, bytes.len(), ptr::null(), value)
            }
            Self::Pointer(to) => (f.urKernelSetArgPointer)(kernel, index, ptr::null(), to),
            Self::Buffer(buffer) => (f.urKernelSetArgMemObj)(kernel, index, ptr::null(), buffer),
            Self::Local(bytes) => (f.urKernelSetArgLocal)(kernel, index, bytes, ptr::null()),
        }
    }
}

/// A group, as the guide says that functions are told of it.
#[repr(C)]
pub(crate) struct Group {
    pub(crate) id: [usize; 3],
    pub(crate) size: [usize; 3],
    pub(crate) first: [usize; 3],
    pub(crate) global: [usize; 3],
}

/// A function that runs a group.
pub(crate) type Function = extern "C" fn(*const *mut c_void, *const Group);

/// A kernel of a function; none where functions of the host aren't kernels.
pub(crate) fn kernel(world: &World, function: Function) -> Option<Handle> {
    let mut made = ptr::null_mut();
    let code = (world.f.urKernelCreateWithNativeHandle)(
        function as usize,
        world.context,
        ptr::null_mut(),
        ptr::null(),
        &raw mut made,
    );
    if code == Code::UNSUPPORTED_FEATURE.0 {
        eprintln!("skipped: functions are no kernels");
        return None;
    }
    ok(code);
    Some(made)
}

/// Launches a kernel; the event.
pub(crate) fn launch(
    world: &World,
    what: (Handle, Handle),
    items: Items<'_>,
    arguments: &[Argument<'_>],
    waits: &[Handle],
) -> Result<Handle, Code> {
    launch_from(world, what, (ptr::null(), items), arguments, waits)
}

/// The same, with the number of the first item along each axis.
pub(crate) fn launch_from(
    world: &World,
    (queue, kernel): (Handle, Handle),
    (offset, items): (*const usize, Items<'_>),
    arguments: &[Argument<'_>],
    waits: &[Handle],
) -> Result<Handle, Code> {
    let (f, mut event) = (world.f, ptr::null_mut());
    let dimensions = items.global.len() as u32;
    let local = items.local.map_or(ptr::null(), <[usize]>::as_ptr);
    let described: Vec<_> = (0..)
        .zip(arguments)
        .map(|(index, argument)| argument.described(index))
        .collect();
    let mut code = (f.urEnqueueKernelLaunchWithArgsExp)(
        queue,
        kernel,
        dimensions,
        offset,
        items.global.as_ptr(),
        local,
        described.len() as u32,
        described.as_ptr(),
        ptr::null(),
        waits.len() as u32,
        list(waits),
        &raw mut event,
    );
    if code == Code::UNSUPPORTED_FEATURE.0 {
        for (index, argument) in (0..).zip(arguments) {
            let set = argument.set(world, kernel, index);
            if set != 0 {
                return Err(Code(set));
            }
        }
        code = (f.urEnqueueKernelLaunch)(
            queue,
            kernel,
            dimensions,
            offset,
            items.global.as_ptr(),
            local,
            0,
            ptr::null(),
            waits.len() as u32,
            list(waits),
            &raw mut event,
        );
    }
    if code == 0 {
        Ok(world.event(event))
    } else {
        Err(Code(code))
    }
}
