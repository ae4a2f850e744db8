//! Fourier transforms, by cuFFT.
//!
//! What a transform needs besides its points is a *plan*, which takes longer to make than most
//! transforms. The last few are kept, and are the device's: each is given the stream and the memory of
//! the lane that it is used on.

mod form;
mod table;

use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use form::{Form, Spec};
pub(crate) use table::Fft;
#[cfg(not(test))]
use table::PlanHandle;
#[cfg(test)]
pub(crate) use table::{Direction, PlanHandle};

use super::shelf::load;
use super::{Elements, check};
use crate::api::{Pointer, StreamHandle};
use crate::card::{CudaError, Current};
use crate::search::{Places, Search, Wanted};
use table::Table;

/// What people call the library.
pub(crate) const NAME: &str = "cuFFT";

const WANTED: Wanted = Wanted {
    name: NAME,
    file: "libcufft.so",
    numbers: &[(13, 12), (12, 11)],
    package: "cufft",
};

/// The most plans that are kept.
pub(crate) const PLANS: usize = 32;

/// Loads the library for a driver of this version of CUDA.
pub(crate) fn search(places: &Places, driver: i32) -> (Search, Option<Arc<dyn Fft>>) {
    WANTED.find(places, driver, |path| {
        let (version, table) = load(path, Table::of, <Table as Fft>::property)?;
        Ok((version, Arc::new(table) as Arc<dyn Fft>))
    })
}

/// How transforms of a kind are done.
pub(crate) struct Plan {
    handle: PlanHandle,
    /// Bytes of memory that it works in.
    pub(crate) workspace: usize,
    /// Held while it is told where to work and is given something to do.
    using: Mutex<()>,
    fft: Arc<dyn Fft>,
}

impl Plan {
    fn new(current: &Current<'_>, fft: &Arc<dyn Fft>, spec: &Spec) -> Result<Self, CudaError> {
        let asked = format_args!(
            "{} lines of {} points, {} to {}",
            spec.count, spec.length, spec.dtypes[1], spec.dtypes[0]
        );
        let mut handle = PlanHandle(0);
        // SAFETY: the handle is written to a place of its type; a context is current.
        let status = unsafe { fft.create(&raw mut handle) };
        check(current, "cufftCreate", status, asked)?;
        let mut plan = Self {
            handle,
            workspace: 0,
            using: Mutex::new(()),
            fft: Arc::clone(fft),
        };
        // SAFETY: the plan is ours.
        let status = unsafe { fft.keep_from_allocating(handle, 0) };
        check(current, "cufftSetAutoAllocation", status, asked)?;
        let [out, into] = spec.dtypes.map(Elements::of);
        let computed = spec.dtypes.into_iter().find(|dtype| dtype.is_complex());
        let (Some(out), Some(into), Some(computed)) = (out, into, computed.and_then(Elements::of))
        else {
            return Err(CudaError::refused("cufftXtMakePlanMany", asked.to_string()));
        };
        let mut points = spec.length as i64;
        let mut embedded = [points; 2];
        let [step_out, step_in] = spec.steps.map(|step| step as i64);
        let [distance_out, distance_in] = spec.distances.map(|distance| distance as i64);
        let [embedded_out, embedded_in] = &mut embedded;
        // SAFETY: one number for each of as many axes, and one that is written.
        let status = unsafe {
            fft.make(
                handle,
                1,
                &raw mut points,
                embedded_in,
                step_in,
                distance_in,
                into,
                embedded_out,
                step_out,
                distance_out,
                out,
                spec.count as i64,
                &raw mut plan.workspace,
                computed,
            )
        };
        check(current, "cufftXtMakePlanMany", status, asked)?;
        Ok(plan)
    }

    /// Gives a stream the transforms of a form.
    pub(crate) fn give(
        &self,
        current: &Current<'_>,
        stream: StreamHandle,
        memory: Pointer,
        form: &Form,
        [output, input]: [Pointer; 2],
    ) -> Result<(), CudaError> {
        let _using = self.using.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = "a transform";
        // SAFETY: the plan is ours, and nobody else tells it anything meanwhile.
        let status = unsafe { self.fft.set_stream(self.handle, stream) };
        check(current, "cufftSetStream", status, asked)?;
        if self.workspace > 0 {
            // SAFETY: the memory is as long as the plan says, and the lane's, whose kernels use it one
            // after the other.
            let status = unsafe { self.fft.set_workspace(self.handle, memory) };
            check(current, "cufftSetWorkArea", status, asked)?;
        }
        for &[to, from] in &form.calls {
            let [output, input] = [(output, to), (input, from)]
                .map(|(first, bytes)| first.wrapping_add_signed(bytes as i64));
            // SAFETY: lines of these steps lie within the kernel's footprints, for which the submitter
            // promised A1 to A3, or within scratch memory.
            let status = unsafe {
                self.fft
                    .transform(self.handle, input, output, form.direction)
            };
            check(current, "cufftXtExec", status, asked)?;
        }
        Ok(())
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the plan is ours, and nobody has it any more. Of what is under way the library waits
        // for the end.
        let _ = unsafe { self.fft.destroy(self.handle) };
    }
}

/// The plans of a device, the most recently used last.
#[derive(Default)]
pub(crate) struct Plans(Mutex<Vec<(Spec, Arc<Plan>)>>);

impl Plans {
    /// The plan for something, if it is kept.
    pub(crate) fn find(&self, spec: &Spec) -> Option<Arc<Plan>> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = plans.iter().position(|(kept, _)| kept == spec)?;
        let found = plans.remove(at);
        let plan = Arc::clone(&found.1);
        plans.push(found);
        Some(plan)
    }

    /// The plan for something, which is made if need be; that takes a while.
    pub(crate) fn make(
        &self,
        current: &Current<'_>,
        fft: &Arc<dyn Fft>,
        spec: &Spec,
    ) -> Result<Arc<Plan>, CudaError> {
        if let Some(plan) = self.find(spec) {
            return Ok(plan);
        }
        let plan = Arc::new(Plan::new(current, fft, spec)?);
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.push((*spec, Arc::clone(&plan)));
        let spare = plans.len().saturating_sub(PLANS);
        let gone: Vec<_> = plans.drain(..spare).collect();
        drop(plans);
        drop(gone);
        Ok(plan)
    }

    /// Gives all plans back.
    pub(crate) fn close(&self) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.clear();
    }
}
