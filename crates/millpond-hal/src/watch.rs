//! Who is told when a command is carried out.
//!
//! A command without a watch costs nothing more; whoever gives it one learns its times on any
//! queue, without the queue being one that profiles.

use std::fmt;

use crate::error::Failure;

/// Told of one command, from any thread, in this order and at most once each.
///
/// Both are called without a lock and must not block.
pub trait Watch: fmt::Debug + Send + Sync {
    /// The device begins to run it. Of a launch, after [`HostKernel::begin`]: the kernel takes no
    /// more work. Not called for a command that fails with what it follows.
    ///
    /// [`HostKernel::begin`]: crate::HostKernel::begin
    fn began(&self);

    /// It has finished, well or not.
    fn ended(&self, failure: Option<&Failure>);
}
