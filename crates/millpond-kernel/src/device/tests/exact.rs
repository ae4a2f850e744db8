//! Kernels whose results are the host's to the bit, zeros' signs and NaNs' bits as well.

use super::{Case, Described, code, processor, run_on_host, search, sort, sources};

/// A kernel whose first operands are results; what lies between these and the last is its own.
pub(super) struct Exact {
    pub(super) case: Case,
    pub(super) outputs: usize,
    pub(super) inputs: usize,
}

/// All of them.
pub(super) fn all() -> Vec<Exact> {
    [
        sort::rows(),
        sort::long_rows(),
        search::searches(),
        search::runs(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn printed_kernels_give_what_host_kernels_give_to_the_bit() {
    let cases = all();
    let Some(library) =
        processor::Library::new("exact", sources(cases.iter().map(|exact| &exact.case)))
    else {
        eprintln!("skipped: there is no C++ compiler");
        return;
    };
    for Exact {
        case,
        outputs,
        inputs,
    } in cases
    {
        let (mut expected, mut found) = (case.arrays.clone(), case.arrays.clone());
        let outcome = run_on_host(&*case.kernel(&mut expected), &mut expected);
        let kernel = case.kernel(&mut found);
        let what = Described(&*kernel);
        let answer = library.run(&*kernel, code(&*kernel), &mut found);
        assert_eq!(answer, outcome, "{what}");
        if outcome.is_err() {
            continue;
        }
        let count = kernel.operands();
        for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
            if (outputs..count - inputs).contains(&number) {
                continue;
            }
            found.check_guards();
            let different =
                (0..found.layout.size()).find(|&index| found.raw(index) != expected.raw(index));
            if let Some(index) = different {
                let (found, expected) = (found.element(index), expected.element(index));
                panic!(
                    "{what}: element {index} of operand {number} is {found:?}, not {expected:?}"
                );
            }
        }
    }
}
