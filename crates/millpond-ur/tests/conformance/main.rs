//! What an adapter owes: the extension for allocations in the order of queues, through the interface, and
//! the order, the events and the memory that it stands on.
//!
//! Any adapter can be tested: `support/load.rs` says how one is named. Tests that need a queue to be held
//! back use a host task, and are left out where there is none.

#![allow(
    unsafe_code,
    reason = "calls the interface as C does, with pointers to values of its own"
)]
#![allow(clippy::print_stderr, reason = "says which tests are left out")]

mod accounting;
mod allocation;
mod any_arguments;
mod buffers;
mod card;
mod command_buffers;
mod commands;
mod devices;
mod errors;
mod host_memory;
mod host_work;
mod kernels;
#[cfg(feature = "mutants")]
mod mutants;
mod objects;
mod order;
mod pools;
mod programs;
mod random;
mod reuse;
mod room;
mod support;
mod times;
mod virtual_memory;
