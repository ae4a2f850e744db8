//! Sorts of the rows of a contiguous array: stable, by the host's order, to the bit.
//!
//! Rows that a block has room for are sorted within it, several at a time: very short ones by counting for each
//! element what comes before it, others digit by digit. Long rows are swept once for each digit by many blocks.
//! What moves are elements as they are, with their positions where these are wanted; keys are made of them anew
//! each time, so that equal elements of different bits need no care.

use std::fmt::Write;

use millpond_hal::Address;
use millpond_hal::code::{Arguments, Call, Launch, Launches, Machine};
use millpond_types::DType;

use crate::device::map::{MOST_BLOCKS, THREADS, grid};
use crate::device::text::{prelude, type_name};

/// The longest rows whose elements are compared each with each other.
const COUNTED: usize = 32;

/// Elements of a row from which numbers of them have 64 bits: of 32 two say what they are.
const LONG: usize = if cfg!(test) { 1 << 16 } else { 1 << 30 };

/// Values of a digit.
const BINS: usize = 256;

/// What a section of memory begins at a multiple of.
const ALIGNMENT: usize = 256;

/// Rounds of the loop that counts digits: elements that are worth a block of their own.
const PIECE: usize = 32 * THREADS;

/// What sources have that know the order of elements.
pub(super) const KEYS: [&str; 3] = [
    include_str!("warp.cuh"),
    include_str!("key.cuh"),
    include_str!("digits.cuh"),
];

/// A sort of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sorting {
    pub(crate) dtype: DType,
    pub(crate) rows: usize,
    pub(crate) length: usize,
    pub(crate) descending: bool,
    /// Whether the elements and their positions are wanted.
    pub(crate) values: bool,
    pub(crate) positions: bool,
}

/// Where the arrays of a sort lie; at zero, if they aren't there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) input: Address,
    pub(crate) values: Address,
    pub(crate) positions: Address,
    /// As many bytes as [`Sorting::aside`] says.
    pub(crate) aside: Address,
}

/// How rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Several in a block, each element with each other.
    Count,
    /// Several in a block, or one, digit by digit.
    Block,
    /// By all blocks.
    Sweep,
}

/// Arrays that are written by one sweep and read by the next, by their offsets from the memory aside.
struct Aside {
    elements: [usize; 2],
    positions: usize,
    bytes: usize,
}

/// The tables of sweeps, by their offsets from the scratch memory; what comes before `said` is counted or
/// added up, and zero in the beginning like it.
struct Tables {
    digits: usize,
    said: [usize; 2],
    bytes: usize,
}

impl Sorting {
    fn method(&self) -> Method {
        if self.length <= COUNTED {
            Method::Count
        } else if self.length <= self.items(Method::Block) * THREADS {
            Method::Block
        } else {
            Method::Sweep
        }
    }

    /// Elements of a thread.
    const fn items(&self, method: Method) -> usize {
        match (method, self.dtype.size()) {
            (Method::Count, 1..=8) => 8,
            (Method::Count, _) => 4,
            (Method::Block, 1..=4) => 16,
            (Method::Block, 8) => 12,
            (Method::Block, _) => 8,
            // Positions of 64 bits take the room of four elements and more.
            (Method::Sweep, 1..=4) if self.positions && self.is_long() => 16,
            (Method::Sweep, 1 | 2) => 32,
            (Method::Sweep, 4) => 24,
            (Method::Sweep, 8) if !self.positions => 16,
            (Method::Sweep, 8) => 12,
            (Method::Sweep, _) => 6,
        }
    }

    /// Blocks of sweeps that a processor is to hold at a time: more of them have too few registers.
    const fn together(&self) -> usize {
        if self.positions && self.dtype.size() <= 4 {
            2
        } else {
            3
        }
    }

    /// Digits of a key.
    const fn digits(&self) -> usize {
        self.dtype.size()
    }

    const fn is_long(&self) -> bool {
        self.length >= LONG
    }

    /// Bytes of a number of elements.
    const fn count_size(&self) -> usize {
        if self.is_long() { 8 } else { 4 }
    }

    /// Tiles of a row.
    fn tiles(&self) -> usize {
        self.length.div_ceil(self.items(Method::Sweep) * THREADS)
    }

    fn lie_aside(&self) -> Aside {
        let mut bytes = 0;
        let mut section = |is_there: bool, size: usize| {
            let begin = bytes;
            if is_there {
                let section = self.rows * self.length * size;
                bytes += section.next_multiple_of(ALIGNMENT);
            }
            begin
        };
        let moves = if self.method() == Method::Sweep {
            self.digits() - 1
        } else {
            0
        };
        // Every other sweep writes where the result goes in the end, if there is such a place.
        let size = self.dtype.size();
        let first = section(moves > 0, size);
        let second = section(moves > 1 && !self.values, size);
        let positions = section(moves > 0 && self.positions, self.count_size());
        Aside {
            elements: [first, second],
            positions,
            bytes,
        }
    }

    /// Bytes of memory that a sort needs besides its arrays.
    pub(crate) fn aside(&self) -> usize {
        self.lie_aside().bytes
    }

    fn tables(&self) -> Tables {
        let counts = |numbers: usize| numbers * BINS * self.count_size();
        let digits = ALIGNMENT;
        let said = digits + counts(self.rows * self.digits());
        let table = counts(self.rows * self.tiles());
        Tables {
            digits,
            said: [said, said + table],
            bytes: said + 2 * table,
        }
    }

    /// Bytes of scratch memory.
    pub(crate) fn scratch(&self) -> usize {
        match self.method() {
            Method::Sweep => self.tables().bytes,
            Method::Count | Method::Block => 0,
        }
    }

    /// Appends what the source is made from.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        let method = self.method();
        key.extend(b"sort ");
        key.extend([method as u8, self.dtype as u8]);
        if method == Method::Sweep {
            key.extend([self.positions, self.is_long()].map(u8::from));
        }
    }

    /// The source.
    pub(crate) fn source(&self) -> String {
        let method = self.method();
        let own = match method {
            Method::Sweep => include_str!("sweep.cuh"),
            Method::Count | Method::Block => include_str!("rows.cuh"),
        };
        let [warp, key, digits] = KEYS;
        let mut text = prelude(&[warp, key, digits, own]);
        let (name, items) = (type_name(self.dtype), self.items(method));
        let mut entry = |entry: &str, arguments: &str, shared: &str, call: &str| {
            let _ = write!(
                text,
                "\nMP_ENTRY{entry}(const mp::ordering::{arguments}_arguments a) {{\n{shared}    mp::ordering::{call};\n}}\n"
            );
        };
        let shared = |of: &str| format!("    __shared__ mp::ordering::{of} shared;\n");
        match method {
            Method::Count => {
                let tile = items * THREADS;
                let of = format!("counted_rows<{name}, {tile}>");
                let call = format!("count_rows<{name}, {tile}>(a, shared)");
                entry("(rows)", "rows", &shared(&of), &call);
            }
            Method::Block => {
                let of = format!("sorted_rows<{name}, {items}>");
                let call = format!("sort_rows<{name}, {items}>(a, shared)");
                entry("(rows)", "rows", &shared(&of), &call);
            }
            Method::Sweep => {
                let count = if self.is_long() { "mp::u64" } else { "mp::u32" };
                entry("(clear)", "sweep", "", "clear(a)");
                let counters = "    __shared__ mp::u32 shared[mp::ordering::COUNTERS];\n";
                let call = format!("count_digits<{name}, {count}>(a, shared)");
                entry("(count)", "sweep", counters, &call);
                let of = format!("swept<{name}, {items}, {count}, {}>", self.positions);
                let call = format!(
                    "sweep<{name}, {items}, {count}, {}>(a, shared)",
                    self.positions
                );
                let name = format!("_OF(sweep, 256, {})", self.together());
                entry(&name, "sweep", &shared(&of), &call);
            }
        }
        text
    }

    /// What to launch.
    pub(crate) fn launches(&self, call: &Call<'_>, places: &Places) -> Launches {
        if self.rows * self.length == 0 {
            return Launches::new();
        }
        match self.method() {
            Method::Sweep => self.sweeps(call, places),
            method => Launches::from_iter([self.in_blocks(call.machine, places, method)]),
        }
    }

    fn in_blocks(&self, machine: &Machine, places: &Places, method: Method) -> Launch {
        // No more rows of a block than give every one some.
        let resident = grid(machine, usize::MAX / 2) as usize;
        let fitting = self.items(method) * THREADS / self.length;
        let group = fitting.min(self.rows.div_ceil(resident)).max(1);
        let mut arguments = Arguments::default();
        for number in [self.rows, self.length] {
            arguments.push((number as u64).to_ne_bytes());
        }
        for address in [places.input, places.values, places.positions] {
            arguments.push_address(address);
        }
        for number in [group as u32, u32::from(self.descending)] {
            arguments.push(number.to_ne_bytes());
        }
        launch(
            "rows",
            self.rows.div_ceil(group).min(MOST_BLOCKS),
            arguments,
        )
    }

    fn sweeps(&self, call: &Call<'_>, places: &Places) -> Launches {
        let (tables, aside, last) = (self.tables(), self.lie_aside(), self.digits() - 1);
        let resident = grid(call.machine, usize::MAX / 2) as usize;
        let pieces = (resident / self.rows).clamp(1, self.length.div_ceil(PIECE));
        let tiles = self.tiles();
        let cleared = tables.said[1] / size_of::<[u64; 2]>();
        let none = Address::new(0);
        let [first, second] = aside.elements.map(|offset| places.aside.offset(offset));
        let beside = if self.values { places.values } else { second };
        // Where the elements and positions go that sweep number `sweep` moves.
        let elements = |sweep: usize| match last - sweep {
            0 => places.values,
            left if left % 2 == 1 => first,
            _ => beside,
        };
        let positions = |sweep: usize| match last - sweep {
            _ if !self.positions => none,
            0 => none,
            left if left % 2 == 1 => places.aside.offset(aside.positions),
            _ => places.positions,
        };
        let arguments = |sweep: usize| {
            let mut arguments = Arguments::default();
            for number in [self.rows, self.length, tiles, pieces] {
                arguments.push((number as u64).to_ne_bytes());
            }
            let before = sweep.checked_sub(1);
            let said = |number: usize| call.scratch.offset(tables.said[number % 2]);
            for address in [
                before.map_or(places.input, elements),
                elements(sweep),
                before.map_or(none, positions),
                positions(sweep),
                if sweep == last {
                    places.positions
                } else {
                    none
                },
                call.scratch,
                call.scratch.offset(tables.digits),
                said(sweep),
                said(sweep + 1),
            ] {
                arguments.push_address(address);
            }
            arguments.push((cleared as u64).to_ne_bytes());
            for number in [sweep as u32, u32::from(self.descending)] {
                arguments.push(number.to_ne_bytes());
            }
            arguments
        };
        let mut launches = Launches::from_iter([
            launch("clear", grid(call.machine, cleared) as usize, arguments(0)),
            launch("count", self.rows * pieces, arguments(0)),
        ]);
        launches
            .extend((0..=last).map(|sweep| launch("sweep", self.rows * tiles, arguments(sweep))));
        launches
    }
}

/// A launch along one axis.
pub(super) fn launch(entry: &'static str, blocks: usize, arguments: Arguments) -> Launch {
    Launch {
        entry,
        blocks: [blocks as u32, 1, 1],
        threads: THREADS as u32,
        shared_memory: 0,
        arguments,
    }
}
