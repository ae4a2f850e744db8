//! Accuracy of the lane functions against correctly rounded ones, over points that are hard as well as plain.
//!
//! A NaN where the exact result is a number counts as a failure but where the function's row says that it may ask.

use core_math as exact;

use super::{Format, Lane};
use crate::math::real::Real;

type One<T> = fn(T) -> T;
type Two<T> = fn(T, T) -> T;

/// A function of one number, on both lanes, with its oracle and its limits in ulp.
struct Unary {
    name: &'static str,
    lane: (One<Lane<f64>>, One<Lane<f32>>),
    exact: One<f64>,
    ulp: (f64, f64),
}

/// A function of two numbers.
struct Binary {
    name: &'static str,
    lane: (Two<Lane<f64>>, Two<Lane<f32>>),
    exact: Two<f64>,
    ulp: (f64, f64),
}

macro_rules! rows {
    ($kind:ident $($name:ident $exact:expr, $ulp:expr;)*) => {
        &[$($kind { name: stringify!($name), lane: (Real::$name, Real::$name), exact: $exact, ulp: $ulp }),*]
    };
}

const UNARY: &[Unary] = rows! { Unary
    exp exact::exp, (1.0, 1.1);
    exp2 exact::exp2, (1.0, 1.1);
    exp_m1 exact::expm1, (1.0, 1.1);
    ln exact::log, (1.0, 1.1);
    ln_1p exact::log1p, (1.0, 1.1);
    log2 exact::log2, (1.0, 1.1);
    log10 exact::log10, (1.0, 1.1);
    sqrt f64::sqrt, (0.0, 0.51);
    rsqrt exact::rsqrt, (1.0, 1.6);
    cbrt exact::cbrt, (1.0, 1.1);
    sin exact::sin, (1.0, 1.1);
    cos exact::cos, (1.0, 1.1);
    tan exact::tan, (1.0, 1.1);
    asin exact::asin, (2.0, 1.1);
    acos exact::acos, (1.0, 1.1);
    atan exact::atan, (2.0, 1.1);
    sinh exact::sinh, (2.0, 2.0);
    cosh exact::cosh, (1.0, 1.6);
    tanh exact::tanh, (2.0, 2.0);
    asinh exact::asinh, (2.0, 1.1);
    acosh exact::acosh, (2.0, 1.1);
    atanh exact::atanh, (2.0, 1.1);
};

const BINARY: &[Binary] = rows! { Binary
    pow exact::pow, (1.0, 1.1);
    hypot exact::hypot, (1.0, 1.1);
    atan2 exact::atan2, (2.0, 1.1);
    fmod |x, y| x % y, (0.0, 0.0);
};

/// Whether the function may leave this point to the reference.
fn may_ask<F: Format>(name: &str, x: f64, y: f64) -> bool {
    match name {
        "sin" | "cos" | "tan" => x.abs() >= F::ANGLE_LIMIT,
        "pow" => x == 0.0 || !x.is_finite() || (x.abs() == 1.0 && !y.is_finite()),
        "hypot" | "atan2" => {
            !x.is_finite() || !y.is_finite() || (name == "atan2" && x == 0.0 && y == 0.0)
        }
        "fmod" => (x / y).abs() >= 8_388_608.0 || !y.is_finite(),
        _ => false,
    }
}

/// A sequence of bits that looks random and is the same each time.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform from `-limit` to `limit`.
    fn within(&mut self, limit: f64) -> f64 {
        (self.next() >> 11) as f64 * (2.0 * limit / (1_u64 << 53) as f64) - limit
    }
}

/// Points of a format: `widened` from `f64`, which are rounded to it.
trait Points: Format + std::fmt::Debug {
    /// A number of any magnitude.
    fn any(bits: u64) -> Self;
    /// The numbers beside this one.
    fn neighbours(self) -> [Self; 2];
    /// Distance of this from `exact`, in units of the last place of `exact`.
    fn distance(self, exact: f64) -> f64;
}

impl Points for f64 {
    fn any(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn neighbours(self) -> [f64; 2] {
        [self.next_down(), self.next_up()]
    }
    fn distance(self, exact: f64) -> f64 {
        let order = |x: f64| {
            if x.is_sign_negative() {
                -((x.to_bits() << 1 >> 1) as i64)
            } else {
                x.to_bits() as i64
            }
        };
        order(self).abs_diff(order(exact)) as f64
    }
}

impl Points for f32 {
    fn any(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    fn neighbours(self) -> [f32; 2] {
        [self.next_down(), self.next_up()]
    }
    fn distance(self, exact: f64) -> f64 {
        let nearest = exact as f32;
        if self == nearest || !nearest.is_finite() {
            // Infinity may stand for a number just below where rounding would give it, and the other way round.
            return if self == nearest || self.abs() == f32::MAX {
                0.0
            } else {
                f64::INFINITY
            };
        }
        let ulp = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
        let got = if self.is_infinite() {
            f64::from(f32::MAX) + ulp
        } else {
            f64::from(self)
        };
        (got - exact).abs() / ulp
    }
}

/// Numbers that functions are known to fail at, and their surroundings.
fn hard<F: Points>() -> Vec<F> {
    let mut points = vec![
        0.0,
        1.0,
        0.5,
        2.0,
        10.0,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::INFINITY,
    ];
    points.extend([
        709.782_712_893_384,
        710.475_860_073_943_9,
        745.133_219_101_941_2,
        708.396_418_532_264_1,
    ]);
    points.extend([
        88.722_84, 89.415_985, 103.972_08, 87.336_55, 1024.0, 1074.5, 1022.0, 128.0, 149.5, 126.0,
    ]);
    points.extend([
        f64::from(f32::MAX),
        f64::from(f32::MIN_POSITIVE),
        f64::from(f32::from_bits(1)),
        22.0,
        9.0,
    ]);
    points.extend((1..70).flat_map(|k| {
        [
            1.0 + 0.5_f64.powi(k),
            1.0 - 0.5_f64.powi(k),
            0.5_f64.powi(k),
            2.0_f64.powi(k),
        ]
    }));
    points.extend((1..400).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_2));
    points.extend((1..400).map(|k| f64::from(k * k * 997) * std::f64::consts::FRAC_PI_2));
    points.extend([
        1.0e9,
        0.999_999_9e9,
        6_381_956_970.5,
        1.0e22,
        16_367_173.0 * std::f64::consts::FRAC_PI_2,
    ]);
    let floats: Vec<F> = points.into_iter().map(F::narrow).collect();
    floats
        .into_iter()
        .flat_map(|x| [x, x.neighbours()[0], x.neighbours()[1]])
        .flat_map(|x| [x, -x])
        .collect()
}

/// Hard points, points of any magnitude, and many where functions bend.
fn points<F: Points>(count: usize) -> Vec<F> {
    let mut bits = Bits(7);
    let mut points = hard::<F>();
    points.extend((0..count).map(|_| F::any(bits.next())));
    for limit in [1.0, 4.0, 30.0, 760.0, 1.0e6] {
        points.extend((0..count).map(|_| F::narrow(bits.within(limit))));
    }
    points.extend((0..count).map(|_| F::narrow(1.0 + bits.within(0.01))));
    points
}

/// What was found wrong with a function.
#[derive(Default)]
struct Findings {
    worst: f64,
    at: String,
}

impl Findings {
    fn see<F: Points>(&mut self, name: &str, got: F, exact: f64, x: F, y: F) {
        let wrong = if exact.is_nan() {
            if got.is_nan() { 0.0 } else { f64::INFINITY }
        } else if got.is_nan() {
            if may_ask::<F>(name, x.widen(), y.widen()) {
                0.0
            } else {
                f64::INFINITY
            }
        } else if exact == 0.0 && got.widen() == 0.0 {
            if got.sign_bit() == exact.sign_bit() {
                0.0
            } else {
                f64::INFINITY
            }
        } else {
            got.distance(exact)
        };
        if wrong > self.worst {
            self.worst = wrong;
            self.at = format!("{name}({x:?}, {y:?}) gave {got:?} for {exact:e}");
        }
    }

    fn judge(&self, name: &str, limit: f64) {
        assert!(
            self.worst <= limit,
            "{name} is off by {} ulp, {limit} allowed: {}",
            self.worst,
            self.at
        );
    }
}

fn check_unary<F: Points>(
    name: &str,
    lane: fn(Lane<F>) -> Lane<F>,
    exact: fn(f64) -> f64,
    limit: f64,
) {
    let mut findings = Findings::default();
    for x in points::<F>(COUNT) {
        findings.see(name, lane(Lane(x)).0, exact(x.widen()), x, x);
    }
    findings.judge(name, limit);
}

fn check_binary<F: Points>(
    name: &str,
    lane: fn(Lane<F>, Lane<F>) -> Lane<F>,
    exact: fn(f64, f64) -> f64,
    limit: f64,
) {
    let mut findings = Findings::default();
    let xs = points::<F>(COUNT);
    let mut bits = Bits(11);
    for &x in &xs {
        let near = F::narrow(x.widen() * (1.0 + bits.within(0.5)));
        let other = xs[bits.next() as usize % xs.len()];
        for y in [near, other] {
            findings.see(
                name,
                lane(Lane(x), Lane(y)).0,
                exact(x.widen(), y.widen()),
                x,
                y,
            );
        }
    }
    for x in [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::INFINITY,
        -f64::INFINITY,
        f64::NAN,
        3.0,
        -3.0,
        1.0e300,
    ]
    .map(F::narrow)
    {
        for y in [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            f64::INFINITY,
            -f64::INFINITY,
            f64::NAN,
            3.0,
            2.0,
        ]
        .map(F::narrow)
        {
            findings.see(
                name,
                lane(Lane(x), Lane(y)).0,
                exact(x.widen(), y.widen()),
                x,
                y,
            );
        }
    }
    findings.judge(name, limit);
}

/// Points of each sort.
const COUNT: usize = 6000;

#[test]
fn functions_of_one_f64_keep_their_limits() {
    for row in UNARY {
        check_unary(row.name, row.lane.0, row.exact, row.ulp.0);
    }
}

#[test]
fn functions_of_one_f32_keep_their_limits() {
    for row in UNARY {
        check_unary(row.name, row.lane.1, row.exact, row.ulp.1);
    }
}

#[test]
fn functions_of_two_f64_keep_their_limits() {
    for row in BINARY {
        check_binary(row.name, row.lane.0, row.exact, row.ulp.0);
    }
}

#[test]
fn functions_of_two_f32_keep_their_limits() {
    for row in BINARY {
        check_binary(row.name, row.lane.1, row.exact, row.ulp.1);
    }
}

/// Signs are taken off first and put back last, so nothing may depend on them.
#[test]
fn odd_functions_are_odd_and_even_ones_even_to_the_bit() {
    let odd = [
        "cbrt", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh",
    ];
    let mut found = 0;
    for row in UNARY {
        let flip = match row.name {
            name if odd.contains(&name) => 1_u64 << 63,
            "cos" | "cosh" => 0,
            _ => continue,
        };
        found += 1;
        for x in points::<f64>(500) {
            let (right, left) = (row.lane.0(Lane(x)).0, row.lane.0(Lane(-x)).0);
            let same =
                left.to_bits() == right.to_bits() ^ flip || (left.is_nan() && right.is_nan());
            assert!(same, "{}(±{x:?}) gave {right:?} and {left:?}", row.name);
        }
    }
    assert_eq!(found, odd.len() + 2);
}

#[test]
fn bounded_functions_keep_their_bounds() {
    let one = Lane(1.0);
    for x in points::<f64>(2000).into_iter().map(Lane) {
        for y in [x.sin(), x.cos(), x.tanh()] {
            assert!(y.abs() <= one || y != y, "{x:?} gave {y:?}");
        }
        assert!(x.exp() >= Lane(0.0) || x != x, "exp({x:?})");
        assert!(x.cosh() >= one || x != x, "cosh({x:?})");
    }
}

/// Steps of a few units in the last place, wider than the error of the functions.
#[test]
fn growing_functions_grow() {
    let grow: [(&str, One<Lane<f64>>); 5] = [
        ("exp", Real::exp),
        ("ln", Real::ln),
        ("tanh", Real::tanh),
        ("atan", Real::atan),
        ("sinh", Real::sinh),
    ];
    for x in points::<f64>(500).into_iter().filter(|x| x.is_finite()) {
        let further = f64::from_bits(x.abs().to_bits() + 64);
        for (name, function) in grow {
            let (low, high) = (function(Lane(x.abs())), function(Lane(further)));
            assert!(
                low <= high || high != high,
                "{name} falls from {low:?} to {high:?} beyond {x:?}"
            );
        }
    }
}

#[test]
fn sines_and_cosines_together_are_those_alone() {
    for x in points::<f64>(500).into_iter().map(Lane) {
        let (sine, cosine) = x.sin_cos();
        let bits = |y: Lane<f64>| y.0.to_bits();
        assert!(
            x.sin() != x.sin() || (bits(sine), bits(cosine)) == (bits(x.sin()), bits(x.cos())),
            "{x:?}"
        );
    }
}
