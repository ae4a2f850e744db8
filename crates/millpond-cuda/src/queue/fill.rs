//! Fills by the device: of any pattern, at any address.
//!
//! The driver repeats values of one, two and four bytes. What is longer, or doesn't lie where such
//! a value may, is begun by values in rows, and then doubled by copies until it is long enough.

use millpond_hal::{Address, Pattern};

use crate::api::{Pointer, StreamHandle};
use crate::card::{CudaError, Current};

/// Bytes that are begun by values in rows, at most.
const SEED: usize = 64 << 10;

/// Gives a fill to a stream.
///
/// # Safety
/// The device may write the range; its bytes are a multiple of the pattern's.
pub(super) unsafe fn give(
    current: &Current<'_>,
    stream: StreamHandle,
    dst: Address,
    pattern: Pattern,
    bytes: usize,
) -> Result<(), CudaError> {
    let dst = dst.get() as Pointer;
    let pattern = shortest(pattern.bytes());
    let unit = unit_of(dst, pattern.len());
    if unit == pattern.len() {
        let rows = Rows {
            dst,
            pitch: unit,
            width: bytes / unit,
            height: 1,
        };
        // SAFETY: the caller's promise; the unit divides the address.
        return unsafe { rows.set(current, stream, pattern) };
    }
    let seed = (SEED / pattern.len() * pattern.len()).min(bytes);
    for (index, value) in pattern.chunks(unit).enumerate() {
        let rows = Rows {
            dst: dst + (index * unit) as Pointer,
            pitch: pattern.len(),
            width: 1,
            height: seed / pattern.len(),
        };
        // SAFETY: as above: the last row ends where the seed does.
        unsafe { rows.set(current, stream, value) }?;
    }
    let mut there = seed;
    while there < bytes {
        let more = there.min(bytes - there);
        // SAFETY: both ranges lie in the caller's and don't overlap. Whole patterns are there, so
        // the copy begins with the pattern's first byte.
        let code = unsafe {
            current
                .api()
                .copy(dst + there as Pointer, dst, more, stream)
        };
        current.check("cuMemcpyAsync", code)?;
        there += more;
    }
    Ok(())
}

/// The shortest pattern that repeats as this one does.
fn shortest(pattern: &[u8]) -> &[u8] {
    let mut pattern = pattern;
    while pattern.len() > 1 {
        let (first, second) = pattern.split_at(pattern.len() / 2);
        if first != second {
            break;
        }
        pattern = first;
    }
    pattern
}

/// The longest value that the driver can write there.
fn unit_of(dst: Pointer, pattern: usize) -> usize {
    let aligned = 1 << dst.trailing_zeros().min(2);
    pattern.min(aligned)
}

/// Values of one, two or four bytes, `pitch` bytes from row to row.
struct Rows {
    dst: Pointer,
    pitch: usize,
    width: usize,
    height: usize,
}

impl Rows {
    /// # Safety
    /// The device may write the rows, and the value's length divides their addresses.
    unsafe fn set(
        &self,
        current: &Current<'_>,
        stream: StreamHandle,
        value: &[u8],
    ) -> Result<(), CudaError> {
        let &Self {
            dst,
            pitch,
            width,
            height,
        } = self;
        let api = current.api();
        let code = match (value, height) {
            (&[byte], 1) => {
                // SAFETY: the caller's promise.
                unsafe { api.set8(dst, byte, width, stream) }
            }
            (&[byte], _) => {
                // SAFETY: as above.
                unsafe { api.set8_rows(dst, pitch, byte, width, height, stream) }
            }
            (&[a, b], 1) => {
                let value = u16::from_ne_bytes([a, b]);
                // SAFETY: as above.
                unsafe { api.set16(dst, value, width, stream) }
            }
            (&[a, b], _) => {
                let value = u16::from_ne_bytes([a, b]);
                // SAFETY: as above.
                unsafe { api.set16_rows(dst, pitch, value, width, height, stream) }
            }
            (&[a, b, c, d], 1) => {
                let value = u32::from_ne_bytes([a, b, c, d]);
                // SAFETY: as above.
                unsafe { api.set32(dst, value, width, stream) }
            }
            (&[a, b, c, d], _) => {
                let value = u32::from_ne_bytes([a, b, c, d]);
                // SAFETY: as above.
                unsafe { api.set32_rows(dst, pitch, value, width, height, stream) }
            }
            _ => unreachable!("values of {} bytes", value.len()),
        };
        current.check("cuMemsetAsync", code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_no_longer_than_it_must_be() {
        assert_eq!(shortest(&[0; 16]), [0]);
        assert_eq!(shortest(&[1, 2, 1, 2]), [1, 2]);
        assert_eq!(shortest(&[1, 2, 2, 1]), [1, 2, 2, 1]);
    }

    #[test]
    fn a_value_lies_where_the_driver_can_write_it() {
        assert_eq!(unit_of(0x1000, 16), 4);
        assert_eq!(unit_of(0x1002, 16), 2);
        assert_eq!(unit_of(0x1001, 4), 1);
        assert_eq!(unit_of(0x1000, 2), 2);
    }
}
