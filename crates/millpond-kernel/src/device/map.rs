//! Element-wise kernels: each thread of a grid takes packs of neighbours, as many as 16 bytes hold.
//!
//! One source serves all shapes and strides of a *layout class*: how many axes are left when those
//! that run on are joined, and how each array runs along the innermost one. Its entries are `wide`,
//! for packs, and `narrow`, for single elements, where addresses or strides aren't aligned for packs;
//! or `tiled`, where an array runs along another axis, so that its elements are turned on the way.

use std::fmt::Write;

use millpond_hal::Address;
use millpond_hal::code::{Arguments, Call, Launch, Launches, Machine};
use millpond_types::DType;
use smallvec::SmallVec;

use crate::device::class::{Class, Run};
use crate::device::coordinates::{push_divisor, write_divisors};
use crate::device::elements::{Base, Elements, Step};
use crate::device::text::{prelude, type_name};
use crate::device::tile::TILE;

/// Threads of a block, as the prelude's entries are bounded.
pub(super) const THREADS: usize = 256;

/// The most blocks of a grid. All that there is work for are launched at once: a device keeps more of
/// its memory busy so than by threads that go round.
pub(super) const MOST_BLOCKS: usize = i32::MAX as usize;

/// The most bytes of arguments that every device takes.
pub(super) const MOST_ARGUMENTS: usize = 4096;

impl Elements {
    /// Whether the arguments of a launch fit, for which the axes must have been joined.
    pub(crate) fn fits(&self) -> bool {
        self.arguments(&[]).bytes().len() <= MOST_ARGUMENTS
    }

    /// Appends what the source is made from.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"map ");
        self.element_key(key);
    }

    /// Appends what the functions for elements are made from.
    pub(super) fn element_key(&self, key: &mut Vec<u8>) {
        Class::new(self).key(key);
        for array in &self.arrays {
            key.push(array.dtype as u8);
        }
        for (dtype, _) in &self.scalars {
            key.push(*dtype as u8);
        }
        let push = |key: &mut Vec<u8>, number: usize| key.extend((number as u16).to_le_bytes());
        for (step, dtype) in &self.steps {
            key.push(*dtype as u8);
            match step {
                Step::Load(array) => {
                    key.push(b'l');
                    push(key, *array);
                }
                Step::Scalar(scalar) => {
                    key.push(b's');
                    push(key, *scalar);
                }
                Step::Convert(value) => {
                    key.push(b'c');
                    push(key, *value);
                }
                Step::Apply(body, inputs) => {
                    key.push(b'a');
                    key.extend(body.template().name.as_bytes());
                    inputs.iter().for_each(|&input| push(key, input));
                }
                Step::Pick(pick) => {
                    key.extend([b'p', pick.mode as u8]);
                    push(key, pick.array);
                    pick.indices.iter().for_each(|&index| push(key, index));
                }
                Step::Rule(rule, scalars) => {
                    key.push(b'r');
                    key.extend(rule.as_bytes());
                    scalars.iter().for_each(|&scalar| push(key, scalar));
                }
            }
        }
        for &(value, array) in &self.stores {
            push(key, value);
            push(key, array);
        }
    }

    /// The source.
    pub(crate) fn source(&self) -> String {
        let mut text = prelude(&[]);
        self.write_source(&mut text);
        text
    }

    /// Appends the source but for the prelude.
    pub(super) fn write_source(&self, text: &mut String) {
        let class = Class::new(self);
        let _ = write!(
            text,
            "struct alignas(16) Arguments {{\n{}}};\n\n",
            self.members(&class)
        );
        self.write_elements(text, &class, &[]);
        if class.pack > 1 {
            write_entry(text, "wide", class.pack, class.axes == 1);
        }
        if let Some(axis) = class.turned {
            self.write_tiled(text, &class, axis);
        } else {
            write_entry(text, "narrow", 1, false);
        }
    }

    /// The members of the structure that entries take, in the order of [`Elements::arguments`].
    pub(super) fn members(&self, class: &Class) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "    mp::u64 count;");
        for (number, run) in class.runs.iter().enumerate() {
            let _ = writeln!(text, "    char* array{number};");
            for axis in 0..class.axes {
                if axis + 1 < class.axes || *run == Run::Strided {
                    let _ = writeln!(text, "    mp::i64 stride{number}_{axis};");
                }
            }
        }
        write_divisors(&mut text, "x", class.axes, class.is_long);
        if class.turned.is_some() {
            text.push_str("    mp::u64 turned;\n");
        }
        for (number, (dtype, _)) in self.scalars.iter().enumerate() {
            let _ = writeln!(text, "    {} scalar{number};", type_name(*dtype));
        }
        text
    }

    /// The addresses of the first elements.
    pub(super) fn addresses(&self, bases: &[Address]) -> SmallVec<[Address; 4]> {
        let address = |base| match base {
            // Without addresses only the size of arguments is asked for.
            Base::Operand(number) => bases.get(number).map_or(0, |base| base.get()),
            Base::Address(address) => address,
        };
        let arrays = self.arrays.iter();
        let first = arrays.map(|array| address(array.base).wrapping_add_signed(array.offset));
        first.map(Address::new).collect()
    }

    /// What entries take, in the order of [`Elements::members`].
    pub(super) fn arguments(&self, bases: &[Address]) -> Arguments {
        let mut arguments = Arguments::default();
        self.push_arguments(&mut arguments, bases);
        arguments
    }

    /// Appends what [`Elements::members`] names.
    pub(super) fn push_arguments(&self, arguments: &mut Arguments, bases: &[Address]) {
        let class = Class::new(self);
        arguments.push((self.size() as u64).to_ne_bytes());
        let addresses = self.addresses(bases);
        for ((array, run), address) in self.arrays.iter().zip(&class.runs).zip(addresses) {
            arguments.push_address(address);
            for (axis, stride) in array.strides.iter().enumerate() {
                if axis + 1 < class.axes || *run == Run::Strided {
                    arguments.push((*stride as i64).to_ne_bytes());
                }
            }
        }
        for &size in &self.axes[1..] {
            push_divisor(arguments, size, class.is_long);
        }
        if let Some(axis) = class.turned {
            arguments.push((self.axes[axis] as u64).to_ne_bytes());
        }
        for (dtype, bytes) in &self.scalars {
            push_scalar(arguments, *dtype, *bytes);
        }
        pad(arguments);
    }

    /// Whether packs can be moved by one access each: addresses and all steps are multiples of them.
    pub(super) fn is_aligned(&self, class: &Class, addresses: &[Address]) -> bool {
        let inner = class.axes - 1;
        let fits = |(number, run): (usize, &Run)| {
            let array = &self.arrays[number];
            let bytes = class.pack * array.dtype.size();
            let outer = &array.strides[..inner];
            *run != Run::Follows
                || (addresses[number].get().is_multiple_of(bytes)
                    && outer
                        .iter()
                        .all(|stride| stride.unsigned_abs().is_multiple_of(bytes)))
        };
        class.pack > 1
            && (inner == 0 || self.axes[inner].is_multiple_of(class.pack))
            && class.runs.iter().enumerate().all(fits)
    }

    /// What to launch.
    pub(crate) fn launches(&self, call: &Call<'_>) -> Launches {
        let class = Class::new(self);
        let size = self.size();
        if size == 0 {
            return Launches::new();
        }
        let is_wide = self.is_aligned(&class, &self.addresses(call.bases));
        let (entry, work) = if class.turned.is_some() {
            (
                "tiled",
                size.next_multiple_of(TILE * TILE) / (TILE * TILE / THREADS),
            )
        } else if is_wide {
            ("wide", size.div_ceil(class.pack))
        } else {
            ("narrow", size)
        };
        let launch = Launch {
            entry,
            blocks: [work.div_ceil(THREADS).min(MOST_BLOCKS) as u32, 1, 1],
            threads: THREADS as u32,
            shared_memory: 0,
            arguments: self.arguments(call.bases),
        };
        Launches::from_iter([launch])
    }
}

/// Blocks for as many pieces of work of a thread: no more than the device holds at a time.
pub(super) fn grid(machine: &Machine, work: usize) -> u32 {
    let resident = machine.multiprocessors as usize * (machine.resident_threads as usize / THREADS);
    work.div_ceil(THREADS).clamp(1, resident.max(1)) as u32
}

/// Appends a scalar of a dtype.
pub(super) fn push_scalar(arguments: &mut Arguments, dtype: DType, bytes: [u8; 16]) {
    fn first<const N: usize>(bytes: [u8; 16]) -> [u8; N] {
        std::array::from_fn(|index| bytes[index])
    }
    match dtype.size() {
        1 => arguments.push(first::<1>(bytes)),
        2 => arguments.push(first::<2>(bytes)),
        4 => arguments.push(first::<4>(bytes)),
        8 => arguments.push(first::<8>(bytes)),
        _ => arguments.push(bytes),
    }
}

/// Fills up to the size of a structure, whatever its alignment is.
pub(super) fn pad(arguments: &mut Arguments) {
    while !arguments.bytes().len().is_multiple_of(16) {
        arguments.push([0]);
    }
}

/// Appends an entry that goes over packs of `pack` elements and then, if `has_rest`, over what fills no
/// pack. A thread takes one pack unless there are more than a grid has threads.
fn write_entry(text: &mut String, name: &str, pack: usize, has_rest: bool) {
    let _ = write!(
        text,
        "MP_ENTRY({name})(const Arguments a) {{
    const Index packs = Index(a.count) / {pack}, step = Index(gridDim.x) * blockDim.x;
    const Index first = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    for (Index pack = first; pack < packs; pack += step) {{
        Loaded<{pack}> loaded;
        const At at = locate(a, pack * {pack});
        load_elements(a, at, loaded);
        finish_elements(a, at, loaded);
    }}
"
    );
    if has_rest {
        let _ = write!(
            text,
            "    if (first < Index(a.count) - packs * {pack}) {{
        Loaded<1> loaded;
        const At at = locate(a, packs * {pack} + first);
        load_elements(a, at, loaded);
        finish_elements(a, at, loaded);
    }}
"
        );
    }
    text.push_str("}\n\n");
}
