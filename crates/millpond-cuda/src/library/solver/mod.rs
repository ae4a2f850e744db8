//! Factorisations of matrices, by cuSOLVER.
//!
//! The library decides some things on the host while it works, so that a call may wait for the device.
//! A factorisation is therefore carried out by a thread, on a stream of its own, when what it follows
//! has ended. Matrices are copied column by column into scratch memory, as they would be overwritten,
//! and results are copied out of it. What a matrix lacks for a result is read on the device, and is the
//! failure that it would be on the host.

mod orthonormal;
mod parts;
mod spectral;
mod table;
mod triangular;
mod work;

use std::sync::{Arc, Mutex, PoisonError};

#[cfg(test)]
pub(crate) use table::{Job, Triangle, Vectors};
pub(crate) use table::{ParamsHandle, Solver, SolverHandle};
pub(crate) use work::carry_out;

use super::check;
use super::shelf::load;
use crate::card::{CudaError, Current};
use crate::lanes::Lane;
use crate::search::{Places, Search, Wanted};
use crate::station::Station;
use table::Table;

/// What people call the library.
pub(crate) const NAME: &str = "cuSOLVER";

const WANTED: Wanted = Wanted {
    name: NAME,
    file: "libcusolver.so",
    numbers: &[(13, 12), (12, 11)],
    package: "cusolver",
};

/// Loads the library for a driver of this version of CUDA.
pub(crate) fn search(places: &Places, driver: i32) -> (Search, Option<Arc<dyn Solver>>) {
    WANTED.find(places, driver, |path| {
        let (version, table) = load(path, Table::of, <Table as Solver>::property)?;
        Ok((version, Arc::new(table) as Arc<dyn Solver>))
    })
}

/// What one factorisation at a time is carried out with.
struct Desk {
    lane: Lane,
    handle: SolverHandle,
    params: ParamsHandle,
}

/// The desks of a device that nobody uses.
#[derive(Default)]
pub(crate) struct Desks(Mutex<Vec<Desk>>);

impl Desks {
    fn take(
        &self,
        station: &Station,
        current: &Current<'_>,
        solver: &dyn Solver,
    ) -> Result<Desk, CudaError> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match free {
            Some(desk) => Ok(desk),
            None => Desk::new(station, current, solver),
        }
    }

    fn give(&self, desk: Desk) {
        let mut desks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        desks.push(desk);
    }

    /// Gives all desks back; the device's context is current.
    pub(crate) fn close(&self, station: &Station, solver: &dyn Solver) {
        let mut desks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for desk in desks.drain(..) {
            desk.close(station, solver);
        }
    }
}

impl Desk {
    fn new(
        station: &Station,
        current: &Current<'_>,
        solver: &dyn Solver,
    ) -> Result<Self, CudaError> {
        let mut desk = Self {
            lane: station.lanes.take(&station.card)?,
            handle: SolverHandle(0),
            params: ParamsHandle(0),
        };
        let made = desk.furnish(current, solver);
        match made {
            Ok(()) => Ok(desk),
            Err(error) => {
                desk.close(station, solver);
                Err(error)
            }
        }
    }

    fn furnish(&mut self, current: &Current<'_>, solver: &dyn Solver) -> Result<(), CudaError> {
        // SAFETY: the handle is written to a place of its type; a context is current.
        let status = unsafe { solver.create(&raw mut self.handle) };
        check(current, "cusolverDnCreate", status, "a handle")?;
        // SAFETY: as above.
        let status = unsafe { solver.create_params(&raw mut self.params) };
        check(current, "cusolverDnCreateParams", status, "parameters")?;
        // SAFETY: the handle is ours, and the stream the lane's.
        let status = unsafe { solver.set_stream(self.handle, self.lane.stream) };
        check(current, "cusolverDnSetStream", status, "a stream")
    }

    fn close(self, station: &Station, solver: &dyn Solver) {
        if self.params != ParamsHandle(0) {
            // SAFETY: made by `furnish`, and nobody has them any more.
            let _ = unsafe { solver.destroy_params(self.params) };
        }
        if self.handle != SolverHandle(0) {
            // SAFETY: as above.
            let _ = unsafe { solver.destroy(self.handle) };
        }
        station.lanes.give(self.lane);
    }
}
