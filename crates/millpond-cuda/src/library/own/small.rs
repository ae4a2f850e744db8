//! Stacks of small square matrices taken apart by a kernel of ours: triangular factors and what follows from
//! them, and the eigenvalues and eigenvectors of self-adjoint ones.

use std::fmt::Write;

use millpond_hal::code::{Arguments, Call, Launches};
use millpond_hal::library::{Axis, Factorisation, LibraryWork, Matrix, OPERANDS, Task, Undefined};
use millpond_types::DType;
use smallvec::SmallVec;

use super::super::pieces::{STACK, code_of};
use super::{MOST_BLOCKS, launch, several};

/// The side up to which matrices are small. What it takes for one of them is less than the calls of a library
/// cost, which takes one after the other.
pub(crate) const SMALL: usize = 48;

/// Results and what is given, at most.
const TOOLS: usize = 3;

/// The sides up to which there are entries, and threads of a block of each.
const SIDES: [(usize, usize); 4] = [(8, 32), (16, 64), (32, 128), (SMALL, 256)];

/// What matrices are made of.
pub(super) struct Elements {
    pub(super) dtype: DType,
    element: &'static str,
    real: &'static str,
    wide: &'static str,
    /// The entries, for each of the sides, and those for eigenvalues; of the largest complex matrices two don't
    /// fit into what a block shares.
    pub(super) entries: [&'static str; 4],
    pub(super) eigen: &'static [&'static str],
}

macro_rules! elements {
    ($dtype:ident, $name:literal: $element:literal, $real:literal, $wide:literal, $($side:literal)*) => {
        Elements {
            dtype: DType::$dtype,
            element: $element,
            real: $real,
            wide: $wide,
            entries: [
                concat!("small_", $name, "_8"),
                concat!("small_", $name, "_16"),
                concat!("small_", $name, "_32"),
                concat!("small_", $name, "_48"),
            ],
            eigen: &[$(concat!("eigen_", $name, $side)),*],
        }
    };
}

pub(super) const ELEMENTS: [Elements; 4] = [
    elements!(Float32, "f32": "float", "float", "double", "_8" "_16" "_32" "_48"),
    elements!(Float64, "f64": "double", "double", "double", "_8" "_16" "_32" "_48"),
    elements!(Complex64, "c64": "Pair<float>", "float", "Pair<double>", "_8" "_16" "_32"),
    elements!(Complex128, "c128": "Pair<double>", "double", "Pair<double>", "_8" "_16" "_32"),
];

/// A stack of factorisations.
pub(super) struct Small {
    elements: &'static Elements,
    factorisation: Factorisation,
    operands: SmallVec<[Matrix; OPERANDS]>,
    stack: SmallVec<[Axis; 2]>,
}

impl Small {
    pub(super) fn of(work: &LibraryWork) -> Option<Self> {
        let Task::Factorisation(factorisation) = work.task else {
            return None;
        };
        let matrix = work.operands.get(results(factorisation)?)?;
        let elements = ELEMENTS
            .iter()
            .find(|elements| elements.dtype == matrix.dtype)?;
        let sides = if is_eigen(factorisation) {
            &SIDES[..elements.eigen.len()]
        } else {
            &SIDES[..]
        };
        let fits = sides.last().is_some_and(|&(side, _)| matrix.rows <= side);
        if matrix.rows != matrix.columns || !fits {
            return None;
        }
        Some(Self {
            elements,
            factorisation,
            operands: work.operands.clone(),
            stack: several(&work.stack)?,
        })
    }

    /// What it finds of a matrix that has no result.
    const fn finding(&self) -> Option<Undefined> {
        match self.factorisation {
            Factorisation::Cholesky { .. } => Some(Undefined::NotPositiveDefinite),
            Factorisation::Inverse | Factorisation::Solve => Some(Undefined::Singular),
            Factorisation::Determinant | Factorisation::LogDeterminant => None,
            _ => Some(Undefined::NotFinite),
        }
    }

    pub(super) const fn reports(&self) -> bool {
        self.finding().is_some()
    }

    pub(super) fn key(&self, key: &mut Vec<u8>) {
        key.extend(self.elements.entries[0].as_bytes());
    }

    pub(super) fn source(&self) -> String {
        let Elements {
            element,
            real,
            wide,
            entries,
            eigen,
            ..
        } = self.elements;
        let mut text = include_str!("../numbers.cuh").to_owned();
        let _ = write!(
            text,
            "\ntypedef {element} Element;\ntypedef {real} Real;\ntypedef {wide} Wide;\n\n{}",
            concat!(include_str!("small.cuh"), "\n", include_str!("eigen.cuh"))
        );
        for (entries, body) in [(&entries[..], "small"), (*eigen, "eigen")] {
            for (entry, (side, threads)) in entries.iter().zip(SIDES) {
                let _ = writeln!(
                    text,
                    "\nextern \"C\" __global__ void __launch_bounds__({threads}) {entry}(Small it) {{ {body}<{side}>(it); }}"
                );
            }
        }
        text
    }

    pub(super) fn launches(&self, call: &Call<'_>) -> Launches {
        let results = results(self.factorisation).unwrap_or(1);
        let size = self.operands[results].rows;
        let class = SIDES
            .iter()
            .position(|&(side, _)| size <= side)
            .unwrap_or(0);
        let count: usize = self.stack.iter().map(|axis| axis.size).product();
        let (task, upper) = match self.factorisation {
            Factorisation::Cholesky { upper } => (0, upper),
            Factorisation::Inverse => (2, false),
            Factorisation::Solve => (3, false),
            _ => (1, false),
        };
        let finding = self.finding().map_or(0, code_of);
        let mut arguments = Arguments::default();
        let mut push = |word: i64| arguments.push(word.to_ne_bytes());
        for word in [
            task,
            upper.into(),
            count as i64,
            size as i64,
            self.operands[0].columns as i64,
            call.report.get() as i64,
            finding as i64,
            code_of(Undefined::Diverged) as i64,
        ] {
            push(word);
        }
        let axis = |index: usize| self.stack.get(index);
        (0..STACK).for_each(|index| push(axis(index).map_or(1, |axis| axis.size as i64)));
        for operand in 0..TOOLS {
            let Some(matrix) = self.operands.get(operand) else {
                (0..3 + STACK).for_each(|_| push(0));
                continue;
            };
            push(call.bases[operand].get().wrapping_add_signed(matrix.begin) as i64);
            matrix.steps.into_iter().for_each(|step| push(step as i64));
            (0..STACK).for_each(|index| {
                push(axis(index).map_or(0, |axis| axis.steps[operand] as i64));
            });
        }
        push(results as i64);
        let (_, threads) = SIDES[class];
        let entry = if is_eigen(self.factorisation) {
            self.elements.eigen[class]
        } else {
            self.elements.entries[class]
        };
        Launches::from_iter([launch(entry, count.min(MOST_BLOCKS), threads, arguments)])
    }
}

/// How many results a factorisation has that there is a kernel for.
const fn results(factorisation: Factorisation) -> Option<usize> {
    match factorisation {
        Factorisation::Cholesky { .. }
        | Factorisation::Determinant
        | Factorisation::Inverse
        | Factorisation::Solve
        | Factorisation::SelfAdjointEigenvalues => Some(1),
        Factorisation::LogDeterminant | Factorisation::SelfAdjointEigen => Some(2),
        _ => None,
    }
}

const fn is_eigen(factorisation: Factorisation) -> bool {
    matches!(
        factorisation,
        Factorisation::SelfAdjointEigen | Factorisation::SelfAdjointEigenvalues
    )
}
