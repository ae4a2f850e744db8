//! Buffers, views and calls: `y = a * x + y` over typed memory.
//!
//! Shows: buffers of the three kinds of memory, calls that take them by reference, parts of
//! buffers, reading them by copy and in place.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;

use millpond::{Buffer, MemoryKind};

const LEN: usize = 1000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let queue = millpond::default_device()?.default_queue()?;

    // Device memory is reached by copies; shared and host memory also in place.
    let x = Buffer::from_slice(&queue, MemoryKind::Device, &[1.5_f32; LEN])?;
    let mut y = Buffer::<f32>::zeroed(&queue, MemoryKind::Shared, LEN)?;

    // A call borrows its buffers while it is submitted, not while it runs: `&x` is read, `&mut y`
    // is written. The closure runs on a thread of the device and gets slices.
    let a = 2.0;
    queue.call("saxpy", (&x, &mut y), move |(x, y)| {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    })?;

    // Parts of buffers are operands like whole ones.
    queue.call("clear the end", (y.view_mut(LEN - 10..)?,), |(y,)| {
        y.fill(0.0);
    })?;

    // The call above may not have run yet. Dropping what it reads is fine all the same.
    drop(x);

    // Looking waits for what is looked at. `host` is a slice in place; `y` can't be given to a
    // writing call while it lives, or the program doesn't compile.
    let seen = y.host()?;
    assert!(seen[..LEN - 10].iter().all(|&y| y == 3.0));
    assert!(seen[LEN - 10..].iter().all(|&y| y == 0.0));
    println!("saxpy: {} … {}", seen[0], seen[LEN - 1]);

    // Device memory keeps its rules on a CPU too, so that the program runs elsewhere as well.
    let device_only = Buffer::<f32>::zeroed(&queue, MemoryKind::Device, LEN)?;
    println!("{}", device_only.host().expect_err("it has to be copied"));
    assert_eq!(device_only.to_vec()?, [0.0; LEN]);
    Ok(())
}
