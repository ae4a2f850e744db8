//! Triangular factors: of positive definite matrices, and of any with rows exchanged.

use millpond_hal::library::Undefined;

use super::super::pieces::{self, Mode};
use super::parts::Parts;
use super::table::{AS_IT_LIES, Triangle};
use super::work::{Calling, Own, Room};
use crate::api::Pointer;
use crate::card::CudaError;

const fn triangle(upper: bool) -> Triangle {
    if upper {
        Triangle::Upper
    } else {
        Triangle::Lower
    }
}

impl Calling<'_> {
    pub(super) fn cholesky_room(
        &self,
        parts: &Parts,
        upper: bool,
    ) -> Result<[usize; 2], CudaError> {
        let n = self.sizes.columns as i64;
        let (mut device, mut host) = (0, 0);
        // SAFETY: both numbers are written to places of their types; the handle is ours.
        let status = unsafe {
            self.solver.cholesky_room(
                self.desk.handle,
                self.desk.params,
                triangle(upper),
                n,
                self.elements,
                parts.matrix,
                n,
                self.elements,
                &raw mut device,
                &raw mut host,
            )
        };
        self.check("cusolverDnXpotrf_bufferSize", status)?;
        Ok([device, host])
    }

    /// The triangular factor of a positive definite matrix.
    pub(super) fn cholesky(
        &self,
        room: &Room<'_>,
        upper: bool,
        factor: Own,
        matrix: Own,
    ) -> Result<(), CudaError> {
        let parts = room.parts;
        self.bring(parts.matrix, matrix, 0)?;
        let n = self.sizes.columns as i64;
        // SAFETY: the matrix and what the library works in lie in scratch memory, which is as long as
        // it wants.
        let status = unsafe {
            self.solver.cholesky(
                self.desk.handle,
                self.desk.params,
                triangle(upper),
                n,
                self.elements,
                parts.matrix,
                n,
                self.elements,
                parts.work,
                room.device,
                room.host,
                room.host_bytes,
                parts.found,
            )
        };
        self.check("cusolverDnXpotrf", status)?;
        self.judge(room, Undefined::NotPositiveDefinite)?;
        let kept = if upper { Mode::Upper } else { Mode::Lower };
        let modes = kept as u64 | Mode::Positive as u64;
        self.fetch(factor, parts.matrix, self.sizes.rows, modes)
    }

    pub(super) fn lu_room(&self, parts: &Parts) -> Result<[usize; 2], CudaError> {
        let n = self.sizes.columns as i64;
        let (mut device, mut host) = (0, 0);
        // SAFETY: as for `cholesky_room`.
        let status = unsafe {
            self.solver.lu_room(
                self.desk.handle,
                self.desk.params,
                n,
                n,
                self.elements,
                parts.matrix,
                n,
                self.elements,
                &raw mut device,
                &raw mut host,
            )
        };
        self.check("cusolverDnXgetrf_bufferSize", status)?;
        Ok([device, host])
    }

    /// Takes a matrix apart into triangles, with rows exchanged.
    fn lu(&self, room: &Room<'_>, matrix: Own) -> Result<(), CudaError> {
        let parts = room.parts;
        self.bring(parts.matrix, matrix, 0)?;
        let n = self.sizes.columns as i64;
        // SAFETY: as for `cholesky`.
        let status = unsafe {
            self.solver.lu(
                self.desk.handle,
                self.desk.params,
                n,
                n,
                self.elements,
                parts.matrix,
                n,
                parts.factors,
                self.elements,
                parts.work,
                room.device,
                room.host,
                room.host_bytes,
                parts.found,
            )
        };
        self.check("cusolverDnXgetrf", status)
    }

    /// The determinant: its value, or its sign and the logarithm of its modulus.
    pub(super) fn determinant(
        &self,
        room: &Room<'_>,
        results: [Pointer; 2],
        matrix: Own,
    ) -> Result<(), CudaError> {
        self.lu(room, matrix)?;
        let (dtype, size) = (self.sizes.dtype, self.sizes.columns);
        let Parts {
            matrix, factors, ..
        } = *room.parts;
        self.launch(&pieces::pivots(dtype, matrix, size, factors, results))
    }

    /// What a matrix has to be multiplied with to give the right-hand sides, which were brought before.
    pub(super) fn equations(
        &self,
        room: &Room<'_>,
        solution: Own,
        matrix: Own,
    ) -> Result<(), CudaError> {
        let parts = room.parts;
        self.lu(room, matrix)?;
        self.judge(room, Undefined::Singular)?;
        let n = self.sizes.columns as i64;
        // SAFETY: as for `cholesky`.
        let status = unsafe {
            self.solver.lu_solve(
                self.desk.handle,
                self.desk.params,
                AS_IT_LIES,
                n,
                self.sizes.sides as i64,
                self.elements,
                parts.matrix,
                n,
                parts.factors,
                self.elements,
                parts.second,
                n,
                parts.found,
            )
        };
        self.check("cusolverDnXgetrs", status)?;
        self.fetch(solution, parts.second, self.sizes.rows, 0)
    }
}
