//! The one list of cuSOLVER's functions.

use std::ffi::c_void;

use super::super::{Elements, Status};
use crate::api::{Pointer, StreamHandle};
use crate::table::functions;

/// What the library keeps for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct SolverHandle(pub(crate) usize);

/// What the library is told of how to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ParamsHandle(pub(crate) usize);

/// `cublasFillMode_t`: which triangle counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Triangle {
    Lower = 0,
    Upper = 1,
}

/// `cusolverEigMode_t`: whether vectors are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Vectors {
    None = 0,
    All = 1,
}

/// Which singular vectors are wanted: a letter.
pub(crate) type Job = i8;

/// `CUBLAS_OP_N`: the matrix as it lies.
pub(crate) const AS_IT_LIES: i32 = 0;

functions! {
    /// cuSOLVER's functions.
    Solver, Table -> Status;

    property = "cusolverGetProperty" (part: i32, value: *mut i32);
    create = "cusolverDnCreate" (handle: *mut SolverHandle);
    destroy = "cusolverDnDestroy" (handle: SolverHandle);
    set_stream = "cusolverDnSetStream" (handle: SolverHandle, stream: StreamHandle);
    create_params = "cusolverDnCreateParams" (params: *mut ParamsHandle);
    destroy_params = "cusolverDnDestroyParams" (params: ParamsHandle);

    cholesky_room = "cusolverDnXpotrf_bufferSize"
        (handle: SolverHandle, params: ParamsHandle, triangle: Triangle, size: i64,
         elements: Elements, matrix: Pointer, leading: i64, computed: Elements,
         device: *mut usize, host: *mut usize);
    cholesky = "cusolverDnXpotrf"
        (handle: SolverHandle, params: ParamsHandle, triangle: Triangle, size: i64,
         elements: Elements, matrix: Pointer, leading: i64, computed: Elements,
         device: Pointer, device_bytes: usize, host: *mut c_void, host_bytes: usize,
         found: Pointer);
    lu_room = "cusolverDnXgetrf_bufferSize"
        (handle: SolverHandle, params: ParamsHandle, rows: i64, columns: i64,
         elements: Elements, matrix: Pointer, leading: i64, computed: Elements,
         device: *mut usize, host: *mut usize);
    lu = "cusolverDnXgetrf"
        (handle: SolverHandle, params: ParamsHandle, rows: i64, columns: i64,
         elements: Elements, matrix: Pointer, leading: i64, exchanges: Pointer,
         computed: Elements, device: Pointer, device_bytes: usize, host: *mut c_void,
         host_bytes: usize, found: Pointer);
    lu_solve = "cusolverDnXgetrs"
        (handle: SolverHandle, params: ParamsHandle, operation: i32, size: i64, sides: i64,
         elements: Elements, matrix: Pointer, leading: i64, exchanges: Pointer,
         elements_b: Elements, b: Pointer, leading_b: i64, found: Pointer);
    qr_room = "cusolverDnXgeqrf_bufferSize"
        (handle: SolverHandle, params: ParamsHandle, rows: i64, columns: i64,
         elements: Elements, matrix: Pointer, leading: i64, elements_factors: Elements,
         factors: Pointer, computed: Elements, device: *mut usize, host: *mut usize);
    qr = "cusolverDnXgeqrf"
        (handle: SolverHandle, params: ParamsHandle, rows: i64, columns: i64,
         elements: Elements, matrix: Pointer, leading: i64, elements_factors: Elements,
         factors: Pointer, computed: Elements, device: Pointer, device_bytes: usize,
         host: *mut c_void, host_bytes: usize, found: Pointer);
    eigen_room = "cusolverDnXsyevd_bufferSize"
        (handle: SolverHandle, params: ParamsHandle, vectors: Vectors, triangle: Triangle,
         size: i64, elements: Elements, matrix: Pointer, leading: i64,
         elements_values: Elements, values: Pointer, computed: Elements, device: *mut usize,
         host: *mut usize);
    eigen = "cusolverDnXsyevd"
        (handle: SolverHandle, params: ParamsHandle, vectors: Vectors, triangle: Triangle,
         size: i64, elements: Elements, matrix: Pointer, leading: i64,
         elements_values: Elements, values: Pointer, computed: Elements, device: Pointer,
         device_bytes: usize, host: *mut c_void, host_bytes: usize, found: Pointer);
    svd_room = "cusolverDnXgesvd_bufferSize"
        (handle: SolverHandle, params: ParamsHandle, left_job: Job, right_job: Job, rows: i64,
         columns: i64, elements: Elements, matrix: Pointer, leading: i64,
         elements_values: Elements, values: Pointer, elements_left: Elements, left: Pointer,
         leading_left: i64, elements_right: Elements, right: Pointer, leading_right: i64,
         computed: Elements, device: *mut usize, host: *mut usize);
    svd = "cusolverDnXgesvd"
        (handle: SolverHandle, params: ParamsHandle, left_job: Job, right_job: Job, rows: i64,
         columns: i64, elements: Elements, matrix: Pointer, leading: i64,
         elements_values: Elements, values: Pointer, elements_left: Elements, left: Pointer,
         leading_left: i64, elements_right: Elements, right: Pointer, leading_right: i64,
         computed: Elements, device: Pointer, device_bytes: usize, host: *mut c_void,
         host_bytes: usize, found: Pointer);

    q_room_float32 = "cusolverDnSorgqr_bufferSize"
        (handle: SolverHandle, rows: i32, columns: i32, factors: i32, matrix: Pointer,
         leading: i32, scales: Pointer, elements: *mut i32);
    q_float32 = "cusolverDnSorgqr"
        (handle: SolverHandle, rows: i32, columns: i32, factors: i32, matrix: Pointer,
         leading: i32, scales: Pointer, work: Pointer, elements: i32, found: Pointer);
    q_room_float64 = "cusolverDnDorgqr_bufferSize"
        (handle: SolverHandle, rows: i32, columns: i32, factors: i32, matrix: Pointer,
         leading: i32, scales: Pointer, elements: *mut i32);
    q_float64 = "cusolverDnDorgqr"
        (handle: SolverHandle, rows: i32, columns: i32, factors: i32, matrix: Pointer,
         leading: i32, scales: Pointer, work: Pointer, elements: i32, found: Pointer);
    q_room_complex64 = "cusolverDnCungqr_bufferSize"
        (handle: SolverHandle, rows: i32, columns: i32, factors: i32, matrix: Pointer,
         leading: i32, scales: Pointer, elements: *mut i32);
    q_complex64 = "cusolverDnCungqr"
        (handle: SolverHandle, rows: i32, columns: i32, factors: i32, matrix: Pointer,
         leading: i32, scales: Pointer, work: Pointer, elements: i32, found: Pointer);
    q_room_complex128 = "cusolverDnZungqr_bufferSize"
        (handle: SolverHandle, rows: i32, columns: i32, factors: i32, matrix: Pointer,
         leading: i32, scales: Pointer, elements: *mut i32);
    q_complex128 = "cusolverDnZungqr"
        (handle: SolverHandle, rows: i32, columns: i32, factors: i32, matrix: Pointer,
         leading: i32, scales: Pointer, work: Pointer, elements: i32, found: Pointer);
}
