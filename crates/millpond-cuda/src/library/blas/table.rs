//! The one list of cuBLAS's functions.

use std::ffi::c_void;

use super::super::{Elements, Status};
use crate::api::{Pointer, StreamHandle};
use crate::table::functions;

/// What the library keeps for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct BlasHandle(pub(crate) usize);

/// `cublasOperation_t`: how a matrix that lies column by column is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Operation {
    /// As it lies.
    Plain = 0,
    /// Rows for columns.
    Transposed = 1,
    /// The same with its elements conjugated.
    Adjoint = 2,
}

/// `cublasComputeType_t`: what is calculated in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Compute {
    /// Single precision, none narrower.
    Single = 68,
    /// Double precision.
    Double = 70,
}

/// `CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION`, beside the default: sums of parts of a product are in the
/// precision of the product.
pub(crate) const WHOLE_PRECISION: i32 = 16;

/// `CUBLAS_GEMM_DEFAULT`: the library chooses.
pub(crate) const DEFAULT: i32 = -1;

functions! {
    /// cuBLAS's functions.
    Blas, Table -> Status;

    property = "cublasGetProperty" (part: i32, value: *mut i32);
    create = "cublasCreate_v2" (handle: *mut BlasHandle);
    destroy = "cublasDestroy_v2" (handle: BlasHandle);
    set_stream = "cublasSetStream_v2" (handle: BlasHandle, stream: StreamHandle);
    set_math = "cublasSetMathMode" (handle: BlasHandle, mode: i32);
    set_workspace = "cublasSetWorkspace_v2" (handle: BlasHandle, memory: Pointer, bytes: usize);
    multiply = "cublasGemmEx_64"
        (handle: BlasHandle, operation_a: Operation, operation_b: Operation,
         rows: i64, columns: i64, inner: i64, alpha: *const c_void,
         a: Pointer, elements_a: Elements, leading_a: i64,
         b: Pointer, elements_b: Elements, leading_b: i64, beta: *const c_void,
         c: Pointer, elements_c: Elements, leading_c: i64, compute: Compute, algorithm: i32);
    multiply_all = "cublasGemmStridedBatchedEx_64"
        (handle: BlasHandle, operation_a: Operation, operation_b: Operation,
         rows: i64, columns: i64, inner: i64, alpha: *const c_void,
         a: Pointer, elements_a: Elements, leading_a: i64, step_a: i64,
         b: Pointer, elements_b: Elements, leading_b: i64, step_b: i64, beta: *const c_void,
         c: Pointer, elements_c: Elements, leading_c: i64, step_c: i64, count: i64,
         compute: Compute, algorithm: i32);
}
