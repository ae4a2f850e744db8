//! Sorting keys of 64 bits with positions by vectors: by the 32 bits that tell most of them apart,
//! and then the few runs that these leave equal.

use millpond_hal::KernelError;

use super::item::{Aside, Item};
use super::row;

/// Fewer items than this are compared.
const FEW: usize = 64;

/// Sorts items of a key above 64 bits of position.
///
/// # Errors
/// No host memory.
pub(super) fn sort(items: &mut [u128], aside: &mut Aside<u128>) -> Result<(), KernelError> {
    let count = items.len();
    if count <= FEW || u32::try_from(count).is_err() {
        items.sort_unstable();
        return Ok(());
    }
    let key = |item: u128| (item >> 64) as u64;
    let one = key(items[0]);
    let differing = items.iter().fold(0, |bits, item| bits | (key(*item) ^ one));
    // Bits above these are the same everywhere.
    let shift = (u64::BITS - differing.leading_zeros()).saturating_sub(u32::BITS);
    let window = |item: u128| (key(item) >> shift) as u32;
    let mut packed: Vec<u64> = row::reserve("sort", count)?;
    let places = 0_u64..;
    packed.extend(
        items
            .iter()
            .zip(places)
            .map(|(item, place)| u64::from(window(*item)) << 32 | place),
    );
    u64::sort(&mut packed, &mut Aside::new(), 32)?;
    let ordered = aside.room(count)?;
    for (slot, packed) in ordered.iter_mut().zip(&packed) {
        slot.write(items[(packed & u64::from(u32::MAX)) as usize]);
    }
    // SAFETY: all were written.
    items.copy_from_slice(unsafe { ordered.assume_init_ref() });
    // Positions may not have been in order, so runs are sorted even if the window is the whole key.
    for run in items.chunk_by_mut(|a, b| window(*a) == window(*b)) {
        if run.len() > 1 {
            run.sort_unstable();
        }
    }
    Ok(())
}
