//! Pairs of an allocation and its free: of the runtime's pool, of one of the driver's own, and by the driver's calls
//! alone.

use std::error::Error;
use std::ffi::{c_int, c_uint, c_void};
use std::hint::black_box;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

use libloading::{Library, Symbol};
use millpond_hal as hal;
use millpond_runtime::{Allocation, Device, MemoryKind, PoolOptions, Queue};

use crate::best;

/// Pairs in a row.
const MANY: u32 = 1000;

/// Blocks that are live while others take their place.
const LIVE: usize = 1000;

/// What hands out memory.
trait Allocator {
    type Memory;

    fn allocate(&self, bytes: usize) -> Self::Memory;
    fn free(&self, memory: Self::Memory);
    /// Waits for all of it.
    fn wait(&self);
}

struct Pool {
    queue: Queue,
    pool: millpond_runtime::Pool,
}

impl Allocator for Pool {
    type Memory = Allocation;

    fn allocate(&self, bytes: usize) -> Allocation {
        let memory = self.queue.allocate_from(&self.pool, bytes);
        memory.expect("memory")
    }

    fn free(&self, memory: Allocation) {
        drop(memory);
    }

    fn wait(&self) {
        self.queue.wait().expect("a queue without failures");
    }
}

type Code = c_int;
type Take = unsafe extern "C" fn(*mut u64, usize, *mut c_void) -> Code;
type GiveBack = unsafe extern "C" fn(u64, *mut c_void) -> Code;
type Synchronize = unsafe extern "C" fn(*mut c_void) -> Code;

/// The driver's calls, on a stream of its own, from the device's default pool.
struct Raw {
    take: Take,
    give_back: GiveBack,
    synchronize: Synchronize,
    stream: *mut c_void,
    _library: Library,
}

impl Raw {
    /// With the first device's primary context, which becomes this thread's.
    fn new() -> Result<Self, Box<dyn Error>> {
        // SAFETY: the driver is loaded already, and stays.
        let library = unsafe { Library::new("libcuda.so.1")? };
        let mut context: *mut c_void = null_mut();
        let mut stream: *mut c_void = null_mut();
        // SAFETY: the types are those of the driver's interface.
        let retain: Symbol<'_, unsafe extern "C" fn(*mut *mut c_void, c_int) -> Code> =
            unsafe { library.get(b"cuDevicePrimaryCtxRetain")? };
        // SAFETY: as above.
        let set: Symbol<'_, unsafe extern "C" fn(*mut c_void) -> Code> =
            unsafe { library.get(b"cuCtxSetCurrent")? };
        // SAFETY: as above.
        let create: Symbol<'_, unsafe extern "C" fn(*mut *mut c_void, c_uint) -> Code> =
            unsafe { library.get(b"cuStreamCreate")? };
        // SAFETY: the context is written, of the device that is there.
        assert_eq!(unsafe { retain(&raw mut context, 0) }, 0);
        // SAFETY: that context lives as long as the process.
        assert_eq!(unsafe { set(context) }, 0);
        // SAFETY: the stream is written; 1 is a stream that waits for no other.
        assert_eq!(unsafe { create(&raw mut stream, 1) }, 0);
        // SAFETY: as above.
        let take = unsafe { *library.get::<Take>(b"cuMemAllocAsync")? };
        // SAFETY: as above.
        let give_back = unsafe { *library.get::<GiveBack>(b"cuMemFreeAsync")? };
        // SAFETY: as above.
        let synchronize = unsafe { *library.get::<Synchronize>(b"cuStreamSynchronize")? };
        Ok(Self {
            take,
            give_back,
            synchronize,
            stream,
            _library: library,
        })
    }
}

impl Allocator for Raw {
    type Memory = u64;

    fn allocate(&self, bytes: usize) -> u64 {
        let mut address = 0;
        // SAFETY: the address is written, and the stream lives.
        let code = unsafe { (self.take)(&raw mut address, bytes, self.stream) };
        assert_eq!(code, 0);
        address
    }

    fn free(&self, memory: u64) {
        // SAFETY: it was had on this stream, and nothing uses it.
        let code = unsafe { (self.give_back)(memory, self.stream) };
        assert_eq!(code, 0);
    }

    fn wait(&self) {
        // SAFETY: the stream lives.
        let code = unsafe { (self.synchronize)(self.stream) };
        assert_eq!(code, 0);
    }
}

/// The best time of a pair of one size.
fn pair<A: Allocator>(allocator: &A, bytes: usize) -> Duration {
    allocator.free(allocator.allocate(bytes));
    let many = best(50, || {
        for _ in 0..MANY {
            allocator.free(black_box(allocator.allocate(black_box(bytes))));
        }
    });
    allocator.wait();
    many / MANY
}

/// The same with a wait after each.
fn pair_and_wait<A: Allocator>(allocator: &A, bytes: usize) -> Duration {
    let many = best(20, || {
        for _ in 0..MANY / 10 {
            allocator.free(black_box(allocator.allocate(black_box(bytes))));
            allocator.wait();
        }
    });
    many / (MANY / 10)
}

/// The best time of a pair of random sizes from 256 bytes to a mebibyte, each in place of one of many that are live.
fn replacement<A: Allocator>(allocator: &A) -> Duration {
    let mut state = 1_u64;
    let mut dice = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let size = |roll: usize| 256 << (roll % 13);
    let mut live: Vec<_> = (0..LIVE)
        .map(|_| allocator.allocate(size(dice())))
        .collect();
    let many = best(50, || {
        for _ in 0..MANY {
            let place = dice() % LIVE;
            let bytes = size(dice());
            let old = std::mem::replace(&mut live[place], allocator.allocate(bytes));
            allocator.free(old);
        }
    });
    for memory in live {
        allocator.free(memory);
    }
    allocator.wait();
    many / MANY
}

fn measure<A: Allocator>(name: &str, allocator: &A) {
    for (size, bytes) in [
        ("a kibibyte", 1 << 10),
        ("a mebibyte", 1 << 20),
        ("64 MiB", 64 << 20),
    ] {
        let what = format!("{size} allocated and freed, {name}");
        println!("{what:64} {:>12.2?}", pair(allocator, bytes));
    }
    let what = format!("64 MiB allocated, freed and waited for, {name}");
    println!("{what:64} {:>12.2?}", pair_and_wait(allocator, 64 << 20));
    let what = format!("random sizes, {LIVE} live, {name}");
    println!("{what:64} {:>12.2?}", replacement(allocator));
}

/// Prints all of it.
pub(crate) fn pools(device: &Arc<dyn hal::Device>) -> Result<(), Box<dyn Error>> {
    let device = Device::open(Arc::clone(device));
    let queue = device.default_queue()?;
    let kind = MemoryKind::Device;
    let of = |pool| Pool {
        queue: queue.clone(),
        pool,
    };
    measure("the runtime's pool", &of(device.default_pool(kind)));
    let held = queue.hold(|held| {
        best(50, || {
            for _ in 0..MANY {
                let memory = held.allocate(kind, black_box(1 << 10));
                held.free(black_box(memory.expect("memory")));
            }
        })
    });
    let what = "a kibibyte by who holds the queue's lock";
    println!("{what:64} {:>12.2?}", held / MANY);
    let native = PoolOptions {
        native: true,
        ..PoolOptions::default()
    };
    measure(
        "a pool of the driver's",
        &of(device.create_pool(kind, native)?),
    );
    measure("the driver's calls alone", &Raw::new()?);
    Ok(())
}
