//! How pools are described, and what that means to the runtime.
//!
//! The numbers of a limits description mean two things. For a native pool they are the most that it
//! may reserve, and what it tries to keep at a wait; for another the largest request that is pooled, and
//! the least that is asked of the driver at a time.

use std::sync::Arc;

use millpond::{MemoryKind, PoolOptions, Zero};

use crate::argument::{Answer, In};
use crate::context::Context;
use crate::device::Device;
use crate::error::code;
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, StructureType, UsmPoolFlags, UsmType};
use crate::pool::{Parts, Pool};
use crate::structures::{UsmPoolBufferDesc, UsmPoolDesc, UsmPoolLimitsDesc, chain};
use crate::usm;

/// What a chain of descriptions asks for.
pub(crate) struct Description {
    pub(crate) options: PoolOptions,
    buffer: Option<UsmPoolBufferDesc>,
}

impl Description {
    /// # Errors
    /// Flags that mean nothing; structures that don't describe pools; limits of a pool over a buffer.
    pub(crate) fn read(desc: In<UsmPoolDesc>) -> Answer<Self> {
        let desc = desc.required()?;
        let flags = desc.flags.check()?;
        let (mut limits, mut buffer) = (None, None);
        for (kind, header) in chain(desc.header)? {
            match kind {
                StructureType::USM_POOL_LIMITS_DESC => {
                    limits = Some(header.cast::<UsmPoolLimitsDesc>().required()?);
                }
                StructureType::USM_POOL_BUFFER_DESC => {
                    buffer = Some(header.cast::<UsmPoolBufferDesc>().required()?);
                }
                _ => return Err(Code::INVALID_ARGUMENT),
            }
        }
        if limits.is_some() && buffer.is_some() {
            return Err(Code::INVALID_ARGUMENT);
        }
        Ok(Self {
            options: options(flags, limits, buffer.is_some()),
            buffer,
        })
    }

    /// Makes the pool: of the kinds and devices, or over the buffer.
    pub(crate) fn make(
        self,
        context: &Arc<Context>,
        devices: &[Arc<Device>],
        kinds: &[MemoryKind],
    ) -> Answer<Arc<Pool>> {
        let Some(buffer) = self.buffer else {
            let parts = Parts {
                devices,
                kinds,
                options: self.options,
                made: Vec::new(),
                depth: 0,
            };
            return Pool::make(context, parts);
        };
        let Over {
            device,
            pool,
            depth,
        } = over(context, &buffer, &self.options)?;
        if !devices.iter().any(|own| Arc::ptr_eq(own, &device)) {
            return Err(Code::INVALID_DEVICE);
        }
        let parts = Parts {
            devices: std::slice::from_ref(&device),
            kinds: &[pool.kind()],
            options: self.options,
            made: vec![pool],
            depth,
        };
        Pool::make(context, parts)
    }
}

fn options(
    flags: UsmPoolFlags,
    limits: Option<UsmPoolLimitsDesc>,
    is_over_buffer: bool,
) -> PoolOptions {
    let mut options = PoolOptions {
        zero: if flags.has(UsmPoolFlags::ZERO_INITIALIZE_BLOCK) {
            Zero::Fresh
        } else {
            Zero::Never
        },
        read_only: flags.has(UsmPoolFlags::READ_ONLY_EXP),
        ..PoolOptions::default()
    };
    let unless_none = |bytes: usize| (bytes != 0).then_some(bytes);
    if let Some(limits) = limits {
        let (first, second) = (limits.max_poolable_size, limits.min_driver_alloc_size);
        if flags.has(UsmPoolFlags::USE_NATIVE_MEMORY_POOL_EXP) {
            options.maximum_size = unless_none(first).filter(|_| !broken(Rule::Maximum));
            options.release_threshold = (!broken(Rule::Threshold)).then_some(second);
        } else {
            options.max_poolable = unless_none(first);
            options.min_driver_alloc = unless_none(second).unwrap_or(options.min_driver_alloc);
        }
    } else if flags.has(UsmPoolFlags::USE_NATIVE_MEMORY_POOL_EXP) && !is_over_buffer {
        options.release_threshold = Some(0);
    }
    options
}

/// A pool over memory, and where that is.
struct Over {
    device: Arc<Device>,
    pool: millpond::Pool,
    depth: usize,
}

/// A pool over a part of memory of the context.
fn over(context: &Arc<Context>, buffer: &UsmPoolBufferDesc, options: &PoolOptions) -> Answer<Over> {
    let address = buffer.memory.required()?;
    if buffer.size == 0 {
        return Err(Code::INVALID_SIZE);
    }
    if buffer.kind > UsmType::SHARED {
        return Err(Code::INVALID_ENUMERATION);
    }
    let named = buffer.device.optional()?;
    let found = usm::find(address, |usm| {
        let is_theirs = Arc::ptr_eq(&usm.context, context);
        let kind = usm::usm_type(usm.kind);
        is_theirs.then(|| (Arc::clone(&usm.device), usm.memory.clone(), kind, usm.depth))
    });
    let found = found.flatten().ok_or(Code::INVALID_MEM_OBJECT)?;
    let (device, memory, kind, depth) = found;
    if kind != buffer.kind {
        return Err(Code::INVALID_ARGUMENT);
    }
    if named.is_some_and(|named| !Arc::ptr_eq(&named, &device)) {
        return Err(Code::INVALID_DEVICE);
    }
    let begin = address - memory.address().get();
    let begin = if broken(Rule::PoolPart) { 0 } else { begin };
    let end = begin.checked_add(buffer.size).ok_or(Code::INVALID_SIZE)?;
    let pool = device
        .runtime()
        .create_pool_over(&memory, begin..end, options.clone());
    Ok(Over {
        device,
        pool: pool.map_err(|error| code(&error))?,
        depth: depth + 1,
    })
}

#[cfg(test)]
mod tests {
    use millpond::{PoolOptions, Zero};

    use super::options;
    use crate::argument::In;
    use crate::numbers::{StructureType, UsmPoolFlags};
    use crate::structures::{Header, UsmPoolLimitsDesc};

    #[test]
    fn limits_mean_what_the_kind_of_pool_says() {
        let limits = |first, second| UsmPoolLimitsDesc {
            header: Header {
                kind: StructureType::USM_POOL_LIMITS_DESC,
                next: In::NULL,
            },
            max_poolable_size: first,
            min_driver_alloc_size: second,
        };
        let native = UsmPoolFlags::USE_NATIVE_MEMORY_POOL_EXP;
        let made = options(native, Some(limits(1 << 20, 4096)), false);
        assert_eq!(
            (made.maximum_size, made.release_threshold),
            (Some(1 << 20), Some(4096))
        );
        assert_eq!(made.max_poolable, None);
        let made = options(native, Some(limits(0, 0)), false);
        assert_eq!((made.maximum_size, made.release_threshold), (None, Some(0)));
        assert_eq!(options(native, None, false).release_threshold, Some(0));
        let made = options(UsmPoolFlags::default(), Some(limits(1 << 20, 4096)), false);
        assert_eq!(
            (made.max_poolable, made.min_driver_alloc),
            (Some(1 << 20), 4096)
        );
        assert_eq!((made.maximum_size, made.release_threshold), (None, None));
        let zeroed = options(UsmPoolFlags(0b101), None, false);
        assert_eq!(
            zeroed,
            PoolOptions {
                zero: Zero::Fresh,
                read_only: true,
                ..PoolOptions::default()
            }
        );
    }
}
