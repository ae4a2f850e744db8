//! A driver that is no driver: devices of the host's memory, for tests.
//!
//! Streams are carried out by a thread of the fake's, a step at a time and each time of a stream
//! that dice choose among those that may go on, so that whatever isn't ordered happens in all
//! orders. It is as strict as a device and more: a copy or fill that leaves live memory, or comes
//! after its end, is an illegal address and loses the device; a call without a context is refused.
//! Launches run code of the tests' own, by the names of entries. A strict one has device memory where the
//! host can't reach it.
//! Tests hold it still, let calls of theirs choosing fail, and read which calls there were.

mod calls;
mod code;
#[cfg(test)]
mod compiler;
mod engine;
#[cfg(test)]
mod library;
mod pools;
mod telling;
#[cfg(test)]
mod tests;
mod world;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::api::{Code, ContextHandle, Ordinal, StreamHandle};
use code::Entry;
pub(crate) use code::Launched;
#[cfg(test)]
pub(crate) use compiler::FakeCompiler;
use world::{Kind, Step, World};

/// Bytes of memory of each device.
pub(crate) const MEMORY: usize = 1 << 30;

/// What a text that can't be compiled begins with.
const ERROR: &[u8] = b"error";

/// What the driver's granularity is.
const GRANULE: usize = 2 << 20;

thread_local! {
    /// The contexts of this thread, the current one last.
    static CONTEXTS: RefCell<Vec<ContextHandle>> = const { RefCell::new(Vec::new()) };
    /// How often it got one.
    static ENTERED: Cell<usize> = const { Cell::new(0) };
}

/// A fake driver.
pub(crate) struct Fake {
    shared: Arc<Shared>,
    /// The context of the first device; the others' follow.
    first_context: usize,
}

/// What the fake and its thread share.
struct Shared {
    world: Mutex<World>,
    wake: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fake {
    /// A driver of so many devices.
    pub(crate) fn new(devices: usize) -> Arc<Self> {
        Self::with(devices, false)
    }

    /// The same, whose device memory the host can't reach.
    pub(crate) fn strict(devices: usize) -> Arc<Self> {
        Self::with(devices, true)
    }

    fn with(devices: usize, hides: bool) -> Arc<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let shared = Arc::new(Shared {
            world: Mutex::new(World::new(devices, hides)),
            wake: Condvar::new(),
        });
        engine::start(&shared);
        Arc::new(Self {
            shared,
            first_context: NEXT.fetch_add(devices.max(1), Ordering::Relaxed),
        })
    }

    /// Lets streams stand still until [`Fake::resume`].
    pub(crate) fn pause(&self) {
        self.shared.lock().paused = true;
    }

    /// Lets streams go on.
    pub(crate) fn resume(&self) {
        self.shared.lock().paused = false;
        self.shared.wake.notify_all();
    }

    /// Lets the call of this name after the next `skip` ones answer a code.
    pub(crate) fn fail(&self, call: &'static str, skip: usize, code: Code) {
        self.shared.lock().faults.push((call, skip, code));
    }

    /// Lets the call with this number, counted from 0 over all of them, answer a code.
    pub(crate) fn fail_at(&self, index: usize, code: Code) {
        self.shared.lock().fault_at = Some((index, code));
    }

    /// Device memory that this backend knows nothing of.
    pub(crate) fn foreign(&self, bytes: usize) -> millpond_hal::Address {
        let block = self.shared.lock().add(bytes, 256, Kind::Device(0));
        millpond_hal::Address::new(block.expect("memory") as usize)
    }

    /// Code that launches may name: what runs in place of the entry of this name, whose structure has
    /// so many bytes.
    pub(crate) fn entry(
        &self,
        name: &str,
        bytes: usize,
        body: impl Fn(&Launched) + Send + Sync + 'static,
    ) {
        self.entry_of(name, &[bytes], body);
    }

    /// The same with several parameters, of so many bytes.
    pub(crate) fn entry_of(
        &self,
        name: &str,
        parameters: &[usize],
        body: impl Fn(&Launched) + Send + Sync + 'static,
    ) {
        let (parameters, body) = (parameters.to_vec(), Arc::new(body));
        let entry = Entry { parameters, body };
        self.shared.lock().entries.insert(name.to_owned(), entry);
    }

    /// A variable that programs may name.
    pub(crate) fn variable(&self, name: &str, bytes: usize) {
        self.shared.lock().variables.insert(name.to_owned(), bytes);
    }

    /// How many programs are loaded.
    pub(crate) fn modules(&self) -> usize {
        self.shared.lock().modules.len()
    }

    /// Takes an attribute from the devices.
    pub(crate) fn lack(&self, attribute: i32) {
        self.shared.lock().lacking.push(attribute);
    }

    /// Loses all devices, as an error of a kernel does.
    pub(crate) fn lose(&self, code: Code) {
        self.shared.lock().lost = Some(code);
        self.shared.wake.notify_all();
    }

    /// Takes the names of the calls since the last time, but for those that make a context current.
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.shared.lock().calls)
    }

    /// How often this thread has made a context current.
    pub(crate) fn entered() -> usize {
        ENTERED.get()
    }

    /// How many contexts, streams with events, and pieces of physical memory there are.
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        let world = self.shared.lock();
        let streams = world.streams.len() + world.events;
        (world.retained, streams, world.physical)
    }

    /// How many pools there are that were made, with those that wait for their last memory.
    pub(crate) fn pools(&self) -> usize {
        self.shared.lock().count_pools()
    }

    /// An attribute of a pool.
    pub(crate) fn pool_value(&self, pool: usize, attribute: i32) -> Option<u64> {
        let pool = crate::api::PoolHandle(pool);
        self.shared.lock().pool_value(pool, attribute)
    }

    /// How many devices were let into a pool.
    pub(crate) fn access(&self, pool: usize) -> Option<usize> {
        self.shared.lock().pool_access(crate::api::PoolHandle(pool))
    }

    /// Leaves so much of a device to pools.
    pub(crate) fn limit_pools(&self, bytes: usize) {
        self.shared.lock().room_for_pools = bytes;
    }

    /// A stream of another library's.
    pub(crate) fn stream(&self) -> StreamHandle {
        self.shared.lock().add_stream()
    }

    /// Has a stream of another library's fill memory.
    pub(crate) fn fill_on(&self, stream: StreamHandle, address: usize, value: u8, count: usize) {
        let address = address as crate::api::Pointer;
        let step = Step::set(address, count, &[value], count, 1);
        let mut world = self.shared.lock();
        let steps = world.streams.get_mut(&stream).expect("a stream of ours");
        steps.push_back(step);
        drop(world);
        self.shared.wake.notify_all();
    }

    /// Has a stream of another library's copy memory.
    pub(crate) fn copy_on(&self, stream: StreamHandle, src: usize, dst: usize, bytes: usize) {
        let (src, dst) = (src as crate::api::Pointer, dst as crate::api::Pointer);
        let mut world = self.shared.lock();
        let steps = world.streams.get_mut(&stream).expect("a stream of ours");
        steps.push_back(Step::Copy { dst, src, bytes });
        drop(world);
        self.shared.wake.notify_all();
    }

    /// Whether a stream has nothing left to do.
    pub(crate) fn is_idle(&self, stream: StreamHandle) -> bool {
        let world = self.shared.lock();
        world.streams.get(&stream).is_some_and(VecDeque::is_empty)
    }

    /// Has the work of a stream recorded into a graph.
    pub(crate) fn capture(&self, stream: StreamHandle) {
        self.shared.lock().captured = Some(stream);
    }

    /// Lets a stream stand still, or go on.
    pub(crate) fn hold(&self, stream: StreamHandle, held: bool) {
        let mut world = self.shared.lock();
        world.held.retain(|it| *it != stream);
        if held {
            world.held.push(stream);
        }
        drop(world);
        self.shared.wake.notify_all();
    }

    /// How many allocations live, and how many streams.
    pub(crate) fn live(&self) -> (usize, usize) {
        let world = self.shared.lock();
        (world.blocks.len(), world.streams.len())
    }

    /// The context that is current on this thread.
    pub(crate) fn current() -> Option<ContextHandle> {
        CONTEXTS.with_borrow(|contexts| contexts.last().copied())
    }

    /// The device whose context is current, if it is one of this driver's.
    fn device_of_thread(&self, world: &World) -> Option<Ordinal> {
        let context = Self::current()?;
        let number = context.0.checked_sub(self.first_context)?;
        (number < world.devices).then_some(number as Ordinal)
    }

    /// A call that needs no context.
    fn call(&self, name: &'static str, body: impl FnOnce(&mut World) -> Code) -> Code {
        let mut world = self.shared.lock();
        world.calls.push(name);
        if let Some(code) = world.fault(name) {
            return code;
        }
        body(&mut world)
    }

    /// A call that needs one, and whose device isn't lost.
    fn call_within(
        &self,
        name: &'static str,
        body: impl FnOnce(&mut World, Ordinal) -> Code,
    ) -> Code {
        let answer = self.call(name, |world| {
            if let Some(code) = world.lost {
                return code;
            }
            match self.device_of_thread(world) {
                Some(device) => body(world, device),
                None => Code::INVALID_CONTEXT,
            }
        });
        self.shared.wake.notify_all();
        answer
    }

    /// A call that gives a stream a step.
    fn step(&self, name: &'static str, stream: StreamHandle, step: Step) -> Code {
        self.call_within(name, |world, _| world.give(stream, step))
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.wake.notify_all();
    }
}
