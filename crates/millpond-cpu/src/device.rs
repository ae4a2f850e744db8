//! A host device: some cores, their threads, and the machine's memory.

use std::alloc::Layout;
use std::os::fd::OwnedFd;

use millpond_hal::{
    Arena, ArenaId, Device, DeviceClass, DeviceError, DeviceInfo, Partition, Queue, QueueOptions,
    RawAllocation,
};
use millpond_types::MemoryKind;
use rustix::thread::CpuSet;

use crate::arena::{self, CpuArena};
use crate::driver::CpuConfig;
use crate::executor::{Crewing, Executor};
use crate::memory::{self, ALIGNMENT, Memory};
use crate::queue::{CpuQueue, QueueHandle, Registry};
use crate::sync::Arc;
use crate::topology::Topology;

/// The error of every call on a device that was shut down.
pub(crate) fn shut_down(label: &str) -> DeviceError {
    DeviceError::Lost {
        device: label.to_owned(),
        reason: "it was shut down".to_owned(),
    }
}

/// What the devices of one driver have in common.
pub(crate) struct Host {
    pub(crate) config: CpuConfig,
    pub(crate) topology: Topology,
    pub(crate) registry: Arc<Registry>,
}

/// The place of a device among those of its driver.
pub(crate) struct Place {
    /// The number of the device, or of the one that it is a part of.
    pub(crate) index: usize,
    /// The name that messages use.
    pub(crate) label: String,
    /// Its cores.
    pub(crate) cores: Vec<usize>,
}

/// A device over some cores of the machine.
pub(crate) struct CpuDevice {
    info: DeviceInfo,
    cores: Vec<usize>,
    memory: Memory,
    executor: Arc<Executor>,
    host: Arc<Host>,
}

impl CpuDevice {
    pub(crate) fn new(host: &Arc<Host>, place: Place) -> Self {
        let Place {
            index,
            label,
            cores,
        } = place;
        let Host {
            config, topology, ..
        } = &**host;
        let count = cores.len().min(topology.quota.unwrap_or(usize::MAX)).max(1);
        // A thread that waits helps, so with one worker less than cores all of them are used.
        let threads = config.threads.unwrap_or(count - 1).max(1);
        let caches = Topology::caches(&cores);
        let info = DeviceInfo {
            backend: crate::driver::NAME,
            index,
            label,
            name: topology.name.clone(),
            vendor: topology.vendor.clone(),
            driver_version: env!("CARGO_PKG_VERSION").to_owned(),
            class: DeviceClass::Cpu,
            cores: count,
            threads,
            simd: config.simd,
            memory: topology.memory,
            max_allocation: topology.memory,
            alignment: ALIGNMENT,
            host_executed: true,
            compiles: false,
            accelerator: None,
            shareable: arena::KINDS.to_vec(),
            driver_pools: Vec::new(),
            float64: config.offers_float64(index),
            float16: true,
            caches,
        };
        let mut pinned = CpuSet::new();
        for &core in &cores {
            pinned.set(core);
        }
        let executor = Executor::new(Crewing {
            label: info.label.clone(),
            threads,
            width: info.width(),
            cores: count,
            pinned,
            last_cache: info.caches.last().map_or(usize::MAX, |cache| cache.bytes),
        });
        Self {
            memory: Memory {
                largest: info.max_allocation,
                huge_pages: config.huge_pages,
            },
            info,
            cores,
            executor: Arc::new(executor),
            host: Arc::clone(host),
        }
    }

    /// # Errors
    /// For a kind of memory that stays within the process.
    fn check_shareable(&self, kind: MemoryKind) -> Result<(), DeviceError> {
        self.check_alive()?;
        if self.info.shareable.contains(&kind) {
            return Ok(());
        }
        Err(DeviceError::Unsupported {
            device: self.info.label.clone(),
            what: format!("sharing {kind} memory with other processes"),
        })
    }

    fn check_alive(&self) -> Result<(), DeviceError> {
        if self.executor.crew().is_closing() {
            return Err(shut_down(&self.info.label));
        }
        Ok(())
    }

    /// How many cores each part gets.
    fn part_sizes(&self, partition: &Partition) -> Result<Vec<usize>, DeviceError> {
        let cores = self.info.cores;
        let sizes = match partition {
            Partition::Equally(0) => vec![0],
            Partition::Equally(count) => vec![*count; cores / count],
            Partition::ByCounts(counts) => counts.clone(),
            other => {
                return Err(DeviceError::Unsupported {
                    device: self.info.label.clone(),
                    what: format!("partition {other:?}"),
                });
            }
        };
        let total = sizes
            .iter()
            .try_fold(0_usize, |sum, &size| sum.checked_add(size));
        if sizes.is_empty() || sizes.contains(&0) || total.is_none_or(|total| total > cores) {
            let parts = match partition {
                Partition::Equally(count) => count.to_string(),
                _ => format!("{sizes:?}"),
            };
            return Err(DeviceError::Invalid {
                call: "partition",
                reason: format!(
                    "parts of {parts} cores don't fit the {cores} cores of {}",
                    self.info.label
                ),
            });
        }
        Ok(sizes)
    }
}

impl Device for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, kind: MemoryKind, layout: Layout) -> Result<RawAllocation, DeviceError> {
        self.check_alive()?;
        self.memory.allocate(&self.info.label, kind, layout)
    }

    unsafe fn release(&self, allocation: RawAllocation) {
        // SAFETY: the caller promises what `release` asks for.
        unsafe { memory::release(&allocation) };
    }

    fn create_arena(&self, kind: MemoryKind) -> Result<Arc<dyn Arena>, DeviceError> {
        self.check_shareable(kind)?;
        let arena = CpuArena::create(&self.info.label, kind, self.memory)?;
        Ok(Arc::new(arena))
    }

    fn open_arena(
        &self,
        kind: MemoryKind,
        id: ArenaId,
        descriptor: OwnedFd,
    ) -> Result<Arc<dyn Arena>, DeviceError> {
        self.check_shareable(kind)?;
        let arena = CpuArena::open(&self.info.label, kind, self.memory, id, descriptor)?;
        Ok(Arc::new(arena))
    }

    fn create_queue(&self, options: &QueueOptions) -> Result<Arc<dyn Queue>, DeviceError> {
        self.check_alive()?;
        let queue = CpuQueue::new(options, &self.executor, &self.host.registry);
        Ok(Arc::new(QueueHandle(queue)))
    }

    fn partition(&self, partition: &Partition) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        self.check_alive()?;
        let mut rest = self.cores.as_slice();
        let mut parts: Vec<Arc<dyn Device>> = Vec::new();
        for (number, size) in self.part_sizes(partition)?.into_iter().enumerate() {
            let (cores, others) = rest.split_at(size);
            rest = others;
            let place = Place {
                index: self.info.index,
                label: format!("{}.{number}", self.info.label),
                cores: cores.to_vec(),
            };
            parts.push(Arc::new(Self::new(&self.host, place)));
        }
        Ok(parts)
    }

    fn shutdown(&self) {
        self.executor.shut_down(&self.host.registry);
    }
}
