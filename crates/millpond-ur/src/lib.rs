//! # What this is
//! An adapter for the oneAPI Unified Runtime: a shared library that its loader finds, by which SYCL
//! programs and others that are written for that interface use millpond's devices, queues and pools.
//!
//! # Model
//! A loader asks for tables of functions ([`tables`] lists all of them); C then holds handles
//! (`handle.rs`) to the objects of `adapter`, `platform`, `device`, `context`, `queue`, `event`,
//! `buffer`, `pool`, `program` and `kernel`. Memory is known by its address (`usm`, `virtual_memory`), and commands
//! name addresses: what comes after what is said by queues, events and wait lists. All policy is the
//! runtime's; what is here translates and checks.
//!
//! # Guarantees
//! * No entry of a table is null; what isn't offered answers that it isn't.
//! * A handle that is null, of another kind, or of an object that is gone answers an error, and so do
//!   wait lists, sizes, flags and addresses that can't be right. Nothing is enqueued then.
//! * No panic leaves the library, and it has no work to do when the process ends.
//! * The extension for allocations in the order of queues is offered whole, for device, shared and host
//!   memory.
//!
//! # Example
//! ```text
//! UR_ADAPTERS_FORCE_LOAD=target/release/libur_adapter_millpond.so program
//! ```
//!
//! # Where to look
//! `argument.rs` for what is taken for granted of pointers, `entry.rs` for what every function does,
//! `docs/guides/unified-runtime.md` for programs, `tests` for what an adapter owes, [`mutants`] for how
//! it is seen that the tests notice.

#![allow(
    unsafe_code,
    reason = "is called by C: reads and writes where its callers say; each block argues"
)]

mod adapter;
mod argument;
mod async_alloc;
mod barriers;
mod buffer;
mod command_buffer;
mod context;
mod device;
mod entry;
mod error;
mod event;
mod grid;
mod handle;
mod host_memory;
mod host_work;
mod kernel;
mod loader;
#[cfg_attr(
    not(feature = "mutants"),
    allow(dead_code, reason = "a list for the feature")
)]
pub mod mutants;
pub mod numbers;
mod peers;
mod platform;
mod pool;
mod program;
mod property;
mod queue;
mod rectangles;
mod rows;
mod structures;
pub mod tables;
mod transfers;
mod usm;
mod usm_commands;
mod virtual_memory;
mod waits;
