//! The functions of the interface on addresses.

use std::sync::Arc;

use crate::argument::{Answer, Out, Pointer};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::error::code;
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::{AccessFlags, Code, GranularityInfo, VirtualMemInfo};
use crate::property::Property;
use crate::virtual_memory::physical::{Physical, host};
use crate::virtual_memory::space;

/// One way to use memory.
fn one(flags: AccessFlags) -> Answer<AccessFlags> {
    if flags.check()?.0.count_ones() != 1 {
        return Err(Code::INVALID_VALUE);
    }
    Ok(flags)
}

/// Waits for what was enqueued, which may use addresses that change.
fn wait_for_all(context: &Arc<Context>) -> Answer {
    if broken(Rule::UnmapWaits) {
        return Ok(());
    }
    for event in context.pending()? {
        // Whoever waits for it is told of a failure.
        let _ = event.wait().map_err(|error| code(&error));
    }
    Ok(())
}

entry! {
    /// In what pieces addresses are reserved and mapped: pages, whatever is asked for.
    fn urVirtualMemGranularityGetInfo(
        context: Handle<Context>,
        device: Handle<Device>,
        _size: usize,
        what: GranularityInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let context = context.get()?;
        let device = device.optional()?.map_or(context.first().handle(), |device| device.handle());
        host(&context, device)?;
        let property: Property = match what {
            GranularityInfo::MINIMUM | GranularityInfo::RECOMMENDED => space::page().into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    fn urVirtualMemReserve(
        context: Handle<Context>,
        near: Pointer,
        size: usize,
        address: Out<Pointer>,
    ) {
        let context = context.get()?;
        host(&context, context.first().handle())?;
        let address = address.required()?;
        space::pages(0, size)?;
        address.set(Pointer::to(space::reserve(&context, near.number(), size)?));
        Ok(())
    }

    fn urVirtualMemFree(context: Handle<Context>, address: Pointer, size: usize) {
        let context = context.get()?;
        space::free(&context, &space::pages(address.required()?, size)?)
    }

    fn urVirtualMemMap(
        context: Handle<Context>,
        address: Pointer,
        size: usize,
        physical: Handle<Physical>,
        offset: usize,
        flags: AccessFlags,
    ) {
        let context = context.get()?;
        let physical = physical.get()?;
        let range = space::pages(address.required()?, size)?;
        let access = one(flags)?;
        if !Arc::ptr_eq(physical.context(), &context) {
            return Err(Code::INVALID_CONTEXT);
        }
        let end = offset.checked_add(size);
        if !offset.is_multiple_of(space::page()) || end.is_none_or(|end| end > physical.size()) {
            return Err(Code::INVALID_SIZE);
        }
        let offset = if broken(Rule::PhysicalOffset) { 0 } else { offset };
        space::map(&context, &range, (&physical, offset), access)
    }

    fn urVirtualMemUnmap(context: Handle<Context>, address: Pointer, size: usize) {
        let context = context.get()?;
        let range = space::pages(address.required()?, size)?;
        wait_for_all(&context)?;
        space::unmap(&context, &range)
    }

    fn urVirtualMemSetAccess(
        context: Handle<Context>,
        address: Pointer,
        size: usize,
        flags: AccessFlags,
    ) {
        let context = context.get()?;
        let range = space::pages(address.required()?, size)?;
        let access = one(flags)?;
        wait_for_all(&context)?;
        space::set_access(&context, &range, access)
    }

    fn urVirtualMemGetInfo(
        context: Handle<Context>,
        address: Pointer,
        size: usize,
        what: VirtualMemInfo,
        room: usize,
        value: Out<u8>,
        size_of_value: Out<usize>,
    ) {
        let context = context.get()?;
        let range = space::pages(address.required()?, size)?;
        if what != VirtualMemInfo::ACCESS_MODE {
            return Err(Code::INVALID_ENUMERATION);
        }
        let property = Property::from(space::access(&context, &range)?.0);
        property.answer(room, value, size_of_value)
    }
}
