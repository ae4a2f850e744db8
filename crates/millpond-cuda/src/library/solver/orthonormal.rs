//! Factors of which one has orthonormal columns and the other is an upper triangle.

use millpond_types::DType;

use super::super::pieces::Mode;
use super::parts::{Parts, Sizes};
use super::table::Solver;
use super::work::{Calling, Own, Room};
use crate::card::CudaError;

impl Calling<'_> {
    pub(super) fn orthonormal_room(&self, parts: &Parts) -> Result<[usize; 2], CudaError> {
        let (m, n) = (self.sizes.rows as i64, self.sizes.columns as i64);
        let (mut device, mut host) = (0, 0);
        // SAFETY: both numbers are written to places of their types; the handle is ours.
        let status = unsafe {
            self.solver.qr_room(
                self.desk.handle,
                self.desk.params,
                m,
                n,
                self.elements,
                parts.matrix,
                m,
                self.elements,
                parts.factors,
                self.elements,
                &raw mut device,
                &raw mut host,
            )
        };
        self.check("cusolverDnXgeqrf_bufferSize", status)?;
        let ask = match self.sizes.dtype {
            DType::Float32 => <dyn Solver>::q_room_float32,
            DType::Float64 => <dyn Solver>::q_room_float64,
            DType::Complex64 => <dyn Solver>::q_room_complex64,
            _ => <dyn Solver>::q_room_complex128,
        };
        let [m, n, k] = self.sides();
        let mut elements = 0;
        // SAFETY: as above.
        let status = unsafe {
            let (matrix, factors) = (parts.matrix, parts.factors);
            let to = &raw mut elements;
            ask(
                self.solver,
                self.desk.handle,
                m,
                n,
                k,
                matrix,
                m,
                factors,
                to,
            )
        };
        self.check("cusolverDnorgqr_bufferSize", status)?;
        let bytes = elements.unsigned_abs() as usize * self.sizes.dtype.size();
        Ok([device.max(bytes), host])
    }

    /// Rows and columns of the orthonormal matrix, and the reflections that it is made of; they are
    /// known to be numbers of 32 bits.
    const fn sides(&self) -> [i32; 3] {
        let Sizes { rows, sides, .. } = self.sizes;
        [rows as i32, sides as i32, self.sizes.least() as i32]
    }

    /// Both factors.
    pub(super) fn orthonormal(
        &self,
        room: &Room<'_>,
        [q, r]: [Own; 2],
        matrix: Own,
    ) -> Result<(), CudaError> {
        let parts = room.parts;
        self.bring(parts.matrix, matrix, 0)?;
        let (m, n) = (self.sizes.rows as i64, self.sizes.columns as i64);
        // SAFETY: the matrix and what the library works in lie in scratch memory, which is as long as
        // it wants.
        let status = unsafe {
            self.solver.qr(
                self.desk.handle,
                self.desk.params,
                m,
                n,
                self.elements,
                parts.matrix,
                m,
                self.elements,
                parts.factors,
                self.elements,
                parts.work,
                room.device,
                room.host,
                room.host_bytes,
                parts.found,
            )
        };
        self.check("cusolverDnXgeqrf", status)?;
        self.fetch(r, parts.matrix, self.sizes.rows, Mode::Upper as u64)?;
        self.reflected(room)?;
        self.fetch(q, parts.matrix, self.sizes.rows, 0)
    }

    /// Makes a matrix with orthonormal columns of the reflections that lie in its place.
    fn reflected(&self, room: &Room<'_>) -> Result<(), CudaError> {
        let make = match self.sizes.dtype {
            DType::Float32 => <dyn Solver>::q_float32,
            DType::Float64 => <dyn Solver>::q_float64,
            DType::Complex64 => <dyn Solver>::q_complex64,
            _ => <dyn Solver>::q_complex128,
        };
        let [m, n, k] = self.sides();
        let elements = i32::try_from(room.device / self.sizes.dtype.size()).unwrap_or(i32::MAX);
        let parts = room.parts;
        // SAFETY: as for `orthonormal`.
        let status = unsafe {
            make(
                self.solver,
                self.desk.handle,
                m,
                n,
                k,
                parts.matrix,
                m,
                parts.factors,
                parts.work,
                elements,
                parts.found,
            )
        };
        self.check("cusolverDnorgqr", status)
    }
}
