//! Memory of two processes: one makes an array, another computes on it, in place.
//!
//! Shows: a pool whose memory can be shared, exporting an array's memory, handing the handle and the
//! descriptor to a process that this one starts, importing them there, and the error for a
//! descriptor of something else.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Command, Stdio};

use millpond::tensor::{Place, Tensor, creation};
use millpond::types::Layout;
use millpond::{
    Allocation, DType, Error as RuntimeError, MemoryHandle, MemoryKind, PoolOptions, Queue,
};

const LEN: usize = 1000;

/// Where the other process finds the handle. The descriptor is its standard input; programs that
/// are connected by a socket send both over it.
pub(crate) const HANDLE: &str = "EXAMPLE_HANDLE";

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    if let Some(handle) = received()? {
        return other_process(&handle);
    }
    let device = millpond::default_device()?;
    let queue = device.default_queue()?;
    let pool = device.create_pool(
        MemoryKind::Shared,
        PoolOptions {
            shareable: true,
            ..PoolOptions::default()
        },
    )?;
    let array = {
        let _scope = pool.scope();
        let place = Place {
            queue: queue.clone(),
            kind: MemoryKind::Shared,
        };
        creation::from_slice(&vec![16.0_f64; LEN], &[LEN], &place)?
    };

    // The export keeps the memory until it is dropped, whatever becomes of the array.
    let memory = array.memory();
    let export = memory.export(0..memory.bytes())?;
    let digits: String = export
        .handle()
        .to_bytes()
        .map(|byte| format!("{byte:02x}"))
        .concat();
    let status = Command::new(std::env::current_exe()?)
        .args(["--exact", "the_other_process"]) // as part of the tests; an example takes none
        .env(HANDLE, digits)
        .stdin(Stdio::from(export.as_fd().try_clone_to_owned()?))
        .stdout(Stdio::null())
        .status()?;
    assert!(status.success());
    assert_eq!(array.to_vec::<f64>()?, vec![4.0; LEN]);
    println!("the other process has taken {LEN} roots");

    // What is handed over is checked: this is a file, but not one that the handle is about.
    let file = File::open("/dev/null")?;
    let answer = import(&queue, export.handle(), file.as_fd());
    let Err(RuntimeError::Handle(error)) = answer else {
        return Err("the file is no memory".into());
    };
    println!("{error}");
    Ok(())
}

/// The handle that this process was given, if it was started by the other.
#[allow(
    clippy::disallowed_methods,
    reason = "no setting of millpond, but the message from the other process"
)]
fn received() -> Result<Option<MemoryHandle>, Box<dyn Error>> {
    let Ok(digits) = std::env::var(HANDLE) else {
        return Ok(None);
    };
    let bytes: Result<Vec<u8>, _> = (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16))
        .collect();
    Ok(Some(MemoryHandle::from_bytes(&bytes?)?))
}

/// What the process does that is started by the other.
fn other_process(handle: &MemoryHandle) -> Result<(), Box<dyn Error>> {
    let queue = millpond::default_device()?.default_queue()?;
    let memory = import(&queue, handle, std::io::stdin().as_fd())?;
    let layout = Layout::contiguous(&[LEN], DType::Float64.size())?;
    let array = Tensor::from_parts(memory, DType::Float64, layout, false)?;
    // Commands on memory that processes share are done when the call returns.
    array.assign(&array.sqrt()?)?;
    Ok(())
}

/// Opens memory of another process.
#[allow(
    unsafe_code,
    reason = "the other process is promised to leave the memory alone meanwhile"
)]
fn import(
    queue: &Queue,
    handle: &MemoryHandle,
    descriptor: BorrowedFd<'_>,
) -> Result<Allocation, RuntimeError> {
    // SAFETY: the process that owns the memory waits for the one that imports it.
    unsafe { queue.import_memory(handle, descriptor) }
}
