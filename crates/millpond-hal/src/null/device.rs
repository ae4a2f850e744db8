//! A device that is only counters.

use std::alloc::Layout;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use millpond_types::MemoryKind;

use super::NullOptions;
use super::queue::NullQueue;
use super::world::World;
use crate::command::Address;
use crate::device::{Device, Partition, RawAllocation};
use crate::error::DeviceError;
use crate::info::{DeviceClass, DeviceInfo, device_label};
use crate::queue::{Queue, QueueOptions};

/// The driver's name.
pub(super) const BACKEND: &str = "null";

/// Alignment of every allocation.
const ALIGNMENT: usize = 64;

/// Cores that the device claims, so that it can be split.
const CORES: usize = 4;

/// Where addresses begin: far above what any system maps for a program, so that a use of one
/// faults instead of hitting something.
const FIRST_ADDRESS: usize = 1 << (usize::BITS - 2);

/// The next address for any device of the process.
static NEXT_ADDRESS: AtomicUsize = AtomicUsize::new(FIRST_ADDRESS);

/// A device without memory or processor.
#[derive(Debug)]
pub struct NullDevice {
    info: DeviceInfo,
    shared: Arc<Shared>,
}

/// What the parts of a device have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) world: Arc<World>,
    allocated: AtomicUsize,
    allocations: AtomicUsize,
    lost: AtomicBool,
}

impl Shared {
    /// # Errors
    /// [`DeviceError::Lost`] once the device was shut down.
    pub(super) fn check_alive(&self, label: &str) -> Result<(), DeviceError> {
        if self.lost.load(Ordering::Acquire) {
            return Err(DeviceError::Lost {
                device: label.to_owned(),
                reason: "it was shut down".to_owned(),
            });
        }
        Ok(())
    }
}

impl NullDevice {
    pub(super) fn new(world: &Arc<World>, index: usize, options: &NullOptions) -> Self {
        let label = device_label(BACKEND, index, options.devices);
        let memory = options.memory;
        Self {
            info: DeviceInfo {
                backend: BACKEND,
                index,
                name: label.clone(),
                label,
                vendor: "millpond".to_owned(),
                driver_version: env!("CARGO_PKG_VERSION").to_owned(),
                class: DeviceClass::Other,
                cores: CORES,
                threads: 0,
                simd: "none",
                caches: Vec::new(),
                memory,
                max_allocation: memory,
                alignment: ALIGNMENT,
                host_executed: false,
                compiles: false,
                accelerator: None,
                shareable: Vec::new(),
                driver_pools: Vec::new(),
                float64: true,
                float16: true,
            },
            shared: Arc::new(Shared {
                world: Arc::clone(world),
                allocated: AtomicUsize::new(0),
                allocations: AtomicUsize::new(0),
                lost: AtomicBool::new(false),
            }),
        }
    }

    fn check_alive(&self) -> Result<(), DeviceError> {
        self.shared.check_alive(&self.info.label)
    }

    /// Bytes that were allocated and not released, rounding included.
    pub fn allocated_bytes(&self) -> usize {
        self.shared.allocated.load(Ordering::Relaxed)
    }

    /// Allocations that were made and not released.
    pub fn allocations(&self) -> usize {
        self.shared.allocations.load(Ordering::Relaxed)
    }

    /// Makes a queue that keeps its own type.
    ///
    /// # Errors
    /// [`DeviceError::Lost`] once the device was shut down.
    pub fn null_queue(&self, options: &QueueOptions) -> Result<Arc<NullQueue>, DeviceError> {
        self.check_alive()?;
        let label = Arc::from(self.info.label.as_str());
        Ok(Arc::new(NullQueue::new(&self.shared, label, options)))
    }
}

impl Device for NullDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, kind: MemoryKind, layout: Layout) -> Result<RawAllocation, DeviceError> {
        self.check_alive()?;
        let taken = |allocated: usize| {
            let size = layout.size().max(1).checked_next_multiple_of(ALIGNMENT)?;
            let sum = allocated.checked_add(size)?;
            let fits = sum <= self.info.memory;
            Layout::from_size_align(size, layout.align().max(ALIGNMENT))
                .ok()
                .filter(|_| fits)
        };
        let mut rounded = None;
        self.shared
            .allocated
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |allocated| {
                rounded = taken(allocated);
                rounded.map(|layout| allocated + layout.size())
            })
            .ok();
        let Some(rounded) = rounded else {
            return Err(DeviceError::OutOfMemory {
                device: self.info.label.clone(),
                kind,
                bytes: layout.size(),
                reason: format!(
                    "{} of {} bytes are in use",
                    self.allocated_bytes(),
                    self.info.memory
                ),
            });
        };
        self.shared.allocations.fetch_add(1, Ordering::Relaxed);
        // A spare alignment leaves room to round the address up.
        let start = NEXT_ADDRESS.fetch_add(rounded.size() + rounded.align(), Ordering::Relaxed);
        Ok(RawAllocation {
            address: Address::new(start.next_multiple_of(rounded.align())),
            layout: rounded,
            kind,
            zeroed: false,
        })
    }

    unsafe fn release(&self, allocation: RawAllocation) {
        let size = allocation.layout.size();
        self.shared.allocated.fetch_sub(size, Ordering::Relaxed);
        self.shared.allocations.fetch_sub(1, Ordering::Relaxed);
    }

    fn create_queue(&self, options: &QueueOptions) -> Result<Arc<dyn Queue>, DeviceError> {
        Ok(self.null_queue(options)?)
    }

    /// Splits it into devices that share its memory and are shut down together with it.
    fn partition(&self, partition: &Partition) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        self.check_alive()?;
        let cores = self.info.cores;
        let counts = match partition {
            Partition::Equally(each) => vec![*each; cores.checked_div(*each).unwrap_or(0)],
            Partition::ByCounts(counts) => counts.clone(),
        };
        let sum = counts
            .iter()
            .try_fold(0_usize, |sum, &count| sum.checked_add(count));
        if counts.is_empty() || counts.contains(&0) || sum.is_none_or(|sum| sum > cores) {
            return Err(DeviceError::Invalid {
                call: "partition",
                reason: format!("{partition:?} of {cores} cores"),
            });
        }
        Ok(counts
            .into_iter()
            .enumerate()
            .map(|(number, cores)| {
                let info = DeviceInfo {
                    cores,
                    label: format!("{}.{number}", self.info.label),
                    ..self.info.clone()
                };
                let shared = Arc::clone(&self.shared);
                Arc::new(Self { info, shared }) as Arc<dyn Device>
            })
            .collect())
    }

    /// Runs what may run; commands behind closed gates end when these are opened.
    fn shutdown(&self) {
        self.shared.lost.store(true, Ordering::Release);
        self.shared.world.poll();
    }
}
