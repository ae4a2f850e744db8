//! The memory that programs have: found by any address in it.
//!
//! What an address is of is known from here only, so that one which is of nothing, or was given back,
//! is an error without effect.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use millpond::{Allocation, MemoryKind};

use crate::argument::Answer;
use crate::context::Context;
use crate::device::Device;
use crate::mutants::{Rule, broken};
use crate::numbers::Code;
use crate::pool::Pool;

/// Memory of a program.
#[derive(Debug)]
pub(crate) struct Usm {
    pub(crate) context: Arc<Context>,
    pub(crate) device: Arc<Device>,
    /// The pool that it is from, which may be gone.
    pub(crate) pool: Weak<Pool>,
    /// How many pools over memory it is from, one in the memory of another.
    pub(crate) depth: usize,
    pub(crate) kind: MemoryKind,
    pub(crate) memory: Allocation,
}

/// By depth, and by the address of the first byte. What has the same depth doesn't overlap.
type Live = Vec<BTreeMap<usize, Usm>>;

static LIVE: RwLock<Live> = RwLock::new(Vec::new());

fn read() -> RwLockReadGuard<'static, Live> {
    LIVE.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Live> {
    LIVE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Hands memory to a program: its address.
pub(crate) fn add(usm: Usm) -> usize {
    let address = usm.memory.address().get();
    let mut live = write();
    if live.len() <= usm.depth {
        live.resize_with(usm.depth + 1, BTreeMap::new);
    }
    let before = live[usm.depth].insert(address, usm);
    debug_assert!(before.is_none(), "two allocations at {address:#x}");
    address
}

/// Takes memory back that begins at an address: of memory in other memory, the innermost.
///
/// # Errors
/// An address at which no memory of the context begins.
pub(crate) fn take(context: &Arc<Context>, address: usize) -> Answer<Usm> {
    let address = if broken(Rule::FirstByte) {
        first_byte(address)
    } else {
        address
    };
    let mut live = write();
    let is_theirs = |usm: &Usm| broken(Rule::OwnContext) || Arc::ptr_eq(&usm.context, context);
    let mut levels = live.iter_mut().rev();
    let level = levels.find(|level| level.get(&address).is_some_and(is_theirs));
    let found = level.and_then(|level| level.remove(&address));
    found.ok_or(Code::INVALID_MEM_OBJECT)
}

/// Where the memory begins that has an address in it.
fn first_byte(address: usize) -> usize {
    find(address, |usm| usm.memory.address().get()).unwrap_or(address)
}

/// Looks at the memory that has an address in it: of memory in other memory, the innermost.
pub(crate) fn find<R>(address: usize, look: impl FnOnce(&Usm) -> R) -> Option<R> {
    let live = read();
    let found = live.iter().rev().find_map(|level| {
        let (base, usm) = level.range(..=address).next_back()?;
        (address - base < usm.memory.bytes()).then_some(usm)
    });
    found.map(look)
}

/// Whether an address is of memory that the host can't reach.
pub(crate) fn is_of_device(address: usize) -> bool {
    let is_out = |usm: &Usm| usm.kind == MemoryKind::Device && !usm.device.is_host();
    find(address, is_out).unwrap_or(false)
}
