//! Variables of programs, and addresses of functions.

use std::sync::Arc;

use crate::argument::{Answer, Flag, In, Out, Pointer, Text};
use crate::device::Device;
use crate::entry::entry;
use crate::error::code;
use crate::event::Event;
use crate::handle::Handle;
use crate::numbers::{Code, Command};
use crate::program::Program;
use crate::queue::{Enqueued, Queue};
use crate::transfers::Direction;
use crate::usm::check_range;
use crate::usm_commands::copy;
use crate::waits::Waits;

/// Where a variable is on a device, and its bytes.
fn variable(program: &Program, device: &Arc<Device>, name: Text) -> Answer<(usize, usize)> {
    let name = name.required()?.to_str().map_err(|_| Code::INVALID_VALUE)?;
    let found = program.image(device)?.loaded()?.variable(name);
    let found = found.map_err(|error| match code(&error.into()) {
        Code::DEVICE_LOST => Code::DEVICE_LOST,
        _ => Code::INVALID_VALUE,
    });
    found.map(|(address, bytes)| (address.get(), bytes))
}

/// Between variables and memory of the program: the same in both directions.
macro_rules! transfers {
    ($($name:ident by $command:ident: $direction:ident),* $(,)?) => {
        entry! {$(
            fn $name(
                queue: Handle<Queue>,
                program: Handle<Program>,
                name: Text,
                blocking: Flag,
                size: usize,
                offset: usize,
                address: Pointer,
                count: u32,
                list: In<Handle<Event>>,
                event: Out<Handle<Event>>,
            ) {
                let queue = &queue.get()?;
                let program = program.get()?;
                let host = address.required()?;
                let waits = &Waits::new(count, list)?;
                let (begin, bytes) = variable(&program, queue.device(), name)?;
                if offset.checked_add(size).is_none_or(|end| end > bytes) {
                    return Err(Code::INVALID_VALUE);
                }
                check_range(host, size, Direction::$direction.of_host())?;
                let (from, to) = Direction::$direction.ends(begin + offset, host);
                let (command, blocking) = (Command::$command, blocking.is_set());
                copy(Enqueued { queue, command, waits, blocking, event }, from, to, size)
            }
        )*}
    };
}
transfers! {
    urEnqueueDeviceGlobalVariableRead by DEVICE_GLOBAL_VARIABLE_READ: Read,
    urEnqueueDeviceGlobalVariableWrite by DEVICE_GLOBAL_VARIABLE_WRITE: Write,
}

entry! {
    /// Functions of a device have no addresses here: whether there is one is all that is told.
    fn urProgramGetFunctionPointer(
        device: Handle<Device>,
        program: Handle<Program>,
        name: Text,
        function: Out<Pointer>,
    ) {
        let (device, program) = (device.get()?, program.get()?);
        let name = name.required()?.to_str().map_err(|_| Code::INVALID_KERNEL_NAME)?;
        function.required()?;
        match program.image(&device)?.loaded()?.entry(name) {
            Ok(_) => Err(Code::FUNCTION_ADDRESS_NOT_AVAILABLE),
            Err(error) => {
                code(&error.into());
                Err(Code::INVALID_KERNEL_NAME)
            }
        }
    }

    fn urProgramGetGlobalVariablePointer(
        device: Handle<Device>,
        program: Handle<Program>,
        name: Text,
        size: Out<usize>,
        address: Out<Pointer>,
    ) {
        let (device, program) = (device.get()?, program.get()?);
        let address = address.required()?;
        let (begin, bytes) = variable(&program, &device, name)?;
        size.set(bytes);
        address.set(Pointer::to(begin));
        Ok(())
    }
}
