//! Tests that need to see inside of pools.

mod schedule;
