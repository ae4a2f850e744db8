//! Prints what the executor's parts cost on this machine.
//!
//! `cargo run --release -p millpond-cpu --example latency`. The figures of a busy machine mean
//! little; nothing is asserted.

#![allow(
    unsafe_code,
    clippy::print_stdout,
    reason = "a program that measures submissions and prints"
)]

use std::alloc::Layout;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{
    Address, Command, Device, DeviceError, Driver, Gate, Pattern, Point, Queue, QueueOptions,
    Submission,
};
use millpond_types::MemoryKind;

/// The median of the repetitions of `body`, each divided by `per`.
fn median(repetitions: usize, per: u32, mut body: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..repetitions)
        .map(|_| {
            let start = Instant::now();
            body();
            start.elapsed() / per
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn submit(queue: &dyn Queue, command: Command) -> Point {
    // SAFETY: this program keeps the memory of its copies and fills until they have finished, and
    // submits from one thread.
    let answer = unsafe { queue.submit(Submission::new(command)) };
    answer.expect("the device is up")
}

fn wait(queue: &dyn Queue, point: Point) {
    queue.wait(point.sequence, None);
}

fn task() -> Command {
    Command::Task {
        name: Arc::from("nothing"),
        task: Box::new(|| Ok(())),
    }
}

fn small_fill(dst: Address) -> Command {
    Command::Fill {
        dst,
        pattern: Pattern::new(&[0]).expect("one byte is a pattern"),
        bytes: 64,
    }
}

fn latencies(device: &dyn Device) -> Result<(), DeviceError> {
    let queue = device.create_queue(&QueueOptions::default())?;
    let queue = &*queue;
    let layout = Layout::from_size_align(64, 64).expect("a layout");
    let memory = device.allocate(MemoryKind::Host, layout)?;
    let dst = memory.address;

    let time = median(200, 1000, || {
        for _ in 0..1000 {
            wait(queue, submit(queue, small_fill(dst)));
        }
    });
    println!("submit and wait, small fill       {time:?}");

    let mut last = None;
    let time = median(200, 1000, || {
        for _ in 0..1000 {
            last = Some(submit(queue, small_fill(dst)));
        }
    });
    if let Some(point) = last {
        wait(queue, point);
    }
    println!("submit, small fill, busy queue    {time:?}");

    let mut commands: Vec<_> = (0..200_000).map(|_| task()).collect();
    let gate = Gate::new();
    submit(queue, Command::Gate(gate.clone()));
    let start = Instant::now();
    let last = commands.drain(..).map(|task| submit(queue, task)).last();
    println!(
        "submit, task, queue at a gate     {:?}",
        start.elapsed() / 200_000
    );
    let start = Instant::now();
    gate.open(Ok(()));
    if let Some(point) = last {
        wait(queue, point);
    }
    println!(
        "drain, task                       {:?}",
        start.elapsed() / 200_000
    );

    let mut woken = Vec::new();
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(2));
        let (sender, receiver) = std::sync::mpsc::channel();
        let command = Command::Task {
            name: Arc::from("stamp"),
            task: Box::new(move || {
                sender
                    .send(Instant::now())
                    .map_err(|error| error.to_string())
            }),
        };
        let start = Instant::now();
        submit(queue, command);
        let submitted = start.elapsed();
        if let Ok(ran) = receiver.recv() {
            woken.push((ran - start, submitted));
        }
    }
    woken.sort();
    let (latency, submitted) = woken[woken.len() / 2];
    println!("idle wake: task runs after        {latency:?}, submit took {submitted:?}");
    // SAFETY: every command that names the memory was waited for.
    unsafe { device.release(memory) };
    Ok(())
}

fn bandwidths(device: &dyn Device, label: &str) -> Result<(), DeviceError> {
    let queue = device.create_queue(&QueueOptions::default())?;
    for bytes in [4 << 20, 16 << 20, 64 << 20, 256 << 20] {
        let layout = Layout::from_size_align(bytes, 64).expect("a layout");
        let [src, dst] = [
            device.allocate(MemoryKind::Device, layout)?,
            device.allocate(MemoryKind::Device, layout)?,
        ];
        let pattern = Pattern::new(&1.5_f32.to_ne_bytes()).expect("four bytes are a pattern");
        let fill = |dst| Command::Fill {
            dst,
            pattern,
            bytes,
        };
        wait(&*queue, submit(&*queue, fill(src.address)));
        let first = median(1, 1, || wait(&*queue, submit(&*queue, fill(dst.address))));
        let filled = median(15, 1, || wait(&*queue, submit(&*queue, fill(dst.address))));
        let copied = median(15, 1, || {
            let copy = Command::Copy {
                src: src.address,
                dst: dst.address,
                bytes,
            };
            wait(&*queue, submit(&*queue, copy));
        });
        let rate = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e9;
        println!(
            "{label:>10} {:>4} MiB: first touch {first:>10.1?}, fill {:5.1} GB/s, copy {:5.1} GB/s \
             of result",
            bytes >> 20,
            rate(filled),
            rate(copied)
        );
        black_box(dst.address);
        for memory in [src, dst] {
            // SAFETY: every command that names the memory was waited for.
            unsafe { device.release(memory) };
        }
    }
    Ok(())
}

fn main() -> Result<(), DeviceError> {
    let device = CpuDriver::new(CpuConfig::default()).devices()?.remove(0);
    println!("{:#?}", device.info());
    latencies(&*device)?;
    let one = CpuConfig {
        devices: Some(vec![vec![0]]),
        ..CpuConfig::default()
    };
    bandwidths(&*CpuDriver::new(one).devices()?.remove(0), "one core")?;
    bandwidths(&*device, "all cores")
}
