//! A sort on devices that compile.

use millpond_hal::Address;
use millpond_hal::code::{Call, DeviceCode, Launches, Machine};

use super::rows::SortRows;
use crate::device::sort::Places;

// SAFETY: what is loaded and stored are elements of rows, which lie within the footprints, and words of
// tables that fit the scratch memory and of arrays that fit the memory aside.
unsafe impl DeviceCode for SortRows {
    fn key(&self, key: &mut Vec<u8>) {
        self.sorting().key(key);
    }

    fn source(&self) -> String {
        self.sorting().source()
    }

    fn scratch(&self, _: &Machine) -> usize {
        self.sorting().scratch()
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        let (values, positions) = self.sort.addresses(call.bases);
        let places = Places {
            input: Address::of(self.sort.elements(call.bases)),
            values: Address::of(values),
            positions: Address::of(positions),
            aside: self.aside(call.bases),
        };
        self.sorting().launches(call, &places)
    }
}
