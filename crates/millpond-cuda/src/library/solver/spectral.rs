//! Eigenvalues of self-adjoint matrices, singular values, and their vectors.

use millpond_hal::library::{Factorisation, Undefined};

use super::super::pieces::Mode;
use super::parts::Parts;
use super::table::{Triangle, Vectors};
use super::work::{Calling, Own, Room};
use crate::card::CudaError;

impl Calling<'_> {
    const fn vectors(&self) -> Vectors {
        match self.factorisation {
            Factorisation::SelfAdjointEigen => Vectors::All,
            _ => Vectors::None,
        }
    }

    pub(super) fn eigen_room(&self, parts: &Parts) -> Result<[usize; 2], CudaError> {
        let n = self.sizes.columns as i64;
        let (mut device, mut host) = (0, 0);
        // SAFETY: both numbers are written to places of their types; the handle is ours.
        let status = unsafe {
            self.solver.eigen_room(
                self.desk.handle,
                self.desk.params,
                self.vectors(),
                Triangle::Lower,
                n,
                self.elements,
                parts.matrix,
                n,
                self.values,
                parts.values,
                self.elements,
                &raw mut device,
                &raw mut host,
            )
        };
        self.check("cusolverDnXsyevd_bufferSize", status)?;
        Ok([device, host])
    }

    /// Eigenvalues and, if they are wanted, eigenvectors.
    pub(super) fn eigen(
        &self,
        room: &Room<'_>,
        values: Own,
        vectors: Option<Own>,
        matrix: Own,
    ) -> Result<(), CudaError> {
        let parts = room.parts;
        self.bring(parts.matrix, matrix, Mode::Finite as u64)?;
        let n = self.sizes.columns as i64;
        // SAFETY: the matrix and what the library works in lie in scratch memory, which is as long as
        // it wants.
        let status = unsafe {
            self.solver.eigen(
                self.desk.handle,
                self.desk.params,
                self.vectors(),
                Triangle::Lower,
                n,
                self.elements,
                parts.matrix,
                n,
                self.values,
                parts.values,
                self.elements,
                parts.work,
                room.device,
                room.host,
                room.host_bytes,
                parts.found,
            )
        };
        self.check("cusolverDnXsyevd", status)?;
        self.judge(room, Undefined::Diverged)?;
        self.fetch(values, parts.values, self.sizes.columns, 0)?;
        match vectors {
            Some(vectors) => self.fetch(vectors, parts.matrix, self.sizes.rows, 0),
            None => Ok(()),
        }
    }

    /// The letters that say which singular vectors are wanted.
    fn jobs(&self) -> [i8; 2] {
        let letters = match self.factorisation {
            Factorisation::Svd if self.sizes.sides == self.sizes.rows => *b"AA",
            Factorisation::Svd => *b"SS",
            _ => *b"NN",
        };
        letters.map(|letter| letter as i8)
    }

    pub(super) fn singular_room(&self, parts: &Parts) -> Result<[usize; 2], CudaError> {
        let (m, n) = (self.sizes.rows as i64, self.sizes.columns as i64);
        let [left, right] = self.jobs();
        let (mut device, mut host) = (0, 0);
        // SAFETY: as for `eigen_room`.
        let status = unsafe {
            self.solver.svd_room(
                self.desk.handle,
                self.desk.params,
                left,
                right,
                m,
                n,
                self.elements,
                parts.matrix,
                m,
                self.values,
                parts.values,
                self.elements,
                parts.second,
                m,
                self.elements,
                parts.third,
                n,
                self.elements,
                &raw mut device,
                &raw mut host,
            )
        };
        self.check("cusolverDnXgesvd_bufferSize", status)?;
        Ok([device, host])
    }

    /// Singular values and, if they are wanted, the left singular vectors and the adjoint of the right
    /// ones.
    pub(super) fn singular(
        &self,
        room: &Room<'_>,
        values: Own,
        vectors: Option<[Own; 2]>,
        matrix: Own,
    ) -> Result<(), CudaError> {
        let parts = room.parts;
        let turned = self.sizes.turned;
        self.bring(parts.matrix, matrix.turned_if(turned), Mode::Finite as u64)?;
        let (m, n) = (self.sizes.rows as i64, self.sizes.columns as i64);
        let [left, right] = self.jobs();
        // SAFETY: as for `eigen`.
        let status = unsafe {
            self.solver.svd(
                self.desk.handle,
                self.desk.params,
                left,
                right,
                m,
                n,
                self.elements,
                parts.matrix,
                m,
                self.values,
                parts.values,
                self.elements,
                parts.second,
                m,
                self.elements,
                parts.third,
                n,
                self.elements,
                parts.work,
                room.device,
                room.host,
                room.host_bytes,
                parts.found,
            )
        };
        self.check("cusolverDnXgesvd", status)?;
        self.judge(room, Undefined::Diverged)?;
        self.fetch(values, parts.values, self.sizes.columns, 0)?;
        let Some([left, right]) = vectors else {
            return Ok(());
        };
        // With rows for columns a matrix has the other's vectors, with rows for columns.
        let (second, third) = if turned {
            (right.turned_if(true), left.turned_if(true))
        } else {
            (left, right)
        };
        self.fetch(second, parts.second, self.sizes.rows, 0)?;
        self.fetch(third, parts.third, self.sizes.columns, 0)
    }
}
