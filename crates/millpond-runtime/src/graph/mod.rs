//! Graphs: commands and allocations that are recorded once and launched many times.
//!
//! # Model
//! A [`GraphBuilder`] records: allocations and frees of *graph memory*, and commands on it and on
//! ordinary allocations. From the recording follows how much memory the graph needs
//! ([`GraphBuilder::required_memory`]): each graph allocation lives from where it was recorded to
//! where its free was, and allocations whose lives don't overlap share bytes. A [`Graph`] is the
//! recording with memory to run in: a *workspace* for what is freed inside, and an allocation for
//! each piece of memory that isn't, its *outputs*. Addresses are fixed from then on.
//!
//! # Guarantees
//! * Recording calls nothing: no driver, no queue, no pool. It sees only what it is told.
//! * Everything that a graph names stays allocated for as long as the builder or the graph lives.
//! * A launch is one step: nothing comes between its commands, neither on their queue nor on their
//!   memory. It allocates nothing from pools and calls drivers to submit its commands only.
//! * The order is that of eager submission (rules O1 to O3): launches that share memory come one
//!   after the other, whatever graphs and queues they are of; commands within one launch on an
//!   out-of-order queue overlap unless they share bytes.
//! * The event of a launch fails if any of its commands did (O7). The next launch begins anew.
//! * Dropping a graph while launches are pending is safe (M1, M2).
//!
//! # Example
//! ```
//! # use millpond_hal::{Driver, null::NullDriver};
//! # use millpond_runtime::{Device, GraphOptions, MemoryKind, Pattern};
//! # let device = Device::open(NullDriver::default().devices()?.remove(0));
//! let queue = device.default_queue()?;
//! let result = queue.allocate(MemoryKind::Device, 4096)?;
//!
//! let mut recording = device.build_graph(GraphOptions::default());
//! let scratch = recording.allocate(4096)?;
//! recording.fill(scratch, 0..4096, Pattern::new(&[7]).unwrap())?;
//! recording.copy(scratch, 0, &result, 0, 4096)?;
//! recording.free(scratch)?;
//! assert_eq!(recording.required_memory().workspace, 4096);
//!
//! let mut graph = recording.instantiate(&queue, &device.pool(MemoryKind::Device))?;
//! for _ in 0..3 {
//!     graph.launch(&queue)?;
//! }
//! queue.wait()?;
//! # Ok::<(), millpond_runtime::Error>(())
//! ```
//!
//! # Where to look
//! `builder` records, `program` is what was recorded, `plan` says where memory lies, `launch` runs
//! it. Deliberately not here: capture of what other code submits, and conditional nodes.

mod builder;
mod instance;
mod launch;
mod operand;
mod plan;
mod program;

pub use builder::{GraphBuilder, GraphOptions};
pub use instance::Graph;
pub use operand::{GraphMemory, GraphOperand, GraphUse};
pub use plan::RequiredMemory;
