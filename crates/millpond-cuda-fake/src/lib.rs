//! # What this is
//! NVIDIA's driver as a library without a card: the fake of the backend's own tests, behind the functions
//! that the driver exports. A program that is told of it by `MILLPOND_CUDA` finds a device.
//!
//! # Guarantees
//! * Whatever isn't ordered happens in many orders; memory that isn't there loses the device.
//! * Device memory lies at addresses that no program has: what takes them for the host's crashes.
//! * Launches run functions of this library, which `entries.rs` lists by name: what the programs of tests
//!   do on a card.
//!
//! # Example
//! ```text
//! MILLPOND_CUDA=target/debug/deps/libmillpond_cuda_fake.so program
//! ```
//!
//! # Where to look
//! `crates/millpond-cuda/src/fake` for the fake, `api/table.rs` there for the list of functions: both are
//! parts of this crate as well, so that there is one of each.

// Parts of the fake are tests of the backend, which are no tests of this crate.
#![cfg(not(test))]
#![allow(
    unsafe_code,
    reason = "is called as the driver is: pointers are to what its documentation says"
)]

mod api;
mod entries;
mod exported;
#[allow(dead_code, reason = "what tests of the backend ask of it")]
#[path = "../../millpond-cuda/src/fake/mod.rs"]
mod fake;

/// What the list of functions becomes here.
mod table {
    pub(crate) use crate::exported::functions;
}
