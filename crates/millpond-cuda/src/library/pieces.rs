//! Kernels for what the libraries leave to others: they bring matrices into the form that a library
//! takes, and results out of it.

use millpond_hal::code::{Arguments, Call, Launch, Launches, Machine};
use millpond_hal::library::Undefined;
use millpond_hal::{DeviceCode, KernelError};
use millpond_types::DType;
use smallvec::SmallVec;

use super::own::error_of;
use crate::api::Pointer;

/// What the program of these kernels is found by.
pub(crate) const KEY: &[u8] = b"pieces for libraries";

/// Axes of what is carried, at most: of the stack, and rows and columns.
const AXES: usize = 6;

/// Axes of a stack, at most.
pub(crate) const STACK: usize = AXES - 2;

/// Threads of a block.
const THREADS: u32 = 256;

/// Threads that share a diagonal.
const DIAGONAL_THREADS: u32 = 128;

/// What may be found, each with its code in a report.
const FINDINGS: [Undefined; 4] = [
    Undefined::NotFinite,
    Undefined::NotPositiveDefinite,
    Undefined::Singular,
    Undefined::Diverged,
];

/// The code of a finding.
pub(crate) fn code_of(finding: Undefined) -> u64 {
    let place = FINDINGS.iter().position(|&it| it == finding);
    place.map_or(0, |place| place as u64 + 1)
}

/// The finding of a code.
pub(crate) fn finding_of(code: u64) -> Option<Undefined> {
    let place = usize::try_from(code).ok()?.checked_sub(1)?;
    FINDINGS.get(place).copied()
}

/// The source of the kernels.
pub(crate) struct Pieces;

// SAFETY: there are no launches.
unsafe impl DeviceCode for Pieces {
    fn key(&self, key: &mut Vec<u8>) {
        key.extend_from_slice(KEY);
    }

    fn source(&self) -> String {
        concat!(
            include_str!("numbers.cuh"),
            "\n",
            include_str!("pieces.cuh")
        )
        .to_owned()
    }

    fn launches(&self, _call: &Call<'_>) -> Launches {
        Launches::new()
    }

    fn error(&self, report: millpond_hal::code::Report) -> KernelError {
        error_of(report)
    }
}

/// What is done with elements on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Mode {
    /// Those above the diagonal become zero.
    Lower = 1,
    /// Those below the diagonal become zero.
    Upper = 2,
    /// Nothing is read: it is the identity that is written.
    Identity = 4,
    /// What is no number is told of, and becomes zero.
    Finite = 8,
    /// What is not positive on the diagonal is told of.
    Positive = 16,
    /// The first and, if the number of points is even, the last lose their imaginary parts.
    Ends = 32,
}

/// Axes: how many there are along each, and elements from each to the next on two sides.
pub(crate) type Axes = SmallVec<[Axis; 2]>;

/// One of them.
pub(crate) type Axis = (usize, [isize; 2]);

/// The axes with each joined to the next where one runs on in the other on both sides; none of size one.
pub(crate) fn joined(axes: &[Axis]) -> Axes {
    let mut joined = Axes::new();
    for &(size, steps) in axes.iter().filter(|(size, _)| *size != 1) {
        let runs_on = |before: &[isize; 2]| {
            before
                .iter()
                .zip(steps)
                .all(|(before, step)| *before == step * size as isize)
        };
        match joined.last_mut() {
            Some((outer, before)) if runs_on(before) => {
                *outer *= size;
                *before = steps;
            }
            _ => joined.push((size, steps)),
        }
    }
    joined
}

/// Matrices that are copied from one layout to another.
#[derive(Clone, Debug)]
pub(crate) struct Carry {
    pub(crate) dtype: DType,
    pub(crate) to: Pointer,
    pub(crate) from: Pointer,
    /// The words by which it tells what it found; 0 where it can't find anything.
    pub(crate) report: Pointer,
    /// The stack's axes.
    pub(crate) stack: Axes,
    /// Rows and columns that are written.
    pub(crate) size: [usize; 2],
    /// How many of these are read; the others are zero.
    pub(crate) given: [usize; 2],
    /// Elements from row to row and from column to column, there and here.
    pub(crate) steps: [[isize; 2]; 2],
    /// What is done on the way, each a [`Mode`].
    pub(crate) modes: u64,
    /// The column that is an end of the spectrum besides the first.
    pub(crate) last: usize,
    pub(crate) scale: f64,
}

impl Carry {
    /// A copy of one matrix.
    pub(crate) fn of_one(dtype: DType, [to, from]: [Pointer; 2], size: [usize; 2]) -> Self {
        Self {
            dtype,
            to,
            from,
            report: 0,
            stack: SmallVec::new(),
            size,
            given: size,
            steps: [[0; 2]; 2],
            modes: 0,
            last: usize::MAX,
            scale: 1.0,
        }
    }

    /// The launch of it; none for more axes than it has room for.
    pub(crate) fn launch(&self, machine: &Machine) -> Option<Launch> {
        let [rows, columns] = self.size;
        let [to_steps, from_steps] = self.steps;
        let mut axes = self.stack.clone();
        axes.push((rows, [to_steps[0], from_steps[0]]));
        axes.push((columns, [to_steps[1], from_steps[1]]));
        // Where nothing depends on the row and the column, they are axes like all others.
        let is_plain = self.modes == 0 && self.given == self.size;
        if is_plain {
            axes = joined(&axes);
        }
        let gaps = AXES.checked_sub(axes.len())?;
        axes.insert_many(0, std::iter::repeat_n((1, [0, 0]), gaps));
        let given = if is_plain {
            [axes[AXES - 2].0, axes[AXES - 1].0]
        } else {
            self.given
        };
        let total: usize = axes.iter().map(|(size, _)| size).product();
        let first = axes.iter().position(|(size, _)| *size > 1);
        let mut arguments = Arguments::default();
        let mut push = |word: u64| arguments.push(word.to_ne_bytes());
        for address in [self.to, self.from, self.report] {
            push(address);
        }
        push(total as u64);
        push(first.unwrap_or(AXES - 1) as u64);
        axes.iter().for_each(|(size, _)| push(*size as u64));
        axes.iter().for_each(|(_, [to, _])| push(*to as u64));
        axes.iter().for_each(|(_, [_, from])| push(*from as u64));
        for number in [given[0], given[1], self.last.min(i64::MAX as usize)] {
            push(number as u64);
        }
        push(self.modes);
        push(code_of(Undefined::NotFinite));
        push(code_of(Undefined::NotPositiveDefinite));
        push(self.scale.to_bits());
        let most = machine.multiprocessors * (machine.resident_threads / THREADS).max(1) * 2;
        let wanted = total.div_ceil(THREADS as usize);
        let blocks = u32::try_from(wanted).unwrap_or(u32::MAX).min(most.max(1));
        let entry = match self.dtype {
            DType::Float32 => "carry_float32",
            DType::Float64 => "carry_float64",
            DType::Complex64 => "carry_complex64",
            _ => "carry_complex128",
        };
        Some(launch(entry, blocks, THREADS, arguments))
    }
}

/// The launch that tells a finding if the word at an address isn't zero.
pub(crate) fn judge(found: Pointer, report: Pointer, finding: Undefined) -> Launch {
    let mut arguments = Arguments::default();
    for word in [found, report, code_of(finding)] {
        arguments.push(word.to_ne_bytes());
    }
    launch("judge", 1, 1, arguments)
}

/// The launch that multiplies the pivots of a triangular factor of this size, which lies column by
/// column, with the sign of the exchanges; the logarithm's address is 0 where the product itself is
/// wanted.
pub(crate) fn pivots(
    dtype: DType,
    factor: Pointer,
    size: usize,
    exchanges: Pointer,
    [result, logarithm]: [Pointer; 2],
) -> Launch {
    let mut arguments = Arguments::default();
    for word in [factor, size as u64, exchanges, result, logarithm] {
        arguments.push(word.to_ne_bytes());
    }
    let entry = match dtype {
        DType::Float32 => "pivots_float32",
        DType::Float64 => "pivots_float64",
        DType::Complex64 => "pivots_complex64",
        _ => "pivots_complex128",
    };
    launch(entry, 1, DIAGONAL_THREADS, arguments)
}

fn launch(entry: &'static str, blocks: u32, threads: u32, arguments: Arguments) -> Launch {
    Launch {
        entry,
        blocks: [blocks, 1, 1],
        threads,
        shared_memory: 0,
        arguments,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use super::*;
    use crate::compiler;
    use crate::search::Places;

    /// The architectures that kernels are compiled for in tests.
    const ARCHITECTURES: [i32; 3] = [80, 90, 100];

    /// The devices' compiler takes these sources.
    pub(in crate::library) fn assert_compile(sources: impl IntoIterator<Item = String>) {
        let environment = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
        let folders = environment.read_dir().into_iter().flatten().flatten();
        let places = Places {
            library: None,
            packages: folders
                .map(|folder| folder.path().join("site-packages"))
                .collect(),
        };
        let (search, compiler) = compiler::search(&places, 13_000);
        let Some(compiler) = compiler else {
            println!("skipped: {search}");
            return;
        };
        for source in sources {
            for architecture in ARCHITECTURES {
                let image = compiler.compile(&source, architecture);
                assert!(image.is_ok(), "{image:?}");
            }
        }
    }

    #[test]
    fn the_devices_compiler_takes_the_kernels() {
        assert_compile([Pieces.source()]);
    }

    #[test]
    fn findings_are_told_by_their_codes() {
        for finding in FINDINGS {
            assert_eq!(finding_of(code_of(finding)), Some(finding));
            let error = Pieces.error([code_of(finding), 0, 0, 0]);
            assert_eq!(error, finding.into());
        }
        assert_eq!((finding_of(0), finding_of(5)), (None, None));
    }
}
