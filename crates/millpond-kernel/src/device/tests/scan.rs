//! Cases of scans.

use std::fmt;
use std::ops::Range;

use millpond_hal::code::{Call, DeviceCode};
use millpond_hal::{Address, Footprint, HostKernel, KernelError};
use millpond_types::{DType, Layout, Scalar};
use num_complex::Complex;

use super::Case;
use super::processor::MACHINE;
use crate::host::scan::{ScanKernel, ScanTotals};
use crate::host::tests::array::{Array, Lie};
use crate::{Scan, ScanPlan};

/// Both kernels of a scan, as one without scratch memory of its caller.
struct Both {
    totals: Option<ScanTotals>,
    kernel: ScanKernel,
    scratch: usize,
}

impl Both {
    fn new(scan: Scan, output: &Array, input: &Array, axis: usize) -> Self {
        let (output, input) = ((output.dtype, &output.layout), (input.dtype, &input.layout));
        let plan = ScanPlan::new(scan, output, input, axis).unwrap();
        Self {
            totals: plan.totals(),
            scratch: plan.scratch_bytes(),
            kernel: plan.kernel(),
        }
    }
}

// SAFETY: the kernel's own promises, with scratch memory besides.
unsafe impl HostKernel for Both {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        self.kernel.footprint(operand)
    }

    fn extent(&self) -> usize {
        1
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &[Address], _: Range<usize>) -> Result<(), KernelError> {
        let mut scratch = vec![0_u64; self.scratch.div_ceil(8)];
        let states = Address::of(scratch.as_mut_ptr());
        if let Some(totals) = &self.totals {
            let bases = [states, bases[1]];
            // SAFETY: the caller's promise, and memory for the states.
            unsafe { totals.run(&bases, 0..totals.extent()) }?;
            // SAFETY: as above.
            unsafe { totals.finish(&bases) }?;
        }
        let bases = [bases[0], bases[1], states];
        let bases = &bases[..self.kernel.operands()];
        // SAFETY: as above.
        unsafe { self.kernel.run(bases, 0..self.kernel.extent()) }
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.kernel.device_code()
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernel.describe(f)
    }
}

/// Numbers whose sums and products are exact, if few, and stay in range.
fn exact(dtype: DType, index: usize) -> Scalar {
    let number: i32 = [1, 2, 1, 3, 1, -1, 1, 2, 0][index * 7 % 9];
    match dtype {
        DType::Bool => Scalar::Bool(!index.is_multiple_of(7)),
        _ if dtype.is_complex() => Scalar::Complex(Complex::new(f64::from(number), 1.0)),
        _ if dtype.is_integer() => Scalar::Int(i128::from(number.abs())),
        _ => Scalar::Float(f64::from(number)),
    }
}

fn case(scan: Scan, input: Array, output: DType, lie: Lie, axis: usize, ulp: u32) -> Case {
    let (rows, columns) = (input.layout.shape()[0], input.layout.shape()[1]);
    let output = Array::blank(output, lie.layout(rows, columns));
    Case {
        arrays: vec![output, input],
        make: Box::new(move |arrays| Box::new(Both::new(scan, &arrays[0], &arrays[1], axis))),
        ulp,
    }
}

/// Every scan of every dtype, along rows of some elements.
pub(super) fn scans() -> Vec<Case> {
    let mut cases = Vec::new();
    for scan in [Scan::Sum, Scan::Product, Scan::LogSumExp] {
        for &dtype in DType::ALL {
            let wanted = scan.resolve(dtype, None, DType::Float64).into_iter();
            let truths = [DType::Bool]
                .into_iter()
                .filter(|_| scan != Scan::LogSumExp);
            for output in wanted.chain(truths) {
                let input = Array::of(dtype, Lie::Contiguous.layout(3, 21), |index| {
                    exact(dtype, index)
                });
                let ulp = if scan == Scan::LogSumExp { 8 } else { 0 };
                cases.push(case(scan, input, output, Lie::Contiguous, 1, ulp));
            }
        }
    }
    // What is no number.
    let special = [
        1.0,
        f64::NEG_INFINITY,
        2.0,
        f64::INFINITY,
        1.0,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    for scan in [Scan::Sum, Scan::LogSumExp] {
        for skip in 0..special.len() {
            let input = Array::of(DType::Float64, Lie::Contiguous.layout(1, 40), |index| {
                let index = (index + skip).saturating_sub(30);
                Scalar::Float(special.get(index).copied().unwrap_or(f64::NEG_INFINITY))
            });
            cases.push(case(scan, input, DType::Float64, Lie::Contiguous, 1, 8));
        }
    }
    // Zeros of either sign.
    let input = Array::of(DType::Float32, Lie::Contiguous.layout(1, 60), |index| {
        Scalar::Float(if index == 50 { 0.0 } else { -0.0 })
    });
    cases.push(case(
        Scan::Sum,
        input,
        DType::Float32,
        Lie::Contiguous,
        1,
        0,
    ));
    cases
}

/// Elements that lie in every way, in numbers for every way of sharing them.
pub(super) fn shares() -> Vec<Case> {
    let mut cases = Vec::new();
    let shapes: [(usize, usize, &[usize]); 8] = [
        // Threads, along and across; warps; columns of tiles; tiles in groups and clans; warps of many.
        (5, 7, &[0, 1]),
        (9, 40, &[0, 1]),
        (70, 40, &[0, 1]),
        (650, 37, &[0]),
        (1, 33_000, &[1]),
        (3, 5001, &[1]),
        (150, 2100, &[1]),
        (40, 450, &[0]),
    ];
    for (rows, columns, axes) in shapes {
        for (number, &lie) in Lie::ALL.iter().enumerate() {
            let is_large = rows * columns > 9000;
            for &axis in axes {
                if is_large && !(number + axis).is_multiple_of(2) && lie != Lie::Contiguous {
                    continue;
                }
                let other = Lie::ALL[..5][if number == 0 { 0 } else { (number + 2) % 5 }];
                let input = Array::of(DType::Float32, lie.layout(rows, columns), |index| {
                    exact(DType::Float32, index)
                });
                cases.push(case(Scan::Sum, input, DType::Float32, other, axis, 0));
            }
        }
    }
    // States of other sizes: integers that widen, pairs, and those of logarithms.
    let others = [
        (Scan::Sum, DType::Int8, DType::Int64),
        (Scan::Sum, DType::Complex128, DType::Complex128),
        (Scan::Sum, DType::Float16, DType::Float16),
        (Scan::Sum, DType::Uint8, DType::Uint8),
        (Scan::LogSumExp, DType::Float32, DType::Float32),
    ];
    for (scan, dtype, output) in others {
        for (rows, columns, axis) in [(1, 9500, 1), (170, 33, 0), (3, 300, 1)] {
            let input = Array::of(dtype, Lie::Contiguous.layout(rows, columns), |index| {
                match dtype {
                    // Sums of halves stay whole numbers.
                    DType::Float16 => Scalar::Float(f64::from(u8::from(index.is_multiple_of(8)))),
                    _ => exact(dtype, index),
                }
            });
            let ulp = if scan == Scan::LogSumExp { 8 } else { 0 };
            cases.push(case(scan, input, output, Lie::Contiguous, axis, ulp));
        }
    }
    // So many that numbers have 64 bits, where all are rounded.
    let input = Array::of(DType::Float32, Lie::Contiguous.layout(2, 35_000), |index| {
        Scalar::Float((index * 7919 % 1013) as f64 / 1013.0)
    });
    cases.push(case(
        Scan::Sum,
        input,
        DType::Float32,
        Lie::Contiguous,
        1,
        64,
    ));
    for shape in [[0, 5], [5, 0]] {
        let [rows, columns] = shape;
        let input = Array::blank(DType::Float32, Lie::Contiguous.layout(rows, columns));
        cases.push(case(
            Scan::Sum,
            input,
            DType::Float32,
            Lie::Contiguous,
            1,
            0,
        ));
    }
    cases
}

#[test]
fn totals_have_nothing_to_do_and_the_source_of_their_scan() {
    let layout = Layout::contiguous(&[1, 300_000], 1).unwrap();
    let side = (DType::Float32, &layout);
    let plan = ScanPlan::new(Scan::Sum, side, side, 1).unwrap();
    let totals = plan.totals().expect("rows in pieces");
    let kernel = plan.kernel();
    assert_eq!(super::key(&totals), super::key(&kernel));
    let (totals, kernel) = (totals.device_code().unwrap(), kernel.device_code().unwrap());
    assert_eq!(totals.source(), kernel.source());
    let call = Call {
        bases: &[Address::new(256), Address::new(1 << 30)],
        machine: &MACHINE,
        scratch: Address::new(256),
        report: Address::new(0),
    };
    assert!(totals.launches(&call).is_empty());
    assert_eq!(kernel.launches(&call).len(), 2);
}
