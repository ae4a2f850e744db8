//! Masks: what they select is counted, got, set, or told the places of.
//!
//! A block of threads takes a block of the mask, as many elements as the host takes at a time: it is the
//! host's counts that say where on the packed side its elements are, whoever counted them. The elements
//! that it selects are listed in shared memory, so that neighbouring threads move neighbours.

use std::fmt::Write;

use millpond_hal::Address;
use millpond_hal::code::{Arguments, Call, Launch, Launches};
use millpond_types::DType;

use crate::device::class::LONG;
use crate::device::coordinates::{push_divisor, write_coordinates, write_divisors};
use crate::device::map::{MOST_ARGUMENTS, MOST_BLOCKS, THREADS, pad};
use crate::device::put::bytes_dtype;
use crate::device::text::{prelude, type_name};
use crate::host::index::BLOCK;
use crate::host::index::mask::Supply;
use crate::template::space::Space;

/// Elements worth a block of threads: of fewer that are selected, a block takes all along the other axes.
const WORK: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// Elements along the other axes that aren't worth being shared.
const FEW_KEPT: usize = if cfg!(test) { 4 } else { 64 };

/// By what number the report of a mask tells that it doesn't select as many elements as there are values.
pub(crate) const MISFIT: u64 = 0;

/// What becomes of what is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It is counted.
    Count,
    /// It is copied from the array, or to it; elements have so many bytes.
    Get(usize),
    Set(usize),
    /// The array's offsets are written, which are coordinates.
    Places,
}

/// What is done by a mask, as devices carry it out. Operands are as those of the host's kernels.
pub(crate) struct MaskCode<'a> {
    pub(crate) what: Use,
    /// The elements of the mask, in order: operand 0 is the array's offset, operand 1 the mask's.
    pub(crate) mask: &'a Space,
    /// The axes that the mask doesn't stand for: operand 0 is the packed side's, operand 1 the array's.
    pub(crate) kept: Option<&'a Space>,
    pub(crate) supply: Supply,
    /// Bytes before the first element on the packed side, and from one that is selected to the next.
    pub(crate) packed: (isize, isize),
}

impl MaskCode<'_> {
    fn kept(&self) -> usize {
        self.kept.map_or(1, Space::size)
    }

    fn kept_axes(&self) -> usize {
        self.kept.map_or(0, |kept| kept.axes().len())
    }

    fn is_long(&self) -> bool {
        self.mask.size().max(self.kept()) >= LONG
    }

    /// Whether the mask's elements follow one another.
    fn follows(&self) -> bool {
        self.mask.is_linear(1, 1)
    }

    /// Whether elements along the other axes lie closer together than those under the mask.
    fn is_kept_inner(&self) -> bool {
        let kept = self.kept.map_or(0, |kept| kept.inner_stride(1));
        kept.unsigned_abs() < self.mask.inner_stride(0).unsigned_abs()
    }

    /// Whether the arguments of a launch fit.
    pub(crate) fn fits(&self) -> bool {
        let arguments = self.arguments(&[], Address::new(0), 1);
        arguments.bytes().len() <= MOST_ARGUMENTS
    }

    /// Appends what the source is made from.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"mask ");
        key.extend(match self.what {
            Use::Count => [b'c', 0],
            Use::Get(item) => [b'g', item as u8],
            Use::Set(item) => [b's', item as u8],
            Use::Places => [b'p', 0],
        });
        let axes = [self.mask.axes().len(), self.kept_axes()].map(|axes| axes as u8);
        let flags = [self.is_long(), self.follows(), self.is_kept_inner()].map(u8::from);
        key.extend(axes.into_iter().chain(flags));
        key.extend(self.supply_name().as_bytes());
    }

    /// How the source calls the supply.
    fn supply_name(&self) -> &'static str {
        match self.supply {
            Supply::Each(_) => "EACH_ONE",
            Supply::Cycle(_) => "CYCLE",
            Supply::One => "ONE_FOR_ALL",
        }
    }

    /// The type of the elements that move.
    fn element(&self) -> &'static str {
        type_name(match self.what {
            Use::Get(item) | Use::Set(item) => bytes_dtype(item),
            Use::Count | Use::Places => DType::Int64,
        })
    }

    /// The source.
    pub(crate) fn source(&self) -> String {
        let mut text = prelude(&[
            include_str!("reduce.cuh"),
            include_str!("scratch.cuh"),
            include_str!("scan.cuh"),
            include_str!("mask.cuh"),
        ]);
        let (axes, kept) = (self.mask.axes().len(), self.kept_axes());
        let index = if self.is_long() { "mp::u64" } else { "mp::u32" };
        let _ = write!(
            text,
            "typedef {index} Index;

struct alignas(16) Arguments {{
    mp::u64 size, blocks, kept, piece, pieces, given;
    char* mask;
    char* array;
    char* packed;
    mp::i64 step;
    char* counts;
    char* report;
"
        );
        for axis in 0..axes {
            let _ = writeln!(text, "    mp::i64 array_m{axis}, mask_m{axis};");
        }
        for axis in 0..kept {
            let _ = writeln!(text, "    mp::i64 packed_k{axis}, array_k{axis};");
        }
        write_divisors(&mut text, "m", axes, self.is_long());
        write_divisors(&mut text, "k", kept, self.is_long());
        text.push_str("};\n\n");
        self.write_kernel(&mut text);
        if self.what == Use::Count {
            text.push_str(
                "MP_ENTRY_OF(count, 256, 3)(const Arguments a) {
    __shared__ mp::u32 totals[mp::WARPS];
    mp::count_blocks<Kernel>(a, totals);
}

MP_ENTRY(sum)(const Arguments a) {
    __shared__ mp::u64 totals[mp::WARPS];
    mp::sum_counts(a, totals);
}

",
            );
        } else {
            text.push_str(
                "MP_ENTRY_OF(select, 256, 3)(const Arguments a) {
    __shared__ mp::u16 list[Kernel::BLOCK];
    __shared__ mp::u32 totals[mp::WARPS];
    mp::select_blocks<Kernel>(a, list, totals);
}

",
            );
        }
        text
    }

    fn write_kernel(&self, text: &mut String) {
        let (axes, kept) = (self.mask.axes().len(), self.kept_axes());
        let coordinates = |number: &str, prefix: &str, axes: usize| {
            let mut text = String::new();
            write_coordinates(&mut text, number, prefix, axes);
            text
        };
        let steps = |prefix: &str, axes: usize, what: &str| {
            let step = |axis| format!(" + mp::i64({prefix}{axis}) * a.{what}_{prefix}{axis}");
            (0..axes).map(step).collect::<String>()
        };
        let (first, truth) = if self.follows() {
            (
                "a.mask + at",
                "        return mp::load<bool>(a.mask + at);\n".to_owned(),
            )
        } else {
            let place = coordinates("at", "m", axes);
            let truth = format!(
                "{place}        return mp::load<bool>(a.mask{});\n",
                steps("m", axes, "mask")
            );
            ("nullptr", truth)
        };
        let _ = write!(
            text,
            "struct Kernel {{
    typedef Index Position;
    typedef mp::pack<{}, 1> Element;
    static constexpr int BLOCK = {BLOCK}, KEPT = {kept}, SUPPLY = mp::{};
    static constexpr bool CHECKS = {}, KEPT_IS_INNER = {};
    const Arguments& a;
    MP_DEVICE Kernel(const Arguments& a) : a(a) {{}}
    MP_DEVICE mp::u64 size() const {{ return a.size; }}
    MP_DEVICE const char* follows(mp::u64 at) const {{ return {first}; }}
    MP_DEVICE bool is_true(Index at) const {{
{truth}    }}
",
            self.element(),
            self.supply_name(),
            matches!(self.what, Use::Get(_) | Use::Set(_)),
            self.is_kept_inner(),
        );
        if self.what == Use::Count {
            text.push_str("};\n\n");
            return;
        }
        let _ = write!(
            text,
            "    // Loads an element; where it goes.
    MP_DEVICE char* move(Element& element, Index at, mp::u64 number, Index other) const {{
{}{}        const mp::i64 under = 0{};
        char* packed = a.packed + mp::i64(number) * a.step{};
",
            coordinates("at", "m", axes),
            coordinates("other", "k", kept),
            steps("m", axes, "array"),
            steps("k", kept, "packed"),
        );
        let array = steps("k", kept, "array");
        let _ = match self.what {
            Use::Get(_) => writeln!(
                text,
                "        element.load(a.array + under{array});\n        return packed;"
            ),
            Use::Set(_) => writeln!(
                text,
                "        element.load(packed);\n        return a.array + under{array};"
            ),
            Use::Count | Use::Places => {
                writeln!(
                    text,
                    "        element.set(0, under);\n        return packed;"
                )
            }
        };
        text.push_str("    }\n};\n\n");
    }

    fn blocks(&self) -> usize {
        self.mask.size().div_ceil(BLOCK)
    }

    /// Elements along the other axes that are one piece of work.
    fn piece(&self) -> usize {
        let under = self.mask.size().clamp(1, BLOCK);
        (WORK / under).max(FEW_KEPT)
    }

    fn arguments(&self, bases: &[Address], report: Address, piece: usize) -> Arguments {
        let at = |operand: usize, offset: isize| {
            let base = bases.get(operand).map_or(0, |base| base.get());
            Address::new(base.wrapping_add_signed(offset))
        };
        let given = match self.supply {
            Supply::Each(given) | Supply::Cycle(given) => given,
            Supply::One => 1,
        };
        let pieces = self.kept().div_ceil(piece);
        let mut arguments = Arguments::default();
        for size in [
            self.mask.size(),
            self.blocks(),
            self.kept(),
            piece,
            pieces,
            given,
        ] {
            arguments.push((size as u64).to_ne_bytes());
        }
        // Operands: the packed side, the array, the mask and the counts.
        let (packed, array, mask, counts) = match self.what {
            Use::Count => (0, 0, 1, 0),
            Use::Get(_) => (0, 1, 2, 3),
            Use::Set(_) => (1, 0, 2, 3),
            Use::Places => (0, 0, 1, 2),
        };
        let under = self.mask.begin()[0] + self.kept.map_or(0, |kept| kept.begin()[1]);
        let (begin, step) = self.packed;
        arguments.push_address(at(mask, self.mask.begin()[1]));
        arguments.push_address(at(array, under));
        arguments.push_address(at(packed, begin));
        arguments.push((step as i64).to_ne_bytes());
        arguments.push_address(at(counts, 0));
        arguments.push_address(report);
        let kept_axes = self.kept.map_or(&[][..], Space::axes);
        for axis in self.mask.axes().iter().chain(kept_axes) {
            for stride in &axis.strides[..2] {
                arguments.push((*stride as i64).to_ne_bytes());
            }
        }
        for axes in [self.mask.axes(), kept_axes] {
            for axis in axes.iter().skip(1) {
                push_divisor(&mut arguments, axis.size, self.is_long());
            }
        }
        pad(&mut arguments);
        arguments
    }

    /// What to launch.
    pub(crate) fn launches(&self, call: &Call<'_>) -> Launches {
        let piece = self.piece();
        let arguments = self.arguments(call.bases, call.report, piece);
        let launch = |entry, blocks: usize| Launch {
            entry,
            blocks: [blocks.min(MOST_BLOCKS) as u32, 1, 1],
            threads: THREADS as u32,
            shared_memory: 0,
            arguments: arguments.clone(),
        };
        let blocks = self.blocks();
        if self.what == Use::Count {
            return Launches::from_iter([launch("count", blocks), launch("sum", 1)]);
        }
        Launches::from_iter([launch("select", blocks * self.kept().div_ceil(piece))])
    }
}
