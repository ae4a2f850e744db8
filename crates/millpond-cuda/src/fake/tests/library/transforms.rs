//! Transforms, by cuFFT.

use millpond_fft::{Sort, TransformKernel};
use millpond_testkit::watchdog::watched;

use super::*;
use crate::library::fft::PLANS;

/// Transforms that dice throw.
const ROUNDS: usize = 400;

const SORTS: [Sort; 4] = [
    Sort::Forward,
    Sort::Inverse,
    Sort::RealForward,
    Sort::RealInverse,
];

#[test]
fn transforms_of_any_layout_are_those_of_the_host() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(3);
        let (mut by_library, mut at_once) = (0, 0);
        for _ in 0..ROUNDS {
            let real = [DType::Float32, DType::Float64][dice.roll(2)];
            let sort = SORTS[dice.roll(4)];
            let [taken, made] = sort.dtypes(real);
            let mut shape: Vec<usize> = (0..=dice.roll(4)).map(|_| 1 + dice.roll(4)).collect();
            let axis = dice.roll(shape.len());
            let length = 1 + dice.roll(9);
            if dice.roll(2) == 0 {
                shape[axis] = sort.lengths(length)[0];
            }
            let scale = [1.0, 1.0 / length as f64][dice.roll(2)];
            let input = any_layout(&mut dice, &shape, None);
            shape[axis] = sort.lengths(length)[1];
            let output = if dice.roll(2) == 0 {
                Layout::contiguous(&shape, made.size()).expect("a layout")
            } else {
                any_layout(&mut dice, &shape, None)
            };
            let kernel = || {
                let (to, from) = (&output, &input);
                TransformKernel::new("fft", sort, real, to, from, axis, length, scale)
                    .expect("it fits")
            };
            let mut expected = vec![
                any_numbers(&mut dice, made, &output),
                any_numbers(&mut dice, taken, &input),
            ];
            let mut found = expected.clone();
            on_host(&kernel(), &mut expected);
            assert_eq!(bench.run(kernel(), &mut found), Ok(()));
            let what = format!("{:?} {sort:?} {scale}: {output:?} of {input:?}", kernel());
            assert_near(made, &expected[0], &found[0], &what);
            assert!(expected[1] == found[1], "the input stays: {what}");
            let calls = bench.fake.calls();
            let count = |name| calls.iter().filter(|call| **call == name).count();
            by_library += usize::from(count("cufftXtExec") > 0);
            at_once += usize::from(count("cufftXtExec") > 0 && count("cuLaunchKernel") == 0);
        }
        assert!(by_library > ROUNDS * 9 / 10, "{by_library} of {ROUNDS}");
        assert!(at_once > ROUNDS / 8, "{at_once} of {ROUNDS}");
        assert!(bench.fft.plans() <= PLANS);
        let (_, fft, _) = bench.end();
        assert_eq!(fft.plans(), 0, "all are given back");
    });
}

/// A transform of the rows of a matrix.
fn rows(length: usize) -> (TransformKernel, Vec<Vec<u8>>) {
    let layout = Layout::contiguous(&[2, length], 16).expect("a layout");
    let (real, sort) = (DType::Float64, Sort::Forward);
    let kernel = TransformKernel::new("fft", sort, real, &layout, &layout, 1, length, 1.0);
    (kernel.expect("it fits"), vec![vec![0; 32 * length]; 2])
}

#[test]
fn the_last_plans_are_kept() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let transform = |length| {
            let (kernel, mut operands) = rows(length);
            assert_eq!(bench.run(kernel, &mut operands), Ok(()));
            bench.calls("cufftXtMakePlanMany")
        };
        assert_eq!(transform(1), 1);
        assert_eq!(transform(1), 0);
        for length in 2..=PLANS + 1 {
            assert_eq!(transform(length), 1);
            assert!(bench.fft.plans() <= PLANS);
        }
        assert_eq!(transform(3), 0, "it is kept");
        assert_eq!(transform(1), 1, "it went first");
        assert_eq!(transform(3), 0, "it was used later than the one that went");
    });
}

#[test]
fn where_no_plan_can_be_made_the_host_transforms() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let refused = crate::api::Code::NOT_SUPPORTED;
        bench.fake.fail("cufftXtMakePlanMany", 0, refused);
        let (kernel, mut operands) = rows(5);
        assert_eq!(bench.run(kernel, &mut operands), Ok(()));
        assert_eq!(bench.calls("cufftXtExec"), 0);
        assert_eq!(bench.fft.plans(), 0, "half a plan is given back");
        let report = bench.driver.compiler_report().expect("there is a device");
        let wanted = "cufftXtMakePlanMany: status 13, for 2 lines of 5 points, \
                      complex128 to complex128";
        assert!(report.contains(wanted), "{report}");
    });
}
