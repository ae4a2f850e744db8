//! Products, by cuBLAS.

use millpond_hal::QueueOptions;
use millpond_hal::library::LibraryWork;
use millpond_linalg::{DotKernel, ProductKernel};
use millpond_testkit::watchdog::watched;

use super::*;
use crate::library::blas::{Form, Operation};

/// Products that dice throw.
const ROUNDS: usize = 400;

fn contiguous(shape: &[usize], dtype: DType) -> Layout {
    Layout::contiguous(shape, dtype.size()).expect("a layout")
}

/// The shapes of a stack of products, and their number of axes.
fn any_shapes(dice: &mut Dice) -> (Vec<usize>, [usize; 3]) {
    let stack: Vec<usize> = (0..dice.roll(3)).map(|_| 1 + dice.roll(3)).collect();
    (stack, [(); 3].map(|()| 1 + dice.roll(6)))
}

/// A dtype that products have.
fn any_number(dice: &mut Dice) -> DType {
    let integers = [DType::Int8, DType::Uint16, DType::Int32, DType::Uint64];
    match dice.roll(3) {
        0 => integers[dice.roll(4)],
        _ => any_dtype(dice),
    }
}

fn with(stack: &[usize], last: &[usize]) -> Vec<usize> {
    stack.iter().chain(last).copied().collect()
}

#[test]
fn products_of_any_layout_are_those_of_the_host() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(1);
        let mut by_library = 0;
        for _ in 0..ROUNDS {
            let dtype = match dice.roll(6) {
                0 => DType::Float16,
                1 => DType::Bfloat16,
                _ => any_number(&mut dice),
            };
            let (stack, [rows, columns, inner]) = any_shapes(&mut dice);
            let result = any_layout(&mut dice, &with(&stack, &[rows, columns]), None);
            let lhs = any_layout(&mut dice, &with(&stack, &[rows, inner]), Some(2));
            let rhs = any_layout(&mut dice, &with(&stack, &[inner, columns]), Some(2));
            let kernel = || ProductKernel::new(dtype, &result, &lhs, &rhs, 1).expect("it fits");
            let mut expected: Vec<Vec<u8>> = [&result, &lhs, &rhs]
                .map(|layout| any_numbers(&mut dice, dtype, layout))
                .into();
            let mut found = expected.clone();
            on_host(&kernel(), &mut expected);
            assert_eq!(bench.run(kernel(), &mut found), Ok(()));
            let what = format!("{:?}: {result:?} = {lhs:?} @ {rhs:?}", kernel());
            // Nobody says which zero it is.
            let [expected, found] = [&expected, &found].map(|it| numbers(dtype, &it[0]));
            assert!(expected == found, "{what}");
            let calls = bench.fake.calls();
            let is_any = |name: &str| calls.iter().any(|call| call.starts_with(name));
            let is_half = matches!(dtype, DType::Float16 | DType::Bfloat16);
            let is_hosts = is_half && !has_form(&kernel());
            let is_devices = is_any("cublasGemm") || is_any("cuLaunchKernel");
            assert!(is_devices || is_hosts, "the host: {what}");
            by_library += usize::from(is_any("cublasGemm"));
        }
        assert!(by_library > ROUNDS / 8, "{by_library} of {ROUNDS}");
    });
}

#[test]
fn sums_of_products_are_those_of_the_host() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(2);
        let mut by_kernel = 0;
        for _ in 0..ROUNDS {
            let dtype = any_number(&mut dice);
            let (stack, [length, ..]) = any_shapes(&mut dice);
            // So long that a block has a sum for itself, and that several have one.
            let length = length * [1, 1, 500, 5000][dice.roll(4)];
            let conjugate = dice.roll(2) == 0;
            let result = any_layout(&mut dice, &stack, None);
            let [lhs, rhs] =
                [(); 2].map(|()| any_layout(&mut dice, &with(&stack, &[length]), Some(1)));
            let kernel = || {
                let layouts = [&lhs, &rhs];
                DotKernel::new("vecdot", dtype, &result, layouts, conjugate).expect("it fits")
            };
            let mut expected: Vec<Vec<u8>> = [&result, &lhs, &rhs]
                .map(|layout| any_numbers(&mut dice, dtype, layout))
                .into();
            let mut found = expected.clone();
            on_host(&kernel(), &mut expected);
            assert_eq!(bench.run(kernel(), &mut found), Ok(()));
            let what = format!("{:?}: {result:?} = {lhs:?} . {rhs:?}", kernel());
            assert!(expected == found, "{what}");
            let calls = bench.fake.calls();
            let is_any = |name: &str| calls.iter().any(|call| call.starts_with(name));
            assert!(
                is_any("cublasGemm") || is_any("cuLaunchKernel"),
                "the host: {what}"
            );
            by_kernel += usize::from(is_any("cuLaunchKernel"));
        }
        assert!(by_kernel > ROUNDS / 3, "{by_kernel} of {ROUNDS}");
    });
}

fn has_form(kernel: &dyn HostKernel) -> bool {
    let work = kernel.library_work().expect("a product");
    Form::of(&work).is_some()
}

fn form(kernel: &dyn HostKernel) -> Form {
    let work: LibraryWork = kernel.library_work().expect("a product");
    Form::of(&work).expect("it has a form")
}

#[test]
fn matrices_are_read_where_they_lie_and_results_written_there() {
    let dtype = DType::Float32;
    let (rows, columns, inner) = (30, 20, 10);
    let result = contiguous(&[rows, columns], dtype);
    let lhs = contiguous(&[rows, inner], dtype);
    let turned = Layout::new(&[inner, columns], &[1, inner as isize], 0).expect("a layout");
    let kernel = ProductKernel::new(dtype, &result, &lhs, &turned, 1).expect("it fits");
    let form = form(&kernel);
    // Row by row is column by column of the transposed product.
    assert_eq!(form.size, [columns, rows, inner]);
    assert_eq!(form.places.map(|place| place.operand), [2, 1, 0]);
    assert_eq!(form.operations, [Operation::Transposed, Operation::Plain]);
    assert_eq!(
        form.places.map(|place| place.leading),
        [inner, inner, columns]
    );
    assert_eq!((form.count, form.calls.len()), (1, 1));
}

#[test]
fn a_stack_is_one_call_or_one_product() {
    let dtype = DType::Float64;
    let result = contiguous(&[5, 3, 4], dtype);
    let lhs = contiguous(&[5, 3, 2], dtype);
    let rhs = contiguous(&[5, 2, 4], dtype);
    let kernel = ProductKernel::new(dtype, &result, &lhs, &rhs, 1).expect("it fits");
    let several = form(&kernel);
    assert_eq!((several.count, several.calls.len()), (5, 1));
    let same = Layout::new(&[5, 2, 4], &[0, 4, 1], 0).expect("a layout");
    let kernel = ProductKernel::new(dtype, &result, &lhs, &same, 1).expect("it fits");
    let one = form(&kernel);
    assert_eq!((one.size, one.count), ([4, 15, 2], 1));
    // Each element of a matrix times a vector is a sum along a row of it.
    let result = contiguous(&[7], dtype);
    let rows = contiguous(&[7, 3], dtype);
    let vector = Layout::new(&[7, 3], &[0, 1], 0).expect("a layout");
    let kernel = DotKernel::new("matmul", dtype, &result, [&rows, &vector], false);
    let one = form(&kernel.expect("it fits"));
    assert_eq!((one.size, one.count), ([7, 1, 3], 1));
}

#[test]
fn what_lies_in_no_form_has_none() {
    let dtype = DType::Float32;
    let result = contiguous(&[3, 3], dtype);
    let gaps = Layout::new(&[3, 3], &[7, 2], 0).expect("a layout");
    let kernel = ProductKernel::new(dtype, &result, &gaps, &result, 1).expect("it fits");
    let work = kernel.library_work().expect("a product");
    assert_eq!(Form::of(&work), None);
    let integers = ProductKernel::new(DType::Int32, &result, &result, &result, 1);
    let work = integers
        .expect("it fits")
        .library_work()
        .expect("a product");
    assert_eq!(Form::of(&work), None);
}

fn square(size: usize) -> (ProductKernel, Vec<Vec<u8>>) {
    let layout = contiguous(&[size, size], DType::Float32);
    let kernel = ProductKernel::new(DType::Float32, &layout, &layout, &layout, 1);
    (kernel.expect("it fits"), vec![vec![0; 4 * size * size]; 3])
}

#[test]
fn every_stream_has_one_handle_and_all_are_given_back() {
    watched(|| {
        let mut bench = Bench::new();
        for _ in 0..3 {
            let (kernel, mut operands) = square(4);
            assert_eq!(bench.run(kernel, &mut operands), Ok(()));
        }
        assert_eq!(bench.blas.handles(), 1);
        let other = bench.device.create_queue(&QueueOptions::default());
        let first = std::mem::replace(&mut bench.queue, other.expect("a queue"));
        for _ in 0..3 {
            let (kernel, mut operands) = square(4);
            assert_eq!(bench.run(kernel, &mut operands), Ok(()));
        }
        assert_eq!(bench.blas.handles(), 2);
        drop(first);
        let (blas, ..) = bench.end();
        assert_eq!(blas.handles(), 0, "all are given back");
    });
}

/// Has columns exchanged by a product; how often the device was given a kernel of ours.
fn exchange(bench: &Bench) -> usize {
    let layout = contiguous(&[2, 2], DType::Float32);
    let kernel = ProductKernel::new(DType::Float32, &layout, &layout, &layout, 1);
    let bytes = |numbers: [f32; 4]| numbers.map(f32::to_ne_bytes).concat();
    let mut operands = vec![
        bytes([0.0; 4]),
        bytes([1.0, 2.0, 3.0, 4.0]),
        bytes([0.0, 1.0, 1.0, 0.0]),
    ];
    assert_eq!(bench.run(kernel.expect("it fits"), &mut operands), Ok(()));
    assert_eq!(operands[0], bytes([2.0, 1.0, 4.0, 3.0]));
    bench.calls("cuLaunchKernel")
}

#[test]
fn without_the_library_a_kernel_of_ours_multiplies() {
    watched(|| {
        let bench = Bench::with(|_, _, _| Libraries::none());
        if furnish(&bench.fake) {
            assert_eq!(exchange(&bench), 1);
        }
    });
}

#[test]
fn without_the_library_and_a_kernel_the_host_multiplies() {
    watched(|| {
        let bench = Bench::with(|_, _, _| Libraries::none());
        let refused = crate::api::Code::NOT_SUPPORTED;
        bench.fake.fail("cuModuleLoadData", 0, refused);
        assert_eq!(exchange(&bench), 0);
    });
}

#[test]
fn a_refusal_fails_the_product_with_the_function_and_the_sizes() {
    watched(|| {
        let bench = Bench::new();
        let (kernel, mut operands) = square(4);
        bench
            .fake
            .fail("cublasGemmEx", 0, crate::api::Code::NOT_SUPPORTED);
        let failure = bench
            .run(kernel, &mut operands)
            .expect_err("it was refused");
        let text = failure.to_string();
        assert!(
            text.contains("cublasGemmEx: status 13, for 1 products of 4 by 4 and 4 float32"),
            "{text}"
        );
        let (kernel, mut operands) = square(4);
        assert_eq!(bench.run(kernel, &mut operands), Ok(()));
    });
}

#[test]
fn where_no_handle_can_be_made_the_host_multiplies() {
    watched(|| {
        let bench = Bench::new();
        let (kernel, mut operands) = square(4);
        bench
            .fake
            .fail("cublasCreate", 0, crate::api::Code::NOT_SUPPORTED);
        assert_eq!(bench.run(kernel, &mut operands), Ok(()));
        assert_eq!(bench.calls("cublasGemm"), 0);
        let report = bench.driver.compiler_report().expect("there is a device");
        assert!(
            report.contains("a library refuses work: cublasCreate: status 13"),
            "{report}"
        );
    });
}
