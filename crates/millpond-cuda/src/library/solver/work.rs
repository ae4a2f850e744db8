//! A factorisation from the matrices to the results.

use std::ffi::c_void;

use millpond_hal::code::Launch;
use millpond_hal::library::{Factorisation, LibraryWork, Matrix, OPERANDS, Task, Undefined};
use millpond_hal::{Address, DeviceCode, HostKernel, KernelError};
use millpond_types::DType;
use smallvec::SmallVec;

use super::super::own::SMALL;
use super::super::pieces::{self, Carry, Mode, Pieces};
use super::super::{Elements, Status, check, offsets};
use super::parts::{Parts, Sizes};
use super::{Desk, Solver};
use crate::api::Pointer;
use crate::card::{CudaError, Current};
use crate::memory::Place;
use crate::program::Program;
use crate::queue::give_launch;
use crate::staging::drain;
use crate::station::Station;

/// The most matrices that are given to the library one by one.
const STACK: usize = 4096;

/// What a factorisation came to.
type Outcome = Result<Result<(), KernelError>, CudaError>;

/// Carries out a kernel that is a factorisation of matrices on the device; `None` for any other kernel,
/// and where there is no library or it isn't worth while.
///
/// # Safety
/// As for [`HostKernel::run`] of the whole extent, but that memory is the device's to read and write;
/// what the command follows has ended, and nothing else uses its memory meanwhile.
pub(crate) unsafe fn carry_out(
    station: &Station,
    kernel: &dyn HostKernel,
    bases: &[Address],
) -> Option<Outcome> {
    let work = kernel.library_work()?;
    let Task::Factorisation(factorisation) = work.task else {
        return None;
    };
    let sizes = Sizes::of(factorisation, &work.operands)?;
    let elements = Elements::of(sizes.dtype)?;
    let values = Elements::of(sizes.dtype.real())?;
    let (large, many) = (sizes.least() > SMALL, work.count() > STACK);
    // Sizes of one of the functions are numbers of 32 bits.
    let fits = i32::try_from(sizes.rows.max(sizes.columns).max(sizes.sides)).is_ok();
    if !large || many || !fits || !is_aligned(&work, bases) {
        return None;
    }
    let outcome = || {
        for (matrix, base) in work.operands.iter().zip(bases) {
            let first = base.get().wrapping_add_signed(matrix.begin) as Pointer;
            if station.system.places.find(&station.card, first)? == Place::Pageable {
                return Ok(None);
            }
        }
        let current = station.card.enter()?;
        let (Some(solver), Some(pieces)) = (
            station.system.libraries.solver.library(),
            station.pieces(&current),
        ) else {
            return Ok(None);
        };
        let desks = &station.toolbox.desks;
        let mut desk = desks.take(station, &current, &**solver)?;
        let words = station.reports.take(&current)?;
        let mut calling = Calling {
            station,
            current: &current,
            solver: &**solver,
            pieces: &pieces,
            desk: &mut desk,
            report: words.address().get() as Pointer,
            factorisation,
            sizes,
            elements,
            values,
        };
        let given = calling.all(&work, bases);
        // Of what was given before an error, nothing may be under way either.
        drain(&current, &mut desk.lane)?;
        desks.give(desk);
        let told = words.read();
        station.reports.give(words);
        given?;
        Ok(Some(
            told.map_or(Ok(()), |report| Err(Pieces.error(report))),
        ))
    };
    outcome().transpose()
}

fn is_aligned(work: &LibraryWork, bases: &[Address]) -> bool {
    work.operands.iter().zip(bases).all(|(matrix, base)| {
        let first = base.get().wrapping_add_signed(matrix.begin);
        first.is_multiple_of(matrix.dtype.size())
    })
}

/// What the library works in.
pub(super) struct Room<'a> {
    pub(super) parts: &'a Parts,
    /// Bytes behind the parts, on the device.
    pub(super) device: usize,
    pub(super) host: *mut c_void,
    pub(super) host_bytes: usize,
}

/// A factorisation that is being given to a lane.
pub(super) struct Calling<'a> {
    pub(super) station: &'a Station,
    pub(super) current: &'a Current<'a>,
    pub(super) solver: &'a dyn Solver,
    pub(super) pieces: &'a Program,
    pub(super) desk: &'a mut Desk,
    pub(super) report: Pointer,
    pub(super) factorisation: Factorisation,
    pub(super) sizes: Sizes,
    /// What matrices and real values are made of.
    pub(super) elements: Elements,
    pub(super) values: Elements,
}

/// An operand's matrix of a number: its first element, and steps in elements.
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub(super) dtype: DType,
    pub(super) address: Pointer,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) steps: [isize; 2],
}

impl Own {
    fn of(matrix: &Matrix, base: Address, offset: isize) -> Self {
        let item = matrix.dtype.size() as isize;
        Self {
            dtype: matrix.dtype,
            address: base.get().wrapping_add_signed(matrix.begin + offset) as Pointer,
            rows: matrix.rows,
            columns: matrix.columns,
            steps: matrix.steps.map(|step| step / item),
        }
    }

    /// The same with rows for columns.
    const fn turned(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            steps: [self.steps[1], self.steps[0]],
            ..self
        }
    }

    pub(super) fn turned_if(self, turned: bool) -> Self {
        if turned { self.turned() } else { self }
    }
}

/// A matrix that lies column by column.
const fn by_columns(rows: usize) -> [isize; 2] {
    [1, rows as isize]
}

impl Calling<'_> {
    /// Gives the factorisations of all matrices to the lane.
    fn all(&mut self, work: &LibraryWork, bases: &[Address]) -> Result<(), CudaError> {
        let parts = Parts::at(0, self.factorisation, &self.sizes);
        let begin = self.take(parts.work as usize)?;
        let [device, host] = self.needed(&Parts::at(begin, self.factorisation, &self.sizes))?;
        let begin = self.take(parts.work as usize + device)?;
        let mut host = vec![0_u8; host];
        let room = Room {
            parts: &Parts::at(begin, self.factorisation, &self.sizes),
            device,
            host: host.as_mut_ptr().cast(),
            host_bytes: host.len(),
        };
        for offsets in offsets(work) {
            let own =
                |operand: usize| Own::of(&work.operands[operand], bases[operand], offsets[operand]);
            let operands: SmallVec<[Own; OPERANDS]> = (0..work.operands.len()).map(own).collect();
            self.one(&room, &operands)?;
            if room.host_bytes > 0 {
                // The library may use it as long as it works.
                drain(self.current, &mut self.desk.lane)?;
            }
        }
        Ok(())
    }

    /// Scratch memory of so many bytes.
    fn take(&mut self, bytes: usize) -> Result<Pointer, CudaError> {
        self.desk.lane.scratch.take(self.current, bytes)
    }

    pub(super) fn check(&self, call: &'static str, status: Status) -> Result<(), CudaError> {
        let Sizes { dtype, .. } = self.sizes;
        let asked = format_args!(
            "a matrix of {} by {} of {dtype}",
            self.sizes.rows, self.sizes.columns
        );
        check(self.current, call, status, asked)
    }

    /// Copies a matrix of an operand column by column to scratch memory.
    pub(super) fn bring(&self, to: Pointer, own: Own, modes: u64) -> Result<(), CudaError> {
        self.carry(&Carry {
            steps: [by_columns(own.rows), own.steps],
            modes,
            report: self.report,
            ..Carry::of_one(own.dtype, [to, own.address], [own.rows, own.columns])
        })
    }

    /// Copies a matrix of an operand from scratch memory, where it lies column by column in a matrix
    /// of so many rows.
    pub(super) fn fetch(
        &self,
        own: Own,
        from: Pointer,
        rows: usize,
        modes: u64,
    ) -> Result<(), CudaError> {
        self.carry(&Carry {
            steps: [own.steps, by_columns(rows)],
            modes,
            report: self.report,
            ..Carry::of_one(own.dtype, [own.address, from], [own.rows, own.columns])
        })
    }

    fn carry(&self, carry: &Carry) -> Result<(), CudaError> {
        self.station
            .give_carry(self.current, &self.desk.lane, self.pieces, carry)
    }

    /// Gives a launch of the kernels beside the library to the lane.
    pub(super) fn launch(&self, launch: &Launch) -> Result<(), CudaError> {
        give_launch(self.current, &self.desk.lane, self.pieces, launch)
    }

    /// Has a finding told if the library found something.
    pub(super) fn judge(&self, room: &Room<'_>, finding: Undefined) -> Result<(), CudaError> {
        let launch = pieces::judge(room.parts.found, self.report, finding);
        self.launch(&launch)
    }

    /// Gives the factorisation of one matrix to the lane.
    fn one(&self, room: &Room<'_>, operands: &[Own]) -> Result<(), CudaError> {
        match (self.factorisation, operands) {
            (Factorisation::Cholesky { upper }, &[factor, matrix]) => {
                self.cholesky(room, upper, factor, matrix)
            }
            (Factorisation::Determinant, &[result, matrix]) => {
                self.determinant(room, [result.address, 0], matrix)
            }
            (Factorisation::LogDeterminant, &[sign, logarithm, matrix]) => {
                self.determinant(room, [sign.address, logarithm.address], matrix)
            }
            (Factorisation::Inverse, &[inverse, matrix]) => {
                self.bring(room.parts.second, inverse, Mode::Identity as u64)?;
                self.equations(room, inverse, matrix)
            }
            (Factorisation::Solve, &[solution, matrix, sides]) => {
                self.bring(room.parts.second, sides, 0)?;
                self.equations(room, solution, matrix)
            }
            (Factorisation::Qr, &[q, r, matrix]) => self.orthonormal(room, [q, r], matrix),
            (Factorisation::SelfAdjointEigenvalues, &[values, matrix]) => {
                self.eigen(room, values, None, matrix)
            }
            (Factorisation::SelfAdjointEigen, &[values, vectors, matrix]) => {
                self.eigen(room, values, Some(vectors), matrix)
            }
            (Factorisation::SingularValues, &[values, matrix]) => {
                self.singular(room, values, None, matrix)
            }
            (Factorisation::Svd, &[left, values, right, matrix]) => {
                self.singular(room, values, Some([left, right]), matrix)
            }
            _ => Ok(()),
        }
    }

    /// Bytes that the library works in, on the device and on the host.
    fn needed(&self, parts: &Parts) -> Result<[usize; 2], CudaError> {
        match self.factorisation {
            Factorisation::Cholesky { upper } => self.cholesky_room(parts, upper),
            Factorisation::Qr => self.orthonormal_room(parts),
            Factorisation::SelfAdjointEigen | Factorisation::SelfAdjointEigenvalues => {
                self.eigen_room(parts)
            }
            Factorisation::Svd | Factorisation::SingularValues => self.singular_room(parts),
            _ => self.lu_room(parts),
        }
    }
}
