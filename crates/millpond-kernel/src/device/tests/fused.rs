//! Cases of fused kernels.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Address, DeviceCode, Footprint, HostKernel, KernelError};
use millpond_types::{DType, Layout, Scalar};

use super::Case;
use crate::host::fused::{FusedKernel, Operand, Step, View};
use crate::host::tests::array::{Array, Lie, line, sample};
use crate::{Operation, ReduceKernel, find, find_reduction, operations};

const F32: DType = DType::Float32;

/// Arrays by number, as views.
fn views(arrays: &mut [Array]) -> Vec<(DType, Layout, Address)> {
    let view = |array: &mut Array| (array.dtype, array.layout.clone(), array.address());
    arrays.iter_mut().map(view).collect()
}

fn view((dtype, layout, base): &(DType, Layout, Address)) -> View<'_> {
    View {
        dtype: *dtype,
        layout,
        base: *base,
    }
}

/// The step of an operation.
fn step<'a>(
    name: &str,
    computes: &'a [DType],
    output: View<'a>,
    inputs: &'a [Operand<'a>],
) -> Step<'a> {
    Step {
        operation: find(name),
        computes,
        output,
        inputs,
    }
}

/// `x * 2.5 + y`, its exponential as a half, whether it is above `y`, and a sum of squares of halves
/// added in place; what only later steps read is forgotten.
fn chain(arrays: &mut [Array]) -> FusedKernel {
    let views = views(arrays);
    let array = |number: usize| Operand::Array(view(&views[number]));
    let scaled = [array(1), Operand::Scalar(Scalar::Float(2.5))];
    let kernel = FusedKernel::new(&step("multiply", &[F32; 2], view(&views[0]), &scaled)).unwrap();
    let joins = |name, computes: &[DType], output: usize, inputs: &[Operand<'_>]| {
        let output = view(&views[output]);
        assert!(
            kernel.join(&step(name, computes, output, inputs)),
            "{name} joins"
        );
    };
    joins("add", &[F32; 2], 0, &[array(0), array(2)]);
    joins("exp", &[F32], 3, &[array(0)]);
    joins("greater", &[F32; 2], 4, &[array(0), array(2)]);
    joins("multiply", &[F32; 2], 5, &[array(3), array(3)]);
    joins("add", &[DType::Float64; 2], 6, &[array(6), array(5)]);
    kernel
}

/// Chains over arrays that lie in every way.
pub(super) fn chains() -> Vec<Case> {
    let dtypes = [
        F32,
        F32,
        F32,
        DType::Float16,
        DType::Bool,
        F32,
        DType::Float64,
    ];
    let mut cases = Vec::new();
    for (rows, columns) in [(1, 1), (7, 65), (40, 64)] {
        for &lie in &[
            Lie::Contiguous,
            Lie::Offset,
            Lie::Sliced,
            Lie::Reversed,
            Lie::Broadcast,
        ] {
            let arrays = dtypes.iter().enumerate().map(|(number, &dtype)| {
                // Only what is read may be broadcast.
                let is_read = matches!(number, 1 | 2);
                let lie = if is_read || lie != Lie::Broadcast {
                    lie
                } else {
                    Lie::Contiguous
                };
                let lie = if number % 3 == 2 {
                    Lie::Contiguous
                } else {
                    lie
                };
                Array::of(dtype, lie.layout(rows, columns), |index| {
                    sample(dtype, index + number)
                })
            });
            cases.push(Case {
                make: Box::new(|arrays| Box::new(chain(arrays))),
                arrays: arrays.collect(),
                ulp: 4,
            });
        }
    }
    cases
}

/// Differences, their exponentials, and sums and largest of these along rows or of all.
fn folded(arrays: &mut [Array], axes: &[usize]) -> Box<dyn HostKernel> {
    let views = views(arrays);
    let array = |number: usize| Operand::Array(view(&views[number]));
    let inputs = [array(1), array(2)];
    let kernel = FusedKernel::new(&step("subtract", &[F32; 2], view(&views[0]), &inputs)).unwrap();
    assert!(kernel.join(&step("exp", &[F32], view(&views[0]), &[array(0)])));
    for (name, input, output) in [("sum", 0, 3), ("argmax", 1, 4), ("mean", 0, 5)] {
        let reduction = find_reduction(name).unwrap();
        let signature = reduction.resolve(F32, None, DType::Float64).unwrap();
        let (input, output) = (&views[input], &views[output]);
        let (from, to) = ((input.0, &input.1), (output.0, &output.1));
        let fold = ReduceKernel::new(reduction, signature, to, from, axes, 0.0).unwrap();
        let joined = kernel.join_reduction(Box::new(fold), &view(input), &view(output));
        assert!(joined.is_ok(), "{name} joins");
    }
    Box::new(kernel)
}

/// Chains that end in reductions.
pub(super) fn folds() -> Vec<Case> {
    let mut cases = Vec::new();
    for (rows, columns, axes) in [
        (3, 260, &[1][..]),
        (40, 301, &[1]),
        (2, 9000, &[1]),
        (30, 3000, &[0, 1]),
    ] {
        let outputs = if axes.len() == 2 { vec![] } else { vec![rows] };
        let result =
            |dtype| Array::blank(dtype, Layout::contiguous(&outputs, 1).unwrap().at_offset(1));
        let array = |lie: Lie| {
            Array::of(F32, lie.layout(rows, columns), |index| {
                Scalar::Float((index * 7 % 1013) as f64 / 500.0)
            })
        };
        cases.push(Case {
            make: Box::new(move |arrays| folded(arrays, axes)),
            arrays: vec![
                array(Lie::Contiguous),
                array(Lie::Contiguous),
                array(Lie::Broadcast),
                result(F32),
                result(DType::Int64),
                result(F32),
            ],
            ulp: 150,
        });
    }
    cases
}

/// A chain as it is carried out until its own code is compiled.
struct Meanwhile(FusedKernel);

// SAFETY: the chain's promise.
unsafe impl HostKernel for Meanwhile {
    fn operands(&self) -> usize {
        self.0.operands()
    }

    fn footprint(&self, operand: usize) -> Footprint {
        self.0.footprint(operand)
    }

    fn begin(&self) {
        self.0.begin();
    }

    fn extent(&self) -> usize {
        self.0.extent()
    }

    fn grain(&self) -> usize {
        self.0.grain()
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        // SAFETY: the caller's promise.
        unsafe { self.0.run(bases, range) }
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.0.device_code()?.meanwhile()
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("meanwhile ")?;
        self.0.describe(f)
    }
}

/// A step of its own, by instructions; of as many elements as the length of a line, which begin at a
/// multiple of so many bytes.
fn alone(operation: &'static Operation, dtype: DType, askew: usize) -> Option<Case> {
    let body = operation.loop_for(dtype)?;
    let form = body.form();
    let known = |of: &DType| [dtype, DType::Bool].contains(of);
    if !form.inputs().iter().chain([&form.output]).all(known) {
        return None;
    }
    let length = 301;
    let inputs = form.inputs().iter().enumerate().map(|(operand, &dtype)| {
        let array = Array::of(dtype, line(length), |index| {
            sample(dtype, index * (1 + operand * 3) + operand)
        });
        array.moved(askew)
    });
    let out = Array::blank(form.output, line(length)).moved(askew);
    Some(Case {
        make: Box::new(move |arrays| {
            let views = views(arrays);
            let inputs: Vec<_> = views[1..]
                .iter()
                .map(|it| Operand::Array(view(it)))
                .collect();
            let step = step(operation.name(), form.inputs(), view(&views[0]), &inputs);
            Box::new(Meanwhile(FusedKernel::new(&step).unwrap()))
        }),
        arrays: std::iter::once(out).chain(inputs).collect(),
        ulp: 2 * operation.ulp(),
    })
}

/// Every function that there is an instruction for.
pub(super) fn steps() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in [F32, DType::Float64] {
        for operation in operations() {
            cases.extend(alone(operation, dtype, 0));
        }
        cases.extend(alone(find("add").unwrap(), dtype, dtype.size()));
        cases.extend(alone(find("greater").unwrap(), dtype, 1));
    }
    // All but what is of integers or of complex numbers.
    assert!(cases.len() > 100, "{} cases", cases.len());
    cases
}

/// A chain of one dtype and truth values, of which many are needed until the end, and one that every
/// element has in common.
fn mixed(arrays: &mut [Array], dtype: DType) -> FusedKernel {
    let views = views(arrays);
    let array = |number: usize| Operand::Array(view(&views[number]));
    let scalar = |value: f64| Operand::Scalar(Scalar::Float(value));
    let numbers = [dtype; 2];
    let first = [array(1), array(2)];
    let kernel = FusedKernel::new(&step("multiply", &numbers, view(&views[0]), &first)).unwrap();
    let joins = |name, computes: &[DType], output: usize, inputs: &[Operand<'_>]| {
        let output = view(&views[output]);
        assert!(kernel.join(&step(name, computes, output, inputs)), "{name}");
    };
    joins("less", &numbers, 3, &[array(0), scalar(0.5)]);
    joins("exp", &[dtype], 4, &[array(0)]);
    joins("hypot", &numbers, 5, &[array(4), array(1)]);
    joins("logical_not", &[DType::Bool], 6, &[array(3)]);
    joins("logical_and", &[DType::Bool; 2], 6, &[array(6), array(7)]);
    joins(
        "where",
        &[DType::Bool, dtype, dtype],
        0,
        &[array(6), array(5), array(8)],
    );
    joins("multiply", &numbers, 4, &[array(0), array(4)]);
    kernel
}

/// Chains that both instructions and code of their own are for.
pub(super) fn plain() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in [F32, DType::Float64] {
        for (length, askew) in [(1, 0), (301, 0), (301, dtype.size()), (4096, 0)] {
            let truth = DType::Bool;
            let dtypes = [
                dtype, dtype, dtype, truth, dtype, dtype, truth, truth, dtype,
            ];
            let arrays = dtypes.iter().enumerate().map(|(number, &dtype)| {
                let layout = if number == 8 {
                    Layout::new(&[length], &[0], 0).unwrap()
                } else {
                    line(length)
                };
                Array::of(dtype, layout, |index| sample(dtype, index + number)).moved(askew)
            });
            cases.push(Case {
                make: Box::new(move |arrays| Box::new(mixed(arrays, dtype))),
                arrays: arrays.collect(),
                ulp: 8,
            });
        }
    }
    cases
}
