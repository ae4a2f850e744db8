//! How a pool behaves: limits, what it keeps, when freed memory may be used again.

use std::time::Duration;

/// Smallest number of bytes that a pool asks a driver for, unless told otherwise.
pub const SEGMENT: usize = 32 << 20;

/// How a pool is made. Sizes are in bytes.
///
/// ```
/// use millpond_runtime::{PoolOptions, Zero};
///
/// let options = PoolOptions {
///     maximum_size: Some(1 << 30),
///     zero: Zero::Always,
///     ..PoolOptions::default()
/// };
/// assert_eq!(options.release_threshold, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    /// What messages call it.
    pub name: Option<String>,
    /// The most that it may have reserved from the driver, growth in flight included.
    pub maximum_size: Option<usize>,
    /// Bytes that it tries to keep when a queue, an event or the device is waited for: what it has
    /// reserved beyond them and nobody uses goes back to the driver. `None` keeps everything,
    /// which is what spares a loop of allocate, free and wait from the driver.
    pub release_threshold: Option<usize>,
    /// How long memory may be unused before it goes back to the driver, at a wait or with a later
    /// allocation, a few driver calls at a time. `None` keeps it.
    pub idle_release: Option<Duration>,
    /// The largest request that is pooled. A larger one has driver memory of its own, which goes
    /// back to the driver once it is free. `None` pools every size.
    pub max_poolable: Option<usize>,
    /// The least that the driver is asked for at a time.
    pub min_driver_alloc: usize,
    /// A hint that kernels only read the memory. Copies and host code may write it.
    pub read_only: bool,
    /// What new allocations hold.
    pub zero: Zero,
    /// Which of the reuse rules apply.
    pub reuse: Reuse,
    /// Memory that other processes can be given: see [`sharing`](crate::sharing). It comes from one
    /// arena of the device, behind one descriptor. For kinds that the device says it can share.
    pub shareable: bool,
    /// A pool of the driver's own, for kinds of which the device says that it has any: each allocation and
    /// free is a command, and the driver decides which freed memory serves again.
    pub native: bool,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            name: None,
            maximum_size: None,
            release_threshold: None,
            idle_release: None,
            max_poolable: None,
            min_driver_alloc: SEGMENT,
            read_only: false,
            zero: Zero::Never,
            reuse: Reuse::default(),
            shareable: false,
            native: false,
        }
    }
}

/// What new allocations hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Zero {
    /// Anything.
    #[default]
    Never,
    /// Zeros where the memory is fresh from the driver; anything where it was used before.
    Fresh,
    /// Zeros, always: memory that isn't known to be zero is filled, in queue order.
    Always,
}

/// When a freed block may be used by another queue than the one it was freed on.
///
/// Reuse on the queue that freed it (rule R1) needs no permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reuse {
    /// R2: by a queue that is ordered behind the free, through events that it waited for.
    pub follow_events: bool,
    /// R3: by anyone once the free has completed. Addresses then depend on timing. Without it what
    /// has completed counts only once the host has waited for it, and a program of one thread
    /// whose memory is all of such pools gets the same memory in every run.
    pub opportunistic: bool,
    /// R5: by a queue that is made to wait for the free, once the pool can't grow.
    pub internal_dependencies: bool,
}

impl Default for Reuse {
    fn default() -> Self {
        Self {
            follow_events: true,
            opportunistic: true,
            internal_dependencies: true,
        }
    }
}
