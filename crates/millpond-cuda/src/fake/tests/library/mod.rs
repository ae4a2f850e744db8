//! Kernels that are work of libraries: whatever their sizes and layouts, results are those of the host.

mod factorisations;
mod products;
mod transforms;

use std::sync::Arc;

use millpond_hal::{Address, Command, Device, Driver, Failure, HostKernel, Queue};
use millpond_testkit::contract::raw::Memory;
use millpond_testkit::dice::Dice;
use millpond_testkit::trial;
use millpond_types::{DType, Layout, MemoryKind, Scalar};

use super::super::library::{FakeBlas, FakeFft, FakeSolver, furnish};
use super::super::{Fake, FakeCompiler};
use super::{copy, give, outcome, queue};
use crate::CudaDriver;
use crate::library::Libraries;
use crate::program::Workshop;

/// A device with libraries, and what stands behind it.
struct Bench {
    fake: Arc<Fake>,
    blas: Arc<FakeBlas>,
    fft: Arc<FakeFft>,
    solver: Arc<FakeSolver>,
    driver: CudaDriver,
    device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
}

impl Bench {
    fn new() -> Self {
        Self::with(|blas, fft, solver| Libraries::of(Some(blas), Some(fft), Some(solver)))
    }

    /// A device that has the kernels beside libraries as well; `None` where nothing compiles them.
    fn with_pieces() -> Option<Self> {
        let bench = Self::new();
        furnish(&bench.fake).then_some(bench)
    }

    /// A device with some of the libraries.
    fn with(
        libraries: impl FnOnce(Arc<FakeBlas>, Arc<FakeFft>, Arc<FakeSolver>) -> Libraries,
    ) -> Self {
        let fake = Fake::new(1);
        let (blas, fft, solver) = (
            FakeBlas::new(&fake),
            FakeFft::new(&fake),
            FakeSolver::new(&fake),
        );
        let libraries = libraries(Arc::clone(&blas), Arc::clone(&fft), Arc::clone(&solver));
        let workshop = Workshop::new(Arc::new(Arc::<FakeCompiler>::default()), None);
        let api: crate::api::Found = fake.clone();
        let driver = CudaDriver::over_all(api, Some(workshop), libraries);
        let device = driver.devices().expect("it works").remove(0);
        let queue = queue(&device);
        Self {
            fake,
            blas,
            fft,
            solver,
            driver,
            device,
            queue,
        }
    }

    /// Runs a kernel on the device, on copies of the operands that come back.
    fn run(
        &self,
        kernel: impl HostKernel + 'static,
        operands: &mut [Vec<u8>],
    ) -> Result<(), Failure> {
        let memories: Vec<Memory> = operands
            .iter()
            .map(|bytes| Memory::new(&self.device, MemoryKind::Device, bytes.len().max(1)))
            .map(|memory| memory.expect("memory"))
            .collect();
        for (memory, bytes) in memories.iter().zip(operands.iter()) {
            let from = Address::of(bytes.as_ptr());
            give(&self.queue, copy(from, memory.address(), bytes.len()), &[]);
        }
        let command = Command::Launch {
            kernel: Arc::new(kernel),
            bases: memories.iter().map(Memory::address).collect(),
        };
        let launched = outcome(&self.queue, give(&self.queue, command, &[]));
        for (memory, bytes) in memories.iter().zip(operands) {
            let to = Address::of(bytes.as_mut_ptr());
            let point = give(&self.queue, copy(memory.address(), to, bytes.len()), &[]);
            assert_eq!(outcome(&self.queue, point), Ok(()));
        }
        launched
    }

    /// Lets go of the device, and waits until its threads have as well.
    fn end(self) -> (Arc<FakeBlas>, Arc<FakeFft>, Arc<FakeSolver>) {
        let Self {
            fake,
            blas,
            fft,
            solver,
            driver,
            device,
            queue,
        } = self;
        drop((queue, device, driver));
        while fake.held() != (0, 0, 0) {
            std::thread::yield_now();
        }
        (blas, fft, solver)
    }

    /// How often a function was called since the last time.
    fn calls(&self, name: &str) -> usize {
        let calls = self.fake.calls();
        calls.iter().filter(|call| call.starts_with(name)).count()
    }
}

/// Runs a kernel of the host's where it lies.
fn on_host(kernel: &dyn HostKernel, operands: &mut [Vec<u8>]) {
    let mut slices: Vec<&mut [u8]> = operands.iter_mut().map(Vec::as_mut_slice).collect();
    trial::run(kernel, &mut slices, 1000).expect("it runs");
}

/// A layout of a shape as dice throw it: axes in any order, gaps between them, backwards; axes that are
/// `shared`, of those before the last so many, may stand still.
fn any_layout(dice: &mut Dice, shape: &[usize], shared: Option<usize>) -> Layout {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    for index in (1..order.len()).rev() {
        // Often in the order of the shape.
        if dice.roll(4) == 0 {
            order.swap(index, dice.roll(index + 1));
        }
    }
    let mut strides = vec![0_isize; shape.len()];
    let (mut step, mut offset) = (1_isize, 0_isize);
    for &axis in order.iter().rev() {
        let stands = shared.is_some_and(|inner| axis + inner < shape.len()) && dice.roll(3) == 0;
        if stands {
            continue;
        }
        // Elements are seldom apart, rows often.
        if dice.roll(if step == 1 { 12 } else { 3 }) == 0 {
            step += 1 + dice.roll(3) as isize;
        }
        let extent = shape[axis] as isize;
        if dice.roll(12) == 0 {
            strides[axis] = -step;
            offset += step * (extent - 1).max(0);
        } else {
            strides[axis] = step;
        }
        step *= extent.max(1);
    }
    Layout::new(shape, &strides, offset as usize).expect("a layout")
}

/// Memory for a layout, with numbers between -4 and 4.
fn any_numbers(dice: &mut Dice, dtype: DType, layout: &Layout) -> Vec<u8> {
    let real = dtype.real().size();
    let end = layout.byte_span(dtype.size()).end;
    let mut bytes = Vec::with_capacity(end);
    while bytes.len() < end {
        let number = Scalar::Float(dice.roll(9) as f64 - 4.0);
        bytes.extend(&number.to_bytes(dtype.real())[..real]);
    }
    bytes
}

/// The numbers in memory of a dtype, real ones and the parts of complex ones.
fn numbers(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let real = dtype.real();
    let parts = bytes.chunks_exact(real.size());
    let numbers = parts.map(|part| Scalar::from_bytes(real, part).expect("a number").to_f64());
    numbers.collect()
}

/// Asserts that two memories hold the same numbers, but for roundings.
fn assert_near(dtype: DType, one: &[u8], other: &[u8], what: &dyn std::fmt::Display) {
    let (one, other) = (numbers(dtype, one), numbers(dtype, other));
    let largest = one
        .iter()
        .fold(1.0, |most: f64, number| most.max(number.abs()));
    let bound = largest
        * if dtype.real().size() == 4 {
            1e-4
        } else {
            1e-11
        };
    for (index, (a, b)) in one.iter().zip(&other).enumerate() {
        assert!((a - b).abs() <= bound, "{what}: {a} and {b} at {index}");
    }
}

/// A dtype that libraries calculate with.
fn any_dtype(dice: &mut Dice) -> DType {
    let dtypes = [
        DType::Float32,
        DType::Float64,
        DType::Complex64,
        DType::Complex128,
    ];
    dtypes[dice.roll(4)]
}
