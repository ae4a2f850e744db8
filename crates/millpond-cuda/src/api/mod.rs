//! The driver's functions that this backend uses, as one table behind a trait.
//!
//! The table is declared here by hand rather than taken from bindings of all of CUDA: it is short,
//! a function that a driver lacks is an answer instead of a panic, and what stands behind the trait
//! may be a library that was loaded or a fake that tests control.

mod code;
mod library;
mod table;
mod values;

pub(crate) use code::Code;
#[cfg(test)]
pub(crate) use library::start;
pub(crate) use library::{Found, Search, search};
pub(crate) use table::Api;
pub(crate) use values::{
    AT_LEAST, ATTACH_GLOBAL, AccessDescription, ContextHandle, EventHandle, FILE_DESCRIPTOR,
    FunctionHandle, ModuleHandle, NON_BLOCKING, Ordinal, PORTABLE, PhysicalHandle,
    PhysicalProperties, Pointer, PoolHandle, PoolPlace, PoolProperties, READ_MOSTLY, StreamHandle,
    attribute, function, loading, pointer, pool,
};
