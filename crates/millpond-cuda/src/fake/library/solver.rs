//! cuSOLVER, by the host's kernels and plain loops.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_hal::{Address, HostKernel};
use millpond_linalg::{DecompositionKernel, Routine};
use millpond_types::{DType, Layout};
use num_complex::Complex;

use super::super::Fake;
use super::{Area, Field, answer};
use crate::api::{Pointer, StreamHandle};
use crate::library::solver::{Job, ParamsHandle, Solver, SolverHandle, Triangle, Vectors};
use crate::library::{Elements, Status};

/// Bytes that calls say they work in, on the device and on the host.
const ROOM: [usize; 2] = [512, 64];

/// Orthonormal matrices by the address of the reflections that they are made of.
type Made = Arc<Mutex<HashMap<Pointer, Vec<Complex<f64>>>>>;

/// A library that takes matrices apart.
pub(crate) struct FakeSolver {
    fake: Arc<Fake>,
    handles: Mutex<HashMap<SolverHandle, StreamHandle>>,
    made: Made,
}

impl FakeSolver {
    pub(crate) fn new(fake: &Arc<Fake>) -> Arc<Self> {
        Arc::new(Self {
            fake: Arc::clone(fake),
            handles: Mutex::default(),
            made: Made::default(),
        })
    }

    /// How many handles there are.
    pub(crate) fn handles(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SolverHandle, StreamHandle>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(
        &self,
        name: &'static str,
        handle: SolverHandle,
        areas: &[Area],
        body: impl Fn() + Send + Sync + 'static,
    ) -> Status {
        let stream = self.lock()[&handle];
        self.fake.step_of_library(name, stream, areas, body)
    }
}

/// Says what a call works in.
///
/// # Safety
/// The caller gives places of the type.
unsafe fn tell_room(device: *mut usize, host: *mut usize) -> Status {
    // SAFETY: the caller's promise.
    unsafe { answer(device, ROOM[0]) };
    // SAFETY: as above.
    unsafe { answer(host, ROOM[1]) };
    Status::SUCCESS
}

/// What a call works in and tells by, which must be as long as was said.
fn room(device: Pointer, [device_bytes, host_bytes]: [usize; 2], found: Pointer) -> Vec<Area> {
    assert!(device_bytes >= ROOM[0] && host_bytes >= ROOM[1]);
    vec![
        Area {
            address: device,
            bytes: device_bytes,
        },
        Area {
            address: found,
            bytes: 4,
        },
    ]
}

fn tell(found: Pointer, number: i32) {
    let place: *mut i32 = std::ptr::with_exposed_provenance_mut(found as usize);
    // SAFETY: live memory, as the call has checked.
    unsafe { place.write(number) };
}

/// The results of a routine of the host's for a matrix, each column by column; `None` if it has none.
fn by_host(
    routine: Routine,
    matrix: &Field,
    [rows, columns]: [usize; 2],
) -> Option<Vec<Vec<Complex<f64>>>> {
    let dtype = DType::Complex128;
    let mut input: Vec<Complex<f64>> = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            input.push(matrix.get(row, column));
        }
    }
    let shapes = routine.shapes(rows, columns, 0);
    let dtypes = routine.dtypes(dtype);
    let layout = |shape: &[usize]| Layout::contiguous(shape, 16).expect("a layout");
    let outputs: Vec<Layout> = shapes.iter().map(|shape| layout(shape)).collect();
    let input_layout = layout(&[rows, columns]);
    let kernel = DecompositionKernel::new(
        routine,
        dtype,
        &outputs.iter().collect::<Vec<_>>(),
        &[&input_layout],
    );
    let kernel = kernel.expect("a kernel");
    let mut results: Vec<Vec<Complex<f64>>> = outputs
        .iter()
        .map(|layout| vec![Complex::default(); layout.size()])
        .collect();
    let mut bases: Vec<Address> = results
        .iter_mut()
        .map(|result| Address::of(result.as_mut_ptr()))
        .collect();
    bases.push(Address::of(input.as_mut_ptr()));
    // SAFETY: memory of this function's own, as long as the layouts say.
    unsafe { kernel.run(&bases, 0..1) }.ok()?;
    for ((result, dtype), shape) in results.iter_mut().zip(dtypes).zip(&shapes) {
        if !dtype.is_complex() {
            // Real numbers lie in the first half.
            let reals: Vec<f64> = result.iter().flat_map(|pair| [pair.re, pair.im]).collect();
            let reals = reals.into_iter().take(result.len());
            *result = reals.map(|real| Complex::new(real, 0.0)).collect();
        }
        if let [rows, columns] = shape[..] {
            let rows_first = result.clone();
            for (index, value) in rows_first.into_iter().enumerate() {
                result[index % columns * rows + index / columns] = value;
            }
        }
    }
    Some(results)
}

/// Writes a matrix that lies column by column.
fn write(to: &Field, values: &[Complex<f64>], rows: usize) {
    for (index, &value) in values.iter().enumerate() {
        to.set(index % rows, index / rows, value);
    }
}

/// Takes a matrix apart into triangles, in its place, and says which rows were exchanged; the answer is
/// the number of the first pivot that is zero.
fn lu(matrix: &Field, size: usize, exchanges: *mut i64) -> i32 {
    let mut first = 0;
    for pivot in 0..size {
        let modulus = |row: usize| matrix.get(row, pivot).norm();
        let largest = (pivot..size).fold(pivot, |best, row| {
            if modulus(row) > modulus(best) {
                row
            } else {
                best
            }
        });
        // SAFETY: as many numbers as rows, as the call has checked.
        unsafe { exchanges.wrapping_add(pivot).write(largest as i64 + 1) };
        for column in 0..size {
            let (one, other) = (matrix.get(pivot, column), matrix.get(largest, column));
            matrix.set(pivot, column, other);
            matrix.set(largest, column, one);
        }
        let divisor = matrix.get(pivot, pivot);
        if divisor.norm() == 0.0 {
            first = if first == 0 { pivot as i32 + 1 } else { first };
            continue;
        }
        for row in pivot + 1..size {
            let factor = matrix.get(row, pivot) / divisor;
            matrix.set(row, pivot, factor);
            for column in pivot + 1..size {
                let left = matrix.get(row, column) - factor * matrix.get(pivot, column);
                matrix.set(row, column, left);
            }
        }
    }
    first
}

/// Solves for right-hand sides in their place.
fn lu_solve(matrix: &Field, sides: &Field, [size, count]: [usize; 2], exchanges: *const i64) {
    for column in 0..count {
        for row in 0..size {
            // SAFETY: as for `lu`.
            let other = unsafe { exchanges.wrapping_add(row).read() } as usize - 1;
            let (one, two) = (sides.get(row, column), sides.get(other, column));
            sides.set(row, column, two);
            sides.set(other, column, one);
        }
        for row in 0..size {
            let known = (0..row).map(|at| matrix.get(row, at) * sides.get(at, column));
            let left = sides.get(row, column) - known.sum::<Complex<f64>>();
            sides.set(row, column, left);
        }
        for row in (0..size).rev() {
            let known = (row + 1..size).map(|at| matrix.get(row, at) * sides.get(at, column));
            let left = sides.get(row, column) - known.sum::<Complex<f64>>();
            sides.set(row, column, left / matrix.get(row, row));
        }
    }
}

/// The functions that make an orthonormal matrix, which differ in their names and dtypes.
macro_rules! orthonormal {
    ($($room:ident, $make:ident: $dtype:ident;)*) => { $(
        unsafe fn $room(
            &self,
            _handle: SolverHandle,
            _rows: i32,
            _columns: i32,
            _factors: i32,
            _matrix: Pointer,
            _leading: i32,
            _scales: Pointer,
            elements: *mut i32,
        ) -> Status {
            // SAFETY: the caller's promise.
            unsafe { answer(elements, 100) };
            Status::SUCCESS
        }

        unsafe fn $make(
            &self,
            handle: SolverHandle,
            rows: i32,
            columns: i32,
            factors: i32,
            matrix: Pointer,
            leading: i32,
            scales: Pointer,
            work: Pointer,
            elements: i32,
            found: Pointer,
        ) -> Status {
            assert!(rows >= columns && columns >= factors && elements >= 100);
            let kind = Elements::of(DType::$dtype).expect("a float");
            let field = Field::new(kind, matrix, leading.into());
            let scales = Field::new(kind, scales, leading.into());
            let (rows, columns) = (rows as usize, columns as usize);
            let bytes = elements as usize * field.item();
            let mut areas = room(work, [bytes, ROOM[1]], found);
            areas.extend([field.area(rows, columns), scales.area(factors as usize, 1)]);
            let made = Arc::clone(&self.made);
            self.give("cusolverDnorgqr", handle, &areas, move || {
                let made = made.lock().unwrap_or_else(PoisonError::into_inner);
                write(&field, &made[&matrix][..rows * columns], rows);
                tell(found, 0);
            })
        }
    )* };
}

impl Solver for FakeSolver {
    unsafe fn property(&self, part: i32, value: *mut i32) -> Status {
        // SAFETY: the caller's promise.
        unsafe { answer(value, [11, 7][part as usize]) };
        Status::SUCCESS
    }

    unsafe fn create(&self, handle: *mut SolverHandle) -> Status {
        self.fake.call_of_library("cusolverDnCreate", |world| {
            let made = SolverHandle(world.next());
            self.lock().insert(made, StreamHandle::DEFAULT);
            // SAFETY: the caller's promise.
            unsafe { answer(handle, made) };
            Status::SUCCESS
        })
    }

    unsafe fn destroy(&self, handle: SolverHandle) -> Status {
        assert!(self.lock().remove(&handle).is_some(), "destroyed twice");
        Status::SUCCESS
    }

    unsafe fn set_stream(&self, handle: SolverHandle, stream: StreamHandle) -> Status {
        self.lock().insert(handle, stream);
        Status::SUCCESS
    }

    unsafe fn create_params(&self, params: *mut ParamsHandle) -> Status {
        // SAFETY: the caller's promise.
        unsafe { answer(params, ParamsHandle(7)) };
        Status::SUCCESS
    }

    unsafe fn destroy_params(&self, params: ParamsHandle) -> Status {
        assert_eq!(params, ParamsHandle(7));
        Status::SUCCESS
    }

    unsafe fn cholesky_room(
        &self,
        _handle: SolverHandle,
        _params: ParamsHandle,
        _triangle: Triangle,
        _size: i64,
        _elements: Elements,
        _matrix: Pointer,
        _leading: i64,
        _computed: Elements,
        device: *mut usize,
        host: *mut usize,
    ) -> Status {
        // SAFETY: the caller's promise.
        unsafe { tell_room(device, host) }
    }

    unsafe fn cholesky(
        &self,
        handle: SolverHandle,
        _params: ParamsHandle,
        triangle: Triangle,
        size: i64,
        elements: Elements,
        matrix: Pointer,
        leading: i64,
        computed: Elements,
        device: Pointer,
        device_bytes: usize,
        _host: *mut c_void,
        host_bytes: usize,
        found: Pointer,
    ) -> Status {
        assert_eq!(computed, elements);
        let (field, size) = (Field::new(elements, matrix, leading), size as usize);
        let mut areas = room(device, [device_bytes, host_bytes], found);
        areas.push(field.area(size, size));
        self.give("cusolverDnXpotrf", handle, &areas, move || {
            let upper = triangle == Triangle::Upper;
            let Some(results) = by_host(Routine::Cholesky { upper }, &field, [size; 2]) else {
                return tell(found, 1);
            };
            for (index, &value) in results[0].iter().enumerate() {
                let (row, column) = (index % size, index / size);
                if (upper && row <= column) || (!upper && row >= column) {
                    field.set(row, column, value);
                }
            }
            tell(found, 0);
        })
    }

    unsafe fn lu_room(
        &self,
        _handle: SolverHandle,
        _params: ParamsHandle,
        _rows: i64,
        _columns: i64,
        _elements: Elements,
        _matrix: Pointer,
        _leading: i64,
        _computed: Elements,
        device: *mut usize,
        host: *mut usize,
    ) -> Status {
        // SAFETY: the caller's promise.
        unsafe { tell_room(device, host) }
    }

    unsafe fn lu(
        &self,
        handle: SolverHandle,
        _params: ParamsHandle,
        rows: i64,
        columns: i64,
        elements: Elements,
        matrix: Pointer,
        leading: i64,
        exchanges: Pointer,
        _computed: Elements,
        device: Pointer,
        device_bytes: usize,
        _host: *mut c_void,
        host_bytes: usize,
        found: Pointer,
    ) -> Status {
        assert_eq!(rows, columns);
        let (field, size) = (Field::new(elements, matrix, leading), rows as usize);
        let mut areas = room(device, [device_bytes, host_bytes], found);
        areas.push(field.area(size, size));
        areas.push(Area {
            address: exchanges,
            bytes: 8 * size,
        });
        self.give("cusolverDnXgetrf", handle, &areas, move || {
            let exchanges = std::ptr::with_exposed_provenance_mut(exchanges as usize);
            tell(found, lu(&field, size, exchanges));
        })
    }

    unsafe fn lu_solve(
        &self,
        handle: SolverHandle,
        _params: ParamsHandle,
        operation: i32,
        size: i64,
        sides: i64,
        elements: Elements,
        matrix: Pointer,
        leading: i64,
        exchanges: Pointer,
        elements_b: Elements,
        b: Pointer,
        leading_b: i64,
        found: Pointer,
    ) -> Status {
        assert_eq!(operation, 0);
        let (field, right) = (
            Field::new(elements, matrix, leading),
            Field::new(elements_b, b, leading_b),
        );
        let (size, sides) = (size as usize, sides as usize);
        let areas = [field.area(size, size), right.area(size, sides)];
        self.give("cusolverDnXgetrs", handle, &areas, move || {
            let exchanges = std::ptr::with_exposed_provenance(exchanges as usize);
            lu_solve(&field, &right, [size, sides], exchanges);
            tell(found, 0);
        })
    }

    unsafe fn qr_room(
        &self,
        _handle: SolverHandle,
        _params: ParamsHandle,
        _rows: i64,
        _columns: i64,
        _elements: Elements,
        _matrix: Pointer,
        _leading: i64,
        _elements_factors: Elements,
        _factors: Pointer,
        _computed: Elements,
        device: *mut usize,
        host: *mut usize,
    ) -> Status {
        // SAFETY: the caller's promise.
        unsafe { tell_room(device, host) }
    }

    unsafe fn qr(
        &self,
        handle: SolverHandle,
        _params: ParamsHandle,
        rows: i64,
        columns: i64,
        elements: Elements,
        matrix: Pointer,
        leading: i64,
        elements_factors: Elements,
        factors: Pointer,
        _computed: Elements,
        device: Pointer,
        device_bytes: usize,
        _host: *mut c_void,
        host_bytes: usize,
        found: Pointer,
    ) -> Status {
        let (field, rows, columns) = (
            Field::new(elements, matrix, leading),
            rows as usize,
            columns as usize,
        );
        let scales = Field::new(elements_factors, factors, leading);
        let mut areas = room(device, [device_bytes, host_bytes], found);
        areas.extend([field.area(rows, columns), scales.area(rows.min(columns), 1)]);
        let made = Arc::clone(&self.made);
        self.give("cusolverDnXgeqrf", handle, &areas, move || {
            let routine = Routine::Qr { complete: true };
            let results = by_host(routine, &field, [rows, columns]).expect("there is one");
            // What lies below the triangle is the library's own.
            field.spoil(rows, columns);
            for (index, &value) in results[1].iter().enumerate() {
                if index % rows <= index / rows {
                    field.set(index % rows, index / rows, value);
                }
            }
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.insert(matrix, results[0].clone());
            tell(found, 0);
        })
    }

    unsafe fn eigen_room(
        &self,
        _handle: SolverHandle,
        _params: ParamsHandle,
        _vectors: Vectors,
        _triangle: Triangle,
        _size: i64,
        _elements: Elements,
        _matrix: Pointer,
        _leading: i64,
        _elements_values: Elements,
        _values: Pointer,
        _computed: Elements,
        device: *mut usize,
        host: *mut usize,
    ) -> Status {
        // SAFETY: the caller's promise.
        unsafe { tell_room(device, host) }
    }

    unsafe fn eigen(
        &self,
        handle: SolverHandle,
        _params: ParamsHandle,
        vectors: Vectors,
        triangle: Triangle,
        size: i64,
        elements: Elements,
        matrix: Pointer,
        leading: i64,
        elements_values: Elements,
        values: Pointer,
        _computed: Elements,
        device: Pointer,
        device_bytes: usize,
        _host: *mut c_void,
        host_bytes: usize,
        found: Pointer,
    ) -> Status {
        assert_eq!(triangle, Triangle::Lower);
        let (field, size) = (Field::new(elements, matrix, leading), size as usize);
        let values = Field::new(elements_values, values, size as i64);
        let mut areas = room(device, [device_bytes, host_bytes], found);
        areas.extend([field.area(size, size), values.area(size, 1)]);
        self.give("cusolverDnXsyevd", handle, &areas, move || {
            let results = by_host(Routine::SelfAdjointEigen, &field, [size; 2]);
            let results = results.expect("numbers were checked before");
            write(&values, &results[0], size);
            if vectors == Vectors::All {
                write(&field, &results[1], size);
            } else {
                field.spoil(size, size);
            }
            tell(found, 0);
        })
    }

    unsafe fn svd_room(
        &self,
        _handle: SolverHandle,
        _params: ParamsHandle,
        _left_job: Job,
        _right_job: Job,
        rows: i64,
        columns: i64,
        _elements: Elements,
        _matrix: Pointer,
        _leading: i64,
        _elements_values: Elements,
        _values: Pointer,
        _elements_left: Elements,
        _left: Pointer,
        _leading_left: i64,
        _elements_right: Elements,
        _right: Pointer,
        _leading_right: i64,
        _computed: Elements,
        device: *mut usize,
        host: *mut usize,
    ) -> Status {
        assert!(rows >= columns, "the library takes no others");
        // SAFETY: the caller's promise.
        unsafe { tell_room(device, host) }
    }

    unsafe fn svd(
        &self,
        handle: SolverHandle,
        _params: ParamsHandle,
        left_job: Job,
        right_job: Job,
        rows: i64,
        columns: i64,
        elements: Elements,
        matrix: Pointer,
        leading: i64,
        elements_values: Elements,
        values: Pointer,
        elements_left: Elements,
        left: Pointer,
        leading_left: i64,
        elements_right: Elements,
        right: Pointer,
        leading_right: i64,
        _computed: Elements,
        device: Pointer,
        device_bytes: usize,
        _host: *mut c_void,
        host_bytes: usize,
        found: Pointer,
    ) -> Status {
        assert!(rows >= columns && left_job == right_job);
        let (field, rows, columns) = (
            Field::new(elements, matrix, leading),
            rows as usize,
            columns as usize,
        );
        let values = Field::new(elements_values, values, columns as i64);
        let lefts = Field::new(elements_left, left, leading_left);
        let rights = Field::new(elements_right, right, leading_right);
        let job = left_job as u8;
        let mut areas = room(device, [device_bytes, host_bytes], found);
        areas.extend([field.area(rows, columns), values.area(columns, 1)]);
        let width = if job == b'A' { rows } else { columns };
        if job != b'N' {
            areas.extend([lefts.area(rows, width), rights.area(columns, columns)]);
        }
        self.give("cusolverDnXgesvd", handle, &areas, move || {
            let routine = Routine::Svd { full: job == b'A' };
            let results = by_host(routine, &field, [rows, columns]);
            let results = results.expect("numbers were checked before");
            write(&values, &results[1], columns);
            if job != b'N' {
                write(&lefts, &results[0], rows);
                write(&rights, &results[2], columns);
            }
            field.spoil(rows, columns);
            tell(found, 0);
        })
    }

    orthonormal! {
        q_room_float32, q_float32: Float32;
        q_room_float64, q_float64: Float64;
        q_room_complex64, q_complex64: Complex64;
        q_room_complex128, q_complex128: Complex128;
    }
}
