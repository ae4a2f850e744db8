//! Searches in sorted arrays, and runs of equal elements in them.

use std::fmt::Write;

use millpond_hal::Address;
use millpond_hal::code::{Arguments, Call, Launch, Launches};
use millpond_types::DType;

use crate::device::map::{MOST_BLOCKS, THREADS, grid};
use crate::device::sort::{KEYS, launch};
use crate::device::text::{prelude, type_name};
use crate::host::search::Find;

/// Elements of a sorted array from which their numbers have 64 bits.
const LONG: usize = if cfg!(test) { 1 << 12 } else { 1 << 31 };

/// Elements that a thread looks for at a time.
const TOGETHER: usize = 4;

/// Bytes of keys that a block has room for.
const SAMPLES: usize = 32 << 10;

/// Blocks of a processor: each fetches keys of its own before it begins.
const BLOCKS: usize = 3;

/// Appends an entry that does `call` with its arguments, `a`, and with what its threads share.
fn write_entry(text: &mut String, name: &str, arguments: &str, shared: &str, call: &str) {
    let _ = write!(
        text,
        "\nMP_ENTRY({name})(const mp::ordering::{arguments}_arguments a) {{\n    {shared}\n    mp::ordering::{call};\n}}\n"
    );
}

// ---- Searches ----

/// A search for elements of one array in another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding {
    pub(crate) find: Find,
    pub(crate) dtype: DType,
    pub(crate) sorted: usize,
    pub(crate) wanted: usize,
    /// Whether the array is sorted only through positions.
    pub(crate) is_through: bool,
}

impl Finding {
    const fn is_long(&self) -> bool {
        self.sorted >= LONG
    }

    /// Appends what the source is made from.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"find ");
        key.extend([self.dtype as u8, self.asked() as u8]);
        key.extend([self.is_through, self.is_long()].map(u8::from));
    }

    /// What is asked, by its number in the source.
    const fn asked(&self) -> usize {
        match self.find {
            Find::Left => 0,
            Find::Right => 1,
            Find::Member { invert: false } => 2,
            Find::Member { invert: true } => 3,
        }
    }

    /// The source.
    pub(crate) fn source(&self) -> String {
        let [warp, key, digits] = KEYS;
        let mut text = prelude(&[warp, key, digits, include_str!("find.cuh")]);
        let (name, asked) = (type_name(self.dtype), self.asked());
        let (shared, call) = if self.is_through {
            (String::new(), format!("find_through<{name}, {asked}>(a)"))
        } else {
            let index = if self.is_long() { "mp::u64" } else { "mp::u32" };
            let finder = format!("finder<{name}, {index}, {asked}>");
            (
                format!(
                    "typedef mp::ordering::{finder} Finder;\n    __shared__ Finder::key shared[Finder::SAMPLES];"
                ),
                format!("{finder}::run(a, shared)"),
            )
        };
        write_entry(&mut text, "find", "find", &shared, &call);
        text
    }

    /// What to launch: over the output, the sorted elements, those that are looked for, and the positions.
    pub(crate) fn launches(&self, call: &Call<'_>, arrays: [Address; 4]) -> Launches {
        if self.wanted == 0 {
            return Launches::new();
        }
        let blocks = if self.is_through {
            grid(call.machine, self.wanted) as usize
        } else {
            let most = BLOCKS * call.machine.multiprocessors as usize;
            self.wanted.div_ceil(TOGETHER * THREADS).min(most)
        };
        // No more keys than a block looks for elements: fetching one takes as long as a step.
        let key = self.dtype.size().max(4);
        let each = self.wanted.div_ceil(blocks);
        let most = (SAMPLES / key).min(each.next_power_of_two());
        let step = self.sorted.div_ceil(most).max(1);
        let [found, sorted, wanted, sorter] = arrays;
        let mut arguments = Arguments::default();
        for number in [self.sorted, self.wanted] {
            arguments.push((number as u64).to_ne_bytes());
        }
        for address in [sorted, wanted, sorter, found] {
            arguments.push_address(address);
        }
        for number in [step, self.sorted / step] {
            arguments.push((number as u64).to_ne_bytes());
        }
        arguments.push_address(call.report);
        Launches::from_iter([launch("find", blocks, arguments)])
    }
}

// ---- Runs ----

/// The runs of a sorted array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunsOf {
    pub(crate) dtype: DType,
    pub(crate) size: usize,
    pub(crate) pieces: usize,
    /// Elements of a piece.
    pub(crate) piece: usize,
}

/// Where the arrays of runs lie; at zero, if they aren't there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunArrays {
    pub(crate) sorted: Address,
    pub(crate) positions: Address,
    pub(crate) table: Address,
    pub(crate) count: Address,
    pub(crate) values: Address,
    pub(crate) indices: Address,
    pub(crate) counts: Address,
    pub(crate) inverse: Address,
}

impl RunsOf {
    /// Appends what the source is made from: it is the same for counting and writing.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"runs ");
        key.push(self.dtype as u8);
    }

    /// The source.
    pub(crate) fn source(&self) -> String {
        let [warp, key, digits] = KEYS;
        let mut text = prelude(&[warp, key, digits, include_str!("runs.cuh")]);
        let shared = "__shared__ mp::ordering::runs_of shared[mp::ordering::WARPS];";
        let of = format!("<{}, {}>", type_name(self.dtype), self.piece);
        for (name, call) in [
            ("count", format!("count_runs{of}(a, shared)")),
            ("add_up", "add_up_runs(a, shared)".to_owned()),
            ("write", format!("write_runs{of}(a, shared)")),
        ] {
            write_entry(&mut text, name, "runs", shared, &call);
        }
        text
    }

    fn launch(
        &self,
        entry: &'static str,
        blocks: usize,
        runs: usize,
        arrays: &RunArrays,
        call: &Call<'_>,
    ) -> Launch {
        let mut arguments = Arguments::default();
        for number in [self.size, self.pieces, runs] {
            arguments.push((number as u64).to_ne_bytes());
        }
        for address in [
            arrays.sorted,
            arrays.positions,
            arrays.table,
            arrays.count,
            arrays.values,
            arrays.indices,
            arrays.counts,
            arrays.inverse,
            call.report,
        ] {
            arguments.push_address(address);
        }
        launch(entry, blocks.min(MOST_BLOCKS), arguments)
    }

    /// What to launch to count runs.
    pub(crate) fn count(&self, call: &Call<'_>, arrays: &RunArrays) -> Launches {
        let launch = |entry, blocks| self.launch(entry, blocks, 0, arrays, call);
        Launches::from_iter([launch("count", self.pieces), launch("add_up", 1)])
    }

    /// What to launch to write what is wanted of so many runs.
    pub(crate) fn write(&self, runs: usize, call: &Call<'_>, arrays: &RunArrays) -> Launches {
        Launches::from_iter([self.launch("write", self.pieces, runs, arrays, call)])
    }
}

const _: () = assert!(crate::host::search::PIECE.is_multiple_of(THREADS));
