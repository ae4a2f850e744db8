//! The pools and tags that a thread is in by `with` statements.
//!
//! `with` statements of generators end in any order, also on threads on which they didn't begin,
//! which is an error. A scope that is never left ends with its thread.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::LocalKey;

use millpond::runtime::{Pool, Scope, Tag, TagScope};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Something that a thread can be in.
pub(super) trait Scoped: Sized + 'static {
    /// Of the runtime; in it while this lives.
    type Scope: 'static;

    /// What messages call it.
    const NAME: &'static str;

    /// Enters it.
    fn scope(&self) -> Self::Scope;

    /// What the thread is in, the innermost last.
    fn stack() -> &'static Stack<Self>;
}

/// What a thread is in.
pub(super) type Stack<T> = LocalKey<RefCell<Vec<Entry<T>>>>;

/// One that a thread is in.
pub(super) struct Entry<T: Scoped> {
    key: Key,
    /// Not ended by the end of the thread, where the runtime's own record of it may be gone.
    scope: ManuallyDrop<T::Scope>,
}

/// What Python enters and leaves: an object of its own, or one again and again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Relaxed))
    }

    /// Enters.
    pub(super) fn enter<T: Scoped>(self, value: &T) {
        let scope = ManuallyDrop::new(value.scope());
        let entry = Entry { key: self, scope };
        T::stack().with_borrow_mut(|stack| stack.push(entry));
    }

    /// Leaves what was entered last with this key.
    ///
    /// # Errors
    /// `RuntimeError` if this thread is in none.
    pub(super) fn exit<T: Scoped>(self) -> PyResult<()> {
        let removed = T::stack().with_borrow_mut(|stack| {
            let position = stack.iter().rposition(|entry| entry.key == self)?;
            Some(stack.remove(position))
        });
        // What goes with the last handle may run code of Python, so no borrow is left here.
        let ended = removed.map(|entry| drop(ManuallyDrop::into_inner(entry.scope)));
        ended.ok_or_else(|| {
            PyRuntimeError::new_err(format!(
                "{}: this thread is not in the scope; it ends once, on the thread that began it",
                T::NAME
            ))
        })
    }
}

impl Scoped for Pool {
    type Scope = Scope;

    const NAME: &'static str = "use_pool";

    fn scope(&self) -> Scope {
        Pool::scope(self)
    }

    fn stack() -> &'static Stack<Self> {
        thread_local! {
            static POOLS: RefCell<Vec<Entry<Pool>>> = const { RefCell::new(Vec::new()) };
        }
        &POOLS
    }
}

impl Scoped for Tag {
    type Scope = TagScope;

    const NAME: &'static str = "Tag";

    fn scope(&self) -> TagScope {
        Tag::scope(self)
    }

    fn stack() -> &'static Stack<Self> {
        thread_local! {
            static TAGS: RefCell<Vec<Entry<Tag>>> = const { RefCell::new(Vec::new()) };
        }
        &TAGS
    }
}
