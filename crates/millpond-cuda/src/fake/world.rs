//! What a fake driver has: memory, streams, and what tests have arranged.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use millpond_testkit::dice::Dice;

use super::MEMORY;
use super::code::{Entry, Launched};
use super::pools::Pools;
use crate::api::{Code, EventHandle, FunctionHandle, ModuleHandle, Ordinal, Pointer, StreamHandle};

/// What new memory holds, so that nobody takes it for zeros.
const RUBBISH: u8 = 0xa5;

/// What memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Device(Ordinal),
    Host,
    Managed,
    /// Addresses without memory.
    Reserved,
    /// Memory that nobody may use yet.
    Mapped,
    /// Memory of a pool that is free, or that no stream has come to.
    Pooled(Ordinal),
}

/// Memory that lives.
pub(super) struct Block {
    layout: Layout,
    kind: Kind,
}

/// One thing that a stream does.
#[derive(Debug)]
pub(super) enum Step {
    Copy {
        dst: Pointer,
        src: Pointer,
        bytes: usize,
    },
    /// Repeats a value `width` times in each of `height` rows.
    Set {
        dst: Pointer,
        pitch: usize,
        value: Vec<u8>,
        width: usize,
        height: usize,
    },
    Touch {
        address: Pointer,
        bytes: usize,
    },
    Note(EventHandle),
    Run(Entry, Launched),
    Write(Pointer, u64),
    Wait(Pointer, u64),
    /// Memory of a pool begins.
    Begin(Pointer, Ordinal),
    /// Memory of a pool ends, with the number of its free.
    End(Pointer, usize),
    /// What comes next waits for a free.
    Until(usize),
}

impl Step {
    pub(super) fn set(
        dst: Pointer,
        pitch: usize,
        value: &[u8],
        width: usize,
        height: usize,
    ) -> Self {
        assert!(
            (dst as usize).is_multiple_of(value.len()) && pitch.is_multiple_of(value.len()),
            "values of {} bytes at {dst:#x} by {pitch}",
            value.len()
        );
        Self::Set {
            dst,
            pitch,
            value: value.to_vec(),
            width,
            height,
        }
    }
}

/// All that there is.
pub(super) struct World {
    pub(super) devices: usize,
    pub(super) blocks: BTreeMap<Pointer, Block>,
    pub(super) streams: BTreeMap<StreamHandle, VecDeque<Step>>,
    next: usize,
    pub(super) events: usize,
    /// When the device passed an event.
    pub(super) noted: BTreeMap<EventHandle, Instant>,
    /// Contexts that were retained and not released.
    pub(super) retained: usize,
    /// Physical memory that was created and not released.
    pub(super) physical: usize,
    pub(super) peers: HashSet<(Ordinal, usize)>,
    /// Code that was loaded: its source.
    pub(super) modules: BTreeMap<ModuleHandle, String>,
    /// Entries that were asked for: their names.
    pub(super) functions: BTreeMap<FunctionHandle, String>,
    /// Variables that programs may name, and their bytes.
    pub(super) variables: HashMap<String, usize>,
    /// Those that programs have.
    pub(super) placed: HashMap<(ModuleHandle, String), Pointer>,
    /// What runs in place of entries.
    pub(super) entries: HashMap<String, Entry>,
    pub(super) lost: Option<Code>,
    pub(super) faults: Vec<(&'static str, usize, Code)>,
    pub(super) fault_at: Option<(usize, Code)>,
    pub(super) lacking: Vec<i32>,
    pub(super) calls: Vec<&'static str>,
    pub(super) paused: bool,
    pub(super) ended: bool,
    /// Whether the host can't reach device memory.
    hides: bool,
    pub(super) pools: Pools,
    /// Bytes of a device that pools may have.
    pub(super) room_for_pools: usize,
    /// The stream whose work is recorded.
    pub(super) captured: Option<StreamHandle>,
    /// Streams that stand still.
    pub(super) held: Vec<StreamHandle>,
    dice: Dice,
}

impl World {
    pub(super) fn new(devices: usize, hides: bool) -> Self {
        Self {
            devices,
            blocks: BTreeMap::new(),
            streams: BTreeMap::new(),
            next: 0,
            events: 0,
            noted: BTreeMap::new(),
            retained: 0,
            physical: 0,
            peers: HashSet::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            variables: HashMap::new(),
            placed: HashMap::new(),
            entries: HashMap::new(),
            lost: None,
            faults: Vec::new(),
            fault_at: None,
            lacking: Vec::new(),
            calls: Vec::new(),
            paused: false,
            ended: false,
            hides,
            pools: Pools::default(),
            room_for_pools: MEMORY,
            captured: None,
            held: Vec::new(),
            dice: Dice::numbered(7),
        }
    }

    /// The code that a test wants of this call.
    pub(super) fn fault(&mut self, call: &str) -> Option<Code> {
        if let Some((index, code)) = self.fault_at
            && self.calls.len().checked_sub(1) == Some(index)
        {
            return Some(code);
        }
        let index = self.faults.iter().position(|(name, ..)| *name == call)?;
        let (_, skip, code) = &mut self.faults[index];
        if *skip > 0 {
            *skip -= 1;
            return None;
        }
        let code = *code;
        self.faults.remove(index);
        Some(code)
    }

    pub(super) fn add(&mut self, bytes: usize, align: usize, kind: Kind) -> Option<Pointer> {
        let layout = Layout::from_size_align(bytes.max(1), align).ok()?;
        // SAFETY: the layout isn't empty.
        let pointer = unsafe { alloc(layout) };
        if pointer.is_null() {
            return None;
        }
        if bytes < 16 << 20 {
            // SAFETY: new memory of this layout.
            unsafe { pointer.write_bytes(RUBBISH, layout.size()) };
        }
        let mut address = pointer.expose_provenance() as Pointer;
        if self.hides && !matches!(kind, Kind::Host | Kind::Managed) {
            address |= HIDDEN;
        }
        self.blocks.insert(address, Block { layout, kind });
        Some(address)
    }

    pub(super) fn remove(&mut self, address: Pointer) -> Code {
        let Some(block) = self.blocks.remove(&address) else {
            return Code::INVALID_VALUE;
        };
        let pointer = place(address);
        // SAFETY: had with this layout, and no more in the list.
        unsafe { dealloc(pointer, block.layout) };
        Code::SUCCESS
    }

    /// Makes memory of one kind that of another.
    pub(super) fn turn(&mut self, address: Pointer, from: Kind, to: Kind) -> Code {
        match self.blocks.get_mut(&address) {
            Some(block) if block.kind == from => {
                block.kind = to;
                Code::SUCCESS
            }
            _ => Code::INVALID_VALUE,
        }
    }

    /// Takes memory of a pool from who used it; whether it was used.
    pub(super) fn retire(&mut self, address: Pointer) -> bool {
        let block = self.blocks.get_mut(&address);
        let Some((block, device)) = block.and_then(|block| match block.kind {
            Kind::Device(device) => Some((block, device)),
            _ => None,
        }) else {
            return false;
        };
        block.kind = Kind::Pooled(device);
        true
    }

    pub(super) fn kind_of(&self, address: Pointer) -> Option<Kind> {
        let (first, block) = self.blocks.range(..=address).next_back()?;
        (address - first < block.layout.size() as Pointer).then_some(block.kind)
    }

    /// A number for a handle.
    pub(super) fn next(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    pub(super) fn add_stream(&mut self) -> StreamHandle {
        let handle = StreamHandle(self.next());
        self.streams.insert(handle, VecDeque::new());
        handle
    }

    /// Gives a stream a step.
    pub(super) fn give(&mut self, stream: StreamHandle, step: Step) -> Code {
        match self.streams.get_mut(&stream) {
            Some(steps) => {
                steps.push_back(step);
                Code::SUCCESS
            }
            None => Code::INVALID_HANDLE,
        }
    }

    /// Whether a range is memory that a device may use.
    pub(super) fn is_live(&self, address: Pointer, bytes: usize) -> bool {
        let block = self.blocks.range(..=address).next_back();
        block.is_some_and(|(first, block)| {
            let usable = !matches!(block.kind, Kind::Reserved | Kind::Mapped | Kind::Pooled(_));
            usable && (address - first) as usize + bytes <= block.layout.size()
        })
    }

    /// Carries out the next step of a stream that may go on; whether there was one.
    pub(super) fn advance(&mut self) -> bool {
        if self.paused || self.lost.is_some() {
            return false;
        }
        let may: Vec<StreamHandle> = self
            .streams
            .iter()
            .filter(|(handle, _)| !self.held.contains(handle))
            .filter(|(_, steps)| match steps.front() {
                Some(Step::Wait(address, value)) => counter(*address) >= *value,
                Some(Step::Until(end)) => self.has_ended(*end),
                Some(_) => true,
                None => false,
            })
            .map(|(&handle, _)| handle)
            .collect();
        if may.is_empty() {
            return false;
        }
        let chosen = may[self.dice.roll(may.len())];
        let steps = self.streams.get_mut(&chosen).expect("it was just there");
        let step = steps.pop_front().expect("it has a step");
        if !self.carry_out(&step) {
            self.lost = Some(Code::ILLEGAL_ADDRESS);
        }
        true
    }

    /// Whether all memory of the step was there.
    fn carry_out(&mut self, step: &Step) -> bool {
        let pointer = place;
        match *step {
            Step::Copy { dst, src, bytes } => {
                if !self.is_live(dst, bytes) || !self.is_live(src, bytes) {
                    return false;
                }
                // SAFETY: both ranges are live; a copy's don't overlap.
                unsafe { pointer(dst).copy_from_nonoverlapping(pointer(src), bytes) };
            }
            Step::Set {
                dst,
                pitch,
                ref value,
                width,
                height,
            } => {
                for row in 0..height {
                    let begin = dst + (row * pitch) as Pointer;
                    if !self.is_live(begin, width * value.len()) {
                        return false;
                    }
                    for index in 0..width {
                        let place = pointer(begin + (index * value.len()) as Pointer);
                        // SAFETY: the row is live.
                        unsafe { place.copy_from_nonoverlapping(value.as_ptr(), value.len()) };
                    }
                }
            }
            Step::Note(event) => {
                self.noted.insert(event, Instant::now());
            }
            Step::Run(ref entry, ref launched) => (entry.body)(launched),
            Step::Touch { address, bytes } => return self.is_live(address, bytes),
            Step::Write(address, value) => {
                if !self.is_live(address, 8) {
                    return false;
                }
                let place: *const AtomicU64 = std::ptr::with_exposed_provenance(address as usize);
                // SAFETY: it is live, and aligned as counters are.
                unsafe { (*place).store(value, Ordering::Release) };
            }
            Step::Wait(address, _) => return self.is_live(address, 8),
            Step::Until(_) => {}
            Step::Begin(address, device) => {
                let (from, to) = (Kind::Pooled(device), Kind::Device(device));
                return self.turn(address, from, to) == Code::SUCCESS;
            }
            Step::End(address, end) => return self.end(address, end),
        }
        true
    }
}

impl Drop for World {
    fn drop(&mut self) {
        while let Some(&address) = self.blocks.keys().next() {
            self.remove(address);
        }
    }
}

/// A bit of the addresses that the host can't reach: no program has addresses with it.
const HIDDEN: Pointer = 1 << 62;

/// Where the bytes of an address are.
pub(super) fn place(address: Pointer) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut((address & !HIDDEN) as usize)
}

fn counter(address: Pointer) -> u64 {
    let place: *const AtomicU64 = std::ptr::with_exposed_provenance(address as usize);
    // SAFETY: streams wait for counters only, which live as long as the driver.
    unsafe { (*place).load(Ordering::Acquire) }
}
