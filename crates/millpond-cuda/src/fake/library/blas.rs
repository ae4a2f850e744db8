//! cuBLAS, the plain way.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use millpond_types::DType;
use num_complex::Complex;

use super::super::Fake;
use super::{Area, Field, answer};
use crate::api::{Pointer, StreamHandle};
use crate::library::blas::{Blas, BlasCompute, BlasHandle, Operation};
use crate::library::{Elements, Status};

/// What the library is least given to work in.
const LEAST_WORKSPACE: usize = 8 << 20;

/// A library that multiplies.
pub(crate) struct FakeBlas {
    fake: Arc<Fake>,
    /// The stream and the memory of each handle.
    handles: Mutex<HashMap<BlasHandle, (StreamHandle, Option<Area>)>>,
}

impl FakeBlas {
    pub(crate) fn new(fake: &Arc<Fake>) -> Arc<Self> {
        Arc::new(Self {
            fake: Arc::clone(fake),
            handles: Mutex::default(),
        })
    }

    /// How many handles there are.
    pub(crate) fn handles(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<BlasHandle, (StreamHandle, Option<Area>)>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a stream so many products: of factors and a result, each with the elements from one to the
    /// next.
    fn give(
        &self,
        name: &'static str,
        handle: BlasHandle,
        size: [i64; 3],
        reads: [Operation; 2],
        fields: [(Field, i64); 3],
        count: i64,
    ) -> Status {
        let [rows, columns, inner] = size.map(|size| usize::try_from(size).expect("a size"));
        let count = usize::try_from(count).expect("a number");
        assert!(rows * columns * inner * count > 0, "nothing to do");
        let (stream, workspace) = self.lock()[&handle];
        let workspace = workspace.expect("memory to work in");
        assert!(workspace.bytes >= LEAST_WORKSPACE);
        let shape = |read: Operation, shape: [usize; 2]| match read {
            Operation::Plain => shape,
            _ => [shape[1], shape[0]],
        };
        let shapes = [
            shape(reads[0], [rows, inner]),
            shape(reads[1], [inner, columns]),
            [rows, columns],
        ];
        let mut areas = vec![workspace];
        for ((field, step), [rows, columns]) in fields.into_iter().zip(shapes) {
            let step = usize::try_from(step).expect("a step forwards");
            areas.push(field.area(rows, columns));
            areas.push(field.behind(step * (count - 1)).area(rows, columns));
        }
        self.fake.step_of_library(name, stream, &areas, move || {
            for number in 0..count {
                let [a, b, c] = fields.map(|(field, step)| field.behind(step as usize * number));
                for row in 0..rows {
                    for column in 0..columns {
                        let terms = (0..inner).map(|depth| {
                            read(&a, reads[0], row, depth) * read(&b, reads[1], depth, column)
                        });
                        c.set(row, column, terms.sum());
                    }
                }
            }
        })
    }
}

fn read(field: &Field, operation: Operation, row: usize, column: usize) -> Complex<f64> {
    match operation {
        Operation::Plain => field.get(row, column),
        Operation::Transposed => field.get(column, row),
        Operation::Adjoint => field.get(column, row).conj(),
    }
}

/// Checks that the result is the product, neither multiplied nor added to anything.
///
/// # Safety
/// Both are numbers of these elements.
unsafe fn check_numbers(
    elements: Elements,
    compute: BlasCompute,
    [alpha, beta]: [*const c_void; 2],
) {
    let dtype = elements.dtype();
    let is_double = dtype.real().size() == 8;
    // Half floats are calculated with as single ones.
    let elements = match dtype.size() {
        2 => Elements::of(DType::Float32).expect("a float"),
        _ => elements,
    };
    assert_eq!(is_double, compute == BlasCompute::Double);
    let number = |place: *const c_void| {
        let address = place.expose_provenance() as Pointer;
        Field::new(elements, address, 1).get(0, 0)
    };
    assert_eq!(number(alpha), Complex::new(1.0, 0.0));
    assert_eq!(number(beta), Complex::new(0.0, 0.0));
}

impl Blas for FakeBlas {
    unsafe fn property(&self, part: i32, value: *mut i32) -> Status {
        // SAFETY: the caller's promise.
        unsafe { answer(value, [12, 9][part as usize]) };
        Status::SUCCESS
    }

    unsafe fn create(&self, handle: *mut BlasHandle) -> Status {
        self.fake.call_of_library("cublasCreate", |world| {
            let made = BlasHandle(world.next());
            self.lock().insert(made, (StreamHandle::DEFAULT, None));
            // SAFETY: the caller's promise.
            unsafe { answer(handle, made) };
            Status::SUCCESS
        })
    }

    unsafe fn destroy(&self, handle: BlasHandle) -> Status {
        assert!(self.lock().remove(&handle).is_some(), "destroyed twice");
        Status::SUCCESS
    }

    unsafe fn set_stream(&self, handle: BlasHandle, stream: StreamHandle) -> Status {
        // The memory that it was given is taken back.
        self.lock().insert(handle, (stream, None));
        Status::SUCCESS
    }

    unsafe fn set_math(&self, handle: BlasHandle, mode: i32) -> Status {
        assert!(self.lock().contains_key(&handle));
        // Neither shorter numbers nor shorter sums of parts.
        assert_eq!(mode, 16);
        Status::SUCCESS
    }

    unsafe fn set_workspace(&self, handle: BlasHandle, memory: Pointer, bytes: usize) -> Status {
        assert!(memory.is_multiple_of(256), "memory at {memory:#x}");
        let area = Area {
            address: memory,
            bytes,
        };
        self.lock().get_mut(&handle).expect("a handle").1 = Some(area);
        Status::SUCCESS
    }

    unsafe fn multiply(
        &self,
        handle: BlasHandle,
        operation_a: Operation,
        operation_b: Operation,
        rows: i64,
        columns: i64,
        inner: i64,
        alpha: *const c_void,
        a: Pointer,
        elements_a: Elements,
        leading_a: i64,
        b: Pointer,
        elements_b: Elements,
        leading_b: i64,
        beta: *const c_void,
        c: Pointer,
        elements_c: Elements,
        leading_c: i64,
        compute: BlasCompute,
        algorithm: i32,
    ) -> Status {
        assert_eq!(algorithm, -1);
        // SAFETY: the caller's promise.
        unsafe { check_numbers(elements_c, compute, [alpha, beta]) };
        let fields = [
            (Field::new(elements_a, a, leading_a), 0),
            (Field::new(elements_b, b, leading_b), 0),
            (Field::new(elements_c, c, leading_c), 0),
        ];
        let size = [rows, columns, inner];
        let reads = [operation_a, operation_b];
        self.give("cublasGemmEx", handle, size, reads, fields, 1)
    }

    unsafe fn multiply_all(
        &self,
        handle: BlasHandle,
        operation_a: Operation,
        operation_b: Operation,
        rows: i64,
        columns: i64,
        inner: i64,
        alpha: *const c_void,
        a: Pointer,
        elements_a: Elements,
        leading_a: i64,
        step_a: i64,
        b: Pointer,
        elements_b: Elements,
        leading_b: i64,
        step_b: i64,
        beta: *const c_void,
        c: Pointer,
        elements_c: Elements,
        leading_c: i64,
        step_c: i64,
        count: i64,
        compute: BlasCompute,
        algorithm: i32,
    ) -> Status {
        assert_eq!(algorithm, -1);
        // SAFETY: the caller's promise.
        unsafe { check_numbers(elements_c, compute, [alpha, beta]) };
        let fields = [
            (Field::new(elements_a, a, leading_a), step_a),
            (Field::new(elements_b, b, leading_b), step_b),
            (Field::new(elements_c, c, leading_c), step_c),
        ];
        let size = [rows, columns, inner];
        let reads = [operation_a, operation_b];
        let name = "cublasGemmStridedBatchedEx";
        self.give(name, handle, size, reads, fields, count)
    }
}
