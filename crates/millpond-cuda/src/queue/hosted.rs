//! A kernel that the host carries out although the memory is the device's.
//!
//! What it touches of device memory comes to the host, the kernel runs there, and what it may have
//! written goes back; memory that the host reaches is used where it is. Operands that have bytes in
//! common are brought as one range, so that the kernel sees them lie as they do.

use std::alloc::{Layout, alloc, dealloc};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use millpond_hal::{Access, Address, FailureKind, HostKernel, KernelError, Moves, Touch};

use crate::api::Pointer;
use crate::card::{CudaError, Current};
use crate::crew::guard;
use crate::memory::Place;
use crate::staging::{Buffer, Carriage, LARGE, drain};
use crate::station::Station;

/// How alike addresses are before and after: no element is aligned to more.
const ALIGNMENT: usize = 64;

/// Bytes that are worth a thread of their own.
const SHARE: usize = 256 << 10;

/// Pieces that a thread takes at a time are so many parts of what it would do in all.
const TURNS: usize = 8;

/// Why a kernel came to nothing.
pub(super) enum Trouble {
    /// What it found, or its panic.
    Kernel(FailureKind, String),
    /// What the driver answered.
    Device(CudaError),
}

impl From<CudaError> for Trouble {
    fn from(error: CudaError) -> Self {
        Self::Device(error)
    }
}

impl From<(FailureKind, String)> for Trouble {
    fn from((kind, reason): (FailureKind, String)) -> Self {
        Self::Kernel(kind, reason)
    }
}

impl From<KernelError> for Trouble {
    fn from(error: KernelError) -> Self {
        Self::Kernel(error.kind, error.reason)
    }
}

/// Bytes of the device that are brought to the host.
struct Span {
    device: Range<usize>,
    /// Whether their content matters.
    reads: bool,
    /// Whether it changes.
    writes: bool,
    /// Where in the host's room they go.
    begin: usize,
}

/// Carries out a kernel that has begun.
///
/// # Safety
/// As for [`HostKernel::run`] of the whole extent, but that what is in device memory is the
/// device's to read and write; nothing else uses it meanwhile.
pub(super) unsafe fn carry_out(
    station: &Station,
    kernel: &dyn HostKernel,
    bases: &[Address],
) -> Result<(), Trouble> {
    let own = touches_of(kernel, bases);
    let joined = guard(|| Ok(kernel.touches()))?;
    let touches = if joined.is_empty() { &own } else { &joined };
    let bytes = touches.iter().map(|touch| touch.bytes).sum();
    let spans = spans(staged(station, touches)?);
    if spans.is_empty() {
        // SAFETY: all memory is the host's; the rest is the caller's promise.
        return unsafe { run(kernel, bases, bytes) };
    }
    let current = station.card.enter()?;
    let room = Room::new(station, &current, &spans)?;
    let mut moves = Moves::default();
    for span in &spans {
        moves.add(
            span.device.clone(),
            Address::new(room.address() + span.begin),
        );
    }
    // SAFETY: the caller's promise for the device's side, and the room is new and long enough.
    let brought = unsafe { room.carry(station, &current, &spans, false) };
    let outcome = brought.map_err(Trouble::from).and_then(|()| {
        if joined.is_empty() {
            let bases: Vec<Address> = bases
                .iter()
                .zip(&own)
                .map(|(base, touch)| {
                    let before = touch.address.get().wrapping_sub(base.get());
                    Address::new(moves.place(touch.address).get().wrapping_sub(before))
                })
                .collect();
            // SAFETY: what lies on the device was brought to the places of the new bases.
            unsafe { run(kernel, &bases, bytes) }
        } else {
            let Some(moved) = guard(|| Ok(kernel.elsewhere(moves)))? else {
                let reason = "it can't be carried out by the host";
                return Err(Trouble::Kernel(FailureKind::Command, reason.to_owned()));
            };
            // SAFETY: as above, by the kernel's own addresses.
            unsafe { run(&*moved, &[], bytes) }
        }
    });
    let outcome = outcome.and_then(|()| {
        // SAFETY: as for the way there; the kernel has ended.
        Ok(unsafe { room.carry(station, &current, &spans, true) }?)
    });
    room.end(station);
    outcome
}

/// What a kernel touches of its operands, one for each.
fn touches_of(kernel: &dyn HostKernel, bases: &[Address]) -> Vec<Touch> {
    let touch = |(operand, base): (usize, &Address)| {
        let footprint = kernel.footprint(operand);
        Touch {
            address: base.offset(footprint.bytes.start),
            bytes: footprint.bytes.len(),
            access: footprint.access,
        }
    };
    bases.iter().enumerate().map(touch).collect()
}

/// What of it the host can't use where it is.
fn staged(station: &Station, touches: &[Touch]) -> Result<Vec<(Range<usize>, Access)>, CudaError> {
    let mut staged = Vec::new();
    let concurrent = station.card.concurrent_managed;
    for touch in touches.iter().filter(|touch| touch.bytes > 0) {
        let first = touch.address.get();
        let place = station
            .system
            .places
            .find(&station.card, first as Pointer)?;
        if matches!(place, Place::Device(_)) || (place == Place::Managed && !concurrent) {
            staged.push((first..first + touch.bytes, touch.access));
        }
    }
    Ok(staged)
}

/// Joins ranges that overlap, and gives each a place.
fn spans(mut staged: Vec<(Range<usize>, Access)>) -> Vec<Span> {
    staged.sort_by_key(|(range, _)| range.start);
    let mut spans: Vec<Span> = Vec::new();
    for (range, access) in staged {
        match spans
            .last_mut()
            .filter(|last| range.start < last.device.end)
        {
            Some(last) => {
                last.device.end = last.device.end.max(range.end);
                // A part of it may be written only, but not all.
                last.reads = true;
                last.writes |= access.writes();
            }
            None => spans.push(Span {
                device: range,
                reads: access.reads(),
                writes: access.writes(),
                begin: 0,
            }),
        }
    }
    let mut end = 0_usize;
    for span in &mut spans {
        span.begin = end.next_multiple_of(ALIGNMENT) + span.device.start % ALIGNMENT;
        end = span.begin + span.device.len();
    }
    spans
}

/// Memory of the host for what is brought there: a pinned buffer, which the device copies from and to
/// itself, if all fits in.
enum Room {
    Pinned(Buffer),
    Ordinary(*mut u8, Layout),
}

impl Room {
    fn new(station: &Station, current: &Current<'_>, spans: &[Span]) -> Result<Self, Trouble> {
        let bytes = spans
            .last()
            .map_or(0, |span| span.begin + span.device.len());
        if bytes <= LARGE {
            return Ok(Self::Pinned(station.staging.large(current)?));
        }
        let refused = || {
            let reason = format!("the host has no memory for {bytes} bytes of the device");
            Trouble::Kernel(FailureKind::Command, reason)
        };
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| refused())?;
        // SAFETY: the layout isn't empty.
        let pointer = unsafe { alloc(layout) };
        if pointer.is_null() {
            return Err(refused());
        }
        Ok(Self::Ordinary(pointer, layout))
    }

    fn address(&self) -> usize {
        match self {
            Self::Pinned(buffer) => buffer.address as usize,
            Self::Ordinary(pointer, _) => pointer.expose_provenance(),
        }
    }

    /// Brings the spans, or what was written of them back.
    ///
    /// # Safety
    /// The spans may be used so by nobody else, and fit the room.
    unsafe fn carry(
        &self,
        station: &Station,
        current: &Current<'_>,
        spans: &[Span],
        back: bool,
    ) -> Result<(), CudaError> {
        let wanted = |span: &&Span| if back { span.writes } else { span.reads };
        let carriages = spans.iter().filter(wanted).map(|span| Carriage {
            host: self.address() + span.begin,
            device: span.device.start as Pointer,
            bytes: span.device.len(),
            upload: back,
        });
        if let Self::Ordinary(..) = self {
            for carriage in carriages {
                // SAFETY: the caller's promise.
                unsafe { carriage.run(station) }?;
            }
            return Ok(());
        }
        let mut lane = station.lanes.take(&station.card)?;
        // SAFETY: as above; the room is pinned.
        let given = carriages.map(|carriage| unsafe { carriage.give(current, lane.stream) });
        let given = given.collect::<Result<Vec<()>, _>>();
        // Of what was given before an error, nothing may be under way either.
        let settled = drain(current, &mut lane);
        if settled.is_ok() {
            station.lanes.give(lane);
        }
        given.map(drop).and(settled)
    }

    fn end(self, station: &Station) {
        match self {
            Self::Pinned(buffer) => station.staging.give(buffer),
            // SAFETY: had by `new` with this layout, and used by nobody any more.
            Self::Ordinary(pointer, layout) => unsafe { dealloc(pointer, layout) },
        }
    }
}

/// Runs all pieces, on several threads if they are much, and finishes.
///
/// # Safety
/// As for [`HostKernel::run`] of the whole extent, and [`HostKernel::finish`].
unsafe fn run(kernel: &dyn HostKernel, bases: &[Address], bytes: usize) -> Result<(), Trouble> {
    let (extent, grain) = (kernel.extent(), kernel.grain().max(1));
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let most = (extent / grain).min(bytes / SHARE).min(processors).max(1);
    let turn = (extent / (most * TURNS)).max(grain);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let trouble = Mutex::new(None);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let begin = next.fetch_add(turn, Ordering::Relaxed);
            if begin >= extent {
                break;
            }
            let pieces = begin..extent.min(begin + turn);
            // SAFETY: the caller's promise; nobody else has these pieces.
            let ran = guard(|| Ok(unsafe { kernel.run(bases, pieces) }));
            let found = match ran {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => Trouble::from(error),
                Err(panic) => Trouble::from(panic),
            };
            stop.store(true, Ordering::Relaxed);
            trouble
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(found);
        }
    };
    thread::scope(|scope| {
        for _ in 1..most {
            let helper = thread::Builder::new().name("millpond kernel".to_owned());
            // Without a thread, the others do its part.
            let _ = helper.spawn_scoped(scope, work);
        }
        work();
    });
    if let Some(trouble) = trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(trouble);
    }
    // SAFETY: the caller's promise; every piece was run.
    let finished = guard(|| Ok(unsafe { kernel.finish(bases) }));
    Ok(finished??)
}
