//! Kernels: functions of the program itself, which devices that are the host run, and entries of
//! programs, which others run.
//!
//! For the host there is no compiler here, and no format of programs. A kernel is made of its native
//! handle, which is the address of a function that runs one work group:
//!
//! ```c
//! struct group { size_t id[3], size[3], first[3], global[3]; };
//! void kernel(void *const *arguments, const struct group *group);
//! ```
//!
//! The function goes through the items of its group by itself. `arguments` has one address for each
//! argument: of its bytes, for pointers and buffers of an address, for local memory of the group's own.

mod arguments;
mod entries;
mod info;
mod launch;
mod range;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::argument::{Answer, In, Out};
use crate::context::Context;
use crate::entry::entry;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::Code;
use crate::structures::Header;

pub(crate) use arguments::{
    urKernelSetArgLocal, urKernelSetArgMemObj, urKernelSetArgPointer, urKernelSetArgValue,
};
pub(crate) use entries::{urKernelCreate, urKernelSuggestMaxCooperativeGroupCount};
pub(crate) use info::{
    urKernelGetGroupInfo, urKernelGetInfo, urKernelGetSubGroupInfo, urKernelSetExecInfo,
};
pub(crate) use launch::{
    launch, range_for, suggest, urEnqueueKernelLaunch, urEnqueueKernelLaunchWithArgsExp,
    urKernelGetSuggestedLocalWorkSize, urKernelGetSuggestedLocalWorkSizeWithArgs,
};

pub(crate) use arguments::Arguments;
pub(crate) use range::Range;

use entries::Entries;
use launch::Function;

/// A kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    place: Place<Kernel>,
    context: Arc<Context>,
    body: Body,
    /// Those that were set so far, for loaders that set them one by one.
    arguments: Mutex<Arguments>,
}

kinds! { Kernel: INVALID_KERNEL }

/// What a kernel runs.
#[derive(Debug)]
enum Body {
    /// A function of the program's own.
    Function(Function),
    /// An entry of a program.
    Entries(Entries),
}

impl Kernel {
    fn make(context: Arc<Context>, body: Body) -> Answer<Arc<Self>> {
        let arguments = Mutex::default();
        create(|place| Self {
            place,
            context,
            body,
            arguments,
        })
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The arguments that were set so far.
    ///
    /// # Errors
    /// One that is missing before the last.
    pub(crate) fn set_arguments(&self) -> Answer<Arguments> {
        let arguments = self.arguments().clone();
        arguments.check()?;
        Ok(arguments)
    }

    /// Bytes that its groups may have of their own.
    pub(crate) fn local_memory(&self) -> usize {
        match &self.body {
            Body::Function(_) => launch::LOCAL_MEMORY,
            Body::Entries(entries) => entries.local_memory(),
        }
    }

    fn arguments(&self) -> MutexGuard<'_, Arguments> {
        self.arguments
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// # Errors
/// A context with a device that runs no functions of the host.
fn check(context: &Context) -> Answer {
    if context.devices().iter().all(|device| device.is_host()) {
        Ok(())
    } else {
        Err(Code::UNSUPPORTED_FEATURE)
    }
}

entry! {
    fn urKernelCreateWithNativeHandle(
        native: usize,
        context: Handle<Context>,
        _program: usize,
        _properties: In<Header>,
        kernel: Out<Handle<Kernel>>,
    ) {
        let context = context.get()?;
        let kernel = kernel.required()?;
        let same = Handle::<Kernel>::of_native(native);
        if same.get().is_ok_and(|same| matches!(same.body, Body::Entries(_))) {
            same.retain()?;
            kernel.set(same);
            return Ok(());
        }
        check(&context)?;
        let function = Function::at(native).ok_or(Code::INVALID_VALUE)?;
        kernel.set(Kernel::make(context, Body::Function(function))?.handle());
        Ok(())
    }

    fn urKernelRetain(kernel: Handle<Kernel>) {
        kernel.retain()
    }

    fn urKernelRelease(kernel: Handle<Kernel>) {
        kernel.release().map(drop)
    }

    fn urKernelGetNativeHandle(kernel: Handle<Kernel>, native: Out<usize>) {
        let native = native.required()?;
        native.set(match &kernel.get()?.body {
            Body::Function(function) => function.address(),
            Body::Entries(_) => kernel.native(),
        });
        Ok(())
    }
}

impl Kernel {
    fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }
}
