//! The reservations of this process, and what is mapped in them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use millpond::Access;
use rustix::mm::{self, MapFlags, MprotectFlags, ProtFlags};

use crate::argument::Answer;
use crate::context::Context;
use crate::mutants::{Rule, broken};
use crate::numbers::{AccessFlags, Code};
use crate::virtual_memory::physical::Physical;

/// A reservation.
#[derive(Debug)]
pub(super) struct Reservation {
    context: Arc<Context>,
    range: Range<usize>,
    /// By the first address, without overlaps.
    mapped: BTreeMap<usize, Mapping>,
}

/// Addresses next to one another that are mapped in one way.
#[derive(Clone, Debug)]
struct Mapping {
    end: usize,
    access: AccessFlags,
    /// Kept while it is mapped.
    _physical: Arc<Physical>,
}

/// Every reservation, by the first address.
type Space = BTreeMap<usize, Reservation>;

static SPACE: RwLock<Space> = RwLock::new(BTreeMap::new());

fn read() -> RwLockReadGuard<'static, Space> {
    SPACE.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Space> {
    SPACE.write().unwrap_or_else(PoisonError::into_inner)
}

/// The pages of this machine, in bytes.
pub(super) fn page() -> usize {
    rustix::param::page_size()
}

/// A range of whole pages.
///
/// # Errors
/// No bytes, or others.
pub(super) fn pages(begin: usize, size: usize) -> Answer<Range<usize>> {
    let is_page = |number: usize| broken(Rule::Pages) || number.is_multiple_of(page());
    let is_whole = size > 0 && is_page(size) && is_page(begin);
    let end = begin.checked_add(size).filter(|_| is_whole);
    Ok(begin..end.ok_or(Code::INVALID_SIZE)?)
}

fn protection(access: AccessFlags) -> ProtFlags {
    match access {
        AccessFlags::READ_WRITE => ProtFlags::READ | ProtFlags::WRITE,
        AccessFlags::READ_ONLY => ProtFlags::READ,
        _ => ProtFlags::empty(),
    }
}

/// Reserves addresses, at a place if that is free.
pub(super) fn reserve(context: &Arc<Context>, near: usize, size: usize) -> Answer<usize> {
    let near = std::ptr::with_exposed_provenance_mut(near);
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: without a fixed place the system chooses addresses that nobody has.
    let begin = unsafe { mm::mmap_anonymous(near, size, ProtFlags::empty(), flags) };
    let begin = begin
        .map_err(|_| Code::OUT_OF_RESOURCES)?
        .expose_provenance();
    let reservation = Reservation {
        context: Arc::clone(context),
        range: begin..begin + size,
        mapped: BTreeMap::new(),
    };
    write().insert(begin, reservation);
    Ok(begin)
}

/// Gives a reservation up.
///
/// # Errors
/// Other addresses than one has; one with something mapped in it.
pub(super) fn free(context: &Arc<Context>, range: &Range<usize>) -> Answer {
    let mut space = write();
    let found = find(&space, context, range)?;
    if found.range != *range {
        return Err(Code::INVALID_VALUE);
    }
    if !found.mapped.is_empty() {
        return Err(Code::INVALID_OPERATION);
    }
    let begin = std::ptr::with_exposed_provenance_mut(range.start);
    // SAFETY: addresses that were reserved here, in which nothing is mapped.
    unsafe { mm::munmap(begin, range.len()) }.map_err(|_| Code::OUT_OF_RESOURCES)?;
    space.remove(&range.start);
    Ok(())
}

/// Maps a part of physical memory.
///
/// # Errors
/// Addresses that aren't reserved, or where something is mapped; memory that ends before.
pub(super) fn map(
    context: &Arc<Context>,
    range: &Range<usize>,
    (physical, offset): (&Arc<Physical>, usize),
    access: AccessFlags,
) -> Answer {
    let mut space = write();
    let found = find_mut(&mut space, context, range)?;
    if found.overlapping(range).next().is_some() && !broken(Rule::Overlap) {
        return Err(Code::INVALID_OPERATION);
    }
    let begin = std::ptr::with_exposed_provenance_mut(range.start);
    let flags = MapFlags::SHARED | MapFlags::FIXED;
    let (protection, file) = (protection(access), physical.file());
    // SAFETY: the addresses are reserved, and nothing is mapped there.
    unsafe { mm::mmap(begin, range.len(), protection, flags, file, offset as u64) }
        .map_err(|_| Code::OUT_OF_RESOURCES)?;
    let mapping = Mapping {
        end: range.end,
        access,
        _physical: Arc::clone(physical),
    };
    found.mapped.insert(range.start, mapping);
    Ok(())
}

/// Takes mappings away; the addresses stay reserved.
///
/// # Errors
/// Addresses of which some aren't mapped.
pub(super) fn unmap(context: &Arc<Context>, range: &Range<usize>) -> Answer {
    let mut space = write();
    let found = find_mut(&mut space, context, range)?;
    found.check_mapped(range)?;
    let begin = std::ptr::with_exposed_provenance_mut(range.start);
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
    let protection = if broken(Rule::Unmap) {
        ProtFlags::READ | ProtFlags::WRITE
    } else {
        ProtFlags::empty()
    };
    // SAFETY: addresses that were reserved here, whose mappings end with this.
    unsafe { mm::mmap_anonymous(begin, range.len(), protection, flags) }
        .map_err(|_| Code::OUT_OF_RESOURCES)?;
    found.cut(range);
    found.mapped.retain(|begin, _| !range.contains(begin));
    Ok(())
}

/// Changes what may be done with what is mapped.
///
/// # Errors
/// Addresses of which some aren't mapped.
pub(super) fn set_access(
    context: &Arc<Context>,
    range: &Range<usize>,
    access: AccessFlags,
) -> Answer {
    let mut space = write();
    let found = find_mut(&mut space, context, range)?;
    found.check_mapped(range)?;
    let begin = std::ptr::with_exposed_provenance_mut(range.start);
    let flags = MprotectFlags::from_bits_retain(protection(access).bits());
    let flags = if broken(Rule::Access) {
        MprotectFlags::READ | MprotectFlags::WRITE
    } else {
        flags
    };
    // SAFETY: addresses that are mapped here; who may use them is what the caller changes.
    unsafe { mm::mprotect(begin, range.len(), flags) }.map_err(|_| Code::OUT_OF_RESOURCES)?;
    found.cut(range);
    for (_, mapping) in found.mapped.range_mut(range.clone()) {
        mapping.access = access;
    }
    Ok(())
}

/// What may be done with what is mapped, which is one thing.
pub(super) fn access(context: &Arc<Context>, range: &Range<usize>) -> Answer<AccessFlags> {
    let space = read();
    let mut modes = find(&space, context, range)?.modes(range)?;
    let first = modes.next().ok_or(Code::INVALID_VALUE)?;
    if modes.any(|other| other != first) {
        return Err(Code::INVALID_VALUE);
    }
    Ok(first)
}

/// # Errors
/// Addresses that are reserved here, of which some aren't mapped for this.
pub(crate) fn check(range: Range<usize>, access: Access) -> Answer {
    let space = read();
    let touched = space.range(..range.end).next_back();
    let Some((_, found)) = touched.filter(|(_, one)| one.range.end > range.start) else {
        return Ok(());
    };
    if range.start < found.range.start || range.end > found.range.end {
        return Err(Code::INVALID_SIZE);
    }
    let is_fit = |mode: AccessFlags| {
        mode == AccessFlags::READ_WRITE || (!access.writes() && mode == AccessFlags::READ_ONLY)
    };
    if !found.modes(&range)?.all(is_fit) {
        return Err(Code::INVALID_VALUE);
    }
    Ok(())
}

impl Reservation {
    /// The mappings that have some of these addresses, by their first.
    fn overlapping(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, &Mapping)> {
        let before = self.mapped.range(..range.start).next_back();
        let before = before.filter(|(_, mapping)| mapping.end > range.start);
        let inside = self.mapped.range(range.clone());
        before
            .into_iter()
            .chain(inside)
            .map(|(begin, mapping)| (*begin, mapping))
    }

    /// # Errors
    /// Addresses of which some aren't mapped.
    fn check_mapped(&self, range: &Range<usize>) -> Answer {
        let mut end = range.start;
        for (begin, mapping) in self.overlapping(range) {
            if begin > end {
                return Err(Code::INVALID_VALUE);
            }
            end = mapping.end;
        }
        if end < range.end {
            return Err(Code::INVALID_VALUE);
        }
        Ok(())
    }

    /// How the addresses are mapped, of which all are.
    fn modes(&self, range: &Range<usize>) -> Answer<impl Iterator<Item = AccessFlags>> {
        self.check_mapped(range)?;
        Ok(self.overlapping(range).map(|(_, mapping)| mapping.access))
    }

    /// Has mappings begin and end where the range does.
    fn cut(&mut self, range: &Range<usize>) {
        for at in [range.start, range.end] {
            if let Some((_, mapping)) = self.mapped.range_mut(..at).next_back()
                && mapping.end > at
            {
                let behind = mapping.clone();
                mapping.end = at;
                self.mapped.insert(at, behind);
            }
        }
    }
}

/// The context's reservation that has all of a range.
fn find<'a>(
    space: &'a Space,
    context: &Arc<Context>,
    range: &Range<usize>,
) -> Answer<&'a Reservation> {
    let found = space.range(..=range.start).next_back().map(|(_, one)| one);
    let is_whole = |one: &&Reservation| one.has(context, range);
    found.filter(is_whole).ok_or(Code::INVALID_VALUE)
}

fn find_mut<'a>(
    space: &'a mut Space,
    context: &Arc<Context>,
    range: &Range<usize>,
) -> Answer<&'a mut Reservation> {
    let found = space.range_mut(..=range.start).next_back();
    let found = found.map(|(_, one)| one);
    let is_whole = |one: &&mut Reservation| one.has(context, range);
    found.filter(is_whole).ok_or(Code::INVALID_VALUE)
}

impl Reservation {
    fn has(&self, context: &Arc<Context>, range: &Range<usize>) -> bool {
        Arc::ptr_eq(&self.context, context)
            && self.range.start <= range.start
            && range.end <= self.range.end
    }
}
