//! Operations of millpond: rows, bodies and the host loops that run them.

pub mod math;
