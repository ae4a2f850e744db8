//! Recording graphs.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use millpond_hal::{Access, Address, HostKernel, Pattern};
use smallvec::SmallVec;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::operand::{GraphMemory, GraphOperand, GraphUse};
use crate::graph::plan::{Life, Placement, RequiredMemory};
use crate::graph::program::{Place, Program, Step, Work};
use crate::queue::fit::{check_copy, check_device, check_fill, check_kernel, overwrite};
use crate::queue::work::TaskResult;

/// How a graph is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphOptions {
    /// What messages and traces call it.
    pub name: Option<String>,
    /// A launch frees what the launch before left and somebody still holds. Handles to it are
    /// invalid from then on: commands that name them fail with [`Error::Revoked`]. Without it,
    /// such a launch is refused.
    pub auto_free: bool,
}

/// Records commands and allocations for a [`Graph`](crate::Graph). Nothing is called or submitted
/// meanwhile, and what other threads or queues do is no part of it. `Send` and `Sync`.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Access, Device, GraphOptions, GraphUse, MemoryKind};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// # let queue = device.default_queue()?;
/// # let input = queue.allocate(MemoryKind::Device, 1000)?;
/// let mut recording = device.build_graph(GraphOptions::default());
/// let copied = recording.allocate(1000)?;
/// recording.copy(&input, 0, copied, 0, 1000)?;
/// let uses = [GraphUse::new(copied, Access::Read)];
/// recording.task("look", &uses, |addresses| {
///     assert_eq!(addresses.len(), 1);
///     Ok(())
/// })?;
/// assert_eq!(recording.required_memory().outputs, 1024);
/// recording.free(copied)?;
/// assert_eq!(recording.required_memory().workspace, 1024);
/// assert!(recording.free(copied).is_err());
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
pub struct GraphBuilder {
    pub(super) program: Arc<Program>,
}

impl Device {
    /// Begins to record a graph for queues of this device.
    pub fn build_graph(&self, options: GraphOptions) -> GraphBuilder {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let name = options.name.unwrap_or_else(|| "graph".to_owned());
        GraphBuilder {
            program: Arc::new(Program {
                recording: NEXT.fetch_add(1, Ordering::Relaxed),
                name: Arc::from(name),
                auto_free: options.auto_free,
                device: self.clone(),
                lives: Vec::new(),
                held: Vec::new(),
                steps: Vec::new(),
            }),
        }
    }
}

impl GraphBuilder {
    /// Records an allocation. Its bytes are uninitialised at the beginning of its life in each
    /// launch, or zero if the pool has zeros always; its address is fixed when the graph is
    /// instantiated.
    ///
    /// # Errors
    /// [`Error::Invalid`] for more bytes than any address space has.
    pub fn allocate(&mut self, bytes: usize) -> Result<GraphMemory> {
        if isize::try_from(bytes).is_err() {
            return Err(Error::Invalid {
                what: "graph allocation",
                reason: format!("{bytes} bytes are more than an address space has"),
            });
        }
        let program = Arc::make_mut(&mut self.program);
        let index = program.lives.len();
        program.lives.push(Life {
            bytes,
            begin: program.steps.len(),
            end: None,
        });
        program.steps.push(Step::Begin(index));
        Ok(GraphMemory {
            recording: program.recording,
            index,
        })
    }

    /// Records the end of an allocation's life, behind all that was recorded on it. Memory that is
    /// never freed outlives the launch: [`Graph::output`](crate::Graph::output) hands it out.
    ///
    /// # Errors
    /// [`Error::Invalid`] for memory that was freed or is another graph's.
    pub fn free(&mut self, memory: GraphMemory) -> Result<()> {
        let index = self.program.index_of_live("graph free", memory)?;
        let program = Arc::make_mut(&mut self.program);
        program.lives[index].end = Some(program.steps.len());
        Ok(())
    }

    /// Records a copy.
    ///
    /// # Errors
    /// As for [`Queue::copy`](crate::Queue::copy); [`Error::Invalid`] for graph memory that was
    /// freed or is another graph's; [`Error::DeviceMismatch`].
    pub fn copy<'a>(
        &mut self,
        src: impl Into<GraphOperand<'a>>,
        src_offset: usize,
        dst: impl Into<GraphOperand<'a>>,
        dst_offset: usize,
        bytes: usize,
    ) -> Result<()> {
        let operands = [src.into(), dst.into()];
        let [src, dst] = self.sizes("graph copy", operands)?;
        let same_memory = operands[0].is_same_as(operands[1]);
        check_copy([(src, src_offset), (dst, dst_offset)], bytes, same_memory)?;
        if bytes > 0 {
            let accesses = [Access::Read, overwrite(dst, bytes)];
            let offsets = [src_offset, dst_offset];
            self.push(&operands, &accesses, Work::Copy { offsets, bytes });
        }
        Ok(())
    }

    /// Records a fill.
    ///
    /// # Errors
    /// As for [`Queue::fill`](crate::Queue::fill) and [`GraphBuilder::copy`].
    pub fn fill<'a>(
        &mut self,
        dst: impl Into<GraphOperand<'a>>,
        range: Range<usize>,
        pattern: Pattern,
    ) -> Result<()> {
        let operands = [dst.into()];
        let [size] = self.sizes("graph fill", operands)?;
        check_fill(size, &range, pattern)?;
        let bytes = range.len();
        if bytes > 0 {
            let work = Work::Fill {
                offset: range.start,
                pattern,
                bytes,
            };
            self.push(&operands, &[overwrite(size, bytes)], work);
        }
        Ok(())
    }

    /// Records a kernel over its whole extent.
    ///
    /// # Errors
    /// Operands that don't fit the kernel; else as for [`GraphBuilder::copy`].
    pub fn launch<K: HostKernel + 'static>(
        &mut self,
        kernel: K,
        operands: &[GraphOperand<'_>],
    ) -> Result<()> {
        let sizes: SmallVec<[usize; 4]> = self.each_size("graph launch", operands)?;
        let accesses = check_kernel(&kernel, &sizes)?;
        self.push(operands, &accesses, Work::Launch(Arc::new(kernel)));
        Ok(())
    }

    /// Records a host task, which every launch runs again. It gets the addresses of its operands,
    /// in their order; whoever dereferences them answers that it stays within what it said. The
    /// closure may submit to queues; it must not wait for work behind itself.
    ///
    /// # Errors
    /// As for [`GraphBuilder::copy`].
    pub fn task(
        &mut self,
        name: impl Into<Arc<str>>,
        uses: &[GraphUse<'_>],
        body: impl Fn(&[Address]) -> TaskResult + Send + Sync + 'static,
    ) -> Result<()> {
        let operands: SmallVec<[_; 4]> = uses.iter().map(|use_| use_.operand).collect();
        let accesses: SmallVec<[_; 4]> = uses.iter().map(|use_| use_.access).collect();
        self.each_size("graph task", &operands)?;
        let work = Work::Task {
            name: name.into(),
            body: Arc::new(body),
        };
        self.push(&operands, &accesses, work);
        Ok(())
    }

    /// What a graph of the recording so far takes from a pool, but for the pool's own rounding.
    pub fn required_memory(&self) -> RequiredMemory {
        Placement::of(&self.program.lives).required
    }

    fn sizes<const N: usize>(
        &self,
        what: &'static str,
        operands: [GraphOperand<'_>; N],
    ) -> Result<[usize; N]> {
        let sizes = self.each_size(what, &operands)?;
        Ok(std::array::from_fn(|index| sizes[index]))
    }

    /// The sizes of operands, which may be used here.
    fn each_size(
        &self,
        what: &'static str,
        operands: &[GraphOperand<'_>],
    ) -> Result<SmallVec<[usize; 4]>> {
        let size = |(position, operand): (usize, &GraphOperand<'_>)| match operand {
            GraphOperand::Memory(memory) => {
                let index = self.program.index_of_live(what, *memory)?;
                Ok(self.program.lives[index].bytes)
            }
            GraphOperand::Allocation(memory) => {
                check_device(&self.program.device, position, memory, || what.to_owned())?;
                Ok(memory.bytes())
            }
        };
        operands.iter().enumerate().map(size).collect()
    }

    /// Appends a command whose operands were checked.
    fn push(&mut self, operands: &[GraphOperand<'_>], accesses: &[Access], work: Work) {
        let program = Arc::make_mut(&mut self.program);
        let place = |&operand: &GraphOperand<'_>| match operand {
            GraphOperand::Memory(memory) => Place::Memory(memory.index),
            GraphOperand::Allocation(memory) => Place::Held(program.hold(memory)),
        };
        let places = operands.iter().map(place);
        let operands = places.zip(accesses.iter().copied()).collect();
        program.steps.push(Step::Command { operands, work });
    }
}

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder")
            .field("name", &self.program.name)
            .field("steps", &self.program.steps.len())
            .finish_non_exhaustive()
    }
}
