//! Memory that is shared with other processes.
//!
//! An [`Export`] makes an allocation of a pool made with
//! [`PoolOptions::shareable`](crate::PoolOptions::shareable) available: a [`MemoryHandle`], which is
//! plain data, and a file descriptor, which is the same for all memory of the pool. How both reach
//! the other process is the program's business. There
//! [`Queue::import_memory`](crate::Queue::import_memory) makes an ordinary
//! [`Allocation`](crate::Allocation) of them; or an [`ImportedPool`], which has the descriptor once,
//! makes one of a handle alone. Whoever has the descriptor can read and write all memory of the
//! pool.
//!
//! What holds between the processes:
//! * Memory that is exported or imported counts as shared with the host: commands on it finish
//!   before the call that submits them returns. So what a process did before it sends a message is
//!   seen by whoever receives it, and nothing else is ordered.
//! * The export keeps the allocation. Once it is dropped, the bytes belong to the pool again when
//!   the allocation is freed, and whoever has them imported sees what they are used for next, or
//!   zeros. So an importer lets go first, and says so; that is CUDA's rule as well.
//! * Imported memory stays valid to read and write, whatever becomes of the process that owns it.
//! * The importer can't allocate from an imported pool, export its memory again, or make it a
//!   current pool. What is imported is no pool's: no statistics count it.
//! * All blocks of one segment are seen through one mapping of it, which goes with the last use of
//!   the last of them.

mod export;
mod handle;
mod import;

pub use export::Export;
pub use handle::{MemoryHandle, PoolHandle};
pub use import::ImportedPool;
pub(crate) use import::Imports;
