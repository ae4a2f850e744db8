//! The functions that load elements, compute with them and store what they make.

use std::fmt::Write;

use millpond_types::DType;
use smallvec::SmallVec;

use crate::device::class::{Class, Run};
use crate::device::coordinates::write_coordinates;
use crate::device::elements::{Elements, Pick, Step};
use crate::device::text::{define, type_name};
use crate::host::index::IndexMode;

/// How far indices lead from where an array's own steps lead.
pub(super) fn named(pick: &Pick) -> String {
    let mode = match pick.mode {
        IndexMode::Check => "checked",
        IndexMode::Clip => "clipped",
        IndexMode::Wrap => "wrapped",
    };
    let indices = pick.indices.iter().zip(&pick.axes).enumerate();
    let terms = indices.map(|(number, (index, [size, step]))| {
        let report = pick.report;
        format!(
            " + mp::{mode}(v{index}, a.scalar{size}, a.array{report}, {number}) * a.scalar{step}"
        )
    });
    terms.collect()
}

impl Elements {
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
                Step::Pick(pick) => {
                    let place = self.place(class, pick.array);
                    let name = type_name(*dtype);
                    write!(text, "mp::load<{name}>({place}{})", named(pick))
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
    pub(super) fn place(&self, class: &Class, array: usize) -> String {
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
}

/// Appends the place of an element: its number, and its coordinates.
pub(super) fn write_at(text: &mut String, axes: usize) {
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
