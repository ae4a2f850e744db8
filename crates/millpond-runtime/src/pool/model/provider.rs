//! A driver for models: it hands out an address again as soon as it has it back, refuses when told
//! to, and stops the model if anything that pools promise their driver doesn't hold.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_hal::null::{NullDriver, NullOptions};
use millpond_hal::{Address, DeviceError, DeviceInfo, Partition, QueueOptions, RawAllocation};
use millpond_types::MemoryKind;
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner, thread};

use crate::device::Device;
use crate::memory::Allocation;
use crate::queue::Queue;

/// Where the random orders begin: the same in every run.
const SEED: u64 = 0x6d69_6c6c;

/// Threads are interrupted at this many places, besides those where they can't go on.
const PREEMPTIONS: usize = 3;

/// Checks a model in this many random orders, and as many of few interruptions.
pub(super) fn check(orders: usize, model: impl Fn() + Send + Sync + Copy + 'static) {
    run(RandomScheduler::new_from_seed(SEED, orders), model);
    run(
        PctScheduler::new_from_seed(SEED, PREEMPTIONS, orders),
        model,
    );
}

/// Checks a model in every order.
pub(super) fn check_all(model: impl Fn() + Send + Sync + 'static) {
    run(DfsScheduler::new(None, false), model);
}

fn run(scheduler: impl Scheduler + 'static, model: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.silence_warnings = true;
    config.stack_size = 1 << 18;
    Runner::new(scheduler, config).run(model);
}

/// The device, shared with those who watch it.
pub(super) struct Provider {
    null: Arc<dyn millpond_hal::Device>,
    pub(super) driver: NullDriver,
    /// No other thread of the model runs while this is locked.
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// The most that may be held, if that is said; and what is.
    limit: Option<usize>,
    bytes: usize,
    /// Calls until one is refused; 0 for none.
    refuse_in: usize,
    next: usize,
    /// Length by address, of segments, of those that came back, and of the model's allocations.
    segments: BTreeMap<usize, usize>,
    returned: Vec<(usize, usize)>,
    live: BTreeMap<usize, usize>,
}

impl Provider {
    /// A device, and its other side. A manual one ends commands as the model says.
    pub(super) fn open(limit: Option<usize>, manual: bool) -> (Device, Arc<Self>) {
        let driver = NullDriver::with(NullOptions {
            manual,
            ..NullOptions::default()
        });
        let provider = Arc::new(Self {
            null: Arc::clone(&driver.null_devices()[0]) as _,
            driver,
            held: Mutex::new(Held {
                limit,
                next: 1 << 40,
                ..Held::default()
            }),
        });
        (Device::open(Arc::clone(&provider) as _), provider)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that pools have.
    pub(super) fn bytes(&self) -> usize {
        self.held().bytes
    }

    /// Refuses one of the next calls.
    pub(super) fn refuse_in(&self, calls: usize) {
        self.held().refuse_in = calls;
    }

    /// Watches over an allocation until the answer is dropped, which frees it.
    pub(super) fn watch(self: &Arc<Self>, allocation: Allocation) -> Watched {
        let (begin, len) = (allocation.address().get(), allocation.bytes());
        let mut held = self.held();
        let before = held.live.range(..begin + len).next_back();
        assert!(
            before.is_none_or(|(&other, &bytes)| other + bytes <= begin),
            "the bytes at {begin:#x} were handed out twice"
        );
        let segment = held.segments.range(..=begin).next_back();
        assert!(
            segment.is_some_and(|(&first, &bytes)| begin + len <= first + bytes),
            "the bytes at {begin:#x} were handed out after their segment was given back"
        );
        held.live.insert(begin, len);
        drop(held);
        Watched {
            allocation: Some(allocation),
            provider: Arc::clone(self),
        }
    }
}

/// An allocation of a model.
pub(super) struct Watched {
    allocation: Option<Allocation>,
    provider: Arc<Provider>,
}

impl Watched {
    pub(super) fn allocation(&self) -> &Allocation {
        self.allocation.as_ref().expect("held until it is dropped")
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let begin = self.allocation().address().get();
        if std::thread::panicking() {
            // The model has failed, and no other thread of it runs any more.
            std::mem::forget(self.allocation.take());
            return;
        }
        self.provider.held().live.remove(&begin);
        drop(self.allocation.take());
    }
}

impl millpond_hal::Device for Provider {
    fn info(&self) -> &DeviceInfo {
        self.null.info()
    }

    fn allocate(&self, kind: MemoryKind, layout: Layout) -> Result<RawAllocation, DeviceError> {
        take_time();
        let mut held = self.held();
        let refused = held.refuse_in == 1;
        held.refuse_in = held.refuse_in.saturating_sub(1);
        if refused {
            drop(held);
            thread::yield_now();
            return Err(DeviceError::OutOfMemory {
                device: "model".to_owned(),
                kind,
                bytes: layout.size(),
                reason: "the model says so".to_owned(),
            });
        }
        let size = layout.size();
        held.bytes += size;
        assert!(
            held.limit.is_none_or(|limit| held.bytes <= limit),
            "{} bytes are held, more than the limit",
            held.bytes
        );
        let fits =
            |&(begin, len): &(usize, usize)| len == size && begin.is_multiple_of(layout.align());
        let begin = match held.returned.iter().rposition(fits) {
            Some(position) => held.returned.remove(position).0,
            None => {
                let begin = held.next.next_multiple_of(layout.align());
                held.next = begin + size;
                begin
            }
        };
        held.segments.insert(begin, size);
        drop(held);
        thread::yield_now();
        Ok(RawAllocation {
            address: Address::new(begin),
            layout,
            kind,
            zeroed: false,
        })
    }

    unsafe fn release(&self, allocation: RawAllocation) {
        take_time();
        let (begin, len) = (allocation.address.get(), allocation.layout.size());
        let mut held = self.held();
        let used = held.live.range(begin..begin + len).next();
        assert!(used.is_none(), "a segment was given back while it is used");
        let known = held.segments.remove(&begin);
        assert_eq!(known, Some(len), "a segment was given back twice");
        held.bytes -= len;
        held.returned.push((begin, len));
        drop(held);
        thread::yield_now();
    }

    fn create_queue(
        &self,
        options: &QueueOptions,
    ) -> Result<Arc<dyn millpond_hal::Queue>, DeviceError> {
        self.null.create_queue(options)
    }

    fn partition(
        &self,
        partition: &Partition,
    ) -> Result<Vec<Arc<dyn millpond_hal::Device>>, DeviceError> {
        self.null.partition(partition)
    }

    fn shutdown(&self) {
        self.null.shutdown();
    }
}

/// A driver's calls take long enough for other threads to do something in between.
fn take_time() {
    (0..6).for_each(|_| thread::yield_now());
}

pub(super) fn queue(device: &Device) -> Queue {
    device.create_queue(&QueueOptions::default()).unwrap()
}
