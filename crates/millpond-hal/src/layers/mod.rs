//! Layers that wrap a driver.
