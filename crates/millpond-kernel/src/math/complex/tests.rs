//! Special values and accuracy of the complex functions.

use super::*;
use crate::math::{Lane, lane::Format};

const I: f64 = f64::INFINITY;
const N: f64 = f64::NAN;
const PI: f64 = std::f64::consts::PI;
const HALF: f64 = PI / 2.0;
const QUARTER: f64 = PI / 4.0;

/// What a part of a result must be.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// This, with this sign.
    Is(f64),
    /// This or its negative.
    Either(f64),
}
use Part::{Either, Is};

impl Part {
    fn accepts(self, got: f64) -> bool {
        let (wanted, signed) = match self {
            Is(wanted) => (wanted, true),
            Either(wanted) => (wanted, false),
        };
        let near = (got.abs() - wanted.abs()).abs() <= wanted.abs() * 1.0e-6;
        let magnitude = if wanted.is_nan() {
            got.is_nan()
        } else {
            got.abs() == wanted.abs() || near
        };
        magnitude
            && (wanted.is_nan() || !signed || got.is_sign_negative() == wanted.is_sign_negative())
    }

    fn negated(self) -> Part {
        match self {
            Is(wanted) => Is(-wanted),
            Either(wanted) => Either(wanted),
        }
    }
}

type Function<R> = fn(Complex<R>) -> Complex<R>;

/// One function on every instance.
#[derive(Clone, Copy)]
struct Instances {
    name: &'static str,
    of_f64: Function<f64>,
    of_f32: Function<f32>,
    lane_f64: Function<Lane<f64>>,
    lane_f32: Function<Lane<f32>>,
}

macro_rules! instances {
    ($($name:ident)*) => {
        &[$(Instances {
            name: stringify!($name), of_f64: $name, of_f32: $name, lane_f64: $name, lane_f32: $name,
        }),*]
    };
}

const FUNCTIONS: &[Instances] = instances! {
    exp exp_m1 ln ln_1p log2 log10 sqrt square reciprocal sign proj
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
};

/// Applies a lane function as loops do: where it gives a NaN the reference decides.
fn guarded<F: Format>(
    lane: Function<Lane<F>>,
    reference: Function<F>,
    z: Complex<F>,
) -> Complex<F> {
    let result = lane(Complex::new(Lane(z.re), Lane(z.im)));
    if is_nan(result) {
        reference(z)
    } else {
        Complex::new(result.re.0, result.im.0)
    }
}

impl Instances {
    fn named(name: &str) -> Instances {
        *FUNCTIONS
            .iter()
            .find(|row| row.name == name)
            .expect("the table has every function")
    }

    /// Results of all instances, in `f64`.
    fn results(&self, re: f64, im: f64) -> [(&'static str, Complex<f64>); 4] {
        let (z, narrow) = (Complex::new(re, im), Complex::new(re as f32, im as f32));
        let wide = |z: Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
        [
            ("f64", (self.of_f64)(z)),
            ("f32", wide((self.of_f32)(narrow))),
            ("lane f64", guarded(self.lane_f64, self.of_f64, z)),
            (
                "lane f32",
                wide(guarded(self.lane_f32, self.of_f32, narrow)),
            ),
        ]
    }

    fn check(&self, re: f64, im: f64, wanted: [Part; 2]) {
        for (instance, got) in self.results(re, im) {
            assert!(
                wanted[0].accepts(got.re) && wanted[1].accepts(got.im),
                "{} of ({re:?}, {im:?}) at {instance} gave ({:?}, {:?}) for {wanted:?}",
                self.name,
                got.re,
                got.im,
            );
        }
    }
}

/// How a function's other quadrants follow from the first.
#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    /// Only that of the conjugate.
    Conjugate,
    /// And odd.
    Odd,
    /// And even.
    Even,
}

type Row = (f64, f64, Part, Part);

/// Checks rows and what follows from them by symmetry.
fn check(name: &str, symmetry: Symmetry, rows: &[Row]) {
    let function = Instances::named(name);
    for &(re, im, wanted_re, wanted_im) in rows {
        function.check(re, im, [wanted_re, wanted_im]);
        function.check(re, -im, [wanted_re, wanted_im.negated()]);
        if symmetry == Symmetry::Odd {
            function.check(-re, -im, [wanted_re.negated(), wanted_im.negated()]);
            function.check(-re, im, [wanted_re.negated(), wanted_im]);
        }
        if symmetry == Symmetry::Even {
            function.check(-re, -im, [wanted_re, wanted_im]);
            function.check(-re, im, [wanted_re, wanted_im.negated()]);
        }
    }
}

#[test]
fn exponentials_at_the_edges() {
    check(
        "exp",
        Symmetry::Conjugate,
        &[
            (0.0, 0.0, Is(1.0), Is(0.0)),
            (-0.0, 0.0, Is(1.0), Is(0.0)),
            (1.0, I, Is(N), Is(N)),
            (1.0, N, Is(N), Is(N)),
            (I, 0.0, Is(I), Is(0.0)),
            (-I, 1.0, Is(0.0), Is(0.0)),
            (-I, 2.0, Is(-0.0), Is(0.0)),
            (-I, 4.0, Is(-0.0), Is(-0.0)),
            (I, 1.0, Is(I), Is(I)),
            (I, 2.0, Is(-I), Is(I)),
            (-I, I, Either(0.0), Either(0.0)),
            (I, I, Either(I), Is(N)),
            (-I, N, Either(0.0), Either(0.0)),
            (I, N, Either(I), Is(N)),
            (N, 0.0, Is(N), Is(0.0)),
            (N, 1.0, Is(N), Is(N)),
            (N, I, Is(N), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
    check(
        "exp_m1",
        Symmetry::Conjugate,
        &[
            (0.0, 0.0, Is(0.0), Is(0.0)),
            (-0.0, 0.0, Is(0.0), Is(0.0)),
            (1.0, I, Is(N), Is(N)),
            (1.0, N, Is(N), Is(N)),
            (I, 0.0, Is(I), Is(0.0)),
            (-I, 1.0, Is(-1.0), Is(0.0)),
            (-I, 4.0, Is(-1.0), Is(-0.0)),
            (I, 1.0, Is(I), Is(I)),
            (I, 2.0, Is(-I), Is(I)),
            (-I, I, Is(-1.0), Either(0.0)),
            (I, I, Either(I), Is(N)),
            (-I, N, Is(-1.0), Either(0.0)),
            (I, N, Either(I), Is(N)),
            (N, 0.0, Is(N), Is(0.0)),
            (N, 1.0, Is(N), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
}

#[test]
fn logarithms_at_the_edges() {
    const LOG: &[Row] = &[
        (-0.0, 0.0, Is(-I), Is(PI)),
        (0.0, 0.0, Is(-I), Is(0.0)),
        (1.0, 0.0, Is(0.0), Is(0.0)),
        (1.0, I, Is(I), Is(HALF)),
        (1.0, N, Is(N), Is(N)),
        (-I, 1.0, Is(I), Is(PI)),
        (I, 1.0, Is(I), Is(0.0)),
        (-I, I, Is(I), Is(3.0 * QUARTER)),
        (I, I, Is(I), Is(QUARTER)),
        (I, N, Is(I), Is(N)),
        (-I, N, Is(I), Is(N)),
        (N, 1.0, Is(N), Is(N)),
        (N, I, Is(I), Is(N)),
        (N, N, Is(N), Is(N)),
    ];
    check("ln", Symmetry::Conjugate, LOG);
    let to_base = |base: f64| {
        let scale = |part: Part| match part {
            Is(x) => Is(x / base.ln()),
            Either(x) => Either(x / base.ln()),
        };
        LOG.iter()
            .map(|&(re, im, x, y)| (re, im, scale(x), scale(y)))
            .collect::<Vec<_>>()
    };
    check("log2", Symmetry::Conjugate, &to_base(2.0));
    check("log10", Symmetry::Conjugate, &to_base(10.0));
    check(
        "ln_1p",
        Symmetry::Conjugate,
        &[
            (-1.0, 0.0, Is(-I), Is(0.0)),
            (0.0, 0.0, Is(0.0), Is(0.0)),
            (1.0, I, Is(I), Is(HALF)),
            (1.0, N, Is(N), Is(N)),
            (-I, 1.0, Is(I), Is(PI)),
            (I, 1.0, Is(I), Is(0.0)),
            (-I, I, Is(I), Is(3.0 * QUARTER)),
            (I, I, Is(I), Is(QUARTER)),
            (I, N, Is(I), Is(N)),
            (-I, N, Is(I), Is(N)),
            (N, 1.0, Is(N), Is(N)),
            (N, I, Is(I), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
}

#[test]
fn square_roots_at_the_edges() {
    check(
        "sqrt",
        Symmetry::Conjugate,
        &[
            (0.0, 0.0, Is(0.0), Is(0.0)),
            (-0.0, 0.0, Is(0.0), Is(0.0)),
            (-4.0, 0.0, Is(0.0), Is(2.0)),
            (1.0, I, Is(I), Is(I)),
            (N, I, Is(I), Is(I)),
            (I, I, Is(I), Is(I)),
            (-I, I, Is(I), Is(I)),
            (1.0, N, Is(N), Is(N)),
            (-I, 1.0, Is(0.0), Is(I)),
            (I, 1.0, Is(I), Is(0.0)),
            (-I, N, Is(N), Either(I)),
            (I, N, Is(I), Is(N)),
            (N, 1.0, Is(N), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
}

#[test]
fn hyperbolic_functions_at_the_edges() {
    check(
        "sinh",
        Symmetry::Odd,
        &[
            (0.0, 0.0, Is(0.0), Is(0.0)),
            (0.0, I, Either(0.0), Is(N)),
            (0.0, N, Either(0.0), Is(N)),
            (1.0, I, Is(N), Is(N)),
            (1.0, N, Is(N), Is(N)),
            (I, 0.0, Is(I), Is(0.0)),
            (I, 1.0, Is(I), Is(I)),
            (I, 2.0, Is(-I), Is(I)),
            (I, I, Either(I), Is(N)),
            (I, N, Either(I), Is(N)),
            (N, 0.0, Is(N), Is(0.0)),
            (N, 1.0, Is(N), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
    check(
        "cosh",
        Symmetry::Even,
        &[
            (0.0, 0.0, Is(1.0), Is(0.0)),
            (0.0, I, Is(N), Either(0.0)),
            (0.0, N, Is(N), Either(0.0)),
            (1.0, I, Is(N), Is(N)),
            (1.0, N, Is(N), Is(N)),
            (I, 0.0, Is(I), Is(0.0)),
            (I, 1.0, Is(I), Is(I)),
            (I, 2.0, Is(-I), Is(I)),
            (I, I, Is(I), Is(N)),
            (I, N, Is(I), Is(N)),
            (N, 0.0, Is(N), Either(0.0)),
            (N, 1.0, Is(N), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
    check(
        "tanh",
        Symmetry::Odd,
        &[
            (0.0, 0.0, Is(0.0), Is(0.0)),
            (1.0, I, Is(N), Is(N)),
            (100.0, I, Is(N), Is(N)),
            (0.0, I, Is(0.0), Is(N)),
            (1.0, N, Is(N), Is(N)),
            (100.0, N, Is(N), Is(N)),
            (0.0, N, Is(0.0), Is(N)),
            (I, 1.0, Is(1.0), Is(0.0)),
            (I, 2.0, Is(1.0), Is(0.0)),
            (I, 4.0, Is(1.0), Is(0.0)),
            (I, I, Is(1.0), Either(0.0)),
            (I, N, Is(1.0), Either(0.0)),
            (N, 0.0, Is(N), Is(0.0)),
            (N, 1.0, Is(N), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
}

#[test]
fn hyperbolic_functions_overflow_beside_tiny_factors() {
    let z = Complex::new(f32::MAX, f32::from_bits(1));
    for function in [sinh::<f32>, cosh::<f32>] {
        assert_eq!(function(z), Complex::new(f32::INFINITY, f32::INFINITY));
    }
    let z = Complex::new(f64::MAX, -f64::from_bits(1));
    assert_eq!(cosh(z), Complex::new(I, -I));
}

#[test]
fn inverse_functions_at_the_edges() {
    check(
        "acos",
        Symmetry::Conjugate,
        &[
            (0.0, 0.0, Is(HALF), Is(-0.0)),
            (-0.0, 0.0, Is(HALF), Is(-0.0)),
            (0.0, N, Is(HALF), Is(N)),
            (1.0, 0.0, Is(0.0), Is(-0.0)),
            (1.0, I, Is(HALF), Is(-I)),
            (1.0, N, Is(N), Is(N)),
            (-I, 1.0, Is(PI), Is(-I)),
            (I, 1.0, Is(0.0), Is(-I)),
            (-I, I, Is(3.0 * QUARTER), Is(-I)),
            (I, I, Is(QUARTER), Is(-I)),
            (I, N, Is(N), Either(I)),
            (-I, N, Is(N), Either(I)),
            (N, 1.0, Is(N), Is(N)),
            (N, I, Is(N), Is(-I)),
            (N, N, Is(N), Is(N)),
        ],
    );
    check(
        "acosh",
        Symmetry::Conjugate,
        &[
            (0.0, 0.0, Is(0.0), Is(HALF)),
            (-0.0, 0.0, Is(0.0), Is(HALF)),
            (1.0, I, Is(I), Is(HALF)),
            (1.0, N, Is(N), Is(N)),
            (0.0, N, Is(N), Either(HALF)),
            (-I, 1.0, Is(I), Is(PI)),
            (I, 1.0, Is(I), Is(0.0)),
            (-I, I, Is(I), Is(3.0 * QUARTER)),
            (I, I, Is(I), Is(QUARTER)),
            (I, N, Is(I), Is(N)),
            (-I, N, Is(I), Is(N)),
            (N, 1.0, Is(N), Is(N)),
            (N, I, Is(I), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
    check(
        "asinh",
        Symmetry::Odd,
        &[
            (0.0, 0.0, Is(0.0), Is(0.0)),
            (1.0, I, Is(I), Is(HALF)),
            (1.0, N, Is(N), Is(N)),
            (I, 1.0, Is(I), Is(0.0)),
            (I, I, Is(I), Is(QUARTER)),
            (I, N, Is(I), Is(N)),
            (N, 0.0, Is(N), Is(0.0)),
            (N, 1.0, Is(N), Is(N)),
            (N, I, Either(I), Is(N)),
            (N, N, Is(N), Is(N)),
        ],
    );
    check(
        "atanh",
        Symmetry::Odd,
        &[
            (0.0, 0.0, Is(0.0), Is(0.0)),
            (0.0, N, Is(0.0), Is(N)),
            (1.0, 0.0, Is(I), Is(0.0)),
            (2.0, 0.0, Is(0.549_306_144_334_054_8), Is(HALF)),
            (1.0, I, Is(0.0), Is(HALF)),
            (1.0, N, Is(N), Is(N)),
            (I, 1.0, Is(0.0), Is(HALF)),
            (I, I, Is(0.0), Is(HALF)),
            (I, N, Is(0.0), Is(N)),
            (N, 1.0, Is(N), Is(N)),
            (N, I, Either(0.0), Is(HALF)),
            (N, N, Is(N), Is(N)),
        ],
    );
}

/// The trigonometric functions are the hyperbolic ones turned: `sin z = -i sinh iz` and so on.
#[test]
fn trigonometric_functions_are_turned_hyperbolic_ones() {
    let edges = [0.0, -0.0, 1.0, -2.0, I, -I, N];
    let pairs: [(&str, &str); 5] = [
        ("sin", "sinh"),
        ("tan", "tanh"),
        ("asin", "asinh"),
        ("atan", "atanh"),
        ("cos", "cosh"),
    ];
    for (name, turned) in pairs {
        for (re, im) in edges.iter().flat_map(|&re| edges.map(|im| (re, im))) {
            let results = Instances::named(turned).results(-im, re);
            for ((instance, got), (_, from)) in Instances::named(name)
                .results(re, im)
                .into_iter()
                .zip(results)
            {
                let wanted = if name == "cos" {
                    from
                } else {
                    Complex::new(from.im, -from.re)
                };
                assert!(
                    Is(wanted.re).accepts(got.re) && Is(wanted.im).accepts(got.im),
                    "{name} of ({re}, {im}) at {instance}: {got} for {wanted}"
                );
            }
        }
    }
}

#[test]
fn quotients_at_the_edges() {
    let z = Complex::new;
    let rows = [
        (z(1.0, 2.0), z(0.0, 0.0), Is(I), Is(I)),
        (z(1.0, -2.0), z(-0.0, 0.0), Is(-I), Is(I)),
        (z(0.0, 0.0), z(0.0, 0.0), Is(N), Is(N)),
        (z(1.0, 1.0), z(I, I), Is(0.0), Is(0.0)),
        (z(1.0, 1.0), z(I, 1.0), Is(0.0), Is(0.0)),
        (z(I, 1.0), z(1.0, 1.0), Is(I), Is(-I)),
        (z(4.0, 0.0), z(0.0, 2.0), Is(0.0), Is(-2.0)),
        (z(1.0e38, 1.0e38), z(1.0e38, 1.0e38), Is(1.0), Is(0.0)),
        (z(1.0e-38, 1.0e-38), z(1.0e-38, 0.0), Is(1.0), Is(1.0)),
        (z(N, 1.0), z(1.0, 1.0), Is(N), Is(N)),
    ];
    for (n, d, re, im) in rows {
        let wide = divide(n, d);
        let narrow = |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32);
        let short = divide(narrow(n), narrow(d));
        for got in [wide, Complex::new(f64::from(short.re), f64::from(short.im))] {
            assert!(
                re.accepts(got.re) && im.accepts(got.im),
                "{n} / {d} gave {got} for {re:?}, {im:?}"
            );
        }
    }
    let big = divide(z(f64::MAX, f64::MAX), z(f64::MAX, -f64::MAX));
    assert_eq!(big, z(0.0, 1.0));
    let small = divide(
        z(f64::MIN_POSITIVE, 0.0),
        z(f64::MIN_POSITIVE, f64::MIN_POSITIVE),
    );
    assert_eq!(small, z(0.5, -0.5));
}

/// The parts of a product and of the numerator of a quotient, as textbooks have them.
#[test]
fn zeros_have_the_signs_of_the_textbook() {
    let parts = [0.0, -0.0, 1.0, -2.0];
    let all = || {
        parts
            .iter()
            .flat_map(|&re| parts.map(|im| Complex::new(re, im)))
    };
    let sign = |x: f64| (x == 0.0).then_some(x.is_sign_negative());
    for z in all() {
        let wanted = multiply(z, z);
        let got = square(z);
        assert_eq!(got, wanted);
        assert_eq!(
            (sign(got.re), sign(got.im)),
            (sign(wanted.re), sign(wanted.im)),
            "square of {z}"
        );
        for w in all().filter(|w| w.re != 0.0 || w.im != 0.0) {
            let got = divide(z, w);
            let re = z.re * w.re + z.im * w.im;
            let im = z.im * w.re - z.re * w.im;
            assert_eq!(
                (sign(got.re), sign(got.im)),
                (sign(re), sign(im)),
                "{z} / {w}"
            );
        }
    }
}

#[test]
fn signs_and_projections_at_the_edges() {
    check(
        "sign",
        Symmetry::Odd,
        &[(3.0, 4.0, Is(0.6), Is(0.8)), (N, 1.0, Is(N), Is(N))],
    );
    for (re, im) in [(0.0, 0.0), (-0.0, 0.0), (0.0, -0.0), (-0.0, -0.0)] {
        let zero = sign(Complex::<f64>::new(re, im));
        assert_eq!(
            (zero.re.to_bits(), zero.im.to_bits()),
            (0, 0),
            "sign({re} + {im}i)"
        );
    }
    assert_eq!(sign(Complex::new(f64::MAX, 0.0)), Complex::new(1.0, 0.0));
    assert_eq!(
        sign(Complex::new(0.0, -f64::from_bits(9))),
        Complex::new(0.0, -1.0)
    );
    check(
        "proj",
        Symmetry::Conjugate,
        &[
            (1.0, 2.0, Is(1.0), Is(2.0)),
            (-I, N, Is(I), Either(0.0)),
            (N, I, Is(I), Is(0.0)),
            (-I, 3.0, Is(I), Is(0.0)),
        ],
    );
}

#[test]
fn powers_of_small_exponents_and_of_zero() {
    let z = Complex::new(3.0, -4.0);
    assert_eq!(pow(z, Complex::new(0.0, 0.0)), Complex::new(1.0, 0.0));
    assert_eq!(pow(z, Complex::new(1.0, 0.0)), z);
    assert_eq!(pow(z, Complex::new(2.0, 0.0)), Complex::new(-7.0, -24.0));
    let zero = Complex::new(0.0, 0.0);
    assert_eq!(pow(zero, Complex::new(0.0, 0.0)), Complex::new(1.0, 0.0));
    assert_eq!(pow(zero, Complex::new(2.5, 1.0)), zero);
    // i^i = e^(-π/2)
    let power = pow(Complex::new(0.0, 1.0), Complex::new(0.0, 1.0));
    assert!(
        (power.re - (-HALF).exp()).abs() < 1.0e-16 && power.im.abs() < 1.0e-16,
        "{power}"
    );
}

/// The larger distance of both parts, in units of the last place of `wanted` in the format `F`.
fn distance<F: Real + Into<f64>>(got: Complex<f64>, wanted: Complex<f64>) -> f64 {
    let part = |got: f64, wanted: f64| {
        let ulp = wanted.abs().max(F::smallest_normal().into()) * F::epsilon().into();
        if got == wanted {
            0.0
        } else {
            (got - wanted).abs() / ulp
        }
    };
    part(got.re, wanted.re).max(part(got.im, wanted.im))
}

/// Units in the last place that a part may be off; more than any was found to be.
const LIMIT: f64 = 3.0;

#[test]
fn values_are_accurate_in_both_parts() {
    let mut checked = 0;
    for line in include_str!("expected.txt").lines() {
        let mut words = line.split(' ');
        let function = Instances::named(words.next().unwrap_or_default());
        let numbers: Vec<f64> = words.map(|word| word.parse().expect("a number")).collect();
        let [re, im, wanted_re, wanted_im] = numbers[..] else {
            panic!("{line}")
        };
        let wanted = Complex::new(wanted_re, wanted_im);
        for (instance, got) in function.results(re, im) {
            if instance.ends_with("f64") {
                let off = distance::<f64>(got, wanted);
                assert!(
                    off <= LIMIT,
                    "{line} at {instance} is off by {off} ulp: {got}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "only {checked} values were checked");
}

/// Values in `f32`, for which those in `f64` are as good as exact.
#[test]
fn short_values_are_accurate_in_both_parts() {
    let mut checked = 0;
    for line in include_str!("expected.txt").lines() {
        let mut words = line.split(' ');
        let function = Instances::named(words.next().unwrap_or_default());
        let mut number = || {
            words
                .next()
                .and_then(|word| word.parse::<f32>().ok())
                .expect("a number")
        };
        let (re, im) = (f64::from(number()), f64::from(number()));
        let wanted = (function.of_f64)(Complex::new(re, im));
        let ordinary = |x: f64| x == 0.0 || (x.abs() < f64::from(f32::MAX) && x.abs() > 1.0e-37);
        if !ordinary(wanted.re) || !ordinary(wanted.im) || !ordinary(re) || !ordinary(im) {
            continue;
        }
        for (instance, got) in function.results(re, im) {
            if instance.ends_with("f32") {
                let off = distance::<f32>(got, wanted);
                assert!(
                    off <= LIMIT,
                    "{line} at {instance} is off by {off} ulp: {got} for {wanted}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "only {checked} values were checked");
}
