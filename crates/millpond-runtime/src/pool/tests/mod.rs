//! Tests that need to see inside of pools.

#[path = "../../../tests/support/schedule/mod.rs"]
mod program;
mod schedule;
mod side_by_side;
