//! What the checker tells: two commands, and what is wrong between them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::point::Point;

/// A command, an allocation or a free, as findings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Its place: of a command its own, of an allocation or a free what its queue had before it.
    pub point: Point,
    /// What it is.
    pub command: Arc<str>,
    /// The source line it comes from, where lines are traced.
    pub origin: Option<Arc<str>>,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (command {}", self.command, self.point)?;
        match &self.origin {
            Some(origin) => write!(f, ", {origin})"),
            None => f.write_str(")"),
        }
    }
}

/// What is wrong between two that concern the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conflict {
    /// Both use the bytes, at least one of them writes, and nothing orders them.
    Unordered {
        /// Whether the first writes.
        first_writes: bool,
        /// Whether the second writes.
        second_writes: bool,
    },
    /// The first allocates the bytes, the second uses them and isn't ordered behind it.
    BeforeAllocation,
    /// The first uses the bytes, the second frees them and isn't ordered behind it.
    FreedInUse,
    /// The first frees the bytes, the second uses them although it comes later.
    AfterFree,
    /// The first uses the bytes for an owner that is gone, the second allocates them and isn't
    /// ordered behind it: the pool handed them out too early.
    AllocatedInUse,
    /// Both allocate the bytes, and nobody freed them between.
    AllocatedTwice,
}

/// Two that concern the same bytes, and have no right to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The bytes.
    pub bytes: Range<usize>,
    /// The one submitted first.
    pub first: Actor,
    /// The one submitted second.
    pub second: Actor,
    /// What is wrong.
    pub conflict: Conflict,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second, .. } = self;
        let bytes = format_args!("the {} bytes at {:#x}", self.bytes.len(), self.bytes.start);
        let verb = |writes| if writes { "writes" } else { "reads" };
        match self.conflict {
            Conflict::Unordered {
                first_writes,
                second_writes,
            } => write!(
                f,
                "{first} {} and {second} {} {bytes}, and nothing orders them",
                verb(first_writes),
                verb(second_writes)
            ),
            Conflict::BeforeAllocation => write!(
                f,
                "{second} uses {bytes} before they are its to use: nothing orders it behind {first}"
            ),
            Conflict::FreedInUse => write!(
                f,
                "{second} frees {bytes}, and nothing orders it behind {first}, which uses them"
            ),
            Conflict::AllocatedInUse => write!(
                f,
                "{second} has {bytes}, and nothing orders it behind {first}, which still uses them"
            ),
            Conflict::AfterFree => write!(f, "{second} uses {bytes} after {first}"),
            Conflict::AllocatedTwice => {
                write!(
                    f,
                    "{second} has {bytes}, which {first} has and nobody freed"
                )
            }
        }
    }
}
