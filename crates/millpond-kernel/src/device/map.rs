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

use crate::device::elements::{Base, Elements, Step};
use crate::device::text::{define, prelude, type_name};

/// Threads of a block, as the prelude's entries are bounded.
pub(super) const THREADS: usize = 256;

/// Bytes of the widest access.
const WIDEST: usize = 16;

/// The most bytes of arguments that every device takes.
pub(super) const MOST_ARGUMENTS: usize = 4096;

/// Elements from which indices need more than 31 bits.
pub(super) const LONG: usize = if cfg!(test) { 1 << 16 } else { 1 << 31 };

/// Elements of either side of a tile.
const TILE: usize = 32;

/// How an array runs along the innermost axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Each element follows the one before.
    Follows,
    /// All are the same.
    Constant,
    /// At any distance.
    Strided,
}

/// The layout class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    axes: usize,
    runs: SmallVec<[Run; 4]>,
    is_long: bool,
    /// Elements of a pack; one, if there are none.
    pub(super) pack: usize,
    /// The axis that some array runs along instead of the innermost.
    turned: Option<usize>,
}

impl Class {
    pub(super) fn new(elements: &Elements) -> Self {
        let inner = elements.axes.len() - 1;
        let runs: SmallVec<[Run; 4]> = elements
            .arrays
            .iter()
            .map(|array| match array.strides[inner] {
                0 => Run::Constant,
                stride if stride == array.dtype.size() as isize => Run::Follows,
                _ => Run::Strided,
            })
            .collect();
        let largest = elements.arrays.iter().map(|array| array.dtype.size()).max();
        Self {
            axes: elements.axes.len(),
            is_long: elements.size() >= LONG,
            pack: if runs.contains(&Run::Strided) {
                1
            } else {
                WIDEST / largest.unwrap_or(WIDEST)
            },
            turned: turned_axis(elements, &runs),
            runs,
        }
    }

    /// The name of the type of indices.
    pub(super) fn index(&self) -> &'static str {
        if self.is_long { "mp::u64" } else { "mp::u32" }
    }

    /// Whether an array runs along the axis that is turned.
    fn is_turned(&self, elements: &Elements, array: usize) -> bool {
        let array_at = &elements.arrays[array];
        let runs = |axis: usize| array_at.strides[axis] == array_at.dtype.size() as isize;
        self.runs[array] == Run::Strided && self.turned.is_some_and(runs)
    }

    fn key(&self, key: &mut Vec<u8>) {
        let turned = self.turned.map_or(u8::MAX, |axis| axis as u8);
        key.extend([self.axes as u8, u8::from(self.is_long), turned]);
        key.extend(self.runs.iter().map(|&run| run as u8));
    }
}

/// The axis that some array runs along that is only read, though it doesn't run along the innermost:
/// it is read by tiles then, which are turned in shared memory.
fn turned_axis(elements: &Elements, runs: &[Run]) -> Option<usize> {
    let (inner, outer) = elements.axes.split_last()?;
    let is_written = |number: usize| elements.stores.iter().any(|&(_, to)| to == number);
    let runs_along = |axis: usize| {
        let arrays = elements.arrays.iter().enumerate().zip(runs);
        arrays.into_iter().any(|((number, array), run)| {
            *run == Run::Strided
                && !is_written(number)
                && array.strides[axis] == array.dtype.size() as isize
        })
    };
    let is_long = |size: usize| size >= TILE / 2;
    let mut axes = outer.iter().enumerate();
    let found = axes.find(|&(axis, &size)| is_long(size) && runs_along(axis));
    found.map(|(axis, _)| axis).filter(|_| is_long(*inner))
}

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
        // What computes much has no need of more loads under way.
        let is_heavy =
            |(step, _): &(Step, DType)| matches!(step, Step::Apply(body, _) if body.is_heavy());
        let is_light = class.axes == 1 && !self.steps.iter().any(is_heavy);
        let unroll = if is_light { 2 } else { 1 };
        if class.pack > 1 {
            write_entry(text, "wide", class.pack, unroll, class.axes == 1);
        }
        if let Some(axis) = class.turned {
            self.write_tiled(text, &class, axis);
        } else {
            write_entry(text, "narrow", 1, unroll, false);
        }
    }

    /// Appends the entry that goes tile by tile over the turned and the innermost axis.
    fn write_tiled(&self, text: &mut String, class: &Class, turned: usize) {
        let inner = class.axes - 1;
        let arrays: Vec<_> = (0..self.arrays.len())
            .filter(|&array| class.is_turned(self, array))
            .collect();
        text.push_str("MP_ENTRY(tiled)(const Arguments a) {\n");
        for &array in &arrays {
            let name = type_name(self.arrays[array].dtype);
            let _ = writeln!(
                text,
                "    __shared__ mp::pack<{name}, 1> tile{array}[{TILE}][{TILE} + 1];"
            );
        }
        let _ = write!(
            text,
            "    const Index column = threadIdx.x % {TILE}, row = threadIdx.x / {TILE};
    const Index across = (Index(a.x_axis{inner}.size) + {rest}) / {TILE};
    const Index down = (Index(a.turned) + {rest}) / {TILE};
    const Index tiles = Index(a.count) / (Index(a.x_axis{inner}.size) * Index(a.turned)) * across * down;
    for (Index tile = blockIdx.x; tile < tiles; tile += gridDim.x) {{
        const Index line = tile / across, block = line / down;
        const Index left = (tile - line * across) * {TILE}, top = (line - block * down) * {TILE};
        At at;
        at.number = 0;
",
            rest = TILE - 1
        );
        // The other axes share the number of the block.
        let mut rest = "block".to_owned();
        let others: Vec<_> = (0..inner).filter(|&axis| axis != turned).collect();
        for (place, axis) in others.iter().enumerate().rev() {
            if place == 0 {
                let _ = writeln!(text, "        at.x{axis} = {rest};");
            } else {
                let size = format!("Index(a.x_axis{axis}.size)");
                let _ = writeln!(
                    text,
                    "        const Index b{axis} = {rest} / {size};\n        at.x{axis} = {rest} - b{axis} * {size};"
                );
                rest = format!("b{axis}");
            }
        }
        let _ = write!(
            text,
            "#pragma unroll
        for (Index r = row; r < {TILE}; r += {step}) {{
            at.x{turned} = top + column;
            at.x{inner} = left + r;
            if (at.x{turned} < Index(a.turned) && at.x{inner} < Index(a.x_axis{inner}.size)) {{
",
            step = THREADS / TILE
        );
        for &array in &arrays {
            let place = self.place(class, array);
            let _ = writeln!(
                text,
                "                tile{array}[r][column].load({place});"
            );
        }
        let _ = write!(
            text,
            "            }}
        }}
        __syncthreads();
        at.x{inner} = left + column;
#pragma unroll
        for (Index r = row; r < {TILE}; r += {step}) {{
            at.x{turned} = top + r;
            if (at.x{turned} < Index(a.turned) && at.x{inner} < Index(a.x_axis{inner}.size)) {{
                Loaded<1> loaded;
",
            step = THREADS / TILE
        );
        for (array, run) in class.runs.iter().enumerate() {
            let is_read = self
                .steps
                .iter()
                .any(|(step, _)| matches!(step, Step::Load(from) if *from == array));
            if arrays.contains(&array) {
                let _ = writeln!(
                    text,
                    "                loaded.array{array} = tile{array}[column][r];"
                );
            } else if is_read {
                let _ = run;
                let place = self.place(class, array);
                let _ = writeln!(text, "                loaded.array{array}.load({place});");
            }
        }
        text.push_str(
            "                finish_elements(a, at, loaded);
            }
        }
        __syncthreads();
    }
}

",
        );
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

    /// Appends the functions of bodies, and those that load elements and compute with them. The values
    /// of `kept` are handed on.
    pub(super) fn write_elements(&self, text: &mut String, class: &Class, kept: &[usize]) {
        let functions = self.write_functions(text);
        let _ = writeln!(text, "typedef {} Index;\n", class.index());
        write_at(text, class.axes);
        let loads: Vec<_> = (0..self.arrays.len())
            .filter(|&array| {
                let reads =
                    |(step, _): &(Step, DType)| matches!(step, Step::Load(from) if *from == array);
                self.steps.iter().any(reads)
            })
            .collect();
        text.push_str("template <int V>\nstruct Loaded {\n");
        for &array in &loads {
            let width = if class.runs[array] == Run::Constant {
                "1"
            } else {
                "V"
            };
            let name = type_name(self.arrays[array].dtype);
            let _ = writeln!(text, "    mp::pack<{name}, {width}> array{array};");
        }
        text.push_str("};\n\n");
        if !kept.is_empty() {
            text.push_str("template <int V>\nstruct Kept {\n");
            for (number, &value) in kept.iter().enumerate() {
                let name = type_name(self.steps[value].1);
                let _ = writeln!(text, "    {name} value{number}[V];");
            }
            text.push_str("};\n\n");
        }
        text.push_str(
            "template <int V>\nMP_DEVICE void load_elements(const Arguments& a, const At& at, Loaded<V>& loaded) {\n",
        );
        for &array in &loads {
            let place = self.place(class, array);
            let _ = writeln!(text, "    loaded.array{array}.load({place});");
        }
        let keep = if kept.is_empty() {
            ""
        } else {
            ", Kept<V>& kept"
        };
        let _ = writeln!(
            text,
            "}}\n\ntemplate <int V>\nMP_DEVICE void finish_elements(const Arguments& a, const At& at, const Loaded<V>& loaded{keep}) {{"
        );
        for &(_, array) in &self.stores {
            let name = type_name(self.arrays[array].dtype);
            let _ = writeln!(text, "    mp::pack<{name}, V> out{array};");
        }
        text.push_str("#pragma unroll\n    for (int k = 0; k < V; k++) {\n");
        for (value, (step, dtype)) in self.steps.iter().enumerate() {
            let _ = write!(text, "        const {} v{value} = ", type_name(*dtype));
            let _ = match step {
                Step::Load(array) => {
                    let at = if class.runs[*array] == Run::Constant {
                        "0"
                    } else {
                        "k"
                    };
                    write!(text, "loaded.array{array}.get({at})")
                }
                Step::Scalar(scalar) => write!(text, "a.scalar{scalar}"),
                Step::Convert(from) => write!(text, "mp::cast<{}>(v{from})", type_name(*dtype)),
                Step::Apply(_, inputs) => {
                    let inputs: Vec<_> = inputs.iter().map(|input| format!("v{input}")).collect();
                    write!(text, "{}({})", functions[value], inputs.join(", "))
                }
                Step::Rule(rule, scalars) => {
                    let scalars = scalars.iter().map(|scalar| format!(", a.scalar{scalar}"));
                    write!(
                        text,
                        "mp::{rule}(mp::u64(at.number) + k{})",
                        scalars.collect::<String>()
                    )
                }
            };
            text.push_str(";\n");
        }
        for &(value, array) in &self.stores {
            let _ = writeln!(text, "        out{array}.set(k, v{value});");
        }
        for (number, value) in kept.iter().enumerate() {
            let _ = writeln!(text, "        kept.value{number}[k] = v{value};");
        }
        text.push_str("    }\n");
        for &(_, array) in &self.stores {
            let place = self.place(class, array);
            let _ = writeln!(text, "    out{array}.store({place});");
        }
        text.push_str("}\n\n");
    }

    /// Appends the functions that steps apply, each once, and answers their names by step.
    fn write_functions(&self, text: &mut String) -> Vec<String> {
        let mut known: Vec<(&str, SmallVec<[DType; 3]>, String)> = Vec::new();
        let mut names = Vec::new();
        for (step, _) in &self.steps {
            let Step::Apply(body, _) = step else {
                names.push(String::new());
                continue;
            };
            let (form, template) = (body.form(), body.template());
            let same = known
                .iter()
                .find(|(name, inputs, _)| *name == template.name && inputs[..] == *form.inputs());
            if let Some((_, _, name)) = same {
                names.push(name.clone());
                continue;
            }
            let short = template.name.rsplit("::").next().unwrap_or_default();
            let name = format!("f{}_{short}", known.len());
            define(text, &name, &(template.trace)(), form.inputs(), form.output);
            text.push('\n');
            known.push((template.name, form.inputs().into(), name.clone()));
            names.push(name);
        }
        names
    }

    /// The address of a pack of an array, by the coordinates.
    fn place(&self, class: &Class, array: usize) -> String {
        let mut text = format!("a.array{array}");
        for axis in 0..class.axes {
            let is_inner = axis + 1 == class.axes;
            let _ = match class.runs[array] {
                Run::Constant if is_inner => Ok(()),
                Run::Follows if is_inner => {
                    let size = self.arrays[array].dtype.size();
                    write!(text, " + mp::i64(at.x{axis}) * {size}")
                }
                _ => write!(text, " + mp::i64(at.x{axis}) * a.stride{array}_{axis}"),
            };
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
            blocks: [grid(call.machine, work), 1, 1],
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

/// Appends a number that indices are divided by.
pub(super) fn push_divisor(arguments: &mut Arguments, size: usize, is_long: bool) {
    if is_long {
        return arguments.push((size as u64).to_ne_bytes());
    }
    let (factor, shift) = factor(size as u32);
    for word in [size as u32, factor, shift] {
        arguments.push(word.to_ne_bytes());
    }
}

/// By what numbers of 31 bits are multiplied and shifted to divide them: with the shift `s` such that
/// `2^s` isn't below the divisor, the factor is `2^(32 + s) / divisor` rounded up, less `2^32`.
fn factor(divisor: u32) -> (u32, u32) {
    let shift = u32::BITS - divisor.saturating_sub(1).leading_zeros();
    let excess = (1_u64 << shift) - u64::from(divisor);
    (
        (excess << 32).div_euclid(u64::from(divisor)) as u32 + 1,
        shift,
    )
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

/// Appends the members that [`push_divisor`] fills, for all axes but the outermost.
pub(super) fn write_divisors(text: &mut String, prefix: &str, axes: usize, is_long: bool) {
    let divisor = if is_long {
        "mp::long_divisor"
    } else {
        "mp::short_divisor"
    };
    for axis in 1..axes {
        let _ = writeln!(text, "    {divisor} {prefix}_axis{axis};");
    }
}

/// Appends the coordinates of a number along axes, the prefix followed by 0 and so on.
pub(super) fn write_coordinates(text: &mut String, number: &str, prefix: &str, axes: usize) {
    let mut rest = number.to_owned();
    for axis in (1..axes).rev() {
        let divisor = format!("a.{prefix}_axis{axis}");
        let _ = writeln!(
            text,
            "    const Index {prefix}q{axis} = mp::quotient({rest}, {divisor}), {prefix}{axis} = {rest} - {prefix}q{axis} * Index({divisor}.size);"
        );
        rest = format!("{prefix}q{axis}");
    }
    if axes > 0 {
        let _ = writeln!(text, "    const Index {prefix}0 = {rest};");
    }
}

/// Appends the place of an element: its number, and its coordinates.
fn write_at(text: &mut String, axes: usize) {
    let names = (0..axes)
        .map(|axis| format!("x{axis}"))
        .collect::<Vec<_>>()
        .join(", ");
    let _ = writeln!(
        text,
        "struct At {{\n    Index number, {names};\n}};\n\nMP_DEVICE At locate(const Arguments& a, Index number) {{"
    );
    write_coordinates(text, "number", "x", axes);
    let _ = writeln!(text, "    return {{number, {names}}};\n}}\n");
}

/// Appends an entry that goes over packs of `pack` elements, `unroll` of them at a time, and then, if
/// `has_rest`, over what fills no pack.
fn write_entry(text: &mut String, name: &str, pack: usize, unroll: usize, has_rest: bool) {
    let _ = write!(
        text,
        "MP_ENTRY({name})(const Arguments a) {{
    const Index packs = Index(a.count) / {pack}, step = Index(gridDim.x) * blockDim.x;
    const Index first = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    for (Index at = first; at < packs; at += {unroll} * step) {{
        Loaded<{pack}> loaded[{unroll}];
        At places[{unroll}];
#pragma unroll
        for (int u = 0; u < {unroll}; u++) {{
            if (u == 0 || at + u * step < packs) load_elements(a, places[u] = locate(a, (at + u * step) * {pack}), loaded[u]);
        }}
#pragma unroll
        for (int u = 0; u < {unroll}; u++) {{
            if (u == 0 || at + u * step < packs) finish_elements(a, places[u], loaded[u]);
        }}
    }}
"
    );
    if has_rest {
        let _ = write!(
            text,
            "    if (first < Index(a.count) - packs * {pack}) {{
        Loaded<1> loaded;
        const At place = locate(a, packs * {pack} + first);
        load_elements(a, place, loaded);
        finish_elements(a, place, loaded);
    }}
"
        );
    }
    text.push_str("}\n\n");
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn products_divide_every_number_of_31_bits() {
        let divisors = (1..2000).chain([3 << 20, (1 << 30) - 1, 1 << 30, (1 << 31) - 1]);
        for divisor in divisors {
            let (factor, shift) = factor(divisor);
            let edges = [0, 1, (1 << 31) - 1].into_iter();
            let multiples = [1, 2, 3, 12345].into_iter().flat_map(|times| {
                let near = u64::from(divisor) * times;
                [near - 1, near, near + 1]
            });
            for value in edges.chain(multiples.filter(|&value| value < 1 << 31)) {
                let high = (value * u64::from(factor)) >> 32;
                assert_eq!(
                    (high + value) >> shift,
                    value / u64::from(divisor),
                    "{value} by {divisor}"
                );
            }
        }
    }
}
