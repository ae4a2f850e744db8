//! The one list of cuFFT's functions.

use super::super::{Elements, Status};
use crate::api::{Pointer, StreamHandle};
use crate::table::functions;

/// How a transform is done: `cufftHandle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct PlanHandle(pub(crate) i32);

/// The sign of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Direction {
    Forward = -1,
    Inverse = 1,
}

functions! {
    /// cuFFT's functions.
    Fft, Table -> Status;

    property = "cufftGetProperty" (part: i32, value: *mut i32);
    create = "cufftCreate" (plan: *mut PlanHandle);
    destroy = "cufftDestroy" (plan: PlanHandle);
    keep_from_allocating = "cufftSetAutoAllocation" (plan: PlanHandle, allocate: i32);
    make = "cufftXtMakePlanMany"
        (plan: PlanHandle, axes: i32, points: *mut i64, embedded_in: *mut i64, step_in: i64,
         distance_in: i64, elements_in: Elements, embedded_out: *mut i64, step_out: i64,
         distance_out: i64, elements_out: Elements, count: i64, workspace: *mut usize,
         computed: Elements);
    set_stream = "cufftSetStream" (plan: PlanHandle, stream: StreamHandle);
    set_workspace = "cufftSetWorkArea" (plan: PlanHandle, memory: Pointer);
    transform = "cufftXtExec"
        (plan: PlanHandle, input: Pointer, output: Pointer, direction: Direction);
}
