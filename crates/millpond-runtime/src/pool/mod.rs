//! Pools: where allocations come from.
//!
//! Three tiers. Each queue keeps the blocks freed on it (`cache.rs`), by size class, and hands
//! them out again without looking at the device: about what pushing and popping a list costs. What
//! a queue has too much of goes to the pool's store (`store.rs`), which merges free neighbours.
//! Below are segments from the driver, of at least [`SEGMENT`] bytes unless told otherwise, kept
//! until [`Pool::trim`] or a release threshold says so, because touching fresh pages costs more
//! than most of what is done with them.
//!
//! A request is decided in this order (`acquire.rs`, `find.rs`; `nearby.rs` has the first three
//! for plain requests):
//!
//! 1. the queue's own newest block of the class (R1), then its parked blocks that became quiet or
//!    whose uses it is ordered behind;
//! 2. blocks whose last use the queue is ordered behind (R2);
//! 3. what has completed: the store, then the oldest blocks of other queues (R3);
//! 4. growth from the driver, while that is comfortable and within the maximum (R4), unless queues
//!    have cached so much that merging it serves, and in place of idle segments once the pool would
//!    have more reserved than ever;
//! 5. everything the queues have cached, merged; from here on no request is rounded up to its class;
//! 6. pending memory that the queue is made to wait for, the least work away (R5);
//! 7. growing in place of the pool's idle segments, where these are enough, and what other threads
//!    are moving just now (`underway.rs`): nobody has to give up anything for either;
//! 8. what reclaimers give up (R7), then waiting on the host for the smallest sufficient set of
//!    frees (R6), or for segments that can go back whole so that the pool can grow;
//! 9. giving idle segments back, of this pool and then of the device's others, and growing then;
//! 10. reclaimers once more, told that it is critical;
//! 11. looking again for as long as other threads are moving memory;
//! 12. an error that says what the pool holds and what would make room (R8).
//!
//! Pools of the driver's own (`driven.rs`) know none of this: they ask the driver, do from step 8 on what
//! applies where it refuses, and their frees are commands.
//!
//! No driver is called under a pool's lock, and no other free calls one: memory that should
//! go back to the driver goes at the next wait, or when a request looks further than its queue's cache.

mod acquire;
mod budget;
mod cache;
mod class;
mod core;
mod current;
mod driven;
mod driven_requests;
mod find;
mod growth;
mod handle;
mod idle;
mod keepers;
mod limit;
mod live;
mod making;
#[cfg(all(test, any(loom, shuttle)))]
mod model;
mod nearby;
mod options;
mod ordered;
mod pile;
mod plan;
mod pressure;
mod recording;
mod report;
mod scarce;
mod scope;
mod site;
mod slot;
mod statistics;
mod store;
mod supply;
mod tag;
mod tally;
mod telling;
#[cfg(test)]
mod tests;
mod underway;
mod wish;

pub(crate) use self::acquire::take_handy;
pub(crate) use self::cache::Cache;
pub(crate) use self::class::{Class, GRANULE, granule_multiple, handy as handy_class};
pub(crate) use self::core::{Identity, LEAST_CACHE_LIMIT, PoolCore};
pub(crate) use self::current::Current;
pub use self::current::Scope;
pub use self::handle::{Fit, Pool};
pub use self::options::{PoolOptions, Reuse, SEGMENT, Zero};
pub use self::ordered::{AllocateOptions, LARGEST_ALIGNMENT};
pub use self::pressure::{Level, Pressure, Reclaimer};
pub use self::recording::{
    RecordedPoint, RecordedUse, Recorder, Recording, RecordingWriter, Refused, Replay, Step,
};
pub use self::report::OutOfMemory;
pub(crate) use self::site::Site;
pub use self::statistics::Statistics;
pub(crate) use self::supply::Supply;
pub use self::tag::{Tag, TagScope};
pub(crate) use self::underway::Way;
pub use self::wish::Wait;
