//! Handles: what C holds instead of objects, and how it is told what it may no longer use.
//!
//! A handle is the address of a slot in a table of its kind. Slots are never given back, so any
//! number that C passes can be looked at safely: it is the address of a slot of that kind, whose
//! object is alive, or it answers the kind's error. That holds whatever other threads release
//! meanwhile, since a call keeps the object that it found.
//!
//! C counts references by retain and release; an object lives on while others of this library need
//! it, as a queue needs its context, and its handle is valid for as long as it lives. The slots that
//! were freed first are used again first, so that a stale handle is unlikely to be another object's.
//!
//! The first word of a slot points to the table of all functions: loaders call through it where there
//! is more than one adapter.

use std::collections::VecDeque;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use crate::argument::Answer;
use crate::numbers::Code;
use crate::tables::{self, Entry};

/// What C holds of an object.
#[repr(transparent)]
pub(crate) struct Handle<T>(*const Slot<T>);

/// A kind of objects that have handles.
pub(crate) trait Kind: Send + Sync + Sized + 'static {
    /// What a call answers that is given something else.
    const INVALID: Code;

    /// Where they are found.
    fn table() -> &'static Table<Self>;
}

/// Says what a wrong handle answers, for each kind.
macro_rules! kinds {
    ($($kind:ty: $code:ident),* $(,)?) => {$(
        impl $crate::handle::Kind for $kind {
            const INVALID: $crate::numbers::Code = $crate::numbers::Code::$code;

            fn table() -> &'static $crate::handle::Table<Self> {
                static TABLE: $crate::handle::Table<$kind> = $crate::handle::Table::new();
                &TABLE
            }
        }
    )*};
}
pub(crate) use kinds;

/// One object's place.
#[repr(C)]
pub(crate) struct Slot<T> {
    functions: &'static Entry,
    seat: Mutex<Seat<T>>,
}

/// Who is in a place.
struct Seat<T> {
    /// The references that C counts; the object itself while there are any.
    references: u32,
    held: Option<Arc<T>>,
    /// Dead where there is no object.
    object: Weak<T>,
}

impl<T> Seat<T> {
    /// The object, if there is one.
    fn object(&self) -> Option<Arc<T>> {
        self.held.clone().or_else(|| self.object.upgrade())
    }
}

/// Slots come in pieces, each twice as long as the one before.
const FIRST: usize = 64;
const PIECES: usize = 26;

/// Every object of one kind.
pub(crate) struct Table<T: 'static> {
    pieces: [OnceLock<Box<[Slot<T>]>>; PIECES],
    free: Mutex<VecDeque<&'static Slot<T>>>,
}

impl<T: Kind> Table<T> {
    pub(crate) const fn new() -> Self {
        Self {
            pieces: [const { OnceLock::new() }; PIECES],
            free: Mutex::new(VecDeque::new()),
        }
    }

    /// The slot at an address, if it is one.
    fn find(&'static self, address: usize) -> Option<&'static Slot<T>> {
        let pieces = self.pieces.iter().map_while(OnceLock::get);
        for piece in pieces {
            let offset = address.wrapping_sub(piece.as_ptr().addr());
            if offset < size_of_val(&**piece) {
                let exact = offset.is_multiple_of(size_of::<Slot<T>>());
                return exact.then(|| &piece[offset / size_of::<Slot<T>>()]);
            }
        }
        None
    }

    /// A live object of which this answers so.
    pub(crate) fn search(&'static self, is_meant: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let slots = self.pieces.iter().map_while(OnceLock::get).flatten();
        // Dropped, where it isn't meant, when its slot is unlocked again.
        let mut live = slots.filter_map(|slot| slot.lock().object());
        live.find(|object| is_meant(object))
    }

    /// A slot that nobody uses.
    fn take(&'static self) -> Answer<&'static Slot<T>> {
        let mut free = lock(&self.free);
        // A few wait before they are used again, unless there are too few.
        if free.len() > FIRST / 2
            && let Some(slot) = free.pop_front()
        {
            return Ok(slot);
        }
        let mut pieces = self.pieces.iter().enumerate();
        let next = pieces.find(|(_, piece)| piece.get().is_none());
        let (number, piece) = next.ok_or(Code::OUT_OF_HOST_MEMORY)?;
        let slot = || Slot {
            functions: tables::functions(),
            seat: Mutex::new(Seat {
                references: 0,
                held: None,
                object: Weak::new(),
            }),
        };
        let made = piece.get_or_init(|| (0..FIRST << number).map(|_| slot()).collect());
        free.extend(made);
        free.pop_front().ok_or(Code::OUT_OF_HOST_MEMORY)
    }
}

/// An object's hold of its slot: part of the object, so that the slot is free when it is gone.
pub(crate) struct Place<T: Kind>(&'static Slot<T>);

impl<T: Kind> Place<T> {
    /// The object's handle.
    pub(crate) fn handle(&self) -> Handle<T> {
        Handle(ptr::from_ref(self.0))
    }

    /// The references that C counts.
    pub(crate) fn references(&self) -> u32 {
        self.0.lock().references
    }
}

impl<T: Kind> Drop for Place<T> {
    fn drop(&mut self) {
        lock(&T::table().free).push_back(self.0);
    }
}

impl<T: Kind> fmt::Debug for Place<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({:p})", self.0)
    }
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Seat<T>> {
        lock(&self.seat)
    }
}

/// Makes an object with one reference.
pub(crate) fn create<T: Kind>(object: impl FnOnce(Place<T>) -> T) -> Answer<Arc<T>> {
    let slot = T::table().take()?;
    let object = Arc::new(object(Place(slot)));
    *slot.lock() = Seat {
        references: 1,
        held: Some(Arc::clone(&object)),
        object: Arc::downgrade(&object),
    };
    Ok(object)
}

impl<T: Kind> Handle<T> {
    /// No object.
    pub(crate) const NULL: Self = Self(ptr::null());

    fn slot(self) -> Answer<&'static Slot<T>> {
        if self.0.is_null() {
            return Err(Code::INVALID_NULL_HANDLE);
        }
        T::table().find(self.0.addr()).ok_or(T::INVALID)
    }

    /// The object.
    pub(crate) fn get(self) -> Answer<Arc<T>> {
        self.slot()?.lock().object().ok_or(T::INVALID)
    }

    /// The object, or none for null.
    pub(crate) fn optional(self) -> Answer<Option<Arc<T>>> {
        if self.0.is_null() {
            return Ok(None);
        }
        self.get().map(Some)
    }

    /// Counts a reference of C's.
    pub(crate) fn retain(self) -> Answer {
        let mut seat = self.slot()?.lock();
        seat.held = Some(seat.object().ok_or(T::INVALID)?);
        seat.references += 1;
        Ok(())
    }

    /// Gives a reference of C's back; the object, if it was the last.
    pub(crate) fn release(self) -> Answer<Option<Arc<T>>> {
        let mut seat = self.slot()?.lock();
        if seat.references == 0 {
            return Err(T::INVALID);
        }
        seat.references -= 1;
        Ok(if seat.references == 0 {
            seat.held.take()
        } else {
            None
        })
    }

    /// The handle as a number, by which other parts of a program may name the object.
    pub(crate) fn native(self) -> usize {
        self.0.addr()
    }

    /// The handle that a number is of.
    pub(crate) fn of_native(number: usize) -> Self {
        Self(ptr::without_provenance(number))
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({:p})", self.0)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Handle, Kind, Place, create};
    use crate::numbers::Code;

    struct Thing(Place<Thing>);
    struct Other(Place<Other>);
    kinds! { Thing: INVALID_EVENT, Other: INVALID_QUEUE }

    #[test]
    fn a_handle_is_valid_while_its_object_lives() {
        let thing = create(Thing).unwrap();
        let handle = thing.0.handle();
        assert_eq!(thing.0.references(), 1);
        handle.retain().unwrap();
        assert!(handle.release().unwrap().is_none());
        drop(handle.release().unwrap());
        assert!(handle.get().is_ok(), "somebody needs it still");
        assert_eq!(handle.release().err(), Some(Code::INVALID_EVENT));
        drop(thing);
        assert_eq!(handle.get().err(), Some(Code::INVALID_EVENT));
        assert_eq!(handle.retain().err(), Some(Code::INVALID_EVENT));
    }

    #[test]
    fn numbers_that_are_no_handle_of_the_kind_are_errors() {
        let thing = create(Thing).unwrap();
        let other = create(Other).unwrap();
        let number = thing.0.handle().native();
        for wrong in [
            1,
            8,
            number + 1,
            number + 8,
            usize::MAX,
            other.0.handle().native(),
        ] {
            let answer = Handle::<Thing>::of_native(wrong).get();
            assert_eq!(answer.err(), Some(Thing::INVALID), "{wrong:#x}");
        }
        let answer = Handle::<Thing>::NULL.get();
        assert_eq!(answer.err(), Some(Code::INVALID_NULL_HANDLE));
    }

    #[test]
    fn slots_are_used_again_and_there_are_as_many_as_are_needed() {
        let many: Vec<_> = (0..1000).map(|_| create(Thing).unwrap()).collect();
        let mut numbers: Vec<_> = many.iter().map(|thing| thing.0.handle().native()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 1000);
        drop(many.into_iter().map(|thing| thing.0.handle().release()));
        let mut again = std::collections::BTreeSet::new();
        for _ in 0..10_000 {
            let handle = create(Thing).unwrap().0.handle();
            drop(handle.release().unwrap());
            again.insert(handle.native());
        }
        assert!(
            again.len() < 3000,
            "{} slots for one object at a time",
            again.len()
        );
    }
}
