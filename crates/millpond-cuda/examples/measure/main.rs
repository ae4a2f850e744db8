//! How long submissions, waits, copies, fills, kernels, and allocations and frees take on the first device: each the best of
//! some runs, with the rate where bytes are moved. Folders of Python packages may be named that have the
//! compiler, if the system hasn't.
//!
//! ```text
//! cargo run --release -p millpond-cuda --example measure [FOLDER...]
//! ```

#![allow(unsafe_code, reason = "submits commands on raw addresses")]
#![allow(
    clippy::print_stdout,
    reason = "a program whose purpose is to print times"
)]

mod kernels;
mod pools;

use std::alloc::Layout;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_cuda::{CudaConfig, CudaDriver};
use millpond_hal::{
    Address, Command, Device, DeviceError, Driver, Pattern, Point, Queue, QueueOptions,
    RawAllocation, Submission, Wait,
};
use millpond_types::MemoryKind;

/// Bytes of large transfers.
const LARGE: usize = 1 << 30;

/// Bytes of transfers of managed memory, of which little should be asked for.
const MANAGED: usize = 256 << 20;

/// Commands in a row.
const MANY: u32 = 2000;

struct Bench {
    device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
}

impl Bench {
    fn memory(&self, kind: MemoryKind, bytes: usize) -> RawAllocation {
        let layout = Layout::from_size_align(bytes, 256).expect("a layout");
        self.device.allocate(kind, layout).expect("memory")
    }

    fn wait(&self, point: Point) {
        assert_eq!(self.queue.wait(point.sequence, None), Wait::Reached);
        assert_eq!(self.queue.outcome(point.sequence), Some(Ok(())));
    }

    fn once(&self, command: Command) {
        self.wait(submit(&*self.queue, command, &[]));
    }

    /// The best time of a command, to its end.
    fn time(&self, what: &str, bytes: usize, make: impl Fn() -> Command) {
        self.once(make());
        let best = best(20, || self.once(make()));
        let rate = bytes as f64 / best.as_secs_f64() / 1e9;
        if bytes >= 1 << 20 {
            println!("{what:48} {best:>12.2?} {rate:10.1} GB/s");
        } else {
            println!("{what:48} {best:>12.2?}");
        }
    }

    fn transfers(&self) {
        let [a, b] = [(); 2].map(|()| self.memory(MemoryKind::Device, LARGE).address);
        let pinned = self.memory(MemoryKind::Host, LARGE).address;
        let managed = self.memory(MemoryKind::Shared, MANAGED).address;
        let mut ordinary = vec![1_u8; LARGE];
        ordinary.fill(2);
        let ordinary = Address::of(ordinary.as_mut_ptr());

        self.time("fill, 4 bytes", LARGE, || fill(a, &[1, 2, 3, 4], LARGE));
        self.time("fill, 8 bytes", LARGE, || {
            fill(a, &[1, 2, 3, 4, 5, 6, 7, 8], LARGE)
        });
        self.time("fill, 1 byte at an odd address", LARGE - 1, || {
            fill(a.offset(1), &[7], LARGE - 1)
        });
        self.time("copy on the device (bytes read)", LARGE, || {
            copy(a, b, LARGE)
        });
        self.time("copy pinned to device", LARGE, || copy(pinned, a, LARGE));
        self.time("copy device to pinned", LARGE, || copy(a, pinned, LARGE));
        self.time("copy ordinary to device", LARGE, || {
            copy(ordinary, a, LARGE)
        });
        self.time("copy device to ordinary", LARGE, || {
            copy(a, ordinary, LARGE)
        });
        self.time("copy managed to device", MANAGED, || {
            copy(managed, a, MANAGED)
        });
        for bytes in [4, 4 << 10, 64 << 10] {
            for (what, src, dst) in [
                ("device to pinned", a, pinned),
                ("ordinary to device", ordinary, a),
                ("device to ordinary", a, ordinary),
            ] {
                self.time(&format!("copy {bytes} bytes {what}"), bytes, || {
                    copy(src, dst, bytes)
                });
            }
        }
        self.time("fill of 4 bytes", 4, || fill(a, &[1], 4));
    }

    fn submissions(&self) -> Result<(), DeviceError> {
        let [a, b] = [(); 2].map(|()| self.memory(MemoryKind::Device, 4096).address);
        let many = best(5, || {
            let mut last = submit(&*self.queue, fill(a, &[1], 4), &[]);
            for _ in 1..MANY {
                last = submit(&*self.queue, fill(a, &[1], 4), &[]);
            }
            self.wait(last);
        });
        println!("{:48} {:>12.2?}", "fills in a row, each", many / MANY);
        let alone = best(5, || {
            for _ in 0..200 {
                submit(&*self.queue, fill(a, &[1], 4), &[]);
            }
        });
        println!("{:48} {:>12.2?}", "submission of a fill", alone / 200);
        self.once(Command::Barrier);

        let other = self.device.create_queue(&QueueOptions::default())?;
        let chain = best(5, || {
            let mut last = submit(&*self.queue, fill(a, &[1], 4), &[]);
            for _ in 0..MANY / 2 {
                let there = submit(&*other, fill(b, &[1], 4), &[last]);
                last = submit(&*self.queue, fill(a, &[1], 4), &[there]);
            }
            self.wait(last);
        });
        let what = "a chain between two queues, each step";
        println!("{what:48} {:>12.2?}", chain / MANY);
        let task = best(20, || {
            self.once(Command::Task {
                name: "nothing".into(),
                task: Box::new(|| Ok(())),
            });
        });
        println!("{:48} {task:>12.2?}", "host task and its wait");
        for kind in MemoryKind::ALL {
            let pair = best(10, || {
                let memory = self.memory(kind, 64 << 20);
                // SAFETY: nothing uses it.
                unsafe { self.device.release(memory) };
            });
            let what = format!("{kind} memory of 64 MiB, taken and given back");
            println!("{what:48} {pair:>12.2?}");
        }
        Ok(())
    }
}

fn submit(queue: &dyn Queue, command: Command, after: &[Point]) -> Point {
    let submission = Submission {
        after,
        ..Submission::new(command)
    };
    // SAFETY: each command is waited for before its memory ends, and one thread submits.
    unsafe { queue.submit(submission) }.expect("a command is submitted")
}

fn best(runs: usize, mut body: impl FnMut()) -> Duration {
    let times = (0..runs).map(|_| {
        let begin = Instant::now();
        body();
        begin.elapsed()
    });
    times.min().unwrap_or_default()
}

fn copy(src: Address, dst: Address, bytes: usize) -> Command {
    Command::Copy { src, dst, bytes }
}

fn fill(dst: Address, pattern: &[u8], bytes: usize) -> Command {
    let pattern = Pattern::new(pattern).expect("a pattern");
    Command::Fill {
        dst,
        pattern,
        bytes,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut config = CudaConfig::default();
    config.packages = std::env::args_os().skip(1).map(Into::into).collect();
    let driver = CudaDriver::new(config);
    let devices = driver.devices()?;
    println!("{}", driver.report());
    let Some(device) = devices.first() else {
        return Ok(());
    };
    println!("{:?}", device.info());
    println!("compiler: {}", driver.compiler_report().unwrap_or_default());
    let bench = Bench {
        device: Arc::clone(device),
        queue: device.create_queue(&QueueOptions::default())?,
    };
    bench.kernels()?;
    bench.transfers();
    bench.submissions()?;
    pools::pools(device)?;
    device.shutdown();
    Ok(())
}
