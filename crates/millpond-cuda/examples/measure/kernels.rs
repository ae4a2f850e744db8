//! Kernels, and where the time of one goes: until it is submitted, until whoever waits is told, and what
//! of that is the device's.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_hal::code::{Arguments, Call, DeviceCode, Launch, Launches};
use millpond_hal::{
    Access, Address, Command, DeviceError, Footprint, HostKernel, KernelError, Queue, QueueOptions,
};
use millpond_types::MemoryKind;

use crate::{Bench, best, submit};

/// Elements of large kernels.
const LARGE: usize = 40_000_000;

/// Launches in a row.
const MANY: u32 = 2000;

const SOURCE: &str = r#"
struct Arguments {
    const float4* x;
    float4* y;
    unsigned long long packs, times;
};
extern "C" __global__ void triple(const Arguments a) {
    const unsigned long long at = blockIdx.x * 256ull + threadIdx.x;
    if (at >= a.packs) return;
    float4 v = a.x[at];
    for (unsigned long long n = 0; n < a.times; n++) {
        v.x = 3 * v.x + 1;
        v.y = 3 * v.y + 1;
        v.z = 3 * v.z + 1;
        v.w = 3 * v.w + 1;
    }
    a.y[at] = v;
}
"#;

/// Writes three times operand 1 and one, so many times over, to operand 0: device code alone.
struct Triple {
    elements: usize,
    times: usize,
}

// SAFETY: it touches its operands' elements, and nothing on the host.
unsafe impl HostKernel for Triple {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let access = [Access::Write, Access::Read][operand];
        let bytes = 0..4 * self.elements;
        Footprint { bytes, access }
    }

    fn extent(&self) -> usize {
        self.elements
    }

    fn grain(&self) -> usize {
        self.elements
    }

    unsafe fn run(&self, _: &[Address], _: Range<usize>) -> Result<(), KernelError> {
        Err(KernelError::from("it is the device's".to_owned()))
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        Some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "triple of {} elements", self.elements)
    }
}

// SAFETY: threads stay within the elements.
unsafe impl DeviceCode for Triple {
    fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"triple");
    }

    fn source(&self) -> String {
        SOURCE.to_owned()
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        let packs = self.elements / 4;
        let mut arguments = Arguments::default();
        arguments.push_address(call.bases[1]);
        arguments.push_address(call.bases[0]);
        arguments.push((packs as u64).to_ne_bytes());
        arguments.push((self.times as u64).to_ne_bytes());
        Launches::from_iter([Launch {
            entry: "triple",
            blocks: [packs.div_ceil(256) as u32, 1, 1],
            threads: 256,
            shared_memory: 0,
            arguments,
        }])
    }
}

impl Bench {
    fn triple(&self, elements: usize, times: usize) -> impl Fn() -> Command + use<> {
        let memory = [(); 2].map(|()| self.memory(MemoryKind::Device, 4 * elements));
        let bases = memory.map(|memory| memory.address);
        move || Command::Launch {
            kernel: Arc::new(Triple { elements, times }),
            bases: bases.iter().copied().collect(),
        }
    }

    /// # Errors
    /// A device that is lost.
    pub(crate) fn kernels(&self) -> Result<(), DeviceError> {
        let options = QueueOptions {
            profiling: true,
            ..QueueOptions::default()
        };
        let timed = self.device.create_queue(&options)?;
        println!("{:48} submitted, told, and of that the device's:", "");
        for (elements, times) in [(1000, 1), (LARGE / 8, 1), (LARGE, 1), (LARGE, 8000)] {
            let make = self.triple(elements, times);
            let whole = || (submit(&*self.queue, make(), &[]), Instant::now());
            self.wait(whole().0);
            let (mut submitted, mut told) = (Duration::MAX, Duration::MAX);
            for _ in 0..50 {
                let begin = Instant::now();
                let (point, end) = whole();
                self.wait(point);
                told = told.min(begin.elapsed());
                submitted = submitted.min(end - begin);
            }
            let device = (0..20).map(|_| run(&*timed, make()));
            let device = device.min().unwrap_or_default();
            let what = format!("kernel of {elements} elements, {times} times");
            println!("{what:48} {submitted:>12.2?} {told:>12.2?} {device:>12.2?}");
        }
        let make = self.triple(1000, 1);
        let many = best(5, || {
            let mut last = submit(&*self.queue, make(), &[]);
            for _ in 1..MANY {
                last = submit(&*self.queue, make(), &[]);
            }
            self.wait(last);
        });
        println!("{:48} {:>12.2?}", "kernels in a row, each", many / MANY);
        let behind = best(5, || {
            let mut last = submit(&*self.queue, make(), &[]);
            for _ in 1..MANY {
                last = submit(&*self.queue, make(), &[last]);
            }
            self.wait(last);
        });
        let what = "kernels that name the one before, each";
        println!("{what:48} {:>12.2?}", behind / MANY);
        Ok(())
    }
}

/// How long a command took by the device's clock.
fn run(queue: &dyn Queue, command: Command) -> Duration {
    let point = submit(queue, command, &[]);
    queue.wait(point.sequence, None);
    let times = queue.times(point.sequence);
    times.map_or(Duration::MAX, |times| {
        times.finished.saturating_sub(times.started)
    })
}
