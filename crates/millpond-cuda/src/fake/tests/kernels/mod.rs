//! Kernels: by the device, where they have code, and by the host.

mod cost;
mod meanwhile;
mod refusals;

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use millpond_hal::code::{Arguments, Call, Launch, Launches, Report};
use millpond_hal::{
    Access, Address, Command, Device, DeviceCode, Driver, FailureKind, Footprint, Gate, HostKernel,
    KernelError, Moves, Point, Queue, QueueOptions, Touch,
};
use millpond_testkit::contract::raw::Memory;
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use super::super::{Fake, FakeCompiler};
use super::{copy, fill, give, outcome, queue};
use crate::CudaDriver;
use crate::api::Code;
use crate::program::{Store, Workshop};

/// A device, what stands behind it, and the driver, which can be asked what happened.
struct Bench {
    fake: Arc<Fake>,
    compiler: Arc<FakeCompiler>,
    driver: CudaDriver,
    device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
}

impl Bench {
    fn new() -> Self {
        Self::with(None)
    }

    fn with(folder: Option<PathBuf>) -> Self {
        let (fake, compiler) = (Fake::new(1), Arc::<FakeCompiler>::default());
        furnish(&fake);
        let workshop = Workshop::new(Arc::new(Arc::clone(&compiler)), folder.map(Store::new));
        let api: crate::api::Found = fake.clone();
        let driver = CudaDriver::over_both(api, Some(workshop));
        let device = driver.devices().expect("it works").remove(0);
        let queue = queue(&device);
        Self {
            fake,
            compiler,
            driver,
            device,
            queue,
        }
    }

    fn memory(&self, kind: MemoryKind, bytes: usize) -> Memory {
        let memory = Memory::new(&self.device, kind, bytes).expect("memory");
        give(&self.queue, fill(memory.address(), &[0], bytes), &[]);
        memory
    }

    fn launch(&self, kernel: &Arc<Bump>, bases: &[Address], after: &[Point]) -> Point {
        give(&self.queue, launch(kernel, bases), after)
    }

    /// The bytes of memory of any kind.
    fn bytes(&self, memory: &Memory, len: usize) -> Vec<u8> {
        let bytes = vec![0; len];
        let to = Address::of(bytes.as_ptr());
        let point = give(&self.queue, copy(memory.address(), to, len), &[]);
        assert_eq!(outcome(&self.queue, point), Ok(()));
        bytes
    }

    fn launches(&self) -> usize {
        let calls = self.fake.calls();
        calls
            .iter()
            .filter(|call| **call == "cuLaunchKernel")
            .count()
    }
}

/// Gives the fake driver what the kernels of the tests launch.
fn furnish(fake: &Fake) {
    fake.entry("bump", 24, bump);
    fake.entry("stash", 24, stash);
    fake.entry("fetch", 24, stash);
    fake.entry("find", 24, find);
}

/// A fake of so many devices, and these; they run kernels with code.
pub(super) fn devices_with_code(count: usize) -> (Arc<Fake>, Vec<Arc<dyn Device>>) {
    let fake = Fake::new(count);
    furnish(&fake);
    let workshop = Workshop::new(Arc::new(Arc::<FakeCompiler>::default()), None);
    let api: crate::api::Found = fake.clone();
    let devices = CudaDriver::over_both(api, Some(workshop)).devices();
    (fake, devices.expect("they work"))
}

/// A kernel that adds one to each byte, by the device if `coded`.
pub(super) fn bumping(address: Address, bytes: usize, coded: bool) -> Command {
    let way = if coded { Way::Scratch } else { Way::Host };
    let kernel = Bump {
        and_bumps: coded,
        ..Bump::new(bytes, way)
    };
    launch(&Arc::new(kernel), &[address])
}

fn launch(kernel: &Arc<Bump>, bases: &[Address]) -> Command {
    Command::Launch {
        kernel: Arc::clone(kernel) as Arc<dyn HostKernel>,
        bases: bases.iter().copied().collect(),
    }
}

fn pointer(address: usize) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address)
}

/// Adds a number to bytes: `(address, bytes, number)`.
fn bump(launched: &super::super::code::Launched) {
    let [address, bytes, number] = [0, 1, 2].map(|index| launched.number(index));
    for index in 0..bytes {
        let byte = pointer(address + index);
        // SAFETY: the kernels of the tests stay within their footprints.
        let value = unsafe { byte.read() };
        // SAFETY: as above.
        unsafe { byte.write(value.wrapping_add(number as u8)) };
    }
}

/// Copies bytes: `(from, to, bytes)`.
fn stash(launched: &super::super::code::Launched) {
    let [from, to, bytes] = [0, 1, 2].map(|index| launched.number(index));
    // SAFETY: as above, or scratch memory of the lane.
    unsafe { pointer(from).copy_to_nonoverlapping(pointer(to), bytes) };
}

/// Reports the number of a byte that isn't zero: `(address, bytes, report)`.
fn find(launched: &super::super::code::Launched) {
    let [address, bytes, report] = [0, 1, 2].map(|index| launched.number(index));
    // SAFETY: as above; the words are the command's.
    let found = (0..bytes).find(|&index| unsafe { pointer(address + index).read() } != 0);
    if let Some(index) = found {
        let words: *mut u64 = std::ptr::with_exposed_provenance_mut(report);
        // SAFETY: as above.
        unsafe { words.write(1) };
        // SAFETY: as above; there are four words.
        unsafe { words.wrapping_add(1).write(index as u64) };
    }
}

/// What a kernel's launches do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It has no code.
    Host,
    /// One launch.
    Launch,
    /// Two, by way of scratch memory, which leaves all as it was.
    Scratch,
    /// One that reports bytes which aren't zero.
    Find,
    /// Its source has an error.
    Wrong,
    /// An entry that its source doesn't have.
    Missing,
}

/// Adds one to every byte of its operands, each of so many bytes, from `skip` on.
struct Bump {
    bytes: usize,
    operands: usize,
    skip: usize,
    way: Way,
    trouble: bool,
    /// Whether a launch that leaves all as it was is followed by one.
    and_bumps: bool,
    growth: Option<Growth>,
    /// Which of those with code of their own it is.
    chain: usize,
    /// What does its work meanwhile.
    meanwhile: Option<Box<Bump>>,
}

/// What is added until it begins.
struct Growth {
    state: Mutex<State>,
    sealed: Condvar,
    /// Whether it begins by itself.
    is_hasty: bool,
    /// Memory that was joined to it.
    joined: Option<(Address, usize)>,
}

struct State {
    number: u8,
    is_sealed: bool,
}

impl Bump {
    fn new(bytes: usize, way: Way) -> Self {
        Self {
            bytes,
            operands: 1,
            skip: 0,
            way,
            trouble: false,
            and_bumps: false,
            growth: None,
            chain: 0,
            meanwhile: None,
        }
    }

    /// One of many, whose work another does meanwhile, by more launches.
    fn chain(bytes: usize, chain: usize) -> Self {
        let meanwhile = Self {
            and_bumps: true,
            ..Self::new(bytes, Way::Scratch)
        };
        Self {
            chain,
            meanwhile: Some(Box::new(meanwhile)),
            ..Self::new(bytes, Way::Launch)
        }
    }

    fn growing(bytes: usize, way: Way, is_hasty: bool) -> Self {
        let state = State {
            number: 1,
            is_sealed: false,
        };
        let growth = Growth {
            state: Mutex::new(state),
            sealed: Condvar::new(),
            is_hasty,
            joined: None,
        };
        Self {
            growth: Some(growth),
            ..Self::new(bytes, way)
        }
    }

    fn state<R>(&self, body: impl FnOnce(&mut State) -> R) -> Option<R> {
        let growth = self.growth.as_ref()?;
        let answer = body(&mut growth.state.lock().unwrap_or_else(PoisonError::into_inner));
        growth.sealed.notify_all();
        Some(answer)
    }

    fn join(&self) {
        self.state(|state| {
            assert!(!state.is_sealed);
            state.number += 1;
        });
    }

    fn seal(&self) {
        self.state(|state| state.is_sealed = true);
    }

    fn number(&self) -> u8 {
        self.state(|state| state.number).unwrap_or(1)
    }

    /// # Safety
    /// The bytes are the caller's.
    unsafe fn add(&self, address: Address, bytes: usize) {
        for index in 0..bytes {
            let byte = address.offset(index).as_ptr::<u8>();
            // SAFETY: the caller's promise.
            let value = unsafe { byte.read() };
            // SAFETY: as above.
            unsafe { byte.write(value.wrapping_add(self.number())) };
        }
    }
}

// SAFETY: it touches the bytes of its operands that the footprints say, in one piece.
unsafe impl HostKernel for Bump {
    fn operands(&self) -> usize {
        self.operands
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: self.skip..self.skip + self.bytes,
            access: Access::Update,
        }
    }

    fn begin(&self) {
        let Some(growth) = &self.growth else {
            return;
        };
        let mut state = growth.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_sealed |= growth.is_hasty;
        while !state.is_sealed {
            state = growth
                .sealed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn extent(&self) -> usize {
        1
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &[Address], _range: Range<usize>) -> Result<(), KernelError> {
        if self.trouble {
            return Err(KernelError::new(FailureKind::Index, "index 7 of 5"));
        }
        for base in bases {
            // SAFETY: the caller vouches for the footprint.
            unsafe { self.add(base.offset(self.skip), self.bytes) };
        }
        Ok(())
    }

    fn grows(&self) -> bool {
        self.state(|state| !state.is_sealed).unwrap_or(false)
    }

    fn touches(&self) -> Vec<Touch> {
        let joined = self.growth.as_ref().and_then(|growth| growth.joined);
        let touch = |(address, bytes)| Touch {
            address,
            bytes,
            access: Access::Update,
        };
        joined.map(touch).into_iter().collect()
    }

    fn elsewhere(&self, moves: Moves) -> Option<Box<dyn HostKernel + '_>> {
        let (address, bytes) = self.growth.as_ref()?.joined?;
        let address = moves.place(address);
        Some(Box::new(Moved(self, address, bytes)))
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        (self.way != Way::Host).then_some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bump of {} bytes", self.bytes)
    }
}

/// A kernel whose joined memory lies elsewhere.
struct Moved<'a>(&'a Bump, Address, usize);

// SAFETY: as for `Bump`, by an address of its own.
unsafe impl HostKernel for Moved<'_> {
    fn operands(&self) -> usize {
        0
    }

    fn footprint(&self, operand: usize) -> Footprint {
        unreachable!("operand {operand}")
    }

    fn extent(&self) -> usize {
        1
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, _bases: &[Address], _range: Range<usize>) -> Result<(), KernelError> {
        // SAFETY: the caller vouches for the bytes.
        unsafe { self.0.add(self.1, self.2) };
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

fn one(entry: &'static str, numbers: [usize; 3]) -> Launch {
    let mut arguments = Arguments::default();
    for number in numbers {
        arguments.push((number as u64).to_ne_bytes());
    }
    Launch {
        entry,
        blocks: [1; 3],
        threads: 32,
        shared_memory: 0,
        arguments,
    }
}

// SAFETY: the entries touch what `launches` names: footprints, scratch and report.
unsafe impl DeviceCode for Bump {
    fn key(&self, key: &mut Vec<u8>) {
        key.extend_from_slice(format!("{:?} {}", self.way, self.chain).as_bytes());
    }

    fn source(&self) -> String {
        match self.way {
            Way::Wrong => "an error".to_owned(),
            Way::Missing => "other".to_owned(),
            way => format!("bump stash fetch find // {way:?} {}", self.chain),
        }
    }

    fn meanwhile(&self) -> Option<&dyn DeviceCode> {
        let meanwhile = self.meanwhile.as_deref()?;
        Some(meanwhile)
    }

    fn scratch(&self, _machine: &millpond_hal::code::Machine) -> usize {
        if self.way == Way::Scratch {
            self.bytes
        } else {
            0
        }
    }

    fn reports(&self) -> bool {
        self.way == Way::Find
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        assert_eq!(call.machine.warp, 32);
        let mut launches = Launches::new();
        for base in call.bases {
            let address = base.get() + self.skip;
            let scratch = call.scratch.get();
            match self.way {
                Way::Scratch => {
                    launches.push(one("stash", [address, scratch, self.bytes]));
                    launches.push(one("fetch", [scratch, address, self.bytes]));
                }
                Way::Find => launches.push(one("find", [address, self.bytes, call.report.get()])),
                _ => {}
            }
            if self.and_bumps || !matches!(self.way, Way::Scratch | Way::Find) {
                launches.push(one("bump", [address, self.bytes, self.number().into()]));
            }
        }
        launches.push(Launch {
            blocks: [0, 1, 1],
            ..one("nothing", [0; 3])
        });
        launches
    }

    fn error(&self, report: Report) -> KernelError {
        assert_eq!(report[0], 1);
        KernelError::new(FailureKind::Index, format!("byte {} isn't zero", report[1]))
    }
}

#[test]
fn a_kernel_with_code_is_compiled_once_and_then_only_launched() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 1000);
        for _ in 0..3 {
            let kernel = Arc::new(Bump::new(1000, Way::Launch));
            let point = bench.launch(&kernel, &[memory.address()], &[]);
            assert_eq!(outcome(&bench.queue, point), Ok(()));
        }
        assert_eq!(bench.compiler.compiled().len(), 1);
        assert_eq!(bench.launches(), 3);
        bench.fake.pause();
        let kernel = Arc::new(Bump::new(1000, Way::Launch));
        bench.launch(&kernel, &[memory.address()], &[]);
        let calls = bench.fake.calls();
        assert_eq!(calls, ["cuLaunchKernel", "cuStreamWriteValue64"]);
        bench.fake.resume();
        assert_eq!(bench.bytes(&memory, 1000), [4; 1000]);
        // The tests' compiler isn't looked for.
        let report = bench.driver.compiler_report();
        assert_eq!(report.as_deref(), Some(""));
    });
}

#[test]
fn what_follows_a_kernel_that_is_compiled_waits_and_nobody_else() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 1000);
        let gate = Gate::new();
        bench.compiler.hold(&gate);
        let kernel = Arc::new(Bump::new(1000, Way::Launch));
        let bumped = bench.launch(&kernel, &[memory.address()], &[]);
        let filled = give(&bench.queue, fill(memory.address(), &[7], 10), &[]);
        let other = queue(&bench.device);
        let elsewhere = Memory::new(&bench.device, MemoryKind::Device, 8).expect("memory");
        let alone = give(&other, fill(elsewhere.address(), &[1], 8), &[]);
        let behind = give(
            &other,
            copy(memory.address(), elsewhere.address(), 8),
            &[bumped],
        );
        assert_eq!(outcome(&other, alone), Ok(()));
        assert!(!bench.queue.reached(filled.sequence) && !other.reached(behind.sequence));
        gate.open(Ok(()));
        assert_eq!(outcome(&other, behind), Ok(()));
        let bytes = bench.bytes(&memory, 1000);
        assert_eq!((&bytes[..10], &bytes[10..]), (&[7; 10][..], &[1; 990][..]));
    });
}

#[test]
fn scratch_memory_is_there_for_each_and_grows() {
    watched(|| {
        let bench = Bench::new();
        let bytes = 3 << 20;
        let memory = bench.memory(MemoryKind::Device, bytes);
        let bump = Arc::new(Bump::new(bytes, Way::Launch));
        bench.launch(&bump, &[memory.address()], &[]);
        bench.bytes(&memory, 1);
        bench.fake.pause();
        for bytes in [1000, bytes, 1000, bytes] {
            let kernel = Arc::new(Bump::new(bytes, Way::Scratch));
            bench.launch(&kernel, &[memory.address()], &[]);
            bench.launch(&bump, &[memory.address()], &[]);
        }
        bench.fake.resume();
        assert_eq!(bench.bytes(&memory, bytes), vec![5; bytes]);
        let calls = bench.fake.calls();
        let count = |name| calls.iter().filter(|call| **call == name).count();
        assert_eq!((count("cuMemAlloc"), count("cuMemFree")), (2, 0));
    });
}

#[test]
fn what_a_kernel_reports_fails_it_and_what_depends_on_it() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 1000);
        let kernel = Arc::new(Bump::new(1000, Way::Find));
        let good = bench.launch(&kernel, &[memory.address()], &[]);
        assert_eq!(outcome(&bench.queue, good), Ok(()));
        let place = memory.address().offset(600);
        let set = give(&bench.queue, fill(place, &[1], 1), &[good]);
        bench.fake.pause();
        let bad = bench.launch(&kernel, &[memory.address()], &[set]);
        let dependent = give(&bench.queue, fill(memory.address(), &[0], 8), &[bad]);
        let third = give(&bench.queue, fill(memory.address(), &[0], 8), &[dependent]);
        let free = give(&bench.queue, fill(memory.address(), &[0], 1000), &[]);
        let other = queue(&bench.device);
        let behind = give(&other, fill(memory.address(), &[0], 8), &[third]);
        bench.fake.resume();
        let failure = outcome(&bench.queue, bad).expect_err("a byte was set");
        assert_eq!(failure.kind(), FailureKind::Index);
        assert_eq!(
            failure.to_string(),
            "bump of 1000 bytes failed: byte 600 isn't zero"
        );
        assert_eq!(outcome(&bench.queue, dependent), Err(failure.clone()));
        assert_eq!(outcome(&bench.queue, third), Err(failure.clone()));
        assert_eq!(outcome(&other, behind), Err(failure));
        assert_eq!(outcome(&bench.queue, free), Ok(()));
        // The words are zero again for the next.
        let good = bench.launch(&kernel, &[memory.address()], &[]);
        assert_eq!(outcome(&bench.queue, good), Ok(()));
    });
}

#[test]
fn programs_are_found_on_disk_by_the_next_process() {
    watched(|| {
        let folder = std::env::temp_dir().join(format!("millpond-kernels-{}", std::process::id()));
        for compiled in [1, 0] {
            let bench = Bench::with(Some(folder.clone()));
            let memory = bench.memory(MemoryKind::Device, 10);
            let kernel = Arc::new(Bump::new(10, Way::Launch));
            bench.launch(&kernel, &[memory.address()], &[]);
            assert_eq!(bench.bytes(&memory, 10), [1; 10]);
            assert_eq!(bench.compiler.compiled().len(), compiled);
        }
        std::fs::remove_dir_all(folder).expect("it is the test's");
    });
}

#[test]
fn what_does_not_compile_is_the_hosts_and_is_told() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 1000);
        let kernel = Arc::new(Bump::new(1000, Way::Wrong));
        for _ in 0..3 {
            bench.launch(&kernel, &[memory.address()], &[]);
        }
        // Out of order as well.
        let options = QueueOptions {
            out_of_order: true,
            ..QueueOptions::default()
        };
        let queue = bench.device.create_queue(&options).expect("a queue");
        let after = give(&bench.queue, fill(memory.address(), &[5], 10), &[]);
        let last = give(&queue, launch(&kernel, &[memory.address()]), &[after]);
        assert_eq!(outcome(&queue, last), Ok(()));
        let bytes = bench.bytes(&memory, 1000);
        assert_eq!((&bytes[..10], &bytes[10..]), (&[6; 10][..], &[4; 990][..]));
        assert_eq!((bench.compiler.compiled().len(), bench.launches()), (1, 0));
        let report = bench.driver.compiler_report().expect("there is a device");
        assert!(report.contains("no such entry in 'an error'"), "{report}");
    });
}

#[test]
fn an_entry_that_is_missing_fails_its_command() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 10);
        let kernel = Arc::new(Bump::new(10, Way::Missing));
        let bad = bench.launch(&kernel, &[memory.address()], &[]);
        let failure = outcome(&bench.queue, bad).expect_err("there is no such entry");
        assert!(
            failure
                .reason()
                .starts_with("cuModuleGetFunction: CUDA_ERROR_NOT_FOUND"),
            "{failure}"
        );
        assert_eq!(bench.bytes(&memory, 10), [0; 10]);
    });
}

#[test]
fn a_window_is_held_until_the_next_command_and_then_one_launch() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 10);
        let warm = bench.launch(
            &Arc::new(Bump::new(10, Way::Launch)),
            &[memory.address()],
            &[],
        );
        assert_eq!(outcome(&bench.queue, warm), Ok(()));
        bench.fake.calls();
        let window = Arc::new(Bump::growing(10, Way::Launch, false));
        let first = bench.launch(&window, &[memory.address()], &[]);
        assert!(!bench.queue.reached(first.sequence));
        window.join();
        assert_eq!(bench.launches(), 0);
        window.join();
        window.seal();
        let second = Arc::new(Bump::growing(10, Way::Launch, false));
        let point = bench.launch(&second, &[memory.address()], &[]);
        // By the thread that submits, at once.
        assert_eq!(bench.launches(), 1);
        assert_eq!(outcome(&bench.queue, first), Ok(()));
        second.seal();
        assert_eq!(outcome(&bench.queue, point), Ok(()));
        assert_eq!(bench.bytes(&memory, 10), [5; 10]);
    });
}

#[test]
fn a_window_that_nobody_asks_for_begins_by_itself() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 10);
        let window = Arc::new(Bump::growing(10, Way::Launch, true));
        let point = bench.launch(&window, &[memory.address()], &[]);
        while !bench.queue.reached(point.sequence) {
            thread::yield_now();
        }
        // What waits for it on another queue doesn't hold it up, nor who waits for that.
        let window = Arc::new(Bump::growing(10, Way::Launch, true));
        let point = bench.launch(&window, &[memory.address()], &[]);
        let other = queue(&bench.device);
        let behind = give(&other, fill(memory.address(), &[9], 5), &[point]);
        assert_eq!(outcome(&other, behind), Ok(()));
        assert_eq!(bench.bytes(&memory, 10), [9, 9, 9, 9, 9, 2, 2, 2, 2, 2]);
    });
}

#[test]
fn a_window_without_code_is_carried_out_by_the_host_where_its_bytes_were_brought() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 100);
        let joined = bench.memory(MemoryKind::Device, 50);
        let mut window = Bump::growing(100, Way::Wrong, true);
        if let Some(growth) = &mut window.growth {
            growth.joined = Some((joined.address(), 50));
        }
        bench.launch(&Arc::new(window), &[memory.address()], &[]);
        assert_eq!(bench.bytes(&joined, 50), [1; 50]);
        assert_eq!(bench.bytes(&memory, 100), [0; 100]);
    });
}

#[test]
fn the_host_carries_out_what_has_no_code_on_memory_of_every_kind() {
    watched(|| {
        let bench = Bench::new();
        // Less than a pinned buffer holds, and more.
        for bytes in [1, 1000, 9 << 20] {
            let kernel = Arc::new(Bump {
                skip: 3,
                operands: 3,
                ..Bump::new(bytes, Way::Host)
            });
            let memories = MemoryKind::ALL.map(|kind| bench.memory(kind, bytes + 5));
            let bases = memories.each_ref().map(Memory::address);
            bench.launch(&kernel, &bases, &[]);
            let point = bench.launch(&kernel, &bases, &[]);
            assert_eq!(outcome(&bench.queue, point), Ok(()));
            for memory in &memories {
                let found = bench.bytes(memory, bytes + 5);
                assert_eq!(
                    (&found[..3], &found[bytes + 3..]),
                    (&[0; 3][..], &[0; 2][..])
                );
                assert!(found[3..bytes + 3].iter().all(|&byte| byte == 2), "{bytes}");
            }
        }
        assert_eq!(bench.launches(), 0);
    });
}

#[test]
fn operands_with_bytes_in_common_are_brought_as_one() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 200);
        let kernel = Arc::new(Bump {
            operands: 3,
            ..Bump::new(100, Way::Host)
        });
        let bases = [50, 0, 50].map(|offset| memory.address().offset(offset));
        bench.launch(&kernel, &bases, &[]);
        let bytes = bench.bytes(&memory, 200);
        let expected: Vec<u8> = [(50, 1), (50, 3), (50, 2), (50, 0)]
            .iter()
            .flat_map(|&(count, value)| vec![value; count])
            .collect();
        assert_eq!(bytes, expected);
    });
}

#[test]
fn what_a_kernel_finds_on_the_host_is_its_failure() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 100);
        let kernel = Arc::new(Bump {
            trouble: true,
            ..Bump::new(100, Way::Host)
        });
        let bad = bench.launch(&kernel, &[memory.address()], &[]);
        let dependent = give(&bench.queue, fill(memory.address(), &[1], 8), &[bad]);
        let failure = outcome(&bench.queue, bad).expect_err("the kernel says so");
        assert_eq!(failure.kind(), FailureKind::Index);
        assert_eq!(
            failure.to_string(),
            "bump of 100 bytes failed: index 7 of 5"
        );
        assert_eq!(outcome(&bench.queue, dependent), Err(failure));
        assert_eq!(bench.bytes(&memory, 100), [0; 100]);
    });
}

#[test]
fn launches_end_with_a_device_that_is_lost() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 100);
        let [coded, hosted] = [Way::Launch, Way::Host].map(|way| Arc::new(Bump::new(100, way)));
        let warm = bench.launch(&coded, &[memory.address()], &[]);
        assert_eq!(outcome(&bench.queue, warm), Ok(()));
        bench.fake.pause();
        let points = [
            bench.launch(&coded, &[memory.address()], &[]),
            bench.launch(&hosted, &[memory.address()], &[]),
            bench.launch(&coded, &[memory.address()], &[]),
        ];
        bench.fake.lose(Code::ILLEGAL_ADDRESS);
        for point in points {
            let failure = outcome(&bench.queue, point).expect_err("the device is lost");
            assert_eq!(failure.kind(), FailureKind::Lost);
        }
    });
}
