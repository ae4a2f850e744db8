//! # What this is
//! The operations of millpond: what they are called, what they accept, how they are computed, and
//! the loops that run them over memory of the host.
//!
//! # Model
//! An [`Operation`] is a row: name, documentation, and a body for each kind of
//! dtype, written over the numbers of [`math`]. [`Operation::resolve`](ops::Operation::resolve)
//! says which dtypes a call computes with; a [`MapKernel`] runs it over
//! arrays of any layout, a [`ContiguousLoop`] over arrays
//! without gaps. Both are kernels as the driver interface wants them.
//!
//! # Guarantees
//! A kernel touches nothing outside the footprint that it declares, and gives the same bits
//! however its range is split. Results of the vector loops lie within the row's tolerance of the
//! exact value. Unsafe code is confined to [`host`].
//!
//! # Example
//! ```
//! use millpond_kernel::ops;
//! use millpond_types::DType;
//! let add = ops::find("add").unwrap();
//! let signature = add.resolve(&[DType::Int8, DType::Float32], DType::Float64).unwrap();
//! assert_eq!(signature.output, DType::Float32);
//! ```
//!
//! # Where to look
//! [`ops`] for the rows, [`template`] for the order in which elements are visited, [`simd`] for
//! the vector instructions in use.
#![allow(
    clippy::inline_always,
    reason = "a body is compiled for the instructions of the loop that it is inlined into"
)]
#![allow(
    clippy::needless_bitwise_bool,
    reason = "both sides are computed, so that loops without branches become vector instructions"
)]

pub mod device;
pub mod error;
#[allow(
    unsafe_code,
    reason = "runs over addresses that the driver interface hands in"
)]
pub mod host;
pub mod math;
pub mod ops;
pub mod simd;
pub mod template;

pub use error::{PlanError, UnsupportedDType};
pub use host::contiguous::ContiguousLoop;
pub use host::fused::{FusedKernel, Operand as FusedOperand, Step as FusedStep, View as FusedView};
pub use host::generate::{GenerateKernel, Rule};
pub use host::index::collect::{CollectKernel, Collected};
pub use host::index::count::MaskCountKernel;
pub use host::index::line::{Line, LineKernel};
pub use host::index::mask::{MaskKernel, NonzeroKernel, Select, Supply};
pub use host::index::pick::{Pick, PickIndex, PickKernel};
pub use host::index::{Direction, IndexMode};
pub use host::join::{JoinKernel, JoinPart};
pub use host::map::{Input, MapKernel};
pub use host::reduce::ReduceKernel;
pub use host::scan::{Scan, ScanPlan};
pub use host::search::{Find, FindKernel, Finder, MemberKernel, Membership, Runs, Wanted};
pub use host::sort::{First, Sort, SortPlan, Sorted};
pub use ops::reduction::{ReduceSignature, Reduction, find_reduction};
pub use ops::{Operation, Signature, find, operations};
