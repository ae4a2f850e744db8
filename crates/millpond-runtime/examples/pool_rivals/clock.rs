//! Time in small pieces: the processor's counter, and what a reading of it costs.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Readings of the processor's counter, or of the system's clock where there is none.
#[inline]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction reads a counter and is part of every processor of this architecture.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return begin().elapsed().as_nanos() as u64;
}

#[cfg(not(target_arch = "x86_64"))]
fn begin() -> Instant {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    *BEGIN.get_or_init(Instant::now)
}

/// What readings mean.
#[derive(Clone, Copy, Debug)]
struct Scale {
    nanoseconds: f64,
    /// Ticks between two readings with nothing between them.
    overhead: u64,
}

fn scale() -> Scale {
    static SCALE: OnceLock<Scale> = OnceLock::new();
    *SCALE.get_or_init(|| {
        let (begin, first) = (Instant::now(), ticks());
        while begin.elapsed() < Duration::from_millis(20) {}
        let (elapsed, last) = (begin.elapsed(), ticks());
        let empty = |_| {
            let before = ticks();
            ticks() - before
        };
        Scale {
            nanoseconds: elapsed.as_secs_f64() * 1e9 / (last - first) as f64,
            overhead: (0..10_000).map(empty).min().unwrap_or(0),
        }
    })
}

/// How long single calls took.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<u64>);

impl Latencies {
    /// Times one call.
    #[inline]
    pub(crate) fn time<R>(&mut self, call: impl FnOnce() -> R) -> R {
        let before = ticks();
        let answer = call();
        self.0.push(ticks() - before);
        answer
    }

    /// Adds to the last call what another one took.
    pub(crate) fn time_more<R>(&mut self, call: impl FnOnce() -> R) -> R {
        let before = ticks();
        let answer = call();
        let more = (ticks() - before).saturating_sub(scale().overhead);
        if let Some(last) = self.0.last_mut() {
            *last += more;
        }
        answer
    }

    /// Counts the last call elsewhere.
    pub(crate) fn move_last(&mut self, other: &mut Self) {
        other.0.extend(self.0.pop());
    }

    /// Nanoseconds that these parts of a thousand calls stay below.
    pub(crate) fn quantiles<const N: usize>(&mut self, per_mille: [usize; N]) -> [f64; N] {
        let scale = scale();
        self.0.sort_unstable();
        let last = self.0.len().saturating_sub(1);
        per_mille.map(|part| {
            let ticks = self.0.get((self.0.len() * part / 1000).min(last));
            let net = ticks.map_or(0, |ticks| ticks.saturating_sub(scale.overhead));
            net as f64 * scale.nanoseconds
        })
    }
}

/// Nanoseconds of a call: the best of so many windows of so many calls.
pub(crate) fn best(windows: usize, calls: usize, mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..windows {
        let begin = Instant::now();
        for _ in 0..calls {
            call();
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e9 / calls as f64);
    }
    best
}
