//! Foreign memory: commands on a vector of the program's own, without a copy.
//!
//! Shows: wrapping memory, using it as an array, and the release that gives it back after the last
//! use. Wrapping is the one call here that the compiler can't check: whoever makes it promises
//! what its documentation asks.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;
use std::sync::mpsc;

use millpond::tensor::Tensor;
use millpond::types::Layout;
use millpond::{Address, Allocation, DType, MemoryKind, Queue, Release};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let queue = millpond::default_device()?.default_queue()?;

    let (sender, receiver) = mpsc::channel();
    let memory = import(&queue, vec![1.0_f64, 4.0, 9.0, 16.0], move |vector| {
        // Runs on any thread, so it only hands the vector over.
        let _ = sender.send(vector);
    })?;

    let layout = Layout::contiguous(&[2, 2], DType::Float64.size())?;
    let array = Tensor::from_parts(memory, DType::Float64, layout, false)?;
    array.assign(&array.sqrt()?)?;
    println!("{:?}", array.to_vec::<f64>()?);

    // The last handle goes, and after the last use the vector comes back.
    drop(array);
    let vector = receiver.recv()?;
    assert_eq!(vector, [1.0, 2.0, 3.0, 4.0]);
    Ok(())
}

/// Wraps a vector; `give_back` gets it after the last use.
#[allow(
    unsafe_code,
    reason = "memory of the program's own is promised to be there"
)]
fn import(
    queue: &Queue,
    mut vector: Vec<f64>,
    give_back: impl FnOnce(Vec<f64>) + Send + 'static,
) -> Result<Allocation, millpond::Error> {
    let address = Address::of(vector.as_mut_ptr());
    let bytes = size_of_val(vector.as_slice());
    let release = Release::anywhere(move || give_back(vector));
    // SAFETY: the release owns the vector, whose elements stay where they are when it is moved, so
    // they are initialised and may be read and written until the release is called; nobody else
    // can reach them before. Host memory may be used by the CPU.
    unsafe { queue.import(MemoryKind::Host, address, bytes, release) }
}
