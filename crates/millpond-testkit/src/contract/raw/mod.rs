//! Safe handles over the unsafe calls of the driver interface, for tests.
//!
//! A [`Line`] serialises its submissions (rule A4). A [`Memory`] is released only when every
//! command that names it has finished (A1), can be named only on the device that it came from
//! (A2), and refuses a command that isn't ordered behind the earlier ones (A3). So the tests need
//! no `unsafe`, and a test that is wrong panics instead of racing.

mod kernel;
mod line;
mod memory;

pub use kernel::{Increment, Trouble};
pub use line::{Line, named_task};
pub use memory::{Memory, Part};
