//! One order of folding: a sum has the same bits whether it is fused with what makes its elements or not,
//! whatever dtypes these are made of and wherever they lie.

use millpond_hal::{Address, HostKernel};
use millpond_types::{DType, Layout, Scalar};

use super::{Described, code, key, processor};
use crate::host::fused::{FusedKernel, Operand, Step, View};
use crate::host::tests::array::{Array, Lie, line, sample};
use crate::{ReduceKernel, find, find_reduction};

const F16: DType = DType::Float16;
const F32: DType = DType::Float32;
const F64: DType = DType::Float64;

/// A sum of two arrays in a dtype, and its reduction along rows: the result, what it is the reduction of, and
/// the two.
struct Ending {
    name: &'static str,
    compute: DType,
    arrays: [Array; 4],
}

/// What a view of an array is made of.
type Place = (DType, Layout, Address);

fn place(array: &mut Array) -> Place {
    (array.dtype, array.layout.clone(), array.address())
}

fn view((dtype, layout, base): &Place) -> View<'_> {
    View {
        dtype: *dtype,
        layout,
        base: *base,
    }
}

impl Ending {
    fn new(name: &'static str, compute: DType, rows: usize, inputs: [Array; 2]) -> Self {
        let shape = inputs[0].layout.shape().to_vec();
        let outputs = if rows > 1 { &shape[..1] } else { &[] };
        let reduction = find_reduction(name).unwrap();
        let signature = reduction.resolve(compute, None, DType::Float64).unwrap();
        let result = Array::blank(signature.output, Layout::contiguous(outputs, 1).unwrap());
        let made = Array::blank(compute, Layout::contiguous(&shape, 1).unwrap());
        let [a, b] = inputs;
        Self {
            name,
            compute,
            arrays: [result, made, a, b],
        }
    }

    fn steps(&self, arrays: &mut [Array; 4]) -> FusedKernel {
        let [_, made, a, b] = arrays.each_mut().map(place);
        let inputs = [Operand::Array(view(&a)), Operand::Array(view(&b))];
        let step = Step {
            operation: find("add"),
            computes: &[self.compute; 2],
            output: view(&made),
            inputs: &inputs,
        };
        FusedKernel::new(&step).unwrap()
    }

    fn fold(&self, arrays: &[Array; 4]) -> ReduceKernel {
        let [result, made, ..] = arrays;
        let reduction = find_reduction(self.name).unwrap();
        let signature = reduction
            .resolve(self.compute, None, DType::Float64)
            .unwrap();
        let axes: Vec<_> = (result.layout.ndim()..made.layout.ndim()).collect();
        let (to, from) = ((result.dtype, &result.layout), (made.dtype, &made.layout));
        ReduceKernel::new(reduction, signature, to, from, &axes, 0.0).unwrap()
    }

    /// Its kernels one after the other, or all as one.
    fn kernels(&self, arrays: &mut [Array; 4], is_fused: bool) -> Vec<Box<dyn HostKernel>> {
        let (steps, fold) = (self.steps(arrays), self.fold(arrays));
        let kernels: Vec<Box<dyn HostKernel>> = if is_fused {
            let [result, made, ..] = arrays.each_mut().map(place);
            let joined = steps.join_reduction(Box::new(fold), &view(&made), &view(&result));
            assert!(joined.is_ok(), "{} joins", self.name);
            vec![Box::new(steps)]
        } else {
            vec![Box::new(steps), Box::new(fold)]
        };
        for kernel in &kernels {
            kernel.begin();
        }
        kernels
    }
}

/// Elements of which every order of adding rounds otherwise.
fn input(dtype: DType, layout: Layout, seed: usize) -> Array {
    if dtype == DType::Bool {
        return Array::of(dtype, layout, |index| sample(dtype, index * 7 + seed));
    }
    Array::of(dtype, layout, |index| {
        let mixed = ((index * 2 + seed).wrapping_mul(0x9e37_79b9) >> 7) % 9973;
        Scalar::Float((mixed as f64 - 4000.0) / 17.0)
    })
}

fn endings() -> Vec<Ending> {
    let mut endings = Vec::new();
    // Rows for lanes of a warp, for a block each, and for several.
    for (rows, columns) in [(9, 333), (9, 400), (3, 4099), (1, 40003)] {
        let mut add = |name, compute, inputs: [(DType, Lie); 2]| {
            let mut seed = 0;
            let inputs = inputs.map(|(dtype, lie)| {
                seed += 1;
                let layout = if rows == 1 && lie == Lie::Contiguous {
                    line(columns)
                } else if rows == 1 {
                    Layout::new(&[columns], &[2], 1).unwrap()
                } else {
                    lie.layout(rows, columns)
                };
                input(dtype, layout, seed)
            });
            endings.push(Ending::new(name, compute, rows, inputs));
        };
        let plain = |dtype| (dtype, Lie::Contiguous);
        for name in ["sum", "mean", "var", "prod", "logsumexp", "max"] {
            add(name, F32, [plain(F32), plain(F64)]);
        }
        add("sum", F32, [plain(F32), plain(F32)]);
        add("sum", F32, [plain(F32), plain(DType::Bool)]);
        add("sum", F32, [plain(F16), plain(F16)]);
        add("mean", F16, [plain(F16), plain(F32)]);
        add("sum", F16, [plain(F16), plain(F16)]);
        add("mean", F64, [plain(F32), plain(F64)]);
        add("sum", F32, [plain(F32), (F32, Lie::Sliced)]);
        add(
            "sum",
            DType::Complex64,
            [plain(F32), plain(DType::Complex128)],
        );
    }
    endings
}

#[test]
fn a_fused_sum_has_the_bits_of_one_alone() {
    let endings = endings();
    let mut sources = Vec::new();
    let mut known = std::collections::HashSet::new();
    for ending in &endings {
        for is_fused in [false, true] {
            for kernel in ending.kernels(&mut ending.arrays.clone(), is_fused) {
                let code = code(&*kernel);
                if known.insert(key(code)) {
                    sources.push((key(code), code.source()));
                }
            }
        }
    }
    let Some(library) = processor::Library::new("order", sources) else {
        eprintln!("skipped: there is no C++ compiler");
        return;
    };
    let mut wrong = Vec::new();
    for ending in &endings {
        let [alone, fused] = [false, true].map(|is_fused| {
            let mut arrays = ending.arrays.clone();
            for kernel in ending.kernels(&mut arrays, is_fused) {
                let outcome = library.run(&*kernel, code(&*kernel), &mut arrays);
                assert_eq!(outcome, Ok(()), "{}", Described(&*kernel));
            }
            arrays
        });
        for index in 0..alone[0].layout.size() {
            let [alone, fused] = [&alone, &fused].map(|arrays| arrays[0].raw(index));
            if alone != fused {
                let dtypes = ending.arrays.each_ref().map(|array| array.dtype);
                let shape = ending.arrays[1].layout.shape();
                let name = ending.name;
                wrong.push(format!(
                    "{name} of {dtypes:?} {shape:?}, {index}: {alone:?} {fused:?}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
