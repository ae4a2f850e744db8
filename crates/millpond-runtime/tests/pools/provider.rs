//! A driver whose every call is seen: counted, checked, and told to a test.
//!
//! On a device without memory an address that was given back is given out again at once, as the
//! worst of drivers would.

#![allow(unsafe_code, reason = "passes unsafe calls on to the driver below")]

use std::alloc::Layout;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use millpond_hal as hal;
use millpond_hal::layers::{Layer, Layered, Site};
use millpond_hal::{DeviceError, Driver, Failure, RawAllocation, Submission};
use millpond_runtime::{Device, MemoryKind, QueueOptions, Registry};

type Hook = Arc<dyn Fn() + Send + Sync>;

/// What is seen of a driver.
#[derive(Default)]
pub(crate) struct Provider {
    recycles: bool,
    calls: AtomicUsize,
    /// What is given out: begins and sizes.
    live: Mutex<BTreeMap<usize, usize>>,
    returned: Mutex<HashMap<Layout, Vec<RawAllocation>>>,
    hook: Mutex<Option<Hook>>,
    question: Arc<Mutex<Option<Hook>>>,
}

impl Provider {
    /// A device over a driver that is seen.
    pub(crate) fn over(driver: Arc<dyn Driver>) -> (Arc<Self>, Device) {
        let recycles = driver.name() == "null";
        let layered = Layered::new(
            driver,
            Self {
                recycles,
                ..Self::default()
            },
        );
        let provider = Arc::clone(layered.layer());
        let devices = Registry::new(&[Arc::new(layered) as Arc<dyn Driver>]);
        (provider, devices.default_device().unwrap())
    }

    /// Calls of every kind so far.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Bytes that are given out.
    pub(crate) fn bytes(&self) -> usize {
        locked(&self.live).values().sum()
    }

    /// Has a hook called in each call but submissions, and where a queue ends, which is no call.
    pub(crate) fn set_hook(&self, hook: Option<Hook>) {
        *locked(&self.hook) = hook;
    }

    /// Has a hook called whenever a queue is asked whether a command of it is over.
    pub(crate) fn set_question(&self, hook: Option<Hook>) {
        *locked(&self.question) = hook;
    }

    fn see(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.look();
    }

    fn look(&self) {
        call(&self.hook);
    }
}

fn call(hook: &Mutex<Option<Hook>>) {
    let hook = locked(hook).clone();
    if let Some(hook) = hook {
        hook();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Layer for Provider {
    fn allocate(
        &self,
        site: &Site,
        kind: MemoryKind,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        self.see();
        let again = locked(&self.returned).get_mut(&layout).and_then(Vec::pop);
        let memory = match again {
            Some(memory) => RawAllocation { kind, ..memory },
            None => site.device.allocate(kind, layout)?,
        };
        let mut live = locked(&self.live);
        let (begin, end) = (
            memory.address.get(),
            memory.address.get() + memory.layout.size(),
        );
        let before = live.range(..end).next_back();
        assert!(before.is_none_or(|(other, size)| other + size <= begin));
        live.insert(begin, memory.layout.size());
        Ok(memory)
    }

    unsafe fn release(&self, site: &Site, memory: RawAllocation) {
        self.see();
        let size = locked(&self.live).remove(&memory.address.get());
        assert_eq!(size, Some(memory.layout.size()), "given back once, whole");
        if self.recycles {
            let mut returned = locked(&self.returned);
            returned.entry(memory.layout).or_default().push(memory);
            return;
        }
        // SAFETY: the caller promises what the device asks for.
        unsafe { site.device.release(memory) };
    }

    fn create_queue(
        &self,
        site: &Site,
        options: &QueueOptions,
    ) -> Result<Arc<dyn hal::Queue>, DeviceError> {
        self.see();
        Ok(Arc::new(Asked {
            queue: site.device.create_queue(options)?,
            question: Arc::clone(&self.question),
        }))
    }

    fn close(&self, _queue: &Arc<dyn hal::Queue>) {
        self.look();
    }

    unsafe fn submit(
        &self,
        _site: &Site,
        queue: &Arc<dyn hal::Queue>,
        submission: Submission<'_>,
    ) -> Result<hal::Point, DeviceError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller promises what the queue asks for.
        unsafe { queue.submit(submission) }
    }
}

/// A queue that tells when it is asked how far it is.
struct Asked {
    queue: Arc<dyn hal::Queue>,
    question: Arc<Mutex<Option<Hook>>>,
}

impl hal::Queue for Asked {
    fn id(&self) -> hal::QueueId {
        self.queue.id()
    }

    fn progress(&self) -> &hal::Progress {
        self.queue.progress()
    }

    unsafe fn submit(&self, submission: Submission<'_>) -> Result<hal::Point, DeviceError> {
        // SAFETY: the caller promises what the queue asks for.
        unsafe { self.queue.submit(submission) }
    }

    fn reached(&self, sequence: u64) -> bool {
        call(&self.question);
        self.queue.reached(sequence)
    }

    fn outcome(&self, sequence: u64) -> Option<Result<(), Failure>> {
        self.queue.outcome(sequence)
    }

    fn failures(&self, skip: usize) -> Vec<(u64, Failure)> {
        self.queue.failures(skip)
    }

    fn wait(&self, sequence: u64, deadline: Option<Instant>) -> hal::Wait {
        self.queue.wait(sequence, deadline)
    }

    fn on_reached(&self, sequence: u64, callback: Box<dyn FnOnce() + Send>) {
        self.queue.on_reached(sequence, callback);
    }

    fn times(&self, sequence: u64) -> Option<hal::Times> {
        self.queue.times(sequence)
    }
}
