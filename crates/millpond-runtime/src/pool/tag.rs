//! Tags: names under which allocations are counted, with budgets.
//!
//! A tag counts what was granted to allocations made inside of its [`TagScope`], on any device and
//! from any pool, until they are freed. Tags form a tree: what a tag counts its parents count too.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::pool::limit::Limit;
use crate::pool::scope;
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Handle to a tag. Clones are the same tag. `Send`, `Sync`.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Device, MemoryKind, Tag};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// let tenant = Tag::new("tenant");
/// tenant.set_budget(Some(1 << 20));
/// let queue = device.default_queue()?;
/// let _scope = tenant.child("request").scope();
/// let memory = queue.allocate(MemoryKind::Device, 1000)?;
/// assert_eq!((tenant.used(), tenant.live()), (1024, 1));
/// assert!(queue.allocate(MemoryKind::Device, 2 << 20).is_err());
/// drop(memory);
/// assert_eq!(tenant.used(), 0);
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Tag(Arc<TagCore>);

struct TagCore {
    name: String,
    parent: Option<Tag>,
    /// Bytes that may be used; and bytes beyond which pressure is told.
    budget: Limit,
    soft_budget: Limit,
    used: AtomicUsize,
    used_high: AtomicUsize,
    live: AtomicUsize,
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static SCOPES: scope::Stack<Tag> = const { scope::Stack::new() };
}

impl Tag {
    /// A tag of its own.
    pub fn new(name: impl Into<String>) -> Self {
        Self::under(name.into(), None)
    }

    /// A tag that counts here too; its name is appended to this one's behind a slash.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self::under(format!("{}/{name}", self.name()), Some(self.clone()))
    }

    fn under(name: String, parent: Option<Self>) -> Self {
        Self(Arc::new(TagCore {
            name,
            parent,
            budget: Limit::new(None),
            soft_budget: Limit::new(None),
            used: AtomicUsize::new(0),
            used_high: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
        }))
    }

    /// Its name, with those of its parents.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Bytes granted to live allocations.
    pub fn used(&self) -> usize {
        self.0.used.load(Relaxed)
    }

    /// The most that `used` has been.
    pub fn used_high(&self) -> usize {
        self.0.used_high.load(Relaxed)
    }

    /// Number of live allocations.
    pub fn live(&self) -> usize {
        self.0.live.load(Relaxed)
    }

    /// Bytes that may be used at a time.
    pub fn budget(&self) -> Option<usize> {
        self.0.budget.get()
    }

    /// Sets the bytes that may be used at a time. What is in use stays.
    pub fn set_budget(&self, bytes: Option<usize>) {
        self.0.budget.set(bytes);
    }

    /// Bytes beyond which reclaimers are told of pressure.
    pub fn soft_budget(&self) -> Option<usize> {
        self.0.soft_budget.get()
    }

    /// Sets the bytes beyond which reclaimers are told of pressure.
    pub fn set_soft_budget(&self, bytes: Option<usize>) {
        self.0.soft_budget.set(bytes);
    }

    /// Counts allocations of this thread here for as long as the answer lives, also those that
    /// inner scopes count elsewhere in the same tree.
    pub fn scope(&self) -> TagScope {
        TagScope {
            number: scope::enter(&SCOPES, &DEPTH, self.clone()),
            thread: PhantomData,
        }
    }

    /// Whether allocations of the calling thread are counted by a tag.
    #[inline]
    pub(crate) fn in_scope() -> bool {
        DEPTH.get() != 0
    }

    /// The innermost tag of the calling thread.
    pub(crate) fn current() -> Option<Self> {
        if !Self::in_scope() {
            return None;
        }
        scope::innermost(&SCOPES, |_| true)
    }

    /// Has no tag count what the calling thread allocates meanwhile.
    pub(crate) fn uncounted<R>(body: impl FnOnce() -> R) -> R {
        struct Restore(usize);
        impl Drop for Restore {
            fn drop(&mut self) {
                DEPTH.set(self.0);
            }
        }
        let _restore = Restore(DEPTH.replace(0));
        body()
    }

    fn chain(&self) -> impl Iterator<Item = &TagCore> {
        std::iter::successors(Some(self), |tag| tag.0.parent.as_ref()).map(|tag| &*tag.0)
    }

    /// Counts an allocation of this many bytes, here and above, or nowhere.
    pub(crate) fn charge(&self, bytes: usize) -> Result<Charge> {
        for (index, tag) in self.chain().enumerate() {
            let budget = tag.budget.bytes();
            let charged = tag.used.fetch_update(Relaxed, Relaxed, |used| {
                used.checked_add(bytes).filter(|&sum| sum <= budget)
            });
            let used = match charged {
                Ok(before) => before + bytes,
                Err(used) => {
                    for tag in self.chain().take(index) {
                        tag.refund(bytes);
                    }
                    return Err(Error::Budget {
                        tag: tag.name.clone(),
                        requested: bytes,
                        used,
                        budget,
                    });
                }
            };
            tag.used_high.fetch_max(used, Relaxed);
            tag.live.fetch_add(1, Relaxed);
        }
        Ok(Charge {
            tag: Some(self.clone()),
            bytes,
        })
    }

    /// Counts its end.
    pub(crate) fn refund(&self, bytes: usize) {
        for tag in self.chain() {
            tag.refund(bytes);
        }
    }

    /// The name and use of the first tag, from here up, that is beyond its soft budget.
    pub(crate) fn beyond_soft_budget(&self) -> Option<&str> {
        let beyond = |tag: &&TagCore| tag.used.load(Relaxed) > tag.soft_budget.bytes();
        self.chain().find(beyond).map(|tag| tag.name.as_str())
    }
}

/// An allocation that a tag counts and that isn't made yet; counted no more if this is dropped
/// before, be it by a reclaimer that panics.
#[derive(Debug)]
#[must_use = "what isn't kept is refunded"]
pub(crate) struct Charge {
    /// Who counts it; nobody once it was kept.
    tag: Option<Tag>,
    bytes: usize,
}

impl Charge {
    /// The allocation is made of this many bytes, perhaps fewer than were charged, and refunds the
    /// tag itself: the answer.
    pub(crate) fn keep(mut self, granted: usize) -> Option<Tag> {
        let tag = self.tag.take();
        for counted in tag.iter().flat_map(Tag::chain) {
            counted.used.fetch_sub(self.bytes - granted, Relaxed);
        }
        tag
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(tag) = &self.tag {
            tag.refund(self.bytes);
        }
    }
}

impl TagCore {
    fn refund(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Relaxed);
        self.live.fetch_sub(1, Relaxed);
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({})", self.name())
    }
}

/// While it lives, allocations of this thread are counted by a tag.
#[derive(Debug)]
#[must_use = "the scope ends when it is dropped"]
pub struct TagScope {
    number: u64,
    /// Ends on the thread on which it began.
    thread: PhantomData<*const ()>,
}

impl Drop for TagScope {
    fn drop(&mut self) {
        scope::leave(&SCOPES, &DEPTH, self.number);
    }
}

#[cfg(test)]
mod tests {
    use millpond_hal::Driver;
    use millpond_hal::null::NullDriver;
    use millpond_types::MemoryKind;

    use super::*;
    use crate::device::Device;

    #[test]
    fn a_tag_ends_with_its_last_handle_whatever_was_allocated_under_it() {
        let device = Device::open(NullDriver::default().devices().unwrap().remove(0));
        let queue = device.default_queue().unwrap();
        let tag = Tag::new("tenant");
        for _ in 0..10 {
            let _scope = tag.scope();
            let memory = queue.allocate(MemoryKind::Device, 1000).unwrap();
            assert_eq!((tag.used(), Arc::strong_count(&tag.0)), (1024, 3));
            drop(memory);
        }
        tag.set_budget(Some(100));
        tag.charge(1000).unwrap_err();
        assert_eq!((tag.used(), Arc::strong_count(&tag.0)), (0, 1));
    }
}
