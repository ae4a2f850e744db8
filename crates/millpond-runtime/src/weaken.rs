//! Breaking a rule of order on purpose, so that tests see the order checker notice it.
//!
//! Only tests of this crate can: elsewhere the question is a constant.

/// A rule that can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// R1: what comes after on the same queue is ordered; others are behind the last use still.
    SameQueue,
    /// R2: only with the free in the queue's clock.
    FollowEvents,
    /// R3: only once the free has completed.
    Opportunistic,
    /// R5: only with a wait inserted.
    InternalDependencies,
    /// What is joined to a window follows nothing but what the window does.
    JoinWhatFits,
    /// What is joined has the window's place in the order of its operands.
    RecordJoined,
}

#[cfg(not(test))]
#[inline]
pub(crate) const fn is_broken(_rule: Rule) -> bool {
    false
}

#[cfg(test)]
pub(crate) use broken::{is_broken, while_broken};

#[cfg(test)]
mod broken {
    use std::cell::Cell;

    use super::Rule;

    thread_local! {
        static BROKEN: Cell<Option<Rule>> = const { Cell::new(None) };
    }

    pub(crate) fn is_broken(rule: Rule) -> bool {
        BROKEN.get() == Some(rule)
    }

    /// Runs a test on this thread with a rule broken.
    pub(crate) fn while_broken<R>(rule: Rule, body: impl FnOnce() -> R) -> R {
        BROKEN.set(Some(rule));
        let answer = body();
        BROKEN.set(None);
        answer
    }
}
