//! Graphs with the memory that they run in.

use std::fmt;
use std::sync::Arc;

use millpond_hal::Address;

use crate::error::{Error, Result};
use crate::graph::builder::GraphBuilder;
use crate::graph::operand::GraphMemory;
use crate::graph::plan::{Placement, RequiredMemory};
use crate::graph::program::Program;
use crate::lifecycle;
use crate::memory::Allocation;
use crate::pool::{GRANULE, Pool, Zero};
use crate::queue::Queue;
use crate::queue::fit::check_range;

/// A recording with memory to run in. `Send` and `Sync`; launching needs it alone, so that its
/// launches have one order.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Device, GraphOptions, MemoryKind, Pattern};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// # let queue = device.default_queue()?;
/// let mut recording = device.build_graph(GraphOptions::default());
/// let result = recording.allocate(512)?;
/// recording.fill(result, 0..512, Pattern::new(&[1, 0]).unwrap())?;
///
/// let mut graph = recording.instantiate(&queue, &device.pool(MemoryKind::Device))?;
/// graph.launch(&queue)?;
/// let memory = graph.output(result)?;
/// assert_eq!(memory.address(), graph.address(result)?);
/// // The result is in use: another launch would overwrite it.
/// assert!(graph.launch(&queue).is_err());
/// drop(memory);
/// graph.launch(&queue)?.wait()?;
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
pub struct Graph {
    pub(super) program: Arc<Program>,
    pub(super) workspace: Allocation,
    /// The graph's memory, by number.
    pub(super) regions: Vec<Region>,
    required: RequiredMemory,
    /// Whether memory is zero when its life begins.
    pub(super) zero: bool,
    /// Whether the last launch was submitted to its end.
    pub(super) launched: bool,
}

/// Where memory of a graph lies.
#[derive(Debug)]
pub(super) struct Region {
    /// A part of the workspace, or all of an allocation of its own if it outlives launches.
    pub(super) memory: Allocation,
    /// Those whose bytes it takes over.
    pub(super) predecessors: Vec<usize>,
}

impl GraphBuilder {
    /// Makes a graph of the recording so far, with a workspace of its own from a pool. Both are at
    /// home on the queue, which is not the only one that the graph can be launched on.
    ///
    /// # Errors
    /// As for [`Queue::allocate_from`]; the recording stays as it is.
    pub fn instantiate(&self, queue: &Queue, pool: &Pool) -> Result<Graph> {
        let bytes = self.required_memory().workspace;
        self.instantiate_in(&queue.allocate_from(pool, bytes)?)
    }

    /// Makes a graph of the recording so far that runs in the memory given, at its beginning.
    ///
    /// Graphs may share a workspace, since launches that do come one after the other; nothing stays
    /// in it from one to the next. Memory that outlives a launch isn't there: it is allocated now,
    /// from the pool that the workspace comes from.
    ///
    /// # Errors
    /// [`Error::Bounds`] for a workspace that is too small; [`Error::Invalid`] for one whose
    /// address is no multiple of 256, or that commands of the graph name;
    /// [`Error::DeviceMismatch`]; as for [`Queue::allocate_from`].
    pub fn instantiate_in(&self, workspace: &Allocation) -> Result<Graph> {
        lifecycle::check("instantiating a graph")?;
        let program = Arc::clone(&self.program);
        let placement = Placement::of(&program.lives);
        let what = "graph workspace";
        check_workspace(&program, workspace, placement.required.workspace, what)?;
        let pool = workspace.block().pool();
        let home = workspace.home();
        let predecessors = placement.predecessors(&program.lives);
        let mut regions = Vec::with_capacity(predecessors.len());
        for (index, predecessors) in predecessors.into_iter().enumerate() {
            let life = program.lives[index];
            let memory = if life.end.is_some() {
                workspace.part(placement.offsets[index], life.bytes)
            } else {
                let whole = match pool {
                    Some(pool) => pool.allocate(home.core(), life.bytes)?,
                    None => home.allocate(workspace.kind(), life.bytes)?,
                };
                whole.part(0, life.bytes)
            };
            regions.push(Region {
                memory,
                predecessors,
            });
        }
        Ok(Graph {
            program,
            workspace: workspace.clone(),
            regions,
            required: placement.required,
            zero: pool.is_some_and(|pool| pool.options.zero == Zero::Always),
            launched: false,
        })
    }
}

fn check_workspace(
    program: &Program,
    workspace: &Allocation,
    required: usize,
    what: &'static str,
) -> Result<()> {
    check_range(what, workspace.bytes(), 0, required)?;
    if workspace.device() != program.device {
        return Err(Error::DeviceMismatch {
            operation: what.to_owned(),
            operand: 0,
            found: workspace.device().name().to_owned(),
            expected: program.device.name().to_owned(),
        });
    }
    let address = workspace.address();
    let reason = if required > 0 && !address.get().is_multiple_of(GRANULE) {
        format!("its address {address} is not a multiple of {GRANULE}")
    } else if program.held.iter().any(|held| held.same_as(workspace)) {
        format!("commands of graph '{}' name it", program.name)
    } else {
        return Ok(());
    };
    Err(Error::Invalid { what, reason })
}

impl Graph {
    /// What it took from its pool.
    pub fn required_memory(&self) -> RequiredMemory {
        self.required
    }

    /// What its memory lies in, but for its outputs. Other graphs may be instantiated there.
    pub fn workspace(&self) -> &Allocation {
        &self.workspace
    }

    /// The address that memory of the graph has in every launch.
    ///
    /// # Errors
    /// [`Error::Invalid`] for memory of another graph.
    pub fn address(&self, memory: GraphMemory) -> Result<Address> {
        Ok(self.region("address of graph memory", memory)?.address())
    }

    /// Memory that the last launch left, as an allocation like any other: commands that name it are
    /// ordered by it, it stays as it is until its last handle goes, also if the graph goes before,
    /// and [`Queue::free`] frees it. Then the graph may be launched again.
    ///
    /// # Errors
    /// [`Error::Invalid`] for memory that is freed inside or of another graph, and before the first
    /// launch.
    pub fn output(&self, memory: GraphMemory) -> Result<Allocation> {
        const WHAT: &str = "graph output";
        let region = self.region(WHAT, memory)?;
        let name = &self.program.name;
        let reason = if let Some(end) = self.program.lives[memory.index].end {
            format!(
                "memory {} of graph '{name}' is freed before its step {end}",
                memory.index
            )
        } else if !self.launched {
            format!("graph '{name}' has not been launched")
        } else {
            return Ok(region.clone());
        };
        Err(Error::Invalid { what: WHAT, reason })
    }

    fn region(&self, what: &'static str, memory: GraphMemory) -> Result<&Allocation> {
        let index = self.program.index_of(what, memory)?;
        Ok(&self.regions[index].memory)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let regions = std::mem::take(&mut self.regions);
        if !lifecycle::is_running() {
            std::mem::forget(regions);
            return;
        }
        // What users hold is theirs alone from now on. The rest is dropped without the line.
        let home = self.workspace.home().core();
        let unused: Vec<_> = home.with_line(|_| {
            let regions = regions.into_iter();
            regions.map(|region| region.memory.let_go()).collect()
        });
        drop(unused);
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("name", &self.program.name)
            .field("steps", &self.program.steps.len())
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}
