//! Printed kernels against the host's loops.
//!
//! Every kernel is compiled twice: for a processor, with the device's words defined by `shim.cuh`, and
//! run beside the host kernel on the same operands; and by the device's compiler, if it is there.

mod compiler;
mod exact;
mod fused;
mod index;
mod map;
mod mask;
mod order;
mod processor;
mod put;
mod reduce;
mod scan;
mod search;
mod sort;

use millpond_hal::{Access, DeviceCode, HostKernel, KernelError};

use crate::host::tests::array::{Array, is_close};

/// Makes a kernel for arrays.
type Make = dyn Fn(&mut [Array]) -> Box<dyn HostKernel>;

/// A kernel and its operands.
struct Case {
    /// Makes the kernel for arrays; that of a chain is for these addresses only.
    make: Box<Make>,
    /// What the kernel is made of; its operands are the first ones.
    arrays: Vec<Array>,
    /// Units in the last place that results may differ by.
    ulp: u32,
}

impl Case {
    /// The kernel over these arrays, which takes no more work.
    fn kernel(&self, arrays: &mut [Array]) -> Box<dyn HostKernel> {
        let kernel = (self.make)(arrays);
        kernel.begin();
        kernel
    }
}

fn code(kernel: &dyn HostKernel) -> &dyn DeviceCode {
    kernel.device_code().expect("a kernel with code")
}

fn key(code: &dyn DeviceCode) -> Vec<u8> {
    let mut key = Vec::new();
    code.key(&mut key);
    key
}

/// Every kernel that has code: what both compilers are given.
fn all() -> Vec<Case> {
    [
        map::operations(),
        map::lengths(),
        map::layouts(),
        map::casts(),
        map::rules(),
        fused::chains(),
        fused::folds(),
        fused::steps(),
        fused::plain(),
        reduce::reductions(),
        reduce::shares(),
        index::picks(),
        index::lines(),
        put::puts(),
        put::lines(),
        scan::scans(),
        scan::shares(),
        mask::counts(),
        mask::selections(),
        mask::places(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The sources of cases, each once, by their keys.
fn sources<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Vec<(Vec<u8>, String)> {
    let mut known = std::collections::HashSet::new();
    let mut sources = Vec::new();
    for case in cases {
        let kernel = case.kernel(&mut case.arrays.clone());
        let own = code(&*kernel);
        for code in [Some(own), own.meanwhile()].into_iter().flatten() {
            let key = key(code);
            if known.insert(key.clone()) {
                sources.push((key, code.source()));
            }
        }
    }
    sources
}

/// Runs a kernel by the host's loops.
fn run_on_host(kernel: &dyn HostKernel, arrays: &mut [Array]) -> Result<(), KernelError> {
    let bases: Vec<_> = arrays[..kernel.operands()]
        .iter_mut()
        .map(Array::address)
        .collect();
    // SAFETY: the arrays have the layouts that the kernel was made of.
    unsafe { kernel.run(&bases, 0..kernel.extent()) }?;
    // SAFETY: as above.
    unsafe { kernel.finish(&bases) }
}

/// Runs all cases as printed, and compares what they write with what host kernels write.
#[test]
fn printed_kernels_give_what_host_kernels_give() {
    let cases = all();
    let Some(library) = processor::Library::new("all", sources(&cases)) else {
        eprintln!("skipped: there is no C++ compiler");
        return;
    };
    let mut wrong = Vec::new();
    for case in cases {
        let (mut expected, mut found) = (case.arrays.clone(), case.arrays.clone());
        let outcome = run_on_host(&*case.kernel(&mut expected), &mut expected);
        let kernel = case.kernel(&mut found);
        assert_eq!(
            library.run(&*kernel, code(&*kernel), &mut found),
            outcome,
            "{}",
            Described(&*kernel)
        );
        // Of what is updated a failure leaves everything as it was; else it may have written anything.
        if outcome.is_err() && kernel.footprint(0).access != Access::Update {
            continue;
        }
        check_meanwhile(&library, &case, &found);
        for (found, expected) in found.iter().zip(&expected) {
            found.check_guards();
            let different = (0..found.layout.size()).find(|&index| {
                let (a, b) = (found.element(index), expected.element(index));
                !is_close(found.dtype, a, b, case.ulp)
            });
            if let Some(index) = different {
                let inputs: Vec<_> = case.arrays[1..]
                    .iter()
                    .filter(|array| array.layout.size() > index)
                    .map(|array| array.element(index))
                    .collect();
                wrong.push(format!(
                    "{}, element {index} of {inputs:?}: {:?}, not {:?}",
                    Described(&*kernel),
                    found.element(index),
                    expected.element(index)
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

/// What a kernel's code does meanwhile has the bits of its own.
fn check_meanwhile(library: &processor::Library, case: &Case, expected: &[Array]) {
    let mut found = case.arrays.clone();
    let kernel = case.kernel(&mut found);
    let Some(meanwhile) = code(&*kernel).meanwhile() else {
        return;
    };
    let outcome = library.run(&*kernel, meanwhile, &mut found);
    assert_eq!(outcome, Ok(()), "{}", Described(&*kernel));
    for (found, expected) in found.iter().zip(expected) {
        found.check_guards();
        for index in 0..found.layout.size() {
            // As text, zeros have signs and a NaN is one.
            let [found, expected] = [found, expected].map(|it| format!("{:?}", it.element(index)));
            assert_eq!(found, expected, "{}, element {index}", Described(&*kernel));
        }
    }
}

/// A kernel as messages call it.
struct Described<'a>(&'a dyn HostKernel);

impl std::fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.describe(f)
    }
}
