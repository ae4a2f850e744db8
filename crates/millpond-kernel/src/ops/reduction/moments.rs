//! Variance and standard deviation.
//!
//! Each tile is passed twice while it is in the cache, for its mean and for the squares around
//! it; tiles are merged by the pairwise update of moments. Nothing cancels, however far
//! from zero the elements are.

use super::{LANES, Reducer, Words};

/// Number, mean and squared deviations of some elements.
#[derive(Clone, Copy)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    const NONE: Self = Self {
        count: 0.0,
        mean: 0.0,
        squares: 0.0,
    };

    #[inline(always)]
    fn push(self, value: f64) -> Self {
        let count = self.count + 1.0;
        let step = value - self.mean;
        let mean = self.mean + step / count;
        Self {
            count,
            mean,
            squares: self.squares + step * (value - mean),
        }
    }

    #[inline(always)]
    fn merge(self, other: Self) -> Self {
        if self.count == 0.0 {
            return other;
        }
        if other.count == 0.0 {
            return self;
        }
        let count = self.count + other.count;
        let step = other.mean - self.mean;
        let share = other.count / count;
        Self {
            count,
            mean: self.mean + step * share,
            squares: self.squares + other.squares + step * step * self.count * share,
        }
    }

    #[inline(always)]
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = lanes(values, |value| value) / count;
        let squares = lanes(values, |value| (value - mean) * (value - mean));
        // What the rounding of the mean has added.
        let shift = lanes(values, |value| value - mean);
        Self {
            count,
            mean,
            squares: squares - shift * shift / count,
        }
    }

    fn variance(self, correction: f64) -> f64 {
        let freedom = self.count - correction;
        self.squares / freedom.max(0.0)
    }
}

/// Pushes rows of neighbouring columns, which have as many elements each, so that one division
/// serves all.
#[inline(always)]
fn columns<'a, const N: usize>(
    partials: [Moments; N],
    rows: impl Iterator<Item = &'a [f64; N]>,
) -> [Moments; N] {
    let mut count = partials.first().map_or(0.0, |first| first.count);
    let mut means = partials.map(|column| column.mean);
    let mut squares = partials.map(|column| column.squares);
    for row in rows {
        count += 1.0;
        let share = 1.0 / count;
        for lane in 0..N {
            let step = row[lane] - means[lane];
            means[lane] += step * share;
            squares[lane] += step * (row[lane] - means[lane]);
        }
    }
    std::array::from_fn(|lane| Moments {
        count,
        mean: means[lane],
        squares: squares[lane],
    })
}

/// The sum of a function of the values.
#[inline(always)]
fn lanes(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += of(chunk[lane]);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += of(*value);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

macro_rules! moments {
    ($($(#[$doc:meta])* $name:ident: |$variance:ident| $finish:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl Reducer for $name {
            type Value = f64;
            type Partial = Moments;
            type State = Moments;
            type Output = f64;

            #[inline(always)]
            fn nothing(self) -> Moments {
                Moments::NONE
            }

            #[inline(always)]
            fn push(self, partial: Moments, value: f64, _: u64) -> Moments {
                partial.push(value)
            }

            #[inline(always)]
            fn join(self, a: Moments, b: Moments) -> Moments {
                a.merge(b)
            }

            #[inline(always)]
            fn start(self) -> Moments {
                Moments::NONE
            }

            #[inline(always)]
            fn absorb(self, state: Moments, partial: Moments) -> Moments {
                state.merge(partial)
            }

            fn merge(self, a: Moments, b: Moments) -> Moments {
                a.merge(b)
            }

            fn finish(self, state: Moments, _: u64, correction: f64) -> f64 {
                let $variance = state.variance(correction);
                $finish
            }

            fn pack(self, state: Moments) -> Words {
                [state.count.to_bits(), state.mean.to_bits(), state.squares.to_bits(), 0]
            }

            fn unpack(self, [count, mean, squares, _]: Words) -> Moments {
                Moments {
                    count: f64::from_bits(count),
                    mean: f64::from_bits(mean),
                    squares: f64::from_bits(squares),
                }
            }

            #[inline(always)]
            fn columns<'a, const N: usize>(
                self,
                partials: [Moments; N],
                rows: impl Iterator<Item = &'a [f64; N]>,
                _: u64,
            ) -> [Moments; N] {
                columns(partials, rows)
            }

            #[inline(always)]
            fn run(self, state: Moments, values: &[f64], _: u64, _: bool) -> Moments {
                if values.is_empty() {
                    return state;
                }
                state.merge(Moments::of(values))
            }
        }
    )* };
}

moments! {
    /// The variance.
    Variance: |variance| variance;
    /// The square root of the variance.
    Deviation: |variance| variance.sqrt();
}
