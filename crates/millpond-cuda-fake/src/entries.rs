//! What the programs of tests do on a card, by the names of their entries.
//!
//! A program of a test is a text that a card's driver compiles. Here its entries are these functions, which
//! are found by name, so that the test's words for what must come out hold for both.

use crate::fake::{Fake, Launched};

/// A parameter that is an address, or a number of eight bytes; and one of four.
const WIDE: usize = 8;
const NARROW: usize = 4;

/// Where threads are, in the order in which they are numbered.
fn threads(launched: &Launched) -> impl Iterator<Item = [usize; 3]> {
    let [blocks, threads] = launched.shape.map(|axes| axes.map(|axis| axis as usize));
    let size: [usize; 3] = std::array::from_fn(|axis| blocks[axis] * threads[axis]);
    let all: usize = size.iter().product();
    (0..all).map(move |number| {
        let [x, y, _] = size;
        [number % x, number / x % y, number / x / y]
    })
}

/// Adds what tests launch.
pub(crate) fn add(fake: &Fake) {
    // y[i] += a, of 32 bits, for all i below n.
    fake.entry_of("millpond_add", &[WIDE, NARROW, NARROW], |launched| {
        let (y, a, n) = (
            launched.memory::<u32>(0),
            launched.number(1),
            launched.number(2),
        );
        for [x, ..] in threads(launched).filter(|[x, ..]| *x < n) {
            // SAFETY: the test's launches stay in memory that they have.
            let place = unsafe { &mut *y.wrapping_add(x) };
            *place = place.wrapping_add(a as u32);
        }
    });
    // where[z][y][x] = x + 100 y + 10000 z, of 32 bits.
    fake.entry_of("millpond_where", &[WIDE], |launched| {
        let [blocks, each] = launched.shape.map(|axes| axes.map(|axis| axis as usize));
        let place = launched.memory::<u32>(0);
        let (width, height) = (blocks[0] * each[0], blocks[1] * each[1]);
        for [x, y, z] in threads(launched) {
            let place = place.wrapping_add(x + width * (y + height * z));
            // SAFETY: as above.
            unsafe { *place = (x + 100 * y + 10_000 * z) as u32 };
        }
    });
    // Turns the numbers of each block round, by way of memory that its threads share.
    fake.entry_of("millpond_reverse", &[WIDE, WIDE], |launched| {
        let numbers = launched.memory::<u32>(0);
        let each = launched.shape[1][0] as usize;
        let needed = launched.number(1) + each * size_of::<u32>();
        if (launched.shared_memory as usize) < needed {
            // On a card the launch would leave its memory.
            return;
        }
        for block in 0..launched.shape[0][0] as usize {
            // SAFETY: as above.
            let block =
                unsafe { std::slice::from_raw_parts_mut(numbers.wrapping_add(block * each), each) };
            block.reverse();
        }
    });
    fake.variable("millpond_variable", 16);
}
