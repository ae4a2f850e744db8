//! Work in the words of libraries that kernels of ours do: what no library takes, or is slower at.
//!
//! They are kernels like all others, of which there is one program for each kind of numbers: given to a lane,
//! in memory of the lane, with the same bits each time.

mod product;
mod small;

use millpond_hal::code::{Arguments, Call, Launch, Launches, Machine, Report};
use millpond_hal::library::{Axis, LibraryWork};
use millpond_hal::{Address, DeviceCode, KernelError};
use smallvec::SmallVec;

use super::blas::Form;
use super::pieces::{STACK, finding_of};
use product::Product;
pub(crate) use small::SMALL;
use small::Small;

/// The most blocks of a launch.
const MOST_BLOCKS: usize = i32::MAX as usize;

/// Work that a kernel of ours does.
pub(crate) struct Own {
    kind: Kind,
    /// Bytes from the bases to the first elements, and of an element, of each operand.
    first: SmallVec<[(isize, usize); 4]>,
}

enum Kind {
    Product(Product),
    Small(Small),
}

impl Own {
    /// What a kernel of ours does of a kernel that is such work.
    pub(crate) fn of(work: &LibraryWork) -> Option<Self> {
        let product = Product::of(work).map(Kind::Product);
        let kind = product.or_else(|| Small::of(work).map(Kind::Small))?;
        let operands = work.operands.iter();
        Some(Self {
            kind,
            first: operands
                .map(|matrix| (matrix.begin, matrix.dtype.size()))
                .collect(),
        })
    }

    /// Whether it is better at it than a library, to which a product has this form.
    pub(crate) fn is_better(&self, form: Option<&Form>) -> bool {
        // Sums that share a factor are a matrix by a vector.
        let is_sum = form.is_none_or(|form| form.size[0] * form.size[1] == 1);
        match &self.kind {
            Kind::Product(product) => product.is_sum() && is_sum,
            Kind::Small(_) => true,
        }
    }

    /// Whether the first elements lie where a device reads them in one go.
    pub(crate) fn is_aligned(&self, bases: &[Address]) -> bool {
        self.first.iter().zip(bases).all(|(&(begin, item), base)| {
            base.get().wrapping_add_signed(begin).is_multiple_of(item)
        })
    }
}

// SAFETY: what is read and written are the matrices of the work, for which whoever says it answers as for its
// footprints, and scratch memory.
unsafe impl DeviceCode for Own {
    fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"own ");
        match &self.kind {
            Kind::Product(product) => product.key(key),
            Kind::Small(small) => small.key(key),
        }
    }

    fn source(&self) -> String {
        match &self.kind {
            Kind::Product(product) => product.source(),
            Kind::Small(small) => small.source(),
        }
    }

    fn scratch(&self, machine: &Machine) -> usize {
        match &self.kind {
            Kind::Product(product) => product.scratch(machine),
            Kind::Small(_) => 0,
        }
    }

    fn reports(&self) -> bool {
        matches!(&self.kind, Kind::Small(small) if small.reports())
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        match &self.kind {
            Kind::Product(product) => product.launches(call),
            Kind::Small(small) => small.launches(call),
        }
    }

    fn error(&self, report: Report) -> KernelError {
        error_of(report)
    }
}

/// The error that a report tells of, of kernels beside libraries and in their place.
pub(crate) fn error_of(report: Report) -> KernelError {
    match finding_of(report[0]) {
        Some(finding) => finding.into(),
        None => KernelError::from(format!("the device reported {report:?}")),
    }
}

/// The axes of a stack that have several places; `None` if they are too many.
fn several(stack: &[Axis]) -> Option<SmallVec<[Axis; 2]>> {
    let axes: SmallVec<[Axis; 2]> = stack
        .iter()
        .filter(|axis| axis.size != 1)
        .copied()
        .collect();
    (axes.len() <= STACK).then_some(axes)
}

fn launch(entry: &'static str, blocks: usize, threads: usize, arguments: Arguments) -> Launch {
    Launch {
        entry,
        blocks: [blocks as u32, 1, 1],
        threads: threads as u32,
        shared_memory: 0,
        arguments,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use millpond_hal::library::{Factorisation, Matrix, Task};
    use millpond_types::DType;

    use super::super::pieces::tests::assert_compile;
    use super::*;

    /// The source of a program, its entries, and the structure that they take.
    pub(crate) struct Sample {
        pub(crate) source: String,
        pub(crate) entries: Vec<&'static str>,
        pub(crate) structure: &'static str,
        pub(crate) words: usize,
    }

    fn own(task: Task, dtype: DType, operands: usize) -> Own {
        let matrix = Matrix {
            dtype,
            begin: 0,
            rows: 2,
            columns: 2,
            steps: [0; 2],
        };
        let work = LibraryWork {
            task,
            operands: std::iter::repeat_n(matrix, operands).collect(),
            stack: SmallVec::new(),
        };
        Own::of(&work).expect("it is ours")
    }

    /// All programs.
    pub(crate) fn samples() -> Vec<Sample> {
        let (product, small) = (product::ELEMENTS.iter(), small::ELEMENTS.iter());
        let dtypes = [DType::Int8, DType::Int16, DType::Int32, DType::Int64];
        let floats = small.clone().map(|elements| elements.dtype);
        let products = product.zip(dtypes.into_iter().chain(floats));
        let products = products.map(|(elements, dtype)| Sample {
            source: own(Task::Product { conjugates: false }, dtype, 3).source(),
            entries: elements.entries.into(),
            structure: "Product",
            words: 34,
        });
        let task = Task::Factorisation(Factorisation::Inverse);
        let smalls = small.map(|elements| Sample {
            source: own(task, elements.dtype, 2).source(),
            entries: elements
                .entries
                .iter()
                .chain(elements.eigen)
                .copied()
                .collect(),
            structure: "Small",
            words: 34,
        });
        products.chain(smalls).collect()
    }

    #[test]
    fn the_devices_compiler_takes_the_kernels() {
        assert_compile(samples().into_iter().map(|sample| sample.source));
    }
}
