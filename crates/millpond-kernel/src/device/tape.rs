//! Chains that have yet to be compiled: one kernel for all of a dtype, which reads what it has to do.
//!
//! Compiling a chain takes as long as a thousand launches of it. Until that has been done, this kernel
//! carries it out: its threads step through instructions, each a load, a store, or one of the functions
//! that rows have for the dtype. These are the functions of the chain's own source, and each result is
//! rounded by itself, so the bits are the same.
//!
//! Instructions are for element-wise work over arrays that run on from one element to the next, or hold
//! one for all, of a dtype of floats or of truth values, which count as one and zero on the way.

use std::fmt::Write;
use std::sync::OnceLock;

use millpond_hal::Address;
use millpond_hal::code::{Arguments, Launch, Launches};
use millpond_types::DType;
use smallvec::{SmallVec, smallvec};

use crate::device::class::{Class, Run};
use crate::device::elements::{Elements, Step, Value};
use crate::device::map::{MOST_BLOCKS, THREADS, pad, push_scalar};
use crate::device::text::{define, prelude, type_name};
use crate::host::body::{Body, MAX_INPUTS};
use crate::ops::operations;

/// Values that wait in shared memory for their use.
const SLOTS: usize = 10;

/// Arrays, scalars and instructions, at most.
const ARRAYS: usize = 32;
const SCALARS: usize = 64;
const LENGTH: usize = 160;

/// Operands are numbered in packs of neighbours: those of a slot, one for each thread, are followed by the
/// next slot's, and scalars, which all threads have in common, come behind.
const COMMON: u16 = 1 << 15;

/// What an instruction does that isn't a function. Those of arrays come first, loads before stores.
const BRING: u8 = 0;
const BRING_ONE: u8 = 1;
const BRING_TRUTH: u8 = 2;
const BRING_ONE_TRUTH: u8 = 3;
const TAKE: u8 = 4;
const TAKE_TRUTH: u8 = 5;
/// The first function of values: whether a number isn't zero, and the same value. The rows' come behind.
const FUNCTIONS: u8 = 6;
const TRUTH: u8 = 6;
const SAME: u8 = 7;
const ROWS: u8 = 8;

/// What most steps are, by the names of bodies: it is looked for before all others.
const MOST_USED: [&str; 4] = ["add", "subtract", "multiply", "divide"];

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instruction {
    what: u8,
    /// The slot of what it makes, or the array that it writes.
    to: u8,
    /// Operands, or the array that it reads.
    from: [u16; MAX_INPUTS],
}

/// What there is to do, as the kernel reads it.
#[derive(Debug)]
pub(crate) struct Tape {
    dtype: DType,
    count: usize,
    arrays: SmallVec<[Address; 4]>,
    scalars: SmallVec<[[u8; 16]; 4]>,
    instructions: Vec<Instruction>,
}

/// The functions of the rows of a dtype, and of truth values, those of one operand first.
fn functions(dtype: DType) -> &'static [&'static dyn Body] {
    static SINGLE: OnceLock<Vec<&'static dyn Body>> = OnceLock::new();
    static DOUBLE: OnceLock<Vec<&'static dyn Body>> = OnceLock::new();
    let known = if dtype == DType::Float32 {
        &SINGLE
    } else {
        &DOUBLE
    };
    known.get_or_init(|| {
        let mut functions: Vec<&'static dyn Body> = Vec::new();
        let dtypes = [dtype, DType::Bool];
        for operation in operations() {
            for body in dtypes.iter().filter_map(|&of| operation.loop_for(of)) {
                let form = body.form();
                let mut all = form.inputs().iter().chain([&form.output]);
                if all.all(|of| dtypes.contains(of))
                    && !functions.iter().any(|it| is_same(*it, body))
                {
                    functions.push(body);
                }
            }
        }
        functions.sort_by_key(|body| body.arity());
        functions.truncate(usize::from(u8::MAX - ROWS));
        functions
    })
}

fn is_same(a: &dyn Body, b: &dyn Body) -> bool {
    a.template().name == b.template().name && a.form().inputs() == b.form().inputs()
}

impl Tape {
    /// The instructions of element-wise work, if there are some for all of it.
    pub(crate) fn new(elements: &Elements) -> Option<Self> {
        let is_float = |dtype: &&DType| matches!(dtype, DType::Float32 | DType::Float64);
        let mut all = elements.arrays.iter().map(|array| &array.dtype);
        let dtype = *all.find(is_float)?;
        let known = |of: DType| of == dtype || of == DType::Bool;
        let class = Class::new(elements);
        let fits = elements.axes.len() == 1
            && elements.arrays.len() <= ARRAYS
            && elements.scalars.len() <= SCALARS
            && elements.arrays.iter().all(|array| known(array.dtype))
            && elements.steps.iter().all(|&(_, of)| known(of))
            && !class.runs.contains(&Run::Strided)
            && elements
                .stores
                .iter()
                .all(|&(_, to)| class.runs[to] == Run::Follows);
        if !fits {
            return None;
        }
        let mut writer = Writer {
            dtype,
            elements,
            last_uses: last_uses(elements),
            places: vec![0; elements.steps.len()],
            free: (0..SLOTS as u8).rev().collect(),
            instructions: Vec::new(),
        };
        for value in 0..elements.steps.len() {
            writer.step(value, &class)?;
        }
        for &(value, array) in &elements.stores {
            let what = match elements.arrays[array].dtype {
                DType::Bool => TAKE_TRUTH,
                _ => TAKE,
            };
            let (to, from) = (array as u8, [writer.places[value], 0, 0]);
            writer.instructions.push(Instruction { what, to, from });
        }
        let scalars = elements.scalars.iter().map(|(of, bytes)| match of {
            DType::Bool if dtype == DType::Float32 => widened(f32::from(bytes[0]).to_ne_bytes()),
            DType::Bool => widened(f64::from(bytes[0]).to_ne_bytes()),
            _ => *bytes,
        });
        Some(Self {
            dtype,
            count: elements.size(),
            arrays: elements.addresses(&[]),
            scalars: scalars.collect(),
            instructions: writer.instructions,
        })
        .filter(|tape| tape.instructions.len() <= LENGTH)
    }
}

fn widened<const N: usize>(bytes: [u8; N]) -> [u8; 16] {
    std::array::from_fn(|index| bytes.get(index).copied().unwrap_or(0))
}

/// The step that uses each value last; of what is stored, none.
fn last_uses(elements: &Elements) -> Vec<usize> {
    let mut last = vec![0; elements.steps.len()];
    for (at, (step, _)) in elements.steps.iter().enumerate() {
        match step {
            Step::Convert(from) => last[*from] = at,
            Step::Apply(_, inputs) => inputs.iter().for_each(|&from| last[from] = at),
            _ => {}
        }
    }
    for &(value, _) in &elements.stores {
        last[value] = usize::MAX;
    }
    last
}

/// Instructions in the making.
struct Writer<'a> {
    dtype: DType,
    elements: &'a Elements,
    last_uses: Vec<usize>,
    /// Where each value lies.
    places: Vec<u16>,
    free: SmallVec<[u8; SLOTS]>,
    instructions: Vec<Instruction>,
}

impl Writer<'_> {
    /// Appends a step; `None` if there is no instruction for it, or no slot.
    fn step(&mut self, value: Value, class: &Class) -> Option<()> {
        let (step, dtype) = &self.elements.steps[value];
        let (what, from) = match step {
            // It lies where it is.
            Step::Scalar(scalar) => {
                self.places[value] = COMMON | (SLOTS * THREADS + scalar) as u16;
                return Some(());
            }
            Step::Load(array) => {
                let is_one = class.runs[*array] == Run::Constant;
                let what = match (self.elements.arrays[*array].dtype, is_one) {
                    (DType::Bool, true) => BRING_ONE_TRUTH,
                    (DType::Bool, false) => BRING_TRUTH,
                    (_, true) => BRING_ONE,
                    (_, false) => BRING,
                };
                (what, [*array as u16, 0, 0])
            }
            Step::Convert(from) => {
                let what = if *dtype == DType::Bool { TRUTH } else { SAME };
                (what, [self.places[*from], 0, 0])
            }
            Step::Apply(body, inputs) => {
                let functions = functions(self.dtype);
                let number = functions.iter().position(|known| is_same(*known, *body))?;
                let mut from = [0; MAX_INPUTS];
                for (place, &input) in from.iter_mut().zip(inputs) {
                    *place = self.places[input];
                }
                (ROWS + number as u8, from)
            }
            Step::Pick(_) | Step::Rule(..) => return None,
        };
        self.release(value);
        let to = self.free.pop()?;
        self.places[value] = u16::from(to) * THREADS as u16;
        self.instructions.push(Instruction { what, to, from });
        if self.last_uses[value] == 0 {
            self.free.push(to);
        }
        Some(())
    }

    /// Gives the slots back of what this step uses last.
    fn release(&mut self, step: Value) {
        for value in 0..step {
            let is_over = self.last_uses[value] == step && self.places[value] < COMMON;
            if is_over {
                self.free
                    .push((usize::from(self.places[value]) / THREADS) as u8);
            }
        }
    }
}

impl Tape {
    /// Appends what the source is made from.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"tape ");
        key.push(self.dtype as u8);
    }

    /// The only launch.
    pub(crate) fn launches(&self) -> Launches {
        let mut arguments = Arguments::default();
        for size in [self.count, self.instructions.len()] {
            arguments.push((size as u64).to_ne_bytes());
        }
        for index in 0..ARRAYS {
            let address = self.arrays.get(index).copied();
            arguments.push_address(address.unwrap_or(Address::new(0)));
        }
        for index in 0..SCALARS {
            let bytes = self.scalars.get(index).copied().unwrap_or_default();
            push_scalar(&mut arguments, self.dtype, bytes);
        }
        for Instruction { what, to, from } in &self.instructions {
            let [x, y, z] = from.map(u16::to_le_bytes);
            arguments.push([*what, *to, x[0], x[1], y[0], y[1], z[0], z[1]]);
        }
        // Nobody reads what is behind the last instruction, but it is an argument all the same.
        for _ in self.instructions.len()..LENGTH {
            arguments.push([0; 8]);
        }
        pad(&mut arguments);
        let packs = self.count.div_ceil(16 / self.dtype.size());
        smallvec![Launch {
            entry: "tape",
            blocks: [packs.div_ceil(THREADS).min(MOST_BLOCKS) as u32, 1, 1],
            threads: THREADS as u32,
            shared_memory: 0,
            arguments,
        }]
    }

    /// The source: the same for all chains of the dtype.
    pub(crate) fn source(&self) -> String {
        source(self.dtype)
    }
}

/// The source of the kernel of a dtype.
fn source(dtype: DType) -> String {
    let functions = functions(dtype);
    let mut text = prelude(&[]);
    let _ = writeln!(text, "typedef {} Number;", type_name(dtype));
    let first_of = |arity: usize| {
        let before = functions.iter().filter(|body| body.arity() < arity);
        usize::from(ROWS) + before.count()
    };
    for (name, value) in [
        ("SLOTS", SLOTS),
        ("ARRAYS", ARRAYS),
        ("SCALARS", SCALARS),
        ("LENGTH", LENGTH),
        ("COMMON", usize::from(COMMON)),
        ("BRING", usize::from(BRING)),
        ("BRING_ONE", usize::from(BRING_ONE)),
        ("BRING_TRUTH", usize::from(BRING_TRUTH)),
        ("BRING_ONE_TRUTH", usize::from(BRING_ONE_TRUTH)),
        ("TAKE", usize::from(TAKE)),
        ("TAKE_TRUTH", usize::from(TAKE_TRUTH)),
        ("TRUTH", usize::from(TRUTH)),
        ("SAME", usize::from(SAME)),
        ("FUNCTIONS", usize::from(FUNCTIONS)),
        ("TERNARY", first_of(3)),
    ] {
        let _ = writeln!(text, "constexpr mp::u32 {name} = {value};");
    }
    text.push('\n');
    let (mut first, mut short, mut long) = (String::new(), String::new(), String::new());
    for (number, body) in functions.iter().enumerate() {
        let (form, template) = (body.form(), body.template());
        define(
            &mut text,
            &format!("f{number}"),
            &(template.trace)(),
            form.inputs(),
            form.output,
        );
        let what = usize::from(ROWS) + number;
        let call = |element: &dyn Fn(&str) -> String| {
            let operands: Vec<_> = form
                .inputs()
                .iter()
                .zip(["x", "y", "z"])
                .map(|(&of, name)| match of {
                    DType::Bool => format!("{} != Number(0)", element(name)),
                    _ => element(name),
                })
                .collect();
            format!("Number(f{number}({}))", operands.join(", "))
        };
        if body.is_heavy() {
            let value = call(&str::to_owned);
            let _ = writeln!(long, "        case {what}: return {value};");
        } else {
            let value = call(&|name| format!("{name}.get(k)"));
            let name = template.name.rsplit("::").next().unwrap_or_default();
            if MOST_USED.contains(&name) && form.output == dtype {
                let _ = writeln!(first, "    if (what == {what}) {{ EACH({value}) }} else");
            } else {
                let _ = writeln!(short, "        case {what}: EACH({value}) break;");
            }
        }
    }
    // Long functions are there once, as calls cost little beside them.
    let _ = write!(
        text,
        "
MP_APART Number carry_out_long(mp::u32 what, Number x, Number y, Number z) {{
    switch (what) {{
{long}    }}
    return x;
}}

#define EACH(value) _Pragma(\"unroll\") for (int k = 0; k < 16 / int(sizeof(Number)); k++) made.set(k, value);
MP_DEVICE mp::pack<Number, 16 / sizeof(Number)> carry_out(
    mp::u32 what, const mp::pack<Number, 16 / sizeof(Number)>& x,
    const mp::pack<Number, 16 / sizeof(Number)>& y, const mp::pack<Number, 16 / sizeof(Number)>& z) {{
    mp::pack<Number, 16 / sizeof(Number)> made;
{first}    switch (what) {{
        case TRUTH: EACH(Number(x.get(k) != Number(0))) break;
        case SAME: EACH(x.get(k)) break;
{short}        default: EACH(carry_out_long(what, x.get(k), y.get(k), z.get(k)))
    }}
    return made;
}}
#undef EACH

"
    );
    text.push_str(include_str!("tape.cuh"));
    text
}
