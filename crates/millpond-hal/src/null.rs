//! A driver without a device, for tests of everything above it.
