//! Reductions: threads fold shares of an output's elements, and merge what they have.
//!
//! Who folds what follows from the shapes and the device. Outputs whose elements lie close together
//! are folded *along* them, by lanes of a warp where they are short and by blocks where they are long,
//! several of them for each where there are few; else neighbouring threads take neighbouring outputs,
//! the *columns*. States of pieces lie in scratch memory, and a second launch merges them.

use std::fmt::Write;

use millpond_hal::Address;
use millpond_hal::code::{Arguments, Call, Launch, Launches, Machine};
use millpond_types::DType;
use smallvec::SmallVec;

use crate::device::class::Class;
use crate::device::coordinates::{push_divisor, write_coordinates, write_divisors};
use crate::device::elements::Elements;
use crate::device::map::{MOST_ARGUMENTS, THREADS, grid, pad};
use crate::device::plan::{Method, Plan, WARP};
use crate::device::text::{prelude, type_name};
use crate::template::space::Space;

/// The most bytes that the state of a reducer has.
const STATE: usize = 32;

/// A reducer, and where its results go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folding {
    /// The reduction, as rows call it.
    pub(crate) name: &'static str,
    /// What it folds.
    pub(crate) compute: DType,
    /// The dtype of the array that it writes.
    pub(crate) output: DType,
    pub(crate) correction: f64,
}

impl Folding {
    /// Whether its result depends on the order of folding: floats round, and of zeros of both signs one is
    /// the largest as good as the other.
    pub(super) fn is_ordered(&self) -> bool {
        self.compute.real().is_float()
            && !matches!(
                self.name,
                "argmax" | "argmin" | "all" | "any" | "count_nonzero"
            )
    }

    fn key(&self, key: &mut Vec<u8>) {
        key.extend(self.name.as_bytes());
        key.extend([self.compute as u8, self.output as u8]);
    }
}

/// How elements of outputs are had.
pub(crate) enum Supply<'a> {
    /// They lie in an array, operand 1, of this dtype.
    Array {
        dtype: DType,
        /// The outputs: operand 0 is what is written, operand 1 the first element of each.
        kept: &'a Space,
        /// The elements of one.
        reduced: &'a Space,
    },
    /// They are what an element-wise kernel makes, in its order; each folding takes one of the values
    /// that it keeps, and writes to an address, at so many bytes for each output.
    Elements {
        elements: &'a Elements,
        targets: SmallVec<[(Address, isize); 1]>,
        outputs: usize,
        length: usize,
    },
}

/// A reduction as devices carry it out.
pub(crate) struct Reduce<'a> {
    pub(crate) supply: Supply<'a>,
    pub(crate) foldings: SmallVec<[Folding; 1]>,
}

impl Reduce<'_> {
    /// Whether the arguments of a launch fit.
    pub(crate) fn fits(&self) -> bool {
        let plan = Plan {
            blocks: 0,
            piece: 0,
            pieces: 0,
            lanes: 0,
        };
        self.arguments(&[], Address::new(0), &plan).bytes().len() <= MOST_ARGUMENTS
    }

    /// Appends what the source is made from.
    pub(crate) fn key(&self, key: &mut Vec<u8>) {
        key.extend(b"reduce ");
        key.push(self.method() as u8);
        match &self.supply {
            Supply::Array {
                dtype,
                kept,
                reduced,
            } => {
                let axes = [kept.axes().len() as u8, reduced.axes().len() as u8];
                let flags = [self.is_along(), self.follows(), self.is_long()].map(u8::from);
                key.push(*dtype as u8);
                key.extend(axes.into_iter().chain(flags));
            }
            Supply::Elements { elements, .. } => {
                key.extend(b"elements ");
                elements.element_key(key);
            }
        }
        self.foldings.iter().for_each(|folding| folding.key(key));
    }

    /// The source.
    pub(crate) fn source(&self) -> String {
        let mut text = prelude(&[include_str!("reduce.cuh")]);
        let index = if self.is_long() { "mp::u64" } else { "mp::u32" };
        let _ = write!(
            text,
            "struct alignas(16) Arguments {{\n{}}};\n\n",
            self.members()
        );
        let mut kernel = String::new();
        match &self.supply {
            Supply::Array { .. } => {
                let _ = writeln!(text, "typedef {index} Index;\n");
                self.write_array(&mut kernel);
            }
            Supply::Elements { elements, .. } => {
                elements.write_elements(&mut text, &Class::new(elements), &elements.kept);
                self.write_made(&mut kernel);
            }
        }
        self.write_kernel(&mut text, &kernel);
        self.write_entries(&mut text);
        text
    }

    /// The members of the structure that entries take, in the order of [`Reduce::arguments`].
    fn members(&self) -> String {
        let mut text = String::new();
        for name in ["outputs", "length", "piece", "pieces"] {
            let _ = writeln!(text, "    mp::u64 {name};");
        }
        text.push_str("    char* states;\n");
        for (number, _) in self.foldings.iter().enumerate() {
            let _ = writeln!(text, "    double correction{number};");
        }
        match &self.supply {
            Supply::Array { kept, reduced, .. } => {
                text.push_str("    char* to;\n    char* from;\n");
                for axis in 0..kept.axes().len() {
                    let _ = writeln!(text, "    mp::i64 to_{axis}, from_{axis};");
                }
                for axis in 0..reduced.axes().len() {
                    let _ = writeln!(text, "    mp::i64 element_{axis};");
                }
                write_divisors(&mut text, "o", kept.axes().len(), self.is_long());
                write_divisors(&mut text, "e", reduced.axes().len(), self.is_long());
                text.push_str("    mp::u32 lanes;\n");
            }
            Supply::Elements {
                elements, targets, ..
            } => {
                for number in 0..targets.len() {
                    let _ = writeln!(text, "    char* to{number};\n    mp::i64 to{number}_step;");
                }
                text.push_str("    mp::u64 lanes;\n");
                text.push_str(&elements.members(&Class::new(elements)));
            }
        }
        text
    }

    fn arguments(&self, bases: &[Address], states: Address, plan: &Plan) -> Arguments {
        let mut arguments = Arguments::default();
        for size in [self.outputs(), self.length(), plan.piece, plan.pieces] {
            arguments.push((size as u64).to_ne_bytes());
        }
        arguments.push_address(states);
        for folding in &self.foldings {
            arguments.push(folding.correction.to_ne_bytes());
        }
        match &self.supply {
            Supply::Array { kept, reduced, .. } => {
                let base = |number: usize| bases.get(number).map_or(0, |base| base.get());
                let begin = [kept.begin()[0], kept.begin()[1] + reduced.begin()[0]];
                for (number, begin) in begin.into_iter().enumerate() {
                    arguments.push_address(Address::new(base(number).wrapping_add_signed(begin)));
                }
                for axis in kept.axes() {
                    for stride in &axis.strides[..2] {
                        arguments.push((*stride as i64).to_ne_bytes());
                    }
                }
                for axis in reduced.axes() {
                    arguments.push((axis.strides[0] as i64).to_ne_bytes());
                }
                for axis in kept
                    .axes()
                    .iter()
                    .skip(1)
                    .chain(reduced.axes().iter().skip(1))
                {
                    push_divisor(&mut arguments, axis.size, self.is_long());
                }
                arguments.push((plan.lanes as u32).to_ne_bytes());
                pad(&mut arguments);
            }
            Supply::Elements {
                elements, targets, ..
            } => {
                for (address, step) in targets {
                    arguments.push_address(*address);
                    arguments.push((*step as i64).to_ne_bytes());
                }
                arguments.push((plan.lanes as u64).to_ne_bytes());
                elements.push_arguments(&mut arguments, bases);
            }
        }
        arguments
    }

    /// Appends to the structure of the kernel how elements are loaded and folded, and where results go.
    fn write_array(&self, text: &mut String) {
        let Supply::Array {
            dtype,
            kept,
            reduced,
        } = &self.supply
        else {
            return;
        };
        let (outer, inner) = (kept.axes().len(), reduced.axes().len());
        let offset = |names: &[(String, String)]| {
            names.iter().fold(String::new(), |mut text, (x, step)| {
                let _ = write!(text, " + mp::i64({x}) * {step}");
                text
            })
        };
        let steps = |what: &str| {
            (0..outer)
                .map(|axis| (format!("o{axis}"), format!("a.{what}_{axis}")))
                .collect::<Vec<_>>()
        };
        let elements: Vec<_> = (0..inner)
            .map(|axis| {
                let follows = axis + 1 == inner && self.follows();
                let step = if follows {
                    dtype.size().to_string()
                } else {
                    format!("a.element_{axis}")
                };
                (format!("e{axis}"), step)
            })
            .collect();
        let name = type_name(*dtype);
        let _ = write!(
            text,
            "    template <int V>
    struct Batch {{
        mp::pack<{name}, V> in;
    }};
    const Arguments& a;
    const char* from;
    char* to;
    MP_DEVICE Kernel(const Arguments& a, Index output) : a(a) {{\n"
        );
        write_coordinates(text, "output", "o", outer);
        let _ = write!(
            text,
            "        from = a.from{};
        to = a.to{};
    }}
    template <int V>
    MP_DEVICE void load(Index at, Batch<V>& batch) const {{\n",
            offset(&steps("from")),
            offset(&steps("to"))
        );
        write_coordinates(text, "at", "e", inner);
        let _ = write!(
            text,
            "        batch.in.load(from{});
    }}
    template <int V>
    MP_DEVICE void push(Index at, const Batch<V>& batch, Partial& partial) const {{
#pragma unroll
        for (int k = 0; k < V; k++) {{
            partial.p0 = R0::push(partial.p0, mp::cast<{}>(batch.in.get(k)), mp::u64(at) + k);
        }}
    }}
    MP_DEVICE char* target0() const {{ return to; }}\n",
            offset(&elements),
            type_name(self.foldings[0].compute)
        );
    }

    /// The same for elements that are made.
    fn write_made(&self, text: &mut String) {
        text.push_str(
            "    template <int V>
    using Batch = Loaded<V>;
    const Arguments& a;
    Index output;
    MP_DEVICE Kernel(const Arguments& a, Index output) : a(a), output(output) {}
    template <int V>
    MP_DEVICE void load(Index at, Loaded<V>& batch) const {
        load_elements(a, locate(a, output * Index(a.length) + at), batch);
    }
    template <int V>
    MP_DEVICE void push(Index at, const Loaded<V>& batch, Partial& partial) const {
        Kept<V> kept;
        finish_elements(a, locate(a, output * Index(a.length) + at), batch, kept);
#pragma unroll
        for (int k = 0; k < V; k++) {\n",
        );
        for (number, folding) in self.foldings.iter().enumerate() {
            let _ = writeln!(
                text,
                "            partial.p{number} = R{number}::push(partial.p{number}, mp::cast<{}>(kept.value{number}[k]), mp::u64(at) + k);",
                type_name(folding.compute)
            );
        }
        text.push_str("        }\n    }\n");
        for number in 0..self.foldings.len() {
            let _ = writeln!(
                text,
                "    MP_DEVICE char* target{number}() const {{ return a.to{number} + mp::i64(output) * a.to{number}_step; }}"
            );
        }
    }

    /// Appends the structure of the kernel: reducers, and what was made of the supply.
    fn write_kernel(&self, text: &mut String, supply: &str) {
        text.push_str("struct Kernel {\n    typedef Index Position;\n");
        let each = |of: &dyn Fn(usize) -> String| {
            (0..self.foldings.len())
                .map(of)
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (number, folding) in self.foldings.iter().enumerate() {
            let compute = type_name(folding.compute);
            let _ = writeln!(
                text,
                "    typedef mp::reduce_{}<{compute}> R{number};",
                folding.name
            );
        }
        for (name, part) in [("Partial", "partial"), ("State", "state")] {
            let letter = &part[..1];
            let members = (0..self.foldings.len())
                .map(|number| format!("        R{number}::{part} {letter}{number};\n"));
            let members: String = members.collect();
            let _ = write!(text, "    struct {name} {{\n{members}    }};\n");
        }
        text.push_str(supply);
        let _ = write!(
            text,
            "    static MP_DEVICE Partial nothing() {{ return {{{}}}; }}
    static MP_DEVICE State start() {{ return {{{}}}; }}
    static MP_DEVICE State absorb(const State& to, const Partial& run) {{ return {{{}}}; }}
    static MP_DEVICE State merge(const State& a, const State& b) {{ return {{{}}}; }}
    MP_DEVICE void finish(const State& state) const {{\n",
            each(&|n| format!("R{n}::nothing()")),
            each(&|n| format!("R{n}::start()")),
            each(&|n| format!("R{n}::absorb(to.s{n}, run.p{n})")),
            each(&|n| format!("R{n}::merge(a.s{n}, b.s{n})")),
        );
        for (number, folding) in self.foldings.iter().enumerate() {
            let output = type_name(folding.output);
            let _ = writeln!(
                text,
                "        mp::store<{output}>(target{number}(), mp::cast<{output}>(R{number}::finish(state.s{number}, a.length, a.correction{number})));"
            );
        }
        text.push_str("    }\n};\n\n");
    }

    fn write_entries(&self, text: &mut String) {
        let mut entry = |name: &str, shared: usize, call: &str| {
            let _ = writeln!(text, "MP_ENTRY({name})(const Arguments a) {{");
            if shared > 0 {
                let _ = writeln!(text, "    __shared__ Kernel::State shared[{shared}];");
            }
            let _ = write!(text, "    {call};\n}}\n\n");
        };
        let packs = [("wide", self.pack()), ("narrow", 1)];
        let packs = packs
            .into_iter()
            .filter(|&(name, pack)| pack > 1 || name == "narrow");
        match self.method() {
            Method::Columns => entry("columns", THREADS, "mp::by_columns<Kernel>(a, shared)"),
            Method::Lanes => {
                for (name, pack) in packs {
                    let unit = self.unit(pack);
                    let call = format!("mp::by_lanes<{pack}, {unit}, Kernel>(a)");
                    entry(&format!("lanes_{name}"), 0, &call);
                }
                return;
            }
            Method::Blocks => {
                for (name, pack) in packs {
                    let unit = self.unit(pack);
                    let call = format!("mp::by_blocks<{pack}, {unit}, Kernel>(a, shared)");
                    entry(&format!("blocks_{name}"), THREADS / WARP, &call);
                }
            }
        }
        entry(
            "merge",
            THREADS / WARP,
            "mp::merge_pieces<Kernel>(a, shared)",
        );
    }

    /// Bytes of scratch memory.
    pub(crate) fn scratch(&self, machine: &Machine) -> usize {
        let plan = self.plan(machine);
        if plan.pieces == 1 {
            return 0;
        }
        self.outputs() * plan.pieces * STATE * self.foldings.len()
    }

    /// What to launch.
    pub(crate) fn launches(&self, call: &Call<'_>) -> Launches {
        let outputs = self.outputs();
        if outputs == 0 {
            return Launches::new();
        }
        let plan = self.plan(call.machine);
        let is_wide = self.is_aligned(call.bases);
        let entry = match (self.method(), is_wide) {
            (Method::Columns, _) => "columns",
            (Method::Lanes, true) => "lanes_wide",
            (Method::Lanes, false) => "lanes_narrow",
            (Method::Blocks, true) => "blocks_wide",
            (Method::Blocks, false) => "blocks_narrow",
        };
        let arguments = self.arguments(call.bases, call.scratch, &plan);
        let launch = |entry, blocks: u32| Launch {
            entry,
            blocks: [blocks, 1, 1],
            threads: THREADS as u32,
            shared_memory: 0,
            arguments: arguments.clone(),
        };
        let mut launches = Launches::from_iter([launch(entry, plan.blocks)]);
        if plan.pieces > 1 {
            let most = grid(call.machine, usize::MAX / 2) as usize;
            launches.push(launch("merge", outputs.min(most) as u32));
        }
        launches
    }
}
