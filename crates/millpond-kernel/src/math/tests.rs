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
