//! Pools of a device: the part of the extension that isn't enqueued.

use crate::argument::{Answer, In, Out};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, UsmPoolInfo};
use crate::pool::plain::{EVERYTHING, NO_MAXIMUM};
use crate::pool::{Description, OF_DEVICE, Pool};
use crate::structures::UsmPoolDesc;

use millpond::MemoryKind;

impl Pool {
    /// Changes a limit, or has a most count from now on.
    fn set(&self, what: UsmPoolInfo, value: usize) -> Answer {
        let mut state = self.state();
        match what {
            UsmPoolInfo::RELEASE_THRESHOLD_EXP | UsmPoolInfo::MAXIMUM_SIZE_EXP
                if self.is_over_buffer() =>
            {
                return Err(Code::INVALID_OPERATION);
            }
            UsmPoolInfo::RELEASE_THRESHOLD_EXP => {
                if broken(Rule::SetThreshold) {
                    return Ok(());
                }
                let threshold = (value != EVERYTHING).then_some(value);
                state.options.release_threshold = threshold;
                for pool in &state.made {
                    pool.set_release_threshold(threshold);
                }
            }
            UsmPoolInfo::MAXIMUM_SIZE_EXP => {
                if broken(Rule::SetMaximum) {
                    return Ok(());
                }
                let maximum = (value != NO_MAXIMUM).then_some(value);
                state.options.maximum_size = maximum;
                for pool in &state.made {
                    pool.set_maximum_size(maximum);
                }
            }
            UsmPoolInfo::RESERVED_HIGH_EXP | UsmPoolInfo::USED_HIGH_EXP
                if value != 0 && !broken(Rule::HighsToZero) =>
            {
                return Err(Code::INVALID_VALUE);
            }
            UsmPoolInfo::RESERVED_HIGH_EXP => {
                state
                    .made
                    .iter()
                    .for_each(millpond::Pool::reset_reserved_high);
            }
            UsmPoolInfo::USED_HIGH_EXP => {
                state.made.iter().for_each(millpond::Pool::reset_used_high);
                if broken(Rule::HighsApart) {
                    state
                        .made
                        .iter()
                        .for_each(millpond::Pool::reset_reserved_high);
                }
            }
            UsmPoolInfo::REFERENCE_COUNT
            | UsmPoolInfo::CONTEXT
            | UsmPoolInfo::RESERVED_CURRENT_EXP
            | UsmPoolInfo::USED_CURRENT_EXP => return Err(Code::UNSUPPORTED_ENUMERATION),
            _ => return Err(Code::INVALID_ENUMERATION),
        }
        Ok(())
    }
}

entry! {
    fn urUSMPoolCreateExp(
        context: Handle<Context>,
        device: Handle<Device>,
        desc: In<UsmPoolDesc>,
        pool: Out<Handle<Pool>>,
    ) {
        let context = context.get()?;
        let device = context.device(device)?;
        let pool = pool.required()?;
        let made = Description::read(desc)?.make(&context, &[device], OF_DEVICE)?;
        pool.set(made.handle());
        Ok(())
    }

    /// Closes a pool: it gives out no more memory, and what it gave out stays valid. A reference is
    /// given back with it. A device whose current pool it was goes back to its default pool.
    fn urUSMPoolDestroyExp(context: Handle<Context>, device: Handle<Device>, pool: Handle<Pool>) {
        let context = context.get()?;
        let device = context.device(device)?;
        let found = pool.get()?;
        found.check(&context, &device)?;
        if found.is_default && !broken(Rule::DefaultPool) {
            return Err(Code::INVALID_OPERATION);
        }
        if !broken(Rule::Destroy) {
            found.close();
        }
        pool.release().map(drop)
    }

    /// The default pool of a device, always by the same handle. No reference comes with it.
    fn urUSMPoolGetDefaultDevicePoolExp(
        context: Handle<Context>,
        device: Handle<Device>,
        pool: Out<Handle<Pool>>,
    ) {
        let context = context.get()?;
        let device = context.device(device)?;
        let pool = pool.required()?;
        pool.set(context.default_pools.of(&context, &device)?.handle());
        Ok(())
    }

    fn urUSMPoolGetInfoExp(
        pool: Handle<Pool>,
        what: UsmPoolInfo,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let pool = pool.get()?;
        if value.is_null() && size.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        pool.property(what)?.answer_whole(value, size)
    }

    fn urUSMPoolSetInfoExp(
        pool: Handle<Pool>,
        what: UsmPoolInfo,
        value: In<usize>,
        size: usize,
    ) {
        let pool = pool.get()?;
        if value.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if size < size_of::<usize>() {
            return Err(Code::INVALID_SIZE);
        }
        pool.set(what, value.required()?)
    }

    /// Has allocations on the device that name no pool come from this one, in the whole process.
    fn urUSMPoolSetDevicePoolExp(
        context: Handle<Context>,
        device: Handle<Device>,
        pool: Handle<Pool>,
    ) {
        let context = context.get()?;
        let device = context.device(device)?;
        let pool = pool.get()?;
        pool.check(&context, &device)?;
        device.current().set(&device, &pool)
    }

    /// The pool that allocations on the device come from that name none. No reference comes with it.
    fn urUSMPoolGetDevicePoolExp(
        context: Handle<Context>,
        device: Handle<Device>,
        pool: Out<Handle<Pool>>,
    ) {
        let context = context.get()?;
        let device = context.device(device)?;
        let pool = pool.required()?;
        if broken(Rule::CurrentHandle) {
            pool.set(context.default_pools.of(&context, &device)?.handle());
            return Ok(());
        }
        let chosen = crate::pool::choose(&context, &device, None, MemoryKind::Device)?;
        pool.set(chosen.pool.handle());
        Ok(())
    }

    fn urUSMPoolTrimToExp(
        context: Handle<Context>,
        device: Handle<Device>,
        pool: Handle<Pool>,
        keep: usize,
    ) {
        let context = context.get()?;
        let device = context.device(device)?;
        let pool = pool.get()?;
        pool.check(&context, &device)?;
        pool.trim(keep)
    }
}
