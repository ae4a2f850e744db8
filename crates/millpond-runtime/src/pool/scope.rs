//! Scopes of a thread: what it is in, the innermost last.
//!
//! Each scope removes itself and nothing else, so that scopes which end in another order than they
//! began in, as those of coroutines do, leave the others as they are.

use std::cell::{Cell, RefCell};
use std::thread::LocalKey;

/// What a thread is in.
pub(crate) struct Stack<T> {
    next: Cell<u64>,
    entries: RefCell<Vec<(u64, T)>>,
}

impl<T> Stack<T> {
    pub(crate) const fn new() -> Self {
        Self {
            next: Cell::new(0),
            entries: RefCell::new(Vec::new()),
        }
    }
}

/// Enters; the answer is what to leave by.
pub(crate) fn enter<T>(
    stack: &'static LocalKey<Stack<T>>,
    depth: &'static LocalKey<Cell<usize>>,
    value: T,
) -> u64 {
    depth.set(depth.get() + 1);
    stack.with(|stack| {
        let number = stack.next.get();
        stack.next.set(number + 1);
        stack.entries.borrow_mut().push((number, value));
        number
    })
}

/// Leaves what was entered under this number.
pub(crate) fn leave<T>(
    stack: &'static LocalKey<Stack<T>>,
    depth: &'static LocalKey<Cell<usize>>,
    number: u64,
) {
    depth.set(depth.get().saturating_sub(1));
    // While the thread ends there is no stack any more.
    let left = stack.try_with(|stack| {
        let mut entries = stack.entries.borrow_mut();
        let position = entries.iter().rposition(|(entered, _)| *entered == number);
        position.map(|position| entries.remove(position))
    });
    // What goes with the last handle may look at the stack.
    drop(left);
}

/// The innermost that is meant.
pub(crate) fn innermost<T: Clone>(
    stack: &'static LocalKey<Stack<T>>,
    is_meant: impl Fn(&T) -> bool,
) -> Option<T> {
    let found = stack.try_with(|stack| {
        let entries = stack.entries.borrow();
        let mut values = entries.iter().rev().map(|(_, value)| value);
        values.find(|value| is_meant(value)).cloned()
    });
    found.ok().flatten()
}
