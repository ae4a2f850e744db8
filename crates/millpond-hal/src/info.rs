//! What a device is and can do; asked once, then plain data.

use millpond_types::{DType, MemoryKind};

use crate::code::Machine;

/// The class of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceClass {
    /// A general-purpose processor.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// Neither, for instance the null device.
    Other,
}

/// One level of a processor's data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cache {
    /// 1 for the nearest.
    pub level: u8,
    /// Bytes of one instance.
    pub bytes: usize,
    /// How many cores of the device share one instance.
    pub shared_by: usize,
}

/// Facts about a device that runs programs of its own, by blocks of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accelerator {
    /// What launches need to know.
    pub machine: Machine,
    /// What code is compiled for: major and minor number.
    pub capability: (u32, u32),
    /// Threads of a block, at most.
    pub block: u32,
    /// The same along each axis.
    pub block_axes: [u32; 3],
    /// Blocks along each axis, at most.
    pub grid_axes: [u32; 3],
    /// Bytes that the threads of a block may share, if they ask for it.
    pub shared_memory: u32,
    /// Registers of a block.
    pub registers: u32,
    /// Of its processors, in kilohertz.
    pub clock: u32,
    /// Of its memory, in kilohertz.
    pub memory_clock: u32,
    /// Bits that its memory moves at a time.
    pub memory_bus: u32,
    /// Whether its memory is the host's.
    pub integrated: bool,
    /// Whether its memory corrects errors.
    pub corrects: bool,
    /// What it is told apart by, on all machines.
    pub uuid: Option<[u8; 16]>,
    /// Where it is on the machine's bus.
    pub bus_address: Option<String>,
}

/// Facts about a device.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The driver's short name, for instance `cpu`.
    pub backend: &'static str,
    /// The device's number among those of its driver.
    pub index: usize,
    /// What programs and messages call it: see [`device_label`]. A part of a device has the name of
    /// the whole and its own number among the parts, such as `cpu.1`.
    pub label: String,
    /// The maker's name for it.
    pub name: String,
    /// The maker.
    pub vendor: String,
    /// The driver's version.
    pub driver_version: String,
    /// The class of processor.
    pub class: DeviceClass,
    /// Cores or multiprocessors it may use.
    pub cores: usize,
    /// Worker threads, for host devices. A thread that waits works as well: see
    /// [`DeviceInfo::width`].
    pub threads: usize,
    /// Vector instructions in use, for instance `avx2`.
    pub simd: &'static str,
    /// Data caches, nearest first.
    pub caches: Vec<Cache>,
    /// Bytes of memory it has in all.
    pub memory: usize,
    /// Largest single allocation, in bytes.
    pub max_allocation: usize,
    /// Alignment of every allocation, in bytes.
    pub alignment: usize,
    /// Whether host threads may run its kernels on its memory, whatever the kind.
    pub host_executed: bool,
    /// Whether it compiles kernels that have [`DeviceCode`](crate::DeviceCode).
    pub compiles: bool,
    /// What is known of a device that runs programs of its own.
    pub accelerator: Option<Box<Accelerator>>,
    /// Kinds of memory that can be shared with other processes.
    pub shareable: Vec<MemoryKind>,
    /// Kinds of memory of which the driver has pools of its own.
    pub driver_pools: Vec<MemoryKind>,
    /// Whether `float64` arithmetic is offered.
    pub float64: bool,
    /// Whether `float16` storage is offered.
    pub float16: bool,
}

/// What the device with this number is called, of `count` devices of its driver: the only one by the
/// driver's name, such as `cpu`, and each of several by its number too, such as `cpu:1`.
///
/// ```
/// use millpond_hal::device_label;
///
/// assert_eq!((device_label("cpu", 0, 1), device_label("cpu", 1, 2)), ("cpu".into(), "cpu:1".into()));
/// ```
#[must_use]
pub fn device_label(backend: &str, index: usize, count: usize) -> String {
    if count == 1 {
        backend.to_owned()
    } else {
        format!("{backend}:{index}")
    }
}

impl DeviceInfo {
    /// Threads that may usefully work on one command of a host device together: its workers and one
    /// that waits.
    #[must_use]
    pub fn width(&self) -> usize {
        self.cores.min(self.threads + 1)
    }

    /// Whether the device computes with a dtype.
    #[must_use]
    pub fn supports(&self, dtype: DType) -> bool {
        match dtype {
            DType::Float64 | DType::Complex128 => self.float64,
            DType::Float16 => self.float16,
            DType::Bfloat16 => false,
            _ => true,
        }
    }
}
