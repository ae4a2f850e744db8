//! What is in use of one pool by one queue.

/// Live allocations, counted.
///
/// No two of the numbers that every pair changes lie side by side. A compiler would count both by one
/// vector, and a processor that wrote two numbers doesn't hand them on to a load of both, which waits
/// for its cache instead, a dozen cycles each time.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Live {
    used: usize,
    used_high: usize,
    requested: usize,
    /// What had begun when this was last asked.
    begun_before: usize,
    /// Allocations that there ever were.
    begun: usize,
    ended_before: usize,
    /// Those of them that were freed.
    ended: usize,
}

impl Live {
    /// Counts an allocation of this many bytes.
    #[inline]
    pub(crate) fn count_in(&mut self, granted: usize, requested: usize) {
        self.used += granted;
        self.requested += requested;
        self.begun = self.begun.wrapping_add(1);
        if self.used > self.used_high {
            self.used_high = self.used;
        }
    }

    /// Counts its end.
    #[inline]
    pub(crate) fn count_out(&mut self, granted: usize, requested: usize) {
        self.used -= granted;
        self.requested -= requested;
        self.ended = self.ended.wrapping_add(1);
    }

    /// Bytes as granted.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// The most that these have been.
    pub(crate) fn used_high(&self) -> usize {
        self.used_high
    }

    /// Has the most count from now on.
    pub(crate) fn reset_high(&mut self) {
        self.used_high = self.used;
    }

    /// Bytes as asked for.
    pub(crate) fn requested(&self) -> usize {
        self.requested
    }

    /// Number of allocations.
    pub(crate) fn count(&self) -> usize {
        self.begun.wrapping_sub(self.ended)
    }

    /// Whether anything was allocated or freed since the last call.
    pub(crate) fn take_touched(&mut self) -> bool {
        let now = (self.begun, self.ended);
        let before = (self.begun_before, self.ended_before);
        (self.begun_before, self.ended_before) = now;
        before != now
    }
}
