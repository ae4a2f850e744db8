//! Scans: threads accumulate elements along an axis, and join what they have.
//!
//! Who takes what follows from the shape. Where the elements of a row lie close together, a block takes a
//! tile of one, and waits for what lies before it (see `scan.cuh`); where there are many rows, a warp takes
//! one; and where rows are short, a thread. Where neighbouring rows lie closer together, neighbouring
//! threads take these: whole ones, or a block a tile of them.

use std::fmt::Write;

use millpond_hal::Address;
use millpond_hal::code::{Arguments, Call, Launch, Launches, Machine};
use millpond_types::DType;

use crate::device::class::LONG;
use crate::device::coordinates::{push_divisor, write_coordinates, write_divisors};
use crate::device::map::{MOST_ARGUMENTS, THREADS, grid, pad};
use crate::device::plan::WARP;
use crate::device::text::{prelude, type_name};
use crate::template::space::Space;

/// Elements of a row up to which a thread takes it, along rows and across.
const SHORT: usize = 8;
const SHORT_COLUMN: usize = 32;

/// Elements of a row up to which a warp takes it.
const MIDDLE: usize = 2048;

/// Rows that are warps enough for a device, and threads.
const MANY: usize = if cfg!(test) { 100 } else { 2048 };
const MANY_COLUMNS: usize = if cfg!(test) { 400 } else { 1 << 16 };

/// Bytes of states that a thread keeps.
const KEPT: usize = if cfg!(test) { 16 } else { 128 };

/// Blocks that a processor is to hold at a time at least: those that wait for others want company.
const RESIDENT: usize = 3;

/// Elements that a thread of its own row loads at a time.
const AHEAD: usize = 8;

/// Tiles of a group, and groups of a clan; no more than a warp has lanes.
const FAN: usize = if cfg!(test) { 4 } else { 32 };

/// Bytes of the largest state.
const STATE: usize = 16;

/// Who takes what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Tiles,
    Warps,
    Threads,
    Columns,
}

/// An array of a scan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) dtype: DType,
    /// Bytes from one element along the axis to the next.
    pub(crate) stride: isize,
}

impl Side {
    fn follows(self) -> bool {
        self.stride == self.dtype.size() as isize
    }
}

/// A scan as devices carry it out.
pub(crate) struct ScanCode<'a> {
    /// The reduction that it is made of, as rows call it.
    pub(crate) name: &'static str,
    pub(crate) compute: DType,
    pub(crate) output: Side,
    pub(crate) input: Side,
    /// The first element of each row: operand 0 is the output's, operand 1 the input's.
    pub(crate) rows: &'a Space,
    pub(crate) length: usize,
}

/// How rows are cut into tiles.
struct Cut {
    /// Tiles of each row, groups of them, and clans.
    tiles: usize,
    groups: usize,
    clans: usize,
    /// What waits for itself alone: rows, or as many side by side as a warp has lanes.
    chains: usize,
    /// Rows of one.
    rows: usize,
}

impl Cut {
    /// States that are told to others.
    fn told(&self) -> usize {
        match self.tiles {
            1 => 0,
            _ => self.chains * (self.tiles + self.groups + self.clans) * self.rows,
        }
    }
}

impl ScanCode<'_> {
    fn is_across(&self) -> bool {
        self.rows.inner_size() >= WARP
            && self.rows.inner_stride(0).unsigned_abs() < self.output.stride.unsigned_abs()
    }

    fn method(&self) -> Method {
        let (rows, length) = (self.rows.size(), self.length);
        if self.is_across() {
            if rows >= MANY_COLUMNS || length <= SHORT_COLUMN {
                Method::Threads
            } else {
                Method::Columns
            }
        } else if length <= SHORT {
            Method::Threads
        } else if length <= MIDDLE || rows >= MANY {
            Method::Warps
        } else {
            Method::Tiles
        }
    }

    fn is_long(&self) -> bool {
        self.rows.size().saturating_mul(self.length) >= LONG
    }

    /// Elements of a pack.
    fn pack(&self) -> usize {
        let is_along = matches!(self.method(), Method::Tiles | Method::Warps);
        if is_along && self.input.follows() && self.output.follows() {
            16 / self.input.dtype.size().max(self.output.dtype.size())
        } else {
            1
        }
    }

    /// Bytes of a state, as whole words.
    fn state(&self) -> usize {
        match self.name {
            "logsumexp" => STATE,
            _ => self.compute.size().max(size_of::<u32>()),
        }
    }

    /// Packs that a thread keeps the states of.
    fn packs(&self, pack: usize) -> usize {
        (KEPT / (pack * self.state())).max(1)
    }

    /// Whether packs can be moved by one access each.
    fn is_aligned(&self, bases: &[Address]) -> bool {
        let pack = self.pack();
        let fits = |operand: usize, side: Side| {
            let bytes = pack * side.dtype.size();
            let first = bases[operand]
                .get()
                .wrapping_add_signed(self.rows.begin()[operand]);
            let mut axes = self.rows.axes().iter();
            first.is_multiple_of(bytes)
                && axes.all(|axis| axis.strides[operand].unsigned_abs().is_multiple_of(bytes))
        };
        pack > 1 && fits(0, self.output) && fits(1, self.input)
    }

    /// The tiles of rows whose packs have so many elements.
    fn cut(&self, pack: usize) -> Cut {
        let (method, rows) = (self.method(), self.rows.size());
        let (tile, chains, side_by_side) = match method {
            Method::Tiles => (THREADS * pack * self.packs(pack), rows, 1),
            Method::Columns => (THREADS / WARP * self.packs(1), rows.div_ceil(WARP), WARP),
            _ => (self.length.max(1), rows, 1),
        };
        let tiles = self.length.div_ceil(tile).max(1);
        let groups = tiles.div_ceil(FAN);
        Cut {
            tiles,
            groups,
            // One clan more than there are, as the last may be told what lies before the next.
            clans: groups.div_ceil(FAN) + 1,
            chains,
            rows: side_by_side,
        }
    }

    /// Whether the arguments of a launch fit.
    pub(crate) fn fits(&self) -> bool {
        let arguments = self.arguments(&[], Address::new(0), &self.cut(1));
        arguments.bytes().len() <= MOST_ARGUMENTS
    }

    /// Appends what the source is made from.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"scan ");
        key.extend(self.name.as_bytes());
        let dtypes = [self.compute, self.output.dtype, self.input.dtype];
        key.extend(dtypes.map(|dtype| dtype as u8));
        let (axes, pack) = (self.rows.axes().len(), self.pack());
        let flags = [
            self.method() as u8,
            axes as u8,
            pack as u8,
            self.is_long().into(),
        ];
        key.extend(flags);
    }

    /// The source.
    pub(crate) fn source(&self) -> String {
        let mut text = prelude(&[
            include_str!("scratch.cuh"),
            include_str!("reduce.cuh"),
            include_str!("scan.cuh"),
        ]);
        let axes = self.rows.axes().len();
        let index = if self.is_long() { "mp::u64" } else { "mp::u32" };
        let _ = write!(
            text,
            "typedef {index} Index;

struct alignas(16) Arguments {{
    mp::u64 rows, length, tiles, groups, clans;
    char* scratch;
    char* to;
    char* from;
    mp::i64 to_step, from_step;
"
        );
        for axis in 0..axes {
            let _ = writeln!(text, "    mp::i64 to_{axis}, from_{axis};");
        }
        write_divisors(&mut text, "r", axes, self.is_long());
        let place = |what: &str| {
            let steps = (0..axes).map(|axis| format!(" + mp::i64(r{axis}) * a.{what}_{axis}"));
            format!("a.{what}{}", steps.collect::<String>())
        };
        let mut coordinates = String::new();
        write_coordinates(&mut coordinates, "row", "r", axes);
        let [compute, output, input] =
            [self.compute, self.output.dtype, self.input.dtype].map(type_name);
        let _ = write!(
            text,
            "}};

struct Kernel {{
    typedef Index Position;
    typedef {input} In;
    typedef {compute} Compute;
    typedef {output} Out;
    typedef mp::scan_{}<Compute> Scanner;
    static constexpr int FAN = {FAN};
    const Arguments& a;
    char* to;
    const char* from;
    MP_DEVICE Kernel(const Arguments& a, Index row) : a(a) {{
{coordinates}        to = {};
        from = {};
    }}
    template <int V>
    MP_DEVICE void load(Index at, mp::pack<In, V>& in) const {{
        in.load(from + mp::i64(at) * a.from_step);
    }}
    template <int V>
    MP_DEVICE void store(Index at, const mp::pack<Out, V>& out) const {{
        out.store(to + mp::i64(at) * a.to_step);
    }}
}};

",
            self.name,
            place("to"),
            place("from")
        );
        self.write_entries(&mut text);
        text
    }

    fn write_entries(&self, text: &mut String) {
        const SHARED: &str = "    __shared__ Kernel::Scanner::state totals";
        let packs = [("wide", self.pack()), ("narrow", 1)];
        let packs = packs
            .into_iter()
            .filter(|&(name, pack)| pack > 1 || name == "narrow");
        let mut entry = |name: &str, shared: String, call: &str| {
            let _ = write!(
                text,
                "MP_ENTRY_OF({name}, {THREADS}, {RESIDENT})(const Arguments a) {{\n{shared}    mp::{call};\n}}\n\n"
            );
        };
        match self.method() {
            Method::Tiles => {
                for (name, pack) in packs {
                    let shared = format!("{SHARED}[{}];\n", THREADS / WARP + 1);
                    let rows = self.packs(pack);
                    let call = format!("by_tiles<{pack}, {rows}, Kernel>(a, totals)");
                    entry(&format!("tiles_{name}"), shared, &call);
                }
            }
            Method::Warps => {
                for (name, pack) in packs {
                    let call = format!("by_warps<{pack}, {}, Kernel>(a)", self.packs(pack));
                    entry(&format!("warps_{name}"), String::new(), &call);
                }
            }
            Method::Threads => {
                let call = format!("by_threads<{AHEAD}, Kernel>(a)");
                entry("threads", String::new(), &call);
            }
            Method::Columns => {
                let shared = format!("{SHARED}[{THREADS}];\n");
                let rows = self.packs(1);
                let call = format!("by_columns_of_tiles<{rows}, Kernel>(a, totals)");
                entry("columns", shared, &call);
            }
        }
        text.push_str("MP_ENTRY(reset)(const mp::zeros a) {\n    mp::reset_bytes(a);\n}\n\n");
    }

    /// Bytes of scratch memory: of each word of a state that is told, and whether it is there.
    pub(crate) fn scratch(&self, _: &Machine) -> usize {
        let told = [1, self.pack()].map(|pack| self.cut(pack).told());
        self.told_bytes(told[0].max(told[1]))
    }

    fn told_bytes(&self, states: usize) -> usize {
        (states * 2 * self.state()).next_multiple_of(16)
    }

    fn arguments(&self, bases: &[Address], scratch: Address, cut: &Cut) -> Arguments {
        let mut arguments = Arguments::default();
        let sizes = [
            self.rows.size(),
            self.length,
            cut.tiles,
            cut.groups,
            cut.clans,
        ];
        for size in sizes {
            arguments.push((size as u64).to_ne_bytes());
        }
        arguments.push_address(scratch);
        let base = |operand: usize| bases.get(operand).map_or(0, |base| base.get());
        for operand in 0..2 {
            let first = base(operand).wrapping_add_signed(self.rows.begin()[operand]);
            arguments.push_address(Address::new(first));
        }
        for side in [self.output, self.input] {
            arguments.push((side.stride as i64).to_ne_bytes());
        }
        for axis in self.rows.axes() {
            for stride in &axis.strides[..2] {
                arguments.push((*stride as i64).to_ne_bytes());
            }
        }
        for axis in self.rows.axes().iter().skip(1) {
            push_divisor(&mut arguments, axis.size, self.is_long());
        }
        pad(&mut arguments);
        arguments
    }

    /// What to launch.
    pub(crate) fn launches(&self, call: &Call<'_>) -> Launches {
        let rows = self.rows.size();
        if rows == 0 || self.length == 0 {
            return Launches::new();
        }
        let is_wide = self.is_aligned(call.bases);
        let pack = if is_wide { self.pack() } else { 1 };
        let cut = self.cut(pack);
        let all = (cut.chains * cut.tiles) as u32;
        let (entry, blocks) = match (self.method(), is_wide) {
            (Method::Tiles, true) => ("tiles_wide", all),
            (Method::Tiles, false) => ("tiles_narrow", all),
            (Method::Warps, true) => ("warps_wide", grid(call.machine, rows * WARP)),
            (Method::Warps, false) => ("warps_narrow", grid(call.machine, rows * WARP)),
            (Method::Threads, _) => ("threads", grid(call.machine, rows)),
            (Method::Columns, _) => ("columns", all),
        };
        let launch = |entry, blocks, arguments| Launch {
            entry,
            blocks: [blocks, 1, 1],
            threads: THREADS as u32,
            shared_memory: 0,
            arguments,
        };
        let mut launches = Launches::new();
        if cut.told() > 0 {
            let bytes = self.told_bytes(cut.told());
            let mut zeros = Arguments::default();
            zeros.push_address(call.scratch);
            zeros.push((bytes as u64).to_ne_bytes());
            let blocks = bytes.div_ceil(16 * THREADS) as u32;
            launches.push(launch("reset", blocks, zeros));
        }
        let arguments = self.arguments(call.bases, call.scratch, &cut);
        launches.push(launch(entry, blocks, arguments));
        launches
    }
}
