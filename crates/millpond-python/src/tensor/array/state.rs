//! What an array object is at present: a view that Python may replace by another one of the same
//! elements, by setting the shape or whether it may be written.
//!
//! Other threads may be reading, so nothing that was ever seen is changed or let go of before the
//! object is. Each view that the object was turned into is kept, once: their number is that of
//! different shapes, however often they are set.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use millpond::tensor::Tensor;

/// The views of an object, one of which is current.
#[derive(Debug)]
pub(super) struct State {
    first: Tensor,
    /// The number of the current view; 0 is the first.
    current: AtomicUsize,
    others: OnceLock<Box<Link>>,
}

#[derive(Debug)]
struct Link {
    view: Tensor,
    next: OnceLock<Box<Self>>,
}

impl State {
    /// The state of a new object.
    #[inline]
    pub(super) const fn new(first: Tensor) -> Self {
        Self {
            first,
            current: AtomicUsize::new(0),
            others: OnceLock::new(),
        }
    }

    /// The current view.
    #[inline]
    pub(super) fn tensor(&self) -> &Tensor {
        match self.current.load(Ordering::Acquire) {
            0 => &self.first,
            number => self.other(number),
        }
    }

    #[cold]
    fn other(&self, number: usize) -> &Tensor {
        let mut link = self.others.get();
        for _ in 1..number {
            link = link.and_then(|link| link.next.get());
        }
        // A view is in the list before its number is current.
        link.map_or(&self.first, |link| &link.view)
    }

    /// The view that the object was made as.
    pub(super) const fn first(&self) -> &Tensor {
        &self.first
    }

    /// Makes a view of the same elements the current one.
    pub(super) fn set(&self, view: Tensor) {
        let is_same = |other: &Tensor| {
            other.layout() == view.layout() && other.is_read_only() == view.is_read_only()
        };
        if is_same(&self.first) {
            return self.current.store(0, Ordering::Release);
        }
        let (mut number, mut place) = (1, &self.others);
        loop {
            let link = place.get_or_init(|| {
                Box::new(Link {
                    view: view.clone(),
                    next: OnceLock::new(),
                })
            });
            if is_same(&link.view) {
                return self.current.store(number, Ordering::Release);
            }
            (number, place) = (number + 1, &link.next);
        }
    }
}

impl Drop for State {
    /// One after the other: a list that drops itself takes stack for each of its links.
    fn drop(&mut self) {
        let mut next = self.others.take();
        while let Some(mut link) = next {
            next = link.next.take();
        }
    }
}
