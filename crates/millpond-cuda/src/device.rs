//! A device: its memory and its queues.

use std::alloc::Layout;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use millpond_hal::{
    Address, Arena, ArenaId, Device, DeviceError, DeviceInfo, DriverPool, DriverPoolOptions,
    Failure, FailureKind, Partition, Point, Program, Queue, QueueOptions, RawAllocation,
};
use millpond_types::MemoryKind;

use crate::api::{Pointer, StreamHandle};
use crate::card::Card;
use crate::memory::{self, CudaPool, Place, PoolArena};
use crate::program;
use crate::queue::{CudaQueue, QueueHandle, Standing};
use crate::station::Station;
pub(crate) use crate::station::System;
use crate::streams::Streams;

/// How long nothing may move while a device is shut down before what stands still is given up.
const PATIENCE: Duration = Duration::from_secs(1);

/// The error of every call on a device that was shut down.
pub(crate) fn shut_down(label: &str) -> DeviceError {
    DeviceError::Lost {
        device: label.to_owned(),
        reason: "it was shut down".to_owned(),
    }
}

/// A device of NVIDIA's driver.
pub(crate) struct CudaDevice {
    station: Arc<Station>,
}

impl CudaDevice {
    pub(crate) fn new(card: &Arc<Card>, system: &Arc<System>) -> Self {
        Self {
            station: Arc::new(Station::new(card, system)),
        }
    }

    fn card(&self) -> &Card {
        &self.station.card
    }

    fn check_alive(&self) -> Result<(), DeviceError> {
        if self.station.is_closing() {
            return Err(shut_down(self.card().label()));
        }
        self.card().gone().map_or(Ok(()), Err)
    }

    fn check_pools(&self, kind: MemoryKind) -> Result<(), DeviceError> {
        if self.info().driver_pools.contains(&kind) {
            return Ok(());
        }
        Err(self.unsupported(&format!(
            "a pool of the driver's own for {kind} memory (`native`)"
        )))
    }

    fn unsupported(&self, what: &str) -> DeviceError {
        DeviceError::Unsupported {
            device: self.card().label().to_owned(),
            what: what.to_owned(),
        }
    }

    /// The queues of this device that are alive.
    fn queues(&self) -> Vec<Arc<CudaQueue>> {
        let mut queues = self.station.system.registry.queues();
        queues.retain(|queue| Arc::ptr_eq(queue.station(), &self.station));
        queues
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.card().info
    }

    fn allocate(&self, kind: MemoryKind, layout: Layout) -> Result<RawAllocation, DeviceError> {
        self.check_alive()?;
        memory::allocate(self.card(), &self.station.system, kind, layout)
    }

    unsafe fn release(&self, allocation: RawAllocation) {
        // SAFETY: the caller promises what `release` asks for.
        unsafe { memory::release(self.card(), &self.station.system, &allocation) };
    }

    fn open_arena(
        &self,
        kind: MemoryKind,
        id: ArenaId,
        descriptor: OwnedFd,
    ) -> Result<Arc<dyn Arena>, DeviceError> {
        self.check_alive()?;
        self.check_pools(kind)?;
        let (card, system) = (&self.station.card, &self.station.system);
        let arena = PoolArena::open(card, system, id, descriptor)?;
        Ok(Arc::new(arena))
    }

    fn create_driver_pool(
        &self,
        kind: MemoryKind,
        options: &DriverPoolOptions,
    ) -> Result<Arc<dyn DriverPool>, DeviceError> {
        self.check_alive()?;
        self.check_pools(kind)?;
        let pool = CudaPool::create(&self.station.card, &self.station.system, options)?;
        Ok(Arc::new(pool))
    }

    fn default_driver_pool(&self, kind: MemoryKind) -> Result<Arc<dyn DriverPool>, DeviceError> {
        self.check_alive()?;
        self.check_pools(kind)?;
        Ok(Arc::new(CudaPool::of_process(
            &self.station.card,
            &self.station.system,
        )?))
    }

    fn create_queue(&self, options: &QueueOptions) -> Result<Arc<dyn Queue>, DeviceError> {
        self.check_alive()?;
        if options.profiling {
            let set = self.station.set_clock();
            set.map_err(|error| self.card().refusal("create_queue", &error))?;
        }
        let queue = CudaQueue::new(options, &self.station);
        Ok(Arc::new(QueueHandle(queue)))
    }

    fn partition(&self, partition: &Partition) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        self.check_alive()?;
        Err(self.unsupported(&format!("partition {partition:?}")))
    }

    unsafe fn load(&self, image: &[u8]) -> Result<Arc<dyn Program>, DeviceError> {
        self.check_alive()?;
        // SAFETY: the caller's promise.
        unsafe { program::load(&self.station, image) }
    }

    fn free_memory(&self) -> Option<usize> {
        let current = self.card().enter().ok()?;
        let (mut free, mut all) = (0, 0);
        // SAFETY: both are written to places of their type.
        let code = unsafe { current.api().memory_info(&raw mut free, &raw mut all) };
        current.check("cuMemGetInfo", code).ok().map(|()| free)
    }

    fn stream(&self) -> Result<usize, DeviceError> {
        self.check_alive()?;
        let stream = self.card().enter();
        let stream = stream.and_then(|current| self.station.streams.shown(&current));
        let stream = stream.map_err(|error| self.card().refusal("stream", &error))?;
        Ok(stream.0)
    }

    fn kind_at(&self, address: Address) -> Result<Option<MemoryKind>, DeviceError> {
        self.check_alive()?;
        let places = &self.station.system.places;
        let place = places.find(self.card(), address.get() as Pointer);
        let place = place.map_err(|error| self.card().refusal("kind_at", &error))?;
        Ok(match place {
            Place::Device(ordinal) if ordinal == self.card().ordinal => Some(MemoryKind::Device),
            Place::Managed => Some(MemoryKind::Shared),
            Place::Pinned => Some(MemoryKind::Host),
            Place::Device(_) | Place::Pageable => None,
        })
    }

    unsafe fn hold_stream(
        &self,
        stream: usize,
        points: &[Point],
    ) -> Result<Vec<Point>, DeviceError> {
        self.check_alive()?;
        let stream = StreamHandle(stream);
        let held = self.card().enter().and_then(|current| {
            // SAFETY: the caller's promise.
            unsafe { Streams::hold(&current, &self.station, stream, points) }
        });
        held.map_err(|error| self.card().refusal("hold_stream", &error))
    }

    fn shutdown(&self) {
        if !self.station.begin_closing() {
            return;
        }
        let mut still_since = None;
        loop {
            let standings: Vec<_> = self
                .queues()
                .iter()
                .map(|queue| (queue.standing(), Arc::clone(queue)))
                .collect();
            let is_making = !self.station.orders.are_done();
            if !is_making && standings.iter().all(|(it, _)| *it == Standing::Done) {
                break;
            }
            let moving = is_making || standings.iter().any(|(it, _)| *it == Standing::Moving);
            // A task that shuts its own device down would wait for itself.
            if moving && !self.station.crew.is_current() {
                still_since = None;
            } else {
                let since = *still_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= PATIENCE {
                    if self.station.crew.is_current() && moving {
                        break;
                    }
                    let reason = format!("{} was shut down before it ran", self.card().label());
                    let failure = Failure::new(FailureKind::Lost, "command", reason);
                    for (_, queue) in &standings {
                        queue.give_up(&failure);
                    }
                    still_since = None;
                }
            }
            thread::sleep(Duration::from_micros(200));
        }
        self.station.finish_closing();
        for queue in self.queues() {
            queue.release_early();
            queue.rouse();
        }
    }
}

impl std::fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CudaDevice")
            .field("info", self.info())
            .finish_non_exhaustive()
    }
}
