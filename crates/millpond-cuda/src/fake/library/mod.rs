//! Libraries that are no libraries: what NVIDIA's documentation says that they do, the plain way.
//!
//! They work on the streams of the fake driver, and are as strict: every matrix must lie in live memory
//! and be aligned, and have a leading dimension that its size allows. What a library may overwrite
//! these do overwrite, with rubbish.

mod blas;
mod fft;
mod pieces;
mod solver;

use std::sync::Arc;

use millpond_types::Scalar;
use num_complex::Complex;

use super::Fake;
use super::code::{Entry, Launched};
use super::world::{Step, World};
use crate::api::{Code, Pointer, StreamHandle};
use crate::library::{Elements, Status};

pub(crate) use blas::FakeBlas;
pub(crate) use fft::FakeFft;
pub(crate) use pieces::furnish;
pub(crate) use solver::FakeSolver;

/// Memory that a call touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) address: Pointer,
    pub(super) bytes: usize,
}

impl Fake {
    /// A call of a library that gives a stream a step, which touches these areas.
    pub(super) fn step_of_library(
        &self,
        name: &'static str,
        stream: StreamHandle,
        areas: &[Area],
        body: impl Fn() + Send + Sync + 'static,
    ) -> Status {
        let entry = Entry {
            parameters: Vec::new(),
            body: Arc::new(move |_| body()),
        };
        let launched = Launched {
            arguments: Vec::new(),
            shape: [[1; 3]; 2],
            shared_memory: 0,
        };
        {
            let world = self.shared.lock();
            for area in areas {
                let is_live = world.is_live(area.address, area.bytes);
                assert!(is_live, "{name}: {area:?} is no memory");
            }
        }
        let step = Step::Run(entry, launched);
        match self.step(name, stream, step) {
            Code::SUCCESS => Status::SUCCESS,
            _ => Status(13),
        }
    }

    /// A call of a library that needs a context.
    pub(super) fn call_of_library(
        &self,
        name: &'static str,
        body: impl FnOnce(&mut World) -> Status,
    ) -> Status {
        let mut status = Status(13);
        self.call_within(name, |world, _| {
            status = body(world);
            Code::SUCCESS
        });
        status
    }
}

/// A matrix, column by column, or elements a distance apart.
#[derive(Clone, Copy, Debug)]
struct Field {
    elements: Elements,
    address: Pointer,
    leading: usize,
}

impl Field {
    fn new(elements: Elements, address: Pointer, leading: i64) -> Self {
        let leading = usize::try_from(leading).expect("a leading dimension");
        let field = Self {
            elements,
            address,
            leading,
        };
        let is_aligned = (address as usize).is_multiple_of(field.item());
        assert!(is_aligned && leading > 0, "{field:?}");
        field
    }

    fn item(&self) -> usize {
        self.elements.dtype().size()
    }

    /// The memory of a matrix of a size.
    fn area(&self, rows: usize, columns: usize) -> Area {
        assert!(rows > 0 && columns > 0 && self.leading >= rows, "{self:?}");
        Area {
            address: self.address,
            bytes: ((columns - 1) * self.leading + rows) * self.item(),
        }
    }

    /// The same field so many elements further on.
    fn behind(&self, elements: usize) -> Self {
        Self {
            address: self.address + (elements * self.item()) as Pointer,
            ..*self
        }
    }

    /// The address of so many bytes into an element.
    fn place(&self, row: usize, column: usize, bytes: usize) -> *mut u8 {
        let element = column * self.leading + row;
        let address = self.address as usize + element * self.item() + bytes;
        std::ptr::with_exposed_provenance_mut(address)
    }

    fn get(&self, row: usize, column: usize) -> Complex<f64> {
        let dtype = self.elements.dtype();
        let part = |index: usize| {
            let real = dtype.real();
            let place: *const u8 = self.place(row, column, index * real.size());
            // SAFETY: the call has checked that the memory is live; its own step runs alone.
            let bytes = unsafe { std::slice::from_raw_parts(place, real.size()) };
            Scalar::from_bytes(real, bytes).map_or(0.0, Scalar::to_f64)
        };
        Complex::new(part(0), if dtype.is_complex() { part(1) } else { 0.0 })
    }

    fn set(&self, row: usize, column: usize, value: Complex<f64>) {
        let dtype = self.elements.dtype();
        let parts = if dtype.is_complex() { 2 } else { 1 };
        for (index, part) in [value.re, value.im].into_iter().take(parts).enumerate() {
            let real = dtype.real();
            let bytes = Scalar::Float(part).to_bytes(real);
            let place = self.place(row, column, index * real.size());
            // SAFETY: as for `get`.
            unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), real.size()) };
        }
    }

    /// Makes rubbish of a matrix of a size.
    fn spoil(&self, rows: usize, columns: usize) {
        for column in 0..columns {
            for row in 0..rows {
                self.set(row, column, Complex::new(f64::NAN, f64::NAN));
            }
        }
    }
}

/// Writes an answer.
///
/// # Safety
/// As the library's functions, the caller gives a place of the type.
unsafe fn answer<T>(place: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { place.write(value) };
}
