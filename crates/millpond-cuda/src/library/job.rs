//! What a kernel becomes where a library does it, and what a device keeps for that.
//!
//! Whatever takes a while to make, such as a handle or a plan, is made by a thread, and kept: whoever
//! finds all of it there gives the work to the device at once.

use std::sync::Arc;

use millpond_hal::library::{LibraryWork, Task};
use millpond_hal::{Address, HostKernel};

use super::own::Own;
use super::pieces::{self, Carry, Pieces};
use super::shelf::Known;
use super::{blas, fft, solver};
use crate::api::Pointer;
use crate::card::{CudaError, Current};
use crate::lanes::Lane;
use crate::program::{Program, key};
use crate::queue::give_launch;
use crate::station::Station;

/// What the libraries keep for a device.
#[derive(Default)]
pub(crate) struct Toolbox {
    pub(crate) handles: blas::Handles,
    pub(crate) plans: fft::Plans,
    pub(crate) desks: solver::Desks,
}

impl Toolbox {
    /// Gives everything back; nothing of it is in use, and the device's context is current.
    pub(crate) fn close(&self, station: &Station) {
        let libraries = &station.system.libraries;
        self.plans.close();
        if let Known::There(solver) = libraries.solver.known() {
            self.desks.close(station, &**solver);
        }
        if let Known::There(blas) = libraries.blas.known() {
            self.handles.close(&**blas);
        }
    }
}

/// Work that a library does on a lane.
pub(crate) enum Job {
    Product(blas::Form),
    Transform {
        form: fft::Form,
        plan: Arc<fft::Plan>,
        /// What brings lines into the library's form.
        pieces: Option<Arc<Program>>,
    },
    /// A kernel of ours in a library's place.
    Own {
        own: Own,
        program: Arc<Program>,
    },
}

/// What is known of a kernel.
pub(crate) enum Found {
    Job(Box<Job>),
    /// No library does it.
    None,
    /// A thread has to look, which may take a while.
    Unknown,
}

/// Whether a kernel may be a library's work on a lane.
pub(crate) fn may_be_job(kernel: &dyn HostKernel) -> bool {
    let work = kernel.library_work();
    work.is_some_and(|work| match work.task {
        Task::Product { .. } | Task::Transform { .. } => true,
        _ => Own::of(&work).is_some(),
    })
}

/// The form of a product to the library, if it takes it as it lies.
fn product_of(work: &LibraryWork, bases: &[Address]) -> Option<blas::Form> {
    blas::Form::of(work).filter(|form| blas::is_aligned(form, bases))
}

impl Station {
    /// What a kernel that has begun is to the libraries, without anything being made. The lane is the
    /// one that it would be given to, if that is known.
    pub(crate) fn find_job(
        &self,
        kernel: &dyn HostKernel,
        bases: &[Address],
        lane: Option<&Lane>,
    ) -> Found {
        let Some(work) = kernel.library_work() else {
            return Found::None;
        };
        let own = self.own_of(&work, bases);
        let form = product_of(&work, bases);
        if own.as_ref().is_some_and(|own| own.is_better(form.as_ref())) {
            match self.find_own(own) {
                Found::None => {}
                found => return found,
            }
            return self.find_product(form, lane);
        }
        match work.task {
            Task::Product { .. } => match self.find_product(form, lane) {
                Found::None => self.find_own(own),
                found => found,
            },
            Task::Transform { .. } => {
                let Some(form) = self.transform_of(&work, bases) else {
                    return Found::None;
                };
                if let Known::Missing = self.system.libraries.fft.known() {
                    return Found::None;
                }
                let pieces = match (form.needs_pieces(), self.programs.find(pieces::KEY)) {
                    (false, _) => None,
                    (true, Some(Some(program))) => Some(program),
                    (true, Some(None)) => return Found::None,
                    (true, None) => return Found::Unknown,
                };
                match self.toolbox.plans.find(&form.plan) {
                    Some(plan) => Found::Job(Box::new(Job::Transform { form, plan, pieces })),
                    None => Found::Unknown,
                }
            }
            _ => Found::None,
        }
    }

    /// What a product is to the library.
    fn find_product(&self, form: Option<blas::Form>, lane: Option<&Lane>) -> Found {
        let Some(form) = form else {
            return Found::None;
        };
        match self.system.libraries.blas.known() {
            Known::Missing => Found::None,
            Known::There(_) if self.toolbox.handles.is_ready(lane.map(|it| it.stream)) => {
                Found::Job(Box::new(Job::Product(form)))
            }
            _ => Found::Unknown,
        }
    }

    /// What a kernel of ours does of some work, where kernels can be compiled.
    fn own_of(&self, work: &LibraryWork, bases: &[Address]) -> Option<Own> {
        self.system.workshop.as_ref()?;
        Own::of(work).filter(|own| own.is_aligned(bases))
    }

    /// What that is, without its program being made.
    fn find_own(&self, own: Option<Own>) -> Found {
        let Some(own) = own else {
            return Found::None;
        };
        match self.programs.find(&key(&own)) {
            Some(Some(program)) => Found::Job(Box::new(Job::Own { own, program })),
            Some(None) => Found::None,
            None => Found::Unknown,
        }
    }

    /// The same, with its program being made.
    fn make_own(&self, own: Option<Own>) -> Result<Option<Box<Job>>, CudaError> {
        let (Some(own), Some(workshop)) = (own, &self.system.workshop) else {
            return Ok(None);
        };
        let current = self.card.enter()?;
        let made = self
            .programs
            .make(&current, workshop, &key(&own), &own, true);
        let program = made.flatten();
        Ok(program.map(|program| Box::new(Job::Own { own, program })))
    }

    /// The form of a transform, if the library takes it as it lies.
    fn transform_of(&self, work: &LibraryWork, bases: &[Address]) -> Option<fft::Form> {
        let form = fft::Form::of(work)?;
        let bases = [bases[0].get(), bases[1].get()];
        let compiles = self.system.workshop.is_some();
        let fits = form.is_aligned(bases) && (compiles || !form.needs_pieces());
        fits.then_some(form)
    }

    /// The same, with whatever takes a while being made.
    pub(crate) fn make_job(
        &self,
        kernel: &dyn HostKernel,
        bases: &[Address],
    ) -> Result<Option<Box<Job>>, CudaError> {
        let Some(work) = kernel.library_work() else {
            return Ok(None);
        };
        let libraries = &self.system.libraries;
        let mut own = self.own_of(&work, bases);
        let form = product_of(&work, bases);
        if own.as_ref().is_some_and(|own| own.is_better(form.as_ref()))
            && let Some(job) = self.make_own(own.take())?
        {
            return Ok(Some(job));
        }
        match work.task {
            Task::Product { .. } => {
                let (Some(form), Some(blas)) = (form, libraries.blas.library()) else {
                    return self.make_own(own);
                };
                let current = self.card.enter()?;
                if !self.toolbox.handles.is_ready(None) {
                    self.toolbox.handles.prepare(&current, &**blas)?;
                }
                Ok(Some(Box::new(Job::Product(form))))
            }
            Task::Transform { .. } => {
                let (Some(form), Some(fft)) =
                    (self.transform_of(&work, bases), libraries.fft.library())
                else {
                    return Ok(None);
                };
                let current = self.card.enter()?;
                let pieces = if form.needs_pieces() {
                    let Some(pieces) = self.pieces(&current) else {
                        return Ok(None);
                    };
                    Some(pieces)
                } else {
                    None
                };
                let plan = self.toolbox.plans.make(&current, fft, &form.plan)?;
                Ok(Some(Box::new(Job::Transform { form, plan, pieces })))
            }
            _ => Ok(None),
        }
    }

    /// The program of the kernels that libraries need beside them.
    pub(super) fn pieces(&self, current: &Current<'_>) -> Option<Arc<Program>> {
        let workshop = self.system.workshop.as_ref()?;
        self.programs
            .make(current, workshop, pieces::KEY, &Pieces, true)
            .flatten()
    }

    /// Gives a job to a lane.
    pub(crate) fn give_job(
        &self,
        current: &Current<'_>,
        lane: &mut Lane,
        job: &Job,
        bases: &[Address],
    ) -> Result<(), CudaError> {
        match job {
            Job::Product(form) => match self.system.libraries.blas.library() {
                Some(blas) => {
                    let handles = &self.toolbox.handles;
                    blas::give(current, &**blas, handles, lane, form, bases)
                }
                None => Ok(()),
            },
            Job::Transform { form, plan, pieces } => {
                let bases = [bases[0].get(), bases[1].get()];
                let [.., own] = form.scratch();
                let bytes = own + plan.workspace;
                let scratch = match bytes {
                    0 => 0,
                    bytes => lane.scratch.take(current, bytes)?,
                };
                let carry = |carry: Option<Carry>, lane: &Lane| match (carry, pieces) {
                    (Some(carry), Some(pieces)) => self.give_carry(current, lane, pieces, &carry),
                    _ => Ok(()),
                };
                carry(form.carry_in(bases, scratch), lane)?;
                let memory = scratch + own as Pointer;
                let addresses = form.addresses(bases, scratch);
                plan.give(current, lane.stream, memory, form, addresses)?;
                carry(form.carry_out(bases, scratch), lane)
            }
            // It is launched as kernels with code are.
            Job::Own { .. } => Ok(()),
        }
    }

    /// Gives a copy of matrices to a lane.
    pub(super) fn give_carry(
        &self,
        current: &Current<'_>,
        lane: &Lane,
        pieces: &Program,
        carry: &Carry,
    ) -> Result<(), CudaError> {
        match carry.launch(&self.card.machine) {
            Some(launch) => give_launch(current, lane, pieces, &launch),
            None => Err(CudaError::refused(
                "carry",
                format!("a stack of {} axes", carry.stack.len()),
            )),
        }
    }
}
