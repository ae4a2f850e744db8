//! # What this is
//! The vocabulary of millpond: dtypes and their promotion, scalars, shapes and layouts, kinds of
//! memory, and the configuration that the environment may set.
//!
//! # Model
//! [`DType`] names an element type, [`Scalar`] holds one value of any of them, [`Layout`] says
//! where the elements of an array lie within an allocation, [`MemoryKind`] says who may touch it.
//!
//! # Guarantees
//! Plain data and pure functions: nothing here knows a device, allocates device memory, or
//! contains unsafe code. Every size is checked for overflow.
//!
//! # Example
//! ```
//! use millpond_types::{DType, promote};
//! assert_eq!(promote::result_type(&[DType::Int32, DType::Uint8]), Ok(DType::Int32));
//! ```
//!
//! # Where to look
//! [`dtype`] for the table of dtypes, [`promote`] for the lattice, [`layout`] for strides.
#![forbid(unsafe_code)]

pub mod config;
pub mod dtype;
pub mod layout;
pub mod memory;
pub mod promote;
pub mod rounding;
pub mod scalar;
pub mod shape;

pub use dtype::{DType, Kind};
pub use layout::Layout;
pub use memory::MemoryKind;
pub use scalar::Scalar;
pub use shape::Shape;
