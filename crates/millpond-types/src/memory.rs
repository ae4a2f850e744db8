//! Kinds of unified shared memory.
//!
//! The kinds keep their type and their rules on every backend, so that a program tested on the
//! CPU, where all three are host memory, runs on a GPU (rule M4).

use std::fmt;

/// Who can touch an allocation, and where it lives.
///
/// Source of the rule: the memory kinds of SYCL 2020 (section 4.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Lives on the device; the host reaches it by copies only.
    Device,
    /// Migrates between host and device; both may touch it.
    Shared,
    /// Lives on the host; the device reaches it over its bus.
    Host,
}

impl MemoryKind {
    /// Every kind, in declaration order.
    pub const ALL: [Self; 3] = [Self::Device, Self::Shared, Self::Host];

    /// Whether host code may dereference memory of this kind.
    #[must_use]
    pub const fn host_accessible(self) -> bool {
        !matches!(self, Self::Device)
    }

    /// The name used in messages and in Python's `usm_type=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Shared => "shared",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
