//! Setting elements by indices: of several values for one element that of the last position stays.
//!
//! A *place* is an element that indices can name, by its number in memory. First each position marks
//! the place that it names: the largest number of a position is the place's *owner*. Then owners are
//! copied, position by position, or place by place where most places have one: elements are written in
//! the order of memory then, and are read wherever they are. An index outside of its axis is told of when
//! places are marked, and then nothing is copied.
//!
//! Owners lie in scratch memory, a word for each place, or in a table of those that are named where these
//! are few. Where there are so many places that atomics on all of them would miss the device's cache,
//! they are marked a stretch at a time.

use std::fmt::Write;

use millpond_hal::Address;
use millpond_hal::code::{Arguments, Call, Launch, Launches};
use millpond_types::DType;

use crate::device::class::{Class, LONG};
use crate::device::element::{named, write_at};
use crate::device::elements::{Elements, Step};
use crate::device::map::{MOST_ARGUMENTS, MOST_BLOCKS, THREADS};
use crate::device::text::{prelude, type_name};

/// Places for each position up to which each has a word of its own.
const FEW: usize = 8;

/// Places that have words of their own in any case. Tests get to tables with fewer.
const ALWAYS: usize = if cfg!(test) { 1 << 7 } else { 1 << 18 };

/// Bytes of owners that are marked at a time, so that atomics find them in the device's cache.
const STRETCH: usize = if cfg!(test) { 1 << 10 } else { 24 << 20 };

/// Bytes of words by which launches tell the ones behind what they found.
const NOTE: usize = 256;

/// Elements that are set by indices.
#[derive(Debug)]
pub(crate) struct Put {
    /// Bytes of an element.
    pub(crate) item: usize,
    /// How many elements lie from the first place to the last.
    pub(crate) places: usize,
    /// Each position, in order: it ends with the step that picks, from address zero on, the place.
    pub(crate) marking: Elements,
    /// Each element that is moved: arrays are where it comes from, where it goes but for its place, and
    /// bytes at address zero, of which the address is the position's number.
    pub(crate) moving: Elements,
    /// Bytes from one position's element to the next, where that is all there is to move.
    pub(crate) line: Option<isize>,
}

/// How large what lies in scratch memory is.
struct Room {
    /// Slots of owners, and of keys, if any.
    slots: usize,
    keys: usize,
    /// Bytes of one.
    word: usize,
}

impl Room {
    fn begin_of_keys(&self) -> usize {
        NOTE + (self.slots * self.word).next_multiple_of(16)
    }

    /// Where what needn't be zero begins: the places of positions.
    fn begin_of_places(&self) -> usize {
        self.begin_of_keys() + (self.keys * self.word).next_multiple_of(16)
    }
}

impl Put {
    fn positions(&self) -> usize {
        self.marking.size()
    }

    fn is_long(&self) -> bool {
        self.places.max(self.positions()) >= LONG
    }

    fn room(&self) -> Room {
        let word = if self.is_long() { 8 } else { 4 };
        let positions = self.positions();
        if self.places <= ALWAYS.max(positions.saturating_mul(FEW)) {
            return Room {
                slots: self.places,
                keys: 0,
                word,
            };
        }
        let slots = (2 * positions).next_power_of_two();
        Room {
            slots,
            keys: slots,
            word,
        }
    }

    /// Whether the arguments of launches fit.
    pub(crate) fn fits(&self) -> bool {
        let (none, room) = (Address::new(0), self.room());
        let marking = self.marking_arguments(&[], none, &room, 0..0);
        let moving = self.moving_arguments(&[], none, none, &room);
        marking.bytes().len().max(moving.bytes().len()) <= MOST_ARGUMENTS
    }

    /// Appends what the source is made from.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"put ");
        key.extend([self.item as u8, u8::from(self.is_long())]);
        self.marking.element_key(key);
        self.moving.element_key(key);
    }

    /// The type of elements, of which the bytes are all that counts.
    fn element(&self) -> &'static str {
        type_name(bytes_dtype(self.item))
    }

    /// The source.
    pub(crate) fn source(&self) -> String {
        let mut text = prelude(&[include_str!("scratch.cuh"), include_str!("put.cuh")]);
        let number = if self.is_long() { "mp::u64" } else { "mp::u32" };
        let _ = writeln!(text, "typedef {number} Number;\n");
        write_part(
            &mut text,
            "marking",
            &self.marking,
            "    Number begin, length;\n",
        );
        write_part(
            &mut text,
            "moving",
            &self.moving,
            "    char* report;\n    mp::u64 all;\n    mp::i64 step;\n",
        );
        text.push_str("MP_ENTRY(reset)(const mp::zeros a) {\n    mp::reset_bytes(a);\n}\n\n");
        self.write_marking(&mut text);
        self.write_moving(&mut text);
        text
    }

    fn write_marking(&self, text: &mut String) {
        let class = Class::new(&self.marking);
        let mark = "        if (Number(place - a.begin) < a.length) mp::own(a.owners, place, Number(number));\n    }\n}\n\n";
        let each = "    typedef marking::Index Index;
    const Index step = Index(gridDim.x) * blockDim.x;
    for (Index number = Index(blockIdx.x) * blockDim.x + threadIdx.x; number < Index(a.count); number += step) {\n";
        let _ = write!(
            text,
            "MP_ENTRY(mark)(const marking::Arguments a) {{\n{each}        const marking::At at = marking::locate(a, number);\n"
        );
        for (value, (step, dtype)) in self.marking.steps.iter().enumerate() {
            match step {
                Step::Load(array) => {
                    let (name, place) = (type_name(*dtype), self.marking.place(&class, *array));
                    let _ = writeln!(
                        text,
                        "        const {name} v{value} = mp::load<{name}>({place});"
                    );
                }
                Step::Pick(pick) => {
                    let place = self.marking.place(&class, pick.array);
                    let _ = write!(
                        text,
                        "        const Number place = Number(mp::u64({place}{}) / {});
        a.places[number] = place;
{mark}",
                        named(pick),
                        self.item
                    );
                }
                step => debug_assert!(false, "{step:?} doesn't mark a place"),
            }
        }
        let _ = write!(
            text,
            "MP_ENTRY(mark_more)(const marking::Arguments a) {{\n{each}        const Number place = a.places[number];\n{mark}"
        );
    }

    fn write_moving(&self, text: &mut String) {
        let class = Class::new(&self.moving);
        let place = |array| self.moving.place(&class, array);
        let (from, to, position) = (place(0), place(1), place(2));
        let (element, item) = (self.element(), self.item);
        let _ = write!(
            text,
            "MP_ENTRY(put)(const moving::Arguments a) {{
    typedef moving::Index Index;
    if (mp::told(a.note, a.report)) return;
    const Index step = Index(gridDim.x) * blockDim.x;
    for (Index number = Index(blockIdx.x) * blockDim.x + threadIdx.x; number < Index(a.count); number += step) {{
        const moving::At at = moving::locate(a, number);
        const Number position = Number(mp::u64({position}));
        const Number place = a.places[position];
        if (mp::owns(a.owners, place, position)) {{
            mp::pack<{element}, 1> element;
            element.load({from});
            element.store({to} + mp::i64(place) * {item});
        }}
    }}
}}

MP_ENTRY(settle)(const moving::Arguments a) {{
    if (mp::told(a.note, a.report)) return;
    mp::settle_places<{element}>(a.owners, a.all, a.array0, a.step, a.array1);
}}

"
        );
    }

    /// Bytes of scratch memory.
    pub(crate) fn scratch(&self) -> usize {
        let room = self.room();
        room.begin_of_places() + self.positions() * room.word
    }

    /// Appends what both parts take of the scratch memory.
    fn push_scratch(arguments: &mut Arguments, scratch: Address, room: &Room) {
        let at = |bytes: usize| Address::new(scratch.get() + bytes);
        let keys = match room.keys {
            0 => Address::new(0),
            _ => at(room.begin_of_keys()),
        };
        arguments.push_address(scratch);
        arguments.push_address(at(NOTE));
        arguments.push_address(keys);
        arguments.push((room.slots as u64).to_ne_bytes());
        arguments.push_address(at(room.begin_of_places()));
    }

    fn marking_arguments(
        &self,
        bases: &[Address],
        scratch: Address,
        room: &Room,
        stretch: std::ops::Range<usize>,
    ) -> Arguments {
        let mut arguments = Arguments::default();
        Self::push_scratch(&mut arguments, scratch, room);
        for number in [stretch.start, stretch.len()] {
            if self.is_long() {
                arguments.push((number as u64).to_ne_bytes());
            } else {
                arguments.push((number as u32).to_ne_bytes());
            }
        }
        self.marking.push_arguments(&mut arguments, bases);
        arguments
    }

    fn moving_arguments(
        &self,
        bases: &[Address],
        scratch: Address,
        report: Address,
        room: &Room,
    ) -> Arguments {
        let mut arguments = Arguments::default();
        Self::push_scratch(&mut arguments, scratch, room);
        arguments.push_address(report);
        arguments.push((self.places as u64).to_ne_bytes());
        arguments.push((self.line.unwrap_or(0) as i64).to_ne_bytes());
        self.moving.push_arguments(&mut arguments, bases);
        arguments
    }

    /// What to launch. `bases` are those of the kernel's operands, and the report's is where the note is.
    pub(crate) fn launches(&self, call: &Call<'_>, bases: &[Address]) -> Launches {
        let positions = self.positions();
        if positions == 0 || self.moving.size() == 0 {
            return Launches::new();
        }
        let (room, scratch) = (self.room(), call.scratch);
        let launch = |entry, work: usize, arguments| Launch {
            entry,
            blocks: [work.div_ceil(THREADS).clamp(1, MOST_BLOCKS) as u32, 1, 1],
            threads: THREADS as u32,
            shared_memory: 0,
            arguments,
        };
        let mut zeros = Arguments::default();
        zeros.push_address(scratch);
        zeros.push((room.begin_of_places() as u64).to_ne_bytes());
        let mut launches =
            Launches::from_iter([launch("reset", room.begin_of_places() / 16, zeros)]);
        let length = match room.keys {
            0 => (STRETCH / room.word).min(self.places),
            _ => self.places,
        };
        for begin in (0..self.places).step_by(length) {
            let entry = if begin == 0 { "mark" } else { "mark_more" };
            let stretch = begin..self.places.min(begin + length);
            let arguments = self.marking_arguments(bases, scratch, &room, stretch);
            launches.push(launch(entry, positions, arguments));
        }
        let arguments = self.moving_arguments(bases, scratch, call.report, &room);
        // Written in order, elements needn't be in the cache.
        let in_order = self.line.is_some() && room.keys == 0 && self.places <= 2 * positions;
        launches.push(if in_order && length < self.places {
            launch("settle", self.places, arguments)
        } else {
            launch("put", self.moving.size(), arguments)
        });
        launches
    }
}

/// A dtype of elements of which only the bytes count.
pub(crate) const fn bytes_dtype(item: usize) -> DType {
    match item {
        1 => DType::Uint8,
        2 => DType::Uint16,
        4 => DType::Uint32,
        8 => DType::Uint64,
        _ => DType::Complex128,
    }
}

/// Appends a namespace of elements: what its entries take, and where an element is.
fn write_part(text: &mut String, name: &str, elements: &Elements, more: &str) {
    let class = Class::new(elements);
    let _ = write!(
        text,
        "namespace {name} {{
struct alignas(16) Arguments {{
    char* note;
    mp::owners<Number> owners;
    Number* places;
{more}{}}};
typedef {} Index;

",
        elements.members(&class),
        class.index()
    );
    write_at(text, class.axes);
    let _ = writeln!(text, "}}  // namespace {name}\n");
}
