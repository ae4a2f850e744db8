//! Pools.

use millpond::{Device, MemoryKind, Pool, PoolOptions, Statistics, Zero};

use crate::data::{Growing, GrowingIn, GrowingOut, Out, Text};
use crate::describe::{functions, structure};
use crate::device::NamedDevice;
use crate::handle::{Give, Keep, Object, Take};
use crate::number::Number;

impl Object for Pool {
    const NAME: &'static str = "mp_pool";
}

structure! {
    /// How a pool is made: begin with MP_POOL_DEFAULTS.
    mp_pool_options = Options {
        /// sizeof(mp_pool_options).
        size: usize,
        /// What messages call it; may be null.
        name: Text,
        /// The most bytes that it may have from the driver; SIZE_MAX for no limit.
        maximum_size: usize,
        /// The bytes that it keeps at a wait; SIZE_MAX to keep all.
        release_threshold: usize,
        /// The least that the driver is asked for at a time; 0 for the usual.
        min_driver_alloc: usize,
        /// Not 0 for memory that always holds zeros at first.
        zeroed: usize,
        /// Not 0 for a pool of the driver's own, which is refused for kinds of which it has none.
        native: usize,
    }
}

impl Growing for Options {
    const DEFAULT: Self = Self {
        size: size_of::<Self>(),
        name: Text::NONE,
        maximum_size: usize::MAX,
        release_threshold: usize::MAX,
        min_driver_alloc: 0,
        zeroed: 0,
        native: 0,
    };
}

impl Options {
    fn made(self) -> PoolOptions {
        let limit = |bytes: usize| (bytes != usize::MAX).then_some(bytes);
        let usual = PoolOptions::default();
        PoolOptions {
            name: self.name.optional(),
            maximum_size: limit(self.maximum_size),
            release_threshold: limit(self.release_threshold),
            min_driver_alloc: match self.min_driver_alloc {
                0 => usual.min_driver_alloc,
                bytes => bytes,
            },
            zero: if self.zeroed == 0 {
                Zero::Never
            } else {
                Zero::Always
            },
            native: self.native != 0,
            ..usual
        }
    }
}

structure! {
    /// What a pool holds, in bytes; reserved is used, pending and cached together.
    mp_statistics = Held {
        /// sizeof(mp_statistics), to be set before.
        size: usize,
        /// Live allocations, as granted.
        used: usize,
        /// Live allocations, as asked for.
        requested: usize,
        /// Freed, but the last use hasn't completed.
        pending: usize,
        /// Free.
        cached: usize,
        /// Had from the driver.
        reserved: usize,
        /// The most that used has been.
        used_high: usize,
        /// The most that reserved has been.
        reserved_high: usize,
        /// The number of live allocations.
        live: usize,
    }
}

impl Growing for Held {
    const DEFAULT: Self = Self::of(&Statistics {
        used: 0,
        requested: 0,
        pending: 0,
        cached: 0,
        reserved: 0,
        used_high: 0,
        reserved_high: 0,
        live: 0,
    });
}

impl Held {
    const fn of(statistics: &Statistics) -> Self {
        Self {
            size: size_of::<Self>(),
            used: statistics.used,
            requested: statistics.requested,
            pending: statistics.pending,
            cached: statistics.cached,
            reserved: statistics.reserved,
            used_high: statistics.used_high,
            reserved_high: statistics.reserved_high,
            live: statistics.live,
        }
    }
}

functions! {
    /// Makes a pool of a device; options may be null for the usual ones.
    fn mp_pool_create(
        device: Keep<NamedDevice>,
        kind: Number<MemoryKind>,
        options: GrowingIn<Options>,
        pool: Give<Pool>,
    ) {
        let place = pool.ready()?;
        let device: &Device = device.get()?.device();
        place.give(device.create_pool(kind.get()?, options.get()?.made())?);
        Ok(())
    }

    /// The pool that allocations of a kind come from just now, in this thread.
    fn mp_pool_current(device: Keep<NamedDevice>, kind: Number<MemoryKind>, pool: Give<Pool>) {
        let place = pool.ready()?;
        place.give(device.get()?.device().current_pool(kind.get()?));
        Ok(())
    }

    /// Adds a count to a handle.
    fn mp_pool_retain(pool: Keep<Pool>) -> () {
        pool.retain();
    }

    /// Lets go of a count of a handle. A pool that was made is closed with its last handle; its memory stays valid.
    fn mp_pool_release(pool: Take<Pool>) -> () {
        drop(pool.take());
    }

    /// The device whose memory it is.
    fn mp_pool_device(pool: Keep<Pool>, device: Give<NamedDevice>) {
        let place = device.ready()?;
        place.give(pool.get()?.device().clone().into());
        Ok(())
    }

    /// The kind of memory.
    fn mp_pool_kind(pool: Keep<Pool>, kind: Out<Number<MemoryKind>>) {
        kind.put(Number::of(pool.get()?.kind()))
    }

    /// What it holds now.
    fn mp_pool_statistics(pool: Keep<Pool>, statistics: GrowingOut<Held>) {
        statistics.put(&Held::of(&pool.get()?.statistics()))
    }

    /// Gives free memory back to the driver until at most so many bytes are reserved, or nothing more is free.
    fn mp_pool_trim(pool: Keep<Pool>, keep: usize) {
        Ok(pool.get()?.trim(keep)?)
    }

    /// Refuses new allocations from now on; live ones stay valid.
    fn mp_pool_close(pool: Keep<Pool>) {
        Ok(pool.get()?.close()?)
    }
}
