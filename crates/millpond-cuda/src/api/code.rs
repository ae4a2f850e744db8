//! What a call of the driver answers.

use std::fmt;

/// A result code. A number rather than an enumeration: a newer driver may answer with codes that
/// are unknown here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct Code(pub(crate) i32);

#[allow(
    dead_code,
    reason = "the fake driver answers with more of them than are told apart"
)]
impl Code {
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const INVALID_VALUE: Self = Self(1);
    pub(crate) const OUT_OF_MEMORY: Self = Self(2);
    pub(crate) const NO_DEVICE: Self = Self(100);
    pub(crate) const INVALID_IMAGE: Self = Self(200);
    pub(crate) const INVALID_CONTEXT: Self = Self(201);
    pub(crate) const INVALID_HANDLE: Self = Self(400);
    pub(crate) const NOT_FOUND: Self = Self(500);
    pub(crate) const NOT_READY: Self = Self(600);
    pub(crate) const ILLEGAL_ADDRESS: Self = Self(700);
    pub(crate) const PEER_ACCESS_ALREADY_ENABLED: Self = Self(704);
    pub(crate) const NOT_SUPPORTED: Self = Self(801);
    pub(crate) const UNKNOWN: Self = Self(999);

    /// Not a code of the driver's: it doesn't have the function.
    pub(crate) const MISSING: Self = Self(-1);

    /// Whether the context can do nothing any more: every further call answers the same.
    pub(crate) const fn is_sticky(self) -> bool {
        matches!(
            self.0,
            4 | 46 | 214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 911 | 999
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MISSING {
            f.write_str("the driver has no such function")
        } else {
            write!(f, "CUDA error {}", self.0)
        }
    }
}
