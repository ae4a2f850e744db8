//! What all layers share: a driver, devices and queues that hand their calls to a [`Layer`].

use std::alloc::Layout;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use millpond_types::MemoryKind;

use super::arena::LayeredArena;
use crate::arena::{Arena, ArenaId, Place};
use crate::command::{Address, Submission};
use crate::device::{Device, Partition, RawAllocation};
use crate::driver::Driver;
use crate::driver_pool::{DriverPool, DriverPoolOptions};
use crate::error::{DeviceError, Failure};
use crate::info::DeviceInfo;
use crate::life::Life;
use crate::point::{Point, Progress, QueueId};
use crate::program::Program;
use crate::queue::{Joined, Queue, QueueOptions, Times, Wait};

/// A device below a layer.
#[derive(Clone)]
pub struct Site {
    /// The device's number in its driver's list; its parts have the same.
    pub number: usize,
    /// The device or part.
    pub device: Arc<dyn Device>,
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site")
            .field("number", &self.number)
            .field("device", &self.device.info().label)
            .finish()
    }
}

/// What is done around the calls of a driver. Every method passes the call on unless a layer says
/// otherwise; questions that change nothing are never asked of a layer.
pub trait Layer: Send + Sync + 'static {
    /// Around [`Device::allocate`].
    ///
    /// # Errors
    /// Those of the device and of the layer.
    fn allocate(
        &self,
        site: &Site,
        kind: MemoryKind,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        site.device.allocate(kind, layout)
    }

    /// Around [`Device::release`].
    ///
    /// # Safety
    /// As for [`Device::release`].
    unsafe fn release(&self, site: &Site, allocation: RawAllocation) {
        // SAFETY: the caller promises what the device asks for.
        unsafe { site.device.release(allocation) }
    }

    /// Around [`Arena::allocate`].
    ///
    /// # Errors
    /// Those of the arena and of the layer.
    fn allocate_in(
        &self,
        site: &Site,
        arena: &Arc<dyn Arena>,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        let _ = site;
        arena.allocate(layout)
    }

    /// Around [`Arena::map`].
    ///
    /// # Errors
    /// Those of the arena and of the layer.
    fn map(
        &self,
        site: &Site,
        arena: &Arc<dyn Arena>,
        place: &Place,
        bytes: usize,
    ) -> Result<RawAllocation, DeviceError> {
        let _ = site;
        arena.map(place, bytes)
    }

    /// Around [`Arena::release`].
    ///
    /// # Safety
    /// As for [`Arena::release`].
    unsafe fn release_in(&self, site: &Site, arena: &Arc<dyn Arena>, allocation: RawAllocation) {
        let _ = site;
        // SAFETY: the caller promises what the arena asks for.
        unsafe { arena.release(allocation) }
    }

    /// Around [`Device::create_queue`].
    ///
    /// # Errors
    /// Those of the device and of the layer.
    fn create_queue(
        &self,
        site: &Site,
        options: &QueueOptions,
    ) -> Result<Arc<dyn Queue>, DeviceError> {
        site.device.create_queue(options)
    }

    /// Around [`Device::partition`].
    ///
    /// # Errors
    /// Those of the device and of the layer.
    fn partition(
        &self,
        site: &Site,
        partition: &Partition,
    ) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        site.device.partition(partition)
    }

    /// Around [`Device::listens`].
    fn listens(&self, site: &Site) -> bool {
        site.device.listens()
    }

    /// Around [`Device::note`].
    fn note(&self, site: &Site, life: &Life<'_>) {
        site.device.note(life);
    }

    /// Around [`Device::shutdown`].
    fn shutdown(&self, site: &Site) {
        site.device.shutdown();
    }

    /// Around [`Queue::submit`].
    ///
    /// # Errors
    /// Those of the queue and of the layer.
    ///
    /// # Safety
    /// As for [`Queue::submit`].
    unsafe fn submit(
        &self,
        site: &Site,
        queue: &Arc<dyn Queue>,
        submission: Submission<'_>,
    ) -> Result<Point, DeviceError> {
        let _ = site;
        // SAFETY: the caller promises what the queue asks for.
        unsafe { queue.submit(submission) }
    }

    /// Around [`Queue::joined`].
    fn joined(&self, queue: &Arc<dyn Queue>, joined: &Joined<'_>) {
        queue.joined(joined);
    }

    /// Around [`Queue::wait`].
    fn wait(&self, queue: &Arc<dyn Queue>, sequence: u64, deadline: Option<Instant>) -> Wait {
        queue.wait(sequence, deadline)
    }

    /// Before the last handle of a queue goes.
    fn close(&self, queue: &Arc<dyn Queue>) {
        let _ = queue;
    }
}

/// A driver below a layer.
pub struct Layered<L> {
    inner: Arc<dyn Driver>,
    layer: Arc<L>,
}

impl<L: Layer> Layered<L> {
    /// Puts a layer over a driver.
    pub fn new(inner: Arc<dyn Driver>, layer: L) -> Self {
        Self {
            inner,
            layer: Arc::new(layer),
        }
    }

    /// The layer.
    pub fn layer(&self) -> &Arc<L> {
        &self.layer
    }
}

impl<L: Layer> Driver for Layered<L> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn devices(&self) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        let devices = self.inner.devices()?;
        let wrap = |(number, device)| wrap_device(&self.layer, number, device);
        Ok(devices.into_iter().enumerate().map(wrap).collect())
    }
}

impl<L> fmt::Debug for Layered<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered")
            .field("driver", &self.inner.name())
            .finish_non_exhaustive()
    }
}

fn wrap_device<L: Layer>(
    layer: &Arc<L>,
    number: usize,
    device: Arc<dyn Device>,
) -> Arc<dyn Device> {
    Arc::new(LayeredDevice {
        site: Site { number, device },
        layer: Arc::clone(layer),
    })
}

/// A device below a layer.
struct LayeredDevice<L> {
    site: Site,
    layer: Arc<L>,
}

impl<L: Layer> LayeredDevice<L> {
    fn wrap_arena(&self, inner: Arc<dyn Arena>) -> Arc<dyn Arena> {
        Arc::new(LayeredArena {
            inner,
            site: self.site.clone(),
            layer: Arc::clone(&self.layer),
        })
    }
}

impl<L: Layer> Device for LayeredDevice<L> {
    fn info(&self) -> &DeviceInfo {
        self.site.device.info()
    }

    fn allocate(&self, kind: MemoryKind, layout: Layout) -> Result<RawAllocation, DeviceError> {
        self.layer.allocate(&self.site, kind, layout)
    }

    unsafe fn release(&self, allocation: RawAllocation) {
        // SAFETY: the caller promises what the device asks for.
        unsafe { self.layer.release(&self.site, allocation) }
    }

    fn create_arena(&self, kind: MemoryKind) -> Result<Arc<dyn Arena>, DeviceError> {
        let arena = self.site.device.create_arena(kind)?;
        Ok(self.wrap_arena(arena))
    }

    fn open_arena(
        &self,
        kind: MemoryKind,
        id: ArenaId,
        descriptor: OwnedFd,
    ) -> Result<Arc<dyn Arena>, DeviceError> {
        let arena = self.site.device.open_arena(kind, id, descriptor)?;
        Ok(self.wrap_arena(arena))
    }

    fn create_driver_pool(
        &self,
        kind: MemoryKind,
        options: &DriverPoolOptions,
    ) -> Result<Arc<dyn DriverPool>, DeviceError> {
        self.site.device.create_driver_pool(kind, options)
    }

    fn default_driver_pool(&self, kind: MemoryKind) -> Result<Arc<dyn DriverPool>, DeviceError> {
        self.site.device.default_driver_pool(kind)
    }

    fn create_queue(&self, options: &QueueOptions) -> Result<Arc<dyn Queue>, DeviceError> {
        Ok(Arc::new(LayeredQueue {
            inner: self.layer.create_queue(&self.site, options)?,
            site: self.site.clone(),
            layer: Arc::clone(&self.layer),
        }))
    }

    fn partition(&self, partition: &Partition) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        let parts = self.layer.partition(&self.site, partition)?;
        let wrap = |part| wrap_device(&self.layer, self.site.number, part);
        Ok(parts.into_iter().map(wrap).collect())
    }

    unsafe fn load(&self, image: &[u8]) -> Result<Arc<dyn Program>, DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.site.device.load(image) }
    }

    fn free_memory(&self) -> Option<usize> {
        self.site.device.free_memory()
    }

    fn stream(&self) -> Result<usize, DeviceError> {
        self.site.device.stream()
    }

    fn kind_at(&self, address: Address) -> Result<Option<MemoryKind>, DeviceError> {
        self.site.device.kind_at(address)
    }

    unsafe fn hold_stream(
        &self,
        stream: usize,
        points: &[Point],
    ) -> Result<Vec<Point>, DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.site.device.hold_stream(stream, points) }
    }

    fn listens(&self) -> bool {
        self.layer.listens(&self.site)
    }

    fn note(&self, life: &Life<'_>) {
        self.layer.note(&self.site, life);
    }

    fn shutdown(&self) {
        self.layer.shutdown(&self.site);
    }
}

/// A queue below a layer.
struct LayeredQueue<L: Layer> {
    inner: Arc<dyn Queue>,
    site: Site,
    layer: Arc<L>,
}

impl<L: Layer> Queue for LayeredQueue<L> {
    fn id(&self) -> QueueId {
        self.inner.id()
    }

    fn progress(&self) -> &Progress {
        self.inner.progress()
    }

    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Point, DeviceError> {
        // SAFETY: the caller promises what the queue asks for.
        unsafe { self.layer.submit(&self.site, &self.inner, submission) }
    }

    fn joined(&self, joined: &Joined<'_>) {
        self.layer.joined(&self.inner, joined);
    }

    fn reached(&self, sequence: u64) -> bool {
        self.inner.reached(sequence)
    }

    fn outcome(&self, sequence: u64) -> Option<Result<(), Failure>> {
        self.inner.outcome(sequence)
    }

    fn failures(&self, skip: usize) -> Vec<(u64, Failure)> {
        self.inner.failures(skip)
    }

    fn wait(&self, sequence: u64, deadline: Option<Instant>) -> Wait {
        self.layer.wait(&self.inner, sequence, deadline)
    }

    fn on_reached(&self, sequence: u64, callback: Box<dyn FnOnce() + Send>) {
        self.inner.on_reached(sequence, callback);
    }

    fn times(&self, sequence: u64) -> Option<Times> {
        self.inner.times(sequence)
    }
}

impl<L: Layer> Drop for LayeredQueue<L> {
    fn drop(&mut self) {
        self.layer.close(&self.inner);
    }
}
