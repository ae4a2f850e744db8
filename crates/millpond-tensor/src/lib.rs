//! # What this is
//! Arrays of millpond: the Array API standard over the runtime and the kernels.
//!
//! # Model
//! A [`Tensor`] is a dtype and a layout over an allocation, which its views share. Operations
//! take [`Operand`]s, arrays or numbers, and give arrays at the [`Place`] where their operands are.
//!
//! # Guarantees
//! * Results are those of a program that runs line by line, whatever runs when (rule O3).
//! * Nothing waits but the calls of [`observe`] and those that say so (O5).
//! * Errors that can be known at a call are that call's, with the values, and it changed nothing.
//! * No unsafe code.
//!
//! # Example
//! ```
//! use millpond_cpu::{CpuConfig, CpuDriver};
//! use millpond_runtime::Registry;
//! # use millpond_tensor::{Place, creation};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let device = millpond_runtime::Device::open(
//! #     millpond_hal::Driver::devices(&CpuDriver::new(CpuConfig::default()))?.remove(0),
//! # );
//! let place = Place::on(&device.default_queue()?);
//! let x = creation::from_slice(&[1.0, 2.0, 3.0], &[3], &place)?;
//! let y = (&x * 2.0)?.add(1)?;
//! assert_eq!(y.to_vec::<f64>()?, [3.0, 5.0, 7.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//! [`mod@apply`] for what happens to a call, a module for each chapter of the standard for the rest.
#![forbid(unsafe_code)]

pub mod apply;
mod comparison;
mod cost;
pub mod creation;
pub mod data_types;
pub mod display;
pub mod elementwise;
pub mod error;
pub mod fft;
mod fuse;
pub mod indexing;
pub mod item;
pub mod linalg;
pub mod manipulation;
pub mod observe;
pub mod operand;
pub mod place;
mod plain;
pub mod range;
pub mod scan;
pub mod searching;
pub mod sets;
pub mod sorting;
pub mod statistics;
pub mod tensor;
pub mod transfer;
pub mod utility;

pub use apply::{apply, apply_in_place};
pub use creation::Order;
pub use data_types::Casting;
pub use error::{Error, ErrorClass, Result};
pub use indexing::Index;
pub use item::Item;
pub use millpond_kernel::IndexMode;
pub use operand::Operand;
pub use place::Place;
pub use tensor::Tensor;
