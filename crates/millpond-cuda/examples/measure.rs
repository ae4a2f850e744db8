//! How long submissions, waits, copies and fills take on the first device: each the best of some
//! runs, with the rate where bytes are moved.
//!
//! ```text
//! cargo run --release -p millpond-cuda --example measure
//! ```

#![allow(unsafe_code, reason = "submits commands on raw addresses")]
#![allow(
    clippy::print_stdout,
    reason = "a program whose purpose is to print times"
)]

use std::alloc::Layout;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_cuda::{CudaConfig, CudaDriver};
use millpond_hal::{
    Address, Command, Device, Driver, Pattern, Point, Queue, QueueOptions, RawAllocation,
    Submission, Wait,
};
use millpond_types::MemoryKind;

/// Bytes of large transfers.
const LARGE: usize = 1 << 30;

struct Bench {
    device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
}

impl Bench {
    fn memory(&self, kind: MemoryKind, bytes: usize) -> RawAllocation {
        let layout = Layout::from_size_align(bytes, 256).expect("a layout");
        self.device.allocate(kind, layout).expect("memory")
    }

    fn submit(&self, queue: &dyn Queue, command: Command, after: &[Point]) -> Point {
        let submission = Submission {
            after,
            ..Submission::new(command)
        };
        // SAFETY: the memory lives until the end of the program, which waits for each command.
        unsafe { queue.submit(submission) }.expect("a command is submitted")
    }

    fn wait(&self, point: Point) {
        assert_eq!(self.queue.wait(point.sequence, None), Wait::Reached);
        assert_eq!(self.queue.outcome(point.sequence), Some(Ok(())));
    }

    fn once(&self, command: Command) {
        self.wait(self.submit(&*self.queue, command, &[]));
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
    let driver = CudaDriver::new(CudaConfig::default());
    let devices = driver.devices()?;
    println!("{}", driver.report());
    let Some(device) = devices.first() else {
        return Ok(());
    };
    println!("{:?}", device.info());
    let queue = device.create_queue(&QueueOptions::default())?;
    let bench = Bench {
        device: Arc::clone(device),
        queue,
    };
    let [a, b] = [(); 2].map(|()| bench.memory(MemoryKind::Device, LARGE));
    let pinned = bench.memory(MemoryKind::Host, LARGE);
    let managed = bench.memory(MemoryKind::Shared, 256 << 20);
    let mut ordinary = vec![1_u8; LARGE];
    ordinary.fill(2);
    let ordinary = Address::of(ordinary.as_mut_ptr());
    let (a, b, pinned, managed) = (a.address, b.address, pinned.address, managed.address);

    let large = LARGE;
    bench.time("fill, 4 bytes", large, || fill(a, &[1, 2, 3, 4], large));
    bench.time("fill, 8 bytes", large, || {
        fill(a, &[1, 2, 3, 4, 5, 6, 7, 8], large)
    });
    bench.time("fill, 1 byte at an odd address", large - 1, || {
        fill(a.offset(1), &[7], large - 1)
    });
    bench.time("copy on the device (bytes read)", large, || copy(a, b, large));
    bench.time("copy pinned to device", large, || copy(pinned, a, large));
    bench.time("copy device to pinned", large, || copy(a, pinned, large));
    bench.time("copy ordinary to device", large, || copy(ordinary, a, large));
    bench.time("copy device to ordinary", large, || copy(a, ordinary, large));
    bench.time("copy managed to device", 256 << 20, || copy(managed, a, 256 << 20));
    for bytes in [4, 4 << 10, 64 << 10] {
        bench.time(&format!("copy {bytes} bytes device to pinned"), bytes, || {
            copy(a, pinned, bytes)
        });
        bench.time(&format!("copy {bytes} bytes ordinary to device"), bytes, || {
            copy(ordinary, a, bytes)
        });
        bench.time(&format!("copy {bytes} bytes device to ordinary"), bytes, || {
            copy(a, ordinary, bytes)
        });
    }
    bench.time("fill of 4 bytes", 4, || fill(a, &[1], 4));

    const MANY: u32 = 2000;
    let many = best(5, || {
        let points = (0..MANY).map(|_| bench.submit(&*bench.queue, fill(a, &[1], 4), &[]));
        bench.wait(points.last().expect("many"));
    });
    println!("{:48} {:>12.2?}", "fills in a row, each", many / MANY);
    let submit = best(5, || {
        for _ in 0..200 {
            bench.submit(&*bench.queue, fill(a, &[1], 4), &[]);
        }
    });
    println!("{:48} {:>12.2?}", "submission of a fill", submit / 200);
    bench.once(Command::Barrier);

    let other = device.create_queue(&QueueOptions::default())?;
    let chain = best(5, || {
        let mut last = bench.submit(&*bench.queue, fill(a, &[1], 4), &[]);
        for _ in 0..MANY / 2 {
            let there = bench.submit(&*other, fill(b, &[1], 4), &[last]);
            last = bench.submit(&*bench.queue, fill(a, &[1], 4), &[there]);
        }
        bench.wait(last);
    });
    println!("{:48} {:>12.2?}", "a chain between two queues, each step", chain / MANY);
    let task = best(20, || {
        bench.once(Command::Task {
            name: "nothing".into(),
            task: Box::new(|| Ok(())),
        });
    });
    println!("{:48} {task:>12.2?}", "host task and its wait");
    let layout = Layout::from_size_align(64 << 20, 256)?;
    for kind in MemoryKind::ALL {
        let pair = best(10, || {
            let memory = device.allocate(kind, layout).expect("memory");
            // SAFETY: nothing uses it.
            unsafe { device.release(memory) };
        });
        println!("{:48} {pair:>12.2?}", format!("{kind} memory of 64 MiB, taken and given back"));
    }
    device.shutdown();
    Ok(())
}
