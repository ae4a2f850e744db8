//! Finding elements in a sorted array or among members, and what is different in one.

mod code;
mod find;
mod members;
mod runs;
mod set;

pub use find::{Find, FindKernel, Finder};
pub use members::{MemberKernel, Membership};
pub(crate) use runs::PIECE;
pub use runs::{CountRuns, Runs, Wanted, WriteRuns};
