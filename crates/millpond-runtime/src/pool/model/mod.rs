//! Models of what threads share of a pool: `cargo xtask model`.
//!
//! Two checkers run the pools' own code. *loom* tries every value that a load may see, for the few
//! numbers that are read without a lock (`seen.rs`, `kept.rs`). *shuttle* tries many orders of the steps of
//! whole pools, or all of them where they are few, over a driver that hands addresses out again at
//! once, may refuse, and watches what it holds (`provider.rs`).
//!
//! Not modelled: the moments of deadlines, since a checker has no clock, and what belongs to one
//! thread (scopes, tasks).

#![allow(clippy::unwrap_used, reason = "models are tests")]

#[cfg(loom)]
mod kept;
#[cfg(loom)]
mod seen;

#[cfg(shuttle)]
mod budget;
#[cfg(shuttle)]
mod end;
#[cfg(shuttle)]
mod held;
#[cfg(shuttle)]
mod patience;
#[cfg(shuttle)]
mod provider;
#[cfg(shuttle)]
mod reclaimers;
#[cfg(shuttle)]
mod segments;
#[cfg(shuttle)]
mod theft;
