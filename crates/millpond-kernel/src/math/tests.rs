//! The vocabulary's meaning, the same on every instance.

use super::{Lane, Real, VOCABULARY};

const I: f64 = f64::INFINITY;
const N: f64 = f64::NAN;

/// Asserts equality of bits but for NaNs, which are all the same.
fn assert_same(what: &str, got: f64, wanted: f64) {
    let same = if wanted.is_nan() {
        got.is_nan()
    } else {
        got.to_bits() == wanted.to_bits()
    };
    assert!(same, "{what} gave {got:?} for {wanted:?}");
}

/// Results of a function of two numbers on all instances; lanes that answer NaN are asked again, as loops do.
macro_rules! on_all {
    ($name:ident($x:expr, $y:expr)) => {{
        let (x, y): (f64, f64) = ($x, $y);
        let (short_x, short_y) = (x as f32, y as f32);
        let reference = Real::$name(x, y);
        let short = Real::$name(short_x, short_y);
        let lane = Real::$name(Lane(x), Lane(y)).0;
        let short_lane = Real::$name(Lane(short_x), Lane(short_y)).0;
        [
            ("f64", reference),
            ("f32", f64::from(short)),
            ("lane f64", if lane.is_nan() { reference } else { lane }),
            (
                "lane f32",
                f64::from(if short_lane.is_nan() {
                    short
                } else {
                    short_lane
                }),
            ),
        ]
    }};
}

#[test]
fn remainders_have_the_sign_of_the_divisor() {
    let rows = [
        (7.0, 3.0, 1.0),
        (-7.0, 3.0, 2.0),
        (7.0, -3.0, -2.0),
        (-7.0, -3.0, -1.0),
        (6.0, -3.0, -0.0),
        (-6.0, 3.0, 0.0),
        (0.0, -2.0, -0.0),
        (1.0, I, 1.0),
        (-1.0, I, I),
        (1.0, -I, -I),
        (-1.0, -I, -1.0),
        (1.0, 0.0, N),
        (I, 2.0, N),
        (N, 1.0, N),
        (1.0, N, N),
    ];
    for (x, y, wanted) in rows {
        for (instance, got) in on_all!(remainder(x, y)) {
            assert_same(&format!("{x} % {y} at {instance}"), got, wanted);
        }
    }
}

#[test]
fn quotients_round_down() {
    let rows = [
        (7.0, 2.0, 3.0),
        (-7.0, 2.0, -4.0),
        (7.0, -2.0, -4.0),
        (-7.0, -2.0, 3.0),
        (-1.0, 3.0, -1.0),
        (0.0, 5.0, 0.0),
        (-0.0, 5.0, -0.0),
        (1.0, 0.0, I),
        (-1.0, 0.0, -I),
        (0.0, 0.0, N),
        (1.0, I, 0.0),
        (-1.0, I, -0.0),
        (1.0, -I, -0.0),
        (-1.0, -I, 0.0),
        (I, 2.0, I),
        (-I, 2.0, -I),
        (I, I, N),
        (N, 2.0, N),
    ];
    for (x, y, wanted) in rows {
        for (instance, got) in on_all!(floor_divide(x, y)) {
            assert_same(&format!("{x} // {y} at {instance}"), got, wanted);
        }
    }
    // The quotient would round to 10; the exact one is just below.
    assert_same("1 // 0.1", Real::floor_divide(1.0, 0.1), 9.0);
}

/// `(m, e)` with `x = m · 2^e`, for finite `x`.
fn decoded(x: f64) -> (i128, i32) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = i128::from(bits & ((1 << 52) - 1));
    let m = if exponent == 0 {
        fraction
    } else {
        fraction | 1 << 52
    };
    let zeros = m.trailing_zeros().min(52);
    let m = if x < 0.0 { -m >> zeros } else { m >> zeros };
    (m, exponent.max(1) - 1075 + zeros as i32)
}

/// The exact quotient rounded down; `None` where it has too many digits.
fn floor_of_quotient(x: f64, y: f64) -> Option<i128> {
    let ((a, a_exponent), (b, b_exponent)) = (decoded(x), decoded(y));
    let shift = a_exponent - b_exponent;
    if shift > 73 {
        return None;
    }
    let (a, b) = if b < 0 { (-a, -b) } else { (a, b) };
    if shift >= 0 {
        return Some((a << shift).div_euclid(b));
    }
    Some(if shift < -73 {
        a.signum().min(0)
    } else {
        a.div_euclid(b << -shift)
    })
}

#[test]
fn floors_of_quotients_are_exact() {
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let mut checked = 0;
    for round in 0..60_000 {
        let (bits, more) = (next(), next());
        let whole = (more >> (more & 63)) as f64;
        // Numbers of any magnitude, and those beside a multiple of the divisor.
        let y = match round % 4 {
            0 => f64::from_bits(bits),
            1 => f64::from(f32::from_bits(bits as u32)),
            2 => f64::from(bits as i16) / 8.0,
            _ => f64::from_bits(bits & !(0x3ff << 52) | 0x380 << 52),
        };
        let x = match more % 5 {
            0 => f64::from_bits(next()),
            1 => f64::from(f32::from_bits(next() as u32)),
            _ => y * whole,
        };
        for x in [x, x.next_up(), x.next_down(), -x, -x.next_up()] {
            if let Some(wanted) = exact_quotient(x, y) {
                for got in [
                    Real::floor_divide(x, y),
                    Real::floor_divide(Lane(x), Lane(y)).0,
                ] {
                    assert_same(&format!("{x:e} // {y:e}"), got, wanted.0);
                }
                checked += 1;
            }
            let (x, y) = (x as f32, y as f32);
            for x in [x, x.next_up(), x.next_down()] {
                if let Some(wanted) = exact_quotient(f64::from(x), f64::from(y)) {
                    for got in [
                        Real::floor_divide(x, y),
                        Real::floor_divide(Lane(x), Lane(y)).0,
                    ] {
                        assert_same(&format!("{x:e} // {y:e}"), got.into(), wanted.1.into());
                    }
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 200_000, "only {checked} quotients were checked");
}

/// The exact quotient rounded down, and then to either format.
fn exact_quotient(x: f64, y: f64) -> Option<(f64, f32)> {
    if !x.is_finite() || !y.is_finite() || y == 0.0 {
        return None;
    }
    let whole = floor_of_quotient(x, y)?;
    let zero = 0.0_f64.copysign(x) * 1.0_f64.copysign(y);
    Some(if whole == 0 {
        (zero, zero as f32)
    } else {
        (whole as f64, whole as f32)
    })
}

#[test]
fn extremes_propagate_nan() {
    for (x, y, smaller, larger) in [
        (1.0, 2.0, 1.0, 2.0),
        (N, 1.0, N, N),
        (1.0, N, N, N),
        (-I, I, -I, I),
    ] {
        for (instance, got) in on_all!(min(x, y)) {
            assert_same(&format!("min({x}, {y}) at {instance}"), got, smaller);
        }
        for (instance, got) in on_all!(max(x, y)) {
            assert_same(&format!("max({x}, {y}) at {instance}"), got, larger);
        }
    }
}

#[test]
fn neighbours_step_towards_the_second() {
    let tiny = f64::from_bits(1);
    let rows = [
        (0.0, 1.0, tiny),
        (0.0, -1.0, -tiny),
        (1.0, 1.0, 1.0),
        (-0.0, 0.0, 0.0),
        (1.0, 2.0, 1.0 + f64::EPSILON),
        (f64::MAX, I, I),
        (I, 0.0, f64::MAX),
        (N, 1.0, N),
        (1.0, N, N),
    ];
    for (x, y, wanted) in rows {
        assert_same(
            &format!("nextafter({x}, {y})"),
            Real::nextafter(x, y),
            wanted,
        );
        assert_same(
            &format!("nextafter({x}, {y}) on a lane"),
            Real::nextafter(Lane(x), Lane(y)).0,
            wanted,
        );
    }
}

#[test]
fn sums_of_exponentials_do_not_overflow() {
    let rows = [
        (-I, -I, -I),
        (I, I, I),
        (I, -I, I),
        (-I, 3.0, 3.0),
        (1000.0, -1000.0, 1000.0),
        (N, 1.0, N),
    ];
    for (x, y, wanted) in rows {
        for (instance, got) in on_all!(log_add_exp(x, y)) {
            assert_same(&format!("log_add_exp({x}, {y}) at {instance}"), got, wanted);
        }
    }
    assert!((Real::log_add_exp(1.0e3, 1.0e3) - (1.0e3 + std::f64::consts::LN_2)).abs() < 1.0e-12);
}

#[test]
fn short_sums_of_exponentials_are_computed_with_digits_to_spare() {
    for i in -300..300_i16 {
        for j in -60..60_i16 {
            let x = f32::from(i) * 0.037;
            let y = x + f32::from(j) * f32::from(j.abs()) * 0.0071;
            let wanted = Real::log_add_exp(f64::from(x), f64::from(y));
            let ulp = wanted.abs().max(1.0) * f64::from(f32::EPSILON);
            for got in [
                Real::log_add_exp(x, y),
                Real::log_add_exp(Lane(x), Lane(y)).0,
            ] {
                assert!(
                    (f64::from(got) - wanted).abs() <= 0.51 * ulp,
                    "{x} and {y} gave {got} for {wanted}"
                );
            }
            let lane = Real::log_add_exp(Lane(f64::from(x)), Lane(f64::from(y))).0;
            assert!((lane - wanted).abs() <= 2.0 * wanted.abs().max(1.0) * f64::EPSILON);
        }
    }
}

#[test]
fn predicates_tell_the_kinds_of_numbers() {
    for (x, finite, infinite, signed, whole) in [
        (0.0, true, false, false, true),
        (-0.0, true, false, true, true),
        (1.5, true, false, false, false),
        (f64::MAX, true, false, false, true),
        (-I, false, true, true, false),
        (N, false, false, N.is_sign_negative(), false),
    ] {
        let kinds = [
            Real::is_finite(x),
            Real::is_inf(x),
            Real::sign_bit(x),
            Real::is_integer(x),
        ];
        assert_eq!(kinds, [finite, infinite, signed, whole], "{x}");
        let lane = Lane(x);
        let kinds = [
            lane.is_finite(),
            lane.is_inf(),
            lane.sign_bit(),
            lane.is_integer(),
        ];
        assert_eq!(kinds, [finite, infinite, signed, whole], "{x} on a lane");
        assert_eq!((Real::is_nan(x), lane.is_nan()), (x.is_nan(), x.is_nan()));
    }
}

/// The reference of these is made here, not in the standard library.
#[test]
fn inverse_hyperbolic_references_are_accurate() {
    type Function = fn(f64) -> f64;
    let exact: [(&str, Function, Function); 3] = [
        ("asinh", Real::asinh, core_math::asinh),
        ("acosh", Real::acosh, core_math::acosh),
        ("atanh", Real::atanh, core_math::atanh),
    ];
    for (name, function, exact) in exact {
        for k in -1000..1000 {
            for x in [
                2.0_f64.powi(k),
                -(1.3_f64.powi(k)),
                1.0 + 0.01 * f64::from(k),
                1.0e-3 * f64::from(k),
            ] {
                let (got, wanted) = (function(x), exact(x));
                let close = (got - wanted).abs() <= wanted.abs() * 4.0 * f64::EPSILON;
                let same = got == wanted || (got.is_nan() && wanted.is_nan());
                assert!(close || same, "{name}({x:?}) gave {got:?} for {wanted:?}");
            }
        }
    }
}

#[test]
fn words_are_unique() {
    for (index, word) in VOCABULARY.iter().enumerate() {
        let later = &VOCABULARY[index + 1..];
        assert!(
            later
                .iter()
                .all(|other| other.name != word.name && other.c_name != word.c_name),
            "{word:?}"
        );
    }
}
