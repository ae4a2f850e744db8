//! Products of matrices, by cuBLAS.
//!
//! Floats are multiplied and added in their own precision: `float32` isn't rounded to shorter numbers
//! for the sake of speed, and half floats are added as `float32`. The library is given memory of the lane to work in, of one size, and doesn't
//! add by atomics, so that a product of the same matrices has the same bits each time.

mod form;
mod table;

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_hal::Address;
use millpond_types::DType;

pub(crate) use form::Form;
pub(crate) use table::{Blas, BlasHandle};
#[cfg(test)]
pub(crate) use table::{Compute as BlasCompute, Operation};

use super::shelf::load;
use super::{Elements, check};
use crate::api::{Pointer, StreamHandle};
use crate::card::{CudaError, Current};
use crate::lanes::Lane;
use crate::search::{Places, Search, Wanted};
use table::{Compute, DEFAULT, Table, WHOLE_PRECISION};

/// What people call the library.
pub(crate) const NAME: &str = "cuBLAS";

const WANTED: Wanted = Wanted {
    name: NAME,
    file: "libcublas.so",
    numbers: &[(13, 13), (12, 12)],
    package: "cublas",
};

/// Bytes that the library works in: what NVIDIA recommends for devices from architecture 90 on, and
/// for older ones.
const WORKSPACES: [usize; 2] = [32 << 20, 8 << 20];

/// Loads the library for a driver of this version of CUDA.
pub(crate) fn search(places: &Places, driver: i32) -> (Search, Option<Arc<dyn Blas>>) {
    WANTED.find(places, driver, |path| {
        let (version, table) = load(path, Table::of, <Table as Blas>::property)?;
        Ok((version, Arc::new(table) as Arc<dyn Blas>))
    })
}

/// What the library keeps for the streams of a device.
#[derive(Default)]
pub(crate) struct Handles(Mutex<Store>);

#[derive(Default)]
struct Store {
    /// Those of streams, with the memory that they were given to work in.
    by_stream: HashMap<StreamHandle, (BlasHandle, Pointer)>,
    /// Those of no stream yet.
    spare: Vec<BlasHandle>,
}

impl Handles {
    fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether work can be given to a stream, or to any if that isn't known, without a handle having to
    /// be made first.
    pub(crate) fn is_ready(&self, stream: Option<StreamHandle>) -> bool {
        let store = self.lock();
        let has = |stream| store.by_stream.contains_key(&stream);
        !store.spare.is_empty() || stream.is_some_and(has)
    }

    /// Makes a handle, which takes a while.
    pub(crate) fn prepare(&self, current: &Current<'_>, blas: &dyn Blas) -> Result<(), CudaError> {
        let handle = create(current, blas)?;
        self.lock().spare.push(handle);
        Ok(())
    }

    /// The handle of a lane, which works on its stream and in its memory.
    fn of(
        &self,
        current: &Current<'_>,
        blas: &dyn Blas,
        lane: &mut Lane,
    ) -> Result<BlasHandle, CudaError> {
        let bytes = WORKSPACES[usize::from(current.architecture() < 90)];
        let memory = lane.scratch.take(current, bytes)?;
        let stream = lane.stream;
        let mut store = self.lock();
        let known = store.by_stream.get(&stream).copied();
        let handle = match known {
            Some((handle, given)) if given == memory => return Ok(handle),
            Some((handle, _)) => handle,
            None => {
                let handle = match store.spare.pop() {
                    Some(handle) => handle,
                    None => create(current, blas)?,
                };
                // SAFETY: the handle is ours, and the stream the lane's.
                let status = unsafe { blas.set_stream(handle, stream) };
                check(current, "cublasSetStream", status, "a stream")?;
                handle
            }
        };
        store.by_stream.insert(stream, (handle, 0));
        // SAFETY: the memory is the lane's, whose kernels use it one after the other, and at least as
        // long.
        let status = unsafe { blas.set_workspace(handle, memory, bytes) };
        check(
            current,
            "cublasSetWorkspace",
            status,
            format_args!("{bytes} bytes"),
        )?;
        store.by_stream.insert(stream, (handle, memory));
        Ok(handle)
    }

    /// Gives all handles back; nothing of them is under way.
    pub(crate) fn close(&self, blas: &dyn Blas) {
        let mut store = self.lock();
        let Store { by_stream, spare } = &mut *store;
        let of_streams = by_stream.drain().map(|(_, (handle, _))| handle);
        for handle in of_streams.chain(spare.drain(..)) {
            // SAFETY: made by `create`, and nobody has it any more.
            let _ = unsafe { blas.destroy(handle) };
        }
    }
}

fn create(current: &Current<'_>, blas: &dyn Blas) -> Result<BlasHandle, CudaError> {
    let mut handle = BlasHandle(0);
    // SAFETY: the handle is written to a place of its type; a context is current.
    let status = unsafe { blas.create(&raw mut handle) };
    check(current, "cublasCreate", status, "a handle")?;
    // SAFETY: the handle is ours.
    let status = unsafe { blas.set_math(handle, WHOLE_PRECISION) };
    if let Err(error) = check(current, "cublasSetMathMode", status, "a handle") {
        // SAFETY: made above, and nobody else has it.
        let _ = unsafe { blas.destroy(handle) };
        return Err(error);
    }
    Ok(handle)
}

/// Whether addresses are such that the library takes them: whole elements.
pub(crate) fn is_aligned(form: &Form, bases: &[Address]) -> bool {
    let bases: [usize; 3] = std::array::from_fn(|operand| bases[operand].get());
    let item = form.dtype.size() as u64;
    let first = form.addresses(bases, [0; 3]);
    first.iter().all(|address| address % item == 0)
}

/// Gives a product to a lane.
pub(crate) fn give(
    current: &Current<'_>,
    blas: &dyn Blas,
    handles: &Handles,
    lane: &mut Lane,
    form: &Form,
    bases: &[Address],
) -> Result<(), CudaError> {
    let Some(elements) = Elements::of_product(form.dtype) else {
        return Ok(());
    };
    let handle = handles.of(current, blas, lane)?;
    let (compute, one) = match form.dtype {
        DType::Float16 | DType::Bfloat16 | DType::Float32 | DType::Complex64 => {
            (Compute::Single, [1.0_f32.to_bits().into(), 0_u64])
        }
        _ => (Compute::Double, [1.0_f64.to_bits(), 0]),
    };
    // One and zero as numbers that are calculated with: a `float32` is the first half of the first word, and of
    // two of them the second is zero.
    let (one, zero) = (one, [0_u64; 2]);
    let alpha: *const c_void = one.as_ptr().cast();
    let beta: *const c_void = zero.as_ptr().cast();
    let [rows, columns, inner] = form.size.map(|size| size as i64);
    let [leading_a, leading_b, leading_c] = form.places.map(|place| place.leading as i64);
    let [step_a, step_b, step_c] = form.places.map(|place| place.step as i64);
    let [read_a, read_b] = form.operations;
    let bases: [usize; 3] = std::array::from_fn(|operand| bases[operand].get());
    for &call in &form.calls {
        let [a, b, c] = form.addresses(bases, call);
        let status = if form.count == 1 {
            // SAFETY: matrices of these sizes and steps lie within the kernel's footprints, for which
            // the submitter promised A1 to A3; numbers of the host are read before the call returns.
            unsafe {
                blas.multiply(
                    handle, read_a, read_b, rows, columns, inner, alpha, a, elements, leading_a, b,
                    elements, leading_b, beta, c, elements, leading_c, compute, DEFAULT,
                )
            }
        } else {
            let count = form.count as i64;
            // SAFETY: as above, for so many of them.
            unsafe {
                blas.multiply_all(
                    handle, read_a, read_b, rows, columns, inner, alpha, a, elements, leading_a,
                    step_a, b, elements, leading_b, step_b, beta, c, elements, leading_c, step_c,
                    count, compute, DEFAULT,
                )
            }
        };
        let asked = format_args!(
            "{} products of {} by {} and {inner} {} in between",
            form.count, rows, columns, form.dtype
        );
        check(current, "cublasGemmEx", status, asked)?;
    }
    Ok(())
}
