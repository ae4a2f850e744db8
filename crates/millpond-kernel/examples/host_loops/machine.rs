//! The processor and its memory, to run kernels on and take their time.

use std::alloc::Layout as Bytes;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{Address, Command, Device, Driver, HostKernel, Queue, QueueOptions, Submission};
use millpond_kernel::{Input, MapKernel};
use millpond_types::{DType, Layout, MemoryKind};

/// Bytes of an operand's memory.
pub(crate) const ROOM: usize = 128 << 20;

/// Different numbers that the memory is filled with, over and over.
const NUMBERS: usize = 1 << 16;

/// How long a measurement goes on.
const PATIENCE: Duration = Duration::from_millis(60);

/// A device with memory for an output and three inputs.
pub(crate) struct Machine {
    _device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
    operands: Vec<Address>,
}

impl Machine {
    /// The default device. Its memory is never given back.
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let device = CpuDriver::new(CpuConfig::default()).devices()?.remove(0);
        let queue = device.create_queue(&QueueOptions::default())?;
        let room = Bytes::from_size_align(ROOM, 64)?;
        let operands = (0..4)
            .map(|_| Ok(device.allocate(MemoryKind::Device, room)?.address))
            .collect::<Result<_, Box<dyn Error>>>()?;
        Ok(Self {
            _device: device,
            queue,
            operands,
        })
    }

    /// Fills an operand with numbers from `low` to `high`.
    pub(crate) fn fill(&self, operand: usize, dtype: DType, (low, high): (f64, f64)) {
        let mut seed = 1_u64 + operand as u64;
        let numbers: Vec<f64> = (0..NUMBERS)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                low + (high - low) * (seed >> 11) as f64 / (1_u64 << 53) as f64
            })
            .collect();
        let layout = Layout::contiguous(&[NUMBERS], 16).expect("a short layout");
        let input = Input::Array(DType::Float64, &layout);
        let kernel = MapKernel::copy((dtype, &layout), input).expect("equal shapes");
        let memory = self.operands[operand];
        let bases = [memory, Address::of(numbers.as_ptr())];
        // SAFETY: an operand has room for the numbers, and nobody else uses it.
        unsafe { kernel.run(&bases, 0..kernel.extent()) }.expect("a copy doesn't fail");
        let (bytes, memory) = (NUMBERS * dtype.size(), memory.as_ptr::<u8>());
        for begin in (bytes..ROOM).step_by(bytes) {
            let part = bytes.min(ROOM - begin);
            // SAFETY: both parts lie within the operand, one behind the other.
            unsafe {
                memory
                    .wrapping_add(begin)
                    .copy_from_nonoverlapping(memory, part);
            };
        }
    }

    /// Seconds of the processor that a kernel takes on this thread: the least of many windows. The
    /// time in which other threads had the processor doesn't count.
    pub(crate) fn alone(&self, kernel: &impl HostKernel) -> f64 {
        let bases = &self.operands[..kernel.operands()];
        let calls = calls(kernel);
        least(|| {
            let begin = thread_time();
            for _ in 0..calls {
                // SAFETY: kernels of this program stay within the operands' room, and nobody else
                // uses it.
                unsafe { kernel.run(bases, 0..kernel.extent()) }.expect("no kernel fails");
                // SAFETY: as above, and every piece was run.
                unsafe { kernel.finish(bases) }.expect("no kernel fails");
            }
            thread_time().saturating_sub(begin) / calls
        })
    }

    /// Seconds that a kernel takes on all threads, from its submission to the end of the wait.
    pub(crate) fn shared(&self, kernel: impl HostKernel + 'static) -> f64 {
        let bases = &self.operands[..kernel.operands()];
        let kernel: Arc<dyn HostKernel> = Arc::new(kernel);
        least(|| {
            let begin = Instant::now();
            let command = Command::Launch {
                kernel: Arc::clone(&kernel),
                bases: bases.into(),
            };
            // SAFETY: kernels of this program stay within the operands' room, which nobody else
            // uses before the wait is over.
            let submitted = unsafe { self.queue.submit(Submission::new(command)) };
            let point = submitted.expect("the device is up");
            self.queue.wait(point.sequence, None);
            begin.elapsed()
        })
    }
}

/// Calls that make a window of some dozens of microseconds.
fn calls(kernel: &impl HostKernel) -> u32 {
    let pieces = kernel.extent().max(kernel.grain() / 64);
    (200_000 / pieces.max(1)).max(1) as u32
}

fn least(mut window: impl FnMut() -> Duration) -> f64 {
    let mut least = Duration::MAX;
    let begin = Instant::now();
    let mut windows = 0;
    while windows < 3 || begin.elapsed() < PATIENCE {
        least = least.min(window());
        windows += 1;
    }
    least.as_secs_f64()
}

/// The time that this thread had a processor for.
fn thread_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes the time to where it is told.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
