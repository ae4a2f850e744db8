//! Handles as plain data, and as the bytes that travel.
//!
//! A handle has a header, which is all that one to a pool has: what it is, in which format, and
//! which arena it is about. One to memory goes on with the place of a segment and the part of it.
//! Numbers are little-endian. Every field is checked when a handle is read.

use millpond_hal::{ArenaId, HandleError, Place};
use millpond_types::MemoryKind;

const MAGIC: [u8; 8] = *b"millpond";

/// Changes with the meaning of any byte.
const FORMAT: u16 = 1;

/// The numbers of kinds in handles.
const KINDS: [(u8, MemoryKind); 3] = [
    (0, MemoryKind::Device),
    (1, MemoryKind::Shared),
    (2, MemoryKind::Host),
];

/// The numbers of what a handle can be to.
const POOL: (u8, &str) = (1, "a pool");
const MEMORY: (u8, &str) = (2, "memory");

/// A pool that another process may open, with its descriptor.
///
/// ```
/// use millpond_runtime::PoolHandle;
///
/// let error = PoolHandle::from_bytes(b"no handle at all").unwrap_err();
/// assert_eq!(error.to_string(), "16 bytes that don't begin as a handle does");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolHandle {
    pub(super) kind: MemoryKind,
    /// The short name of the backend, filled up with zeros.
    pub(super) backend: [u8; 8],
    pub(super) arena: ArenaId,
}

/// Memory that another process may open, with the descriptor of its pool. It lies within its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryHandle {
    pub(super) pool: PoolHandle,
    pub(super) place: Place,
    /// Bytes of the segment.
    pub(super) segment: u64,
    /// Where the memory begins in it.
    pub(super) begin: u64,
    pub(super) bytes: u64,
}

impl PoolHandle {
    /// How many bytes it travels as.
    pub const BYTES: usize = MAGIC.len() + 2 + 1 + 1 + 8 + 16;

    pub(super) fn new(kind: MemoryKind, backend: &str, arena: ArenaId) -> Self {
        Self {
            kind,
            backend: short(backend),
            arena,
        }
    }

    /// The kind of memory.
    pub fn kind(&self) -> MemoryKind {
        self.kind
    }

    /// What travels.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        self.write(POOL, &mut Writer(&mut bytes));
        bytes
    }

    /// Reads what travelled.
    ///
    /// # Errors
    /// For anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HandleError> {
        let mut reader = Reader::new(bytes, POOL.1, Self::BYTES)?;
        Self::read(POOL, &mut reader)
    }

    fn write(&self, object: (u8, &str), to: &mut Writer<'_>) {
        to.put(&MAGIC);
        to.put(&FORMAT.to_le_bytes());
        to.put(&[object.0]);
        let number = KINDS.iter().find(|(_, kind)| *kind == self.kind);
        to.put(&[number.map_or(u8::MAX, |(number, _)| *number)]);
        to.put(&self.backend);
        to.put(&self.arena.0);
    }

    fn read(object: (u8, &'static str), from: &mut Reader<'_>) -> Result<Self, HandleError> {
        let [_, _] = from.take::<2>();
        let [found] = from.take();
        debug_assert_eq!(found, object.0, "checked before the length");
        let [number] = from.take();
        let kind = KINDS.iter().find(|(known, _)| *known == number);
        let (_, kind) = kind.ok_or_else(|| HandleError::Kind {
            expected: "device, shared or host".to_owned(),
            found: number.to_string(),
        })?;
        Ok(Self {
            kind: *kind,
            backend: from.take(),
            arena: ArenaId(from.take()),
        })
    }

    /// # Errors
    /// For a handle of another backend, which this one can't open.
    pub(super) fn check_backend(&self, expected: &str) -> Result<(), HandleError> {
        if self.backend == short(expected) {
            return Ok(());
        }
        let found = self.backend.split(|&byte| byte == 0).next();
        Err(HandleError::Backend {
            expected: expected.to_owned(),
            found: String::from_utf8_lossy(found.unwrap_or_default()).into_owned(),
        })
    }
}

impl MemoryHandle {
    /// How many bytes it travels as.
    pub const BYTES: usize = PoolHandle::BYTES + 64 + 3 * 8;

    /// The pool that the memory is of.
    pub fn pool(&self) -> PoolHandle {
        self.pool
    }

    /// The kind of memory.
    pub fn kind(&self) -> MemoryKind {
        self.pool.kind
    }

    /// How many bytes of memory it is a handle to.
    pub fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// What travels.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let mut writer = Writer(&mut bytes);
        self.pool.write(MEMORY, &mut writer);
        writer.put(&self.place.0);
        for number in [self.segment, self.begin, self.bytes] {
            writer.put(&number.to_le_bytes());
        }
        bytes
    }

    /// Reads what travelled.
    ///
    /// # Errors
    /// For anything else, or if the memory doesn't lie within its segment.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HandleError> {
        let mut reader = Reader::new(bytes, MEMORY.1, Self::BYTES)?;
        let handle = Self {
            pool: PoolHandle::read(MEMORY, &mut reader)?,
            place: Place(reader.take()),
            segment: u64::from_le_bytes(reader.take()),
            begin: u64::from_le_bytes(reader.take()),
            bytes: u64::from_le_bytes(reader.take()),
        };
        let Self {
            begin,
            bytes,
            segment: size,
            ..
        } = handle;
        let fits = begin.checked_add(bytes).is_some_and(|end| end <= size);
        if !fits || usize::try_from(size).is_err() {
            return Err(HandleError::Range { begin, bytes, size });
        }
        Ok(handle)
    }
}

/// The backend's name in as many bytes as a handle has for it.
fn short(backend: &str) -> [u8; 8] {
    let mut short = [0; 8];
    for (to, from) in short.iter_mut().zip(backend.bytes()) {
        *to = from;
    }
    short
}

/// Fills an array from its front.
struct Writer<'a>(&'a mut [u8]);

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let (front, rest) = std::mem::take(&mut self.0).split_at_mut(bytes.len());
        front.copy_from_slice(bytes);
        self.0 = rest;
    }
}

/// Takes bytes from the front of a handle whose length was checked.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Checks what handles to everything have in common, in the order in which it can be known:
    /// another format may well have another length.
    fn new(bytes: &'a [u8], object: &'static str, expected: usize) -> Result<Self, HandleError> {
        let found = bytes.len();
        let Some(rest) = bytes.strip_prefix(&MAGIC) else {
            return Err(HandleError::Magic { bytes: found });
        };
        let length = HandleError::Length { expected, found };
        let &[low, high, number, ..] = rest else {
            return Err(length);
        };
        let format = u16::from_le_bytes([low, high]);
        if format != FORMAT {
            return Err(HandleError::Version {
                expected: FORMAT,
                found: format,
            });
        }
        let known = [POOL, MEMORY]
            .into_iter()
            .find(|(known, _)| *known == number);
        if known.is_none_or(|(_, name)| name != object) {
            return Err(HandleError::Object {
                expected: object,
                found: known.map_or_else(|| number.to_string(), |(_, name)| name.to_owned()),
            });
        }
        if found != expected {
            return Err(length);
        }
        Ok(Self(rest))
    }

    fn take<const LEN: usize>(&mut self) -> [u8; LEN] {
        let (front, rest) = self.0.split_first_chunk().expect("the length was checked");
        self.0 = rest;
        *front
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> PoolHandle {
        PoolHandle::new(MemoryKind::Host, "cpu", ArenaId([7; 16]))
    }

    fn memory() -> MemoryHandle {
        MemoryHandle {
            pool: pool(),
            place: Place([9; 64]),
            segment: 1 << 20,
            begin: 256,
            bytes: 1000,
        }
    }

    #[test]
    fn handles_come_back_from_their_bytes_as_they_were() {
        let read = PoolHandle::from_bytes(&pool().to_bytes()).unwrap();
        assert_eq!(read, pool());
        let read = MemoryHandle::from_bytes(&memory().to_bytes()).unwrap();
        assert_eq!((read, read.bytes()), (memory(), 1000));
        assert_eq!(read.kind(), MemoryKind::Host);
    }

    #[test]
    fn bytes_that_are_cut_or_grown_are_refused_at_every_length() {
        let whole = memory().to_bytes();
        for len in 0..whole.len() {
            let error = MemoryHandle::from_bytes(&whole[..len]).unwrap_err();
            let expected = if len < MAGIC.len() {
                HandleError::Magic { bytes: len }
            } else {
                HandleError::Length {
                    expected: whole.len(),
                    found: len,
                }
            };
            assert_eq!(error, expected);
        }
        let longer = [&whole[..], &[0]].concat();
        assert_eq!(
            MemoryHandle::from_bytes(&longer).unwrap_err(),
            HandleError::Length {
                expected: whole.len(),
                found: whole.len() + 1
            }
        );
    }

    #[test]
    fn each_field_that_makes_no_sense_is_named() {
        let changed = |at: usize, byte: u8| {
            let mut bytes = memory().to_bytes();
            bytes[at] = byte;
            MemoryHandle::from_bytes(&bytes).unwrap_err()
        };
        let len = MemoryHandle::BYTES;
        assert_eq!(changed(0, b'M'), HandleError::Magic { bytes: len });
        assert_eq!(
            changed(8, 2),
            HandleError::Version {
                expected: FORMAT,
                found: 2
            }
        );
        let (expected, found) = ("memory", "9".to_owned());
        assert_eq!(changed(10, 9), HandleError::Object { expected, found });
        let (expected, found) = ("device, shared or host".to_owned(), "3".to_owned());
        assert_eq!(changed(11, 3), HandleError::Kind { expected, found });
        // The last byte of the length, which then reaches beyond the segment.
        assert!(matches!(changed(len - 1, 1), HandleError::Range { .. }));
        // The last byte of the begin, so that begin and length together overflow.
        let mut bytes = memory().to_bytes();
        bytes[len - 16..].fill(0xff);
        assert_eq!(
            MemoryHandle::from_bytes(&bytes).unwrap_err(),
            HandleError::Range {
                begin: u64::MAX,
                bytes: u64::MAX,
                size: 1 << 20
            }
        );
    }

    #[test]
    fn a_handle_to_a_pool_is_none_to_memory() {
        let (expected, found) = ("memory", "a pool".to_owned());
        assert_eq!(
            MemoryHandle::from_bytes(&pool().to_bytes()).unwrap_err(),
            HandleError::Object { expected, found }
        );
        let (expected, found) = ("a pool", "memory".to_owned());
        assert_eq!(
            PoolHandle::from_bytes(&memory().to_bytes()).unwrap_err(),
            HandleError::Object { expected, found }
        );
    }

    #[test]
    fn a_handle_of_another_backend_is_told_by_both_names() {
        assert_eq!(pool().check_backend("cpu"), Ok(()));
        assert_eq!(
            pool().check_backend("cuda"),
            Err(HandleError::Backend {
                expected: "cuda".to_owned(),
                found: "cpu".to_owned()
            })
        );
    }
}
