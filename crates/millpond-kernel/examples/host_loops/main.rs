//! Prints what the host loops cost: nanoseconds for an element, and bytes moved in a nanosecond.
//!
//! ```text
//! cargo run --release -p millpond-kernel --example host_loops -- [word]...
//! ```
//!
//! Only lines that hold one of the words are measured, all where none is given. `one` is the time
//! of this thread alone, `all` that through a queue with all threads; each is the least of many
//! short windows, since a busy machine slows most of them. Nothing is asserted.

#![allow(
    unsafe_code,
    clippy::print_stdout,
    reason = "a program that runs kernels on memory of its own and prints"
)]

use std::error::Error;

use millpond_hal::HostKernel;
use millpond_kernel::ops::find;
use millpond_kernel::{Input, MapKernel, ReduceKernel, find_reduction};
use millpond_types::{DType, Layout};

mod machine;

use machine::Machine;

use DType::{Bool, Complex64, Complex128, Float16, Float32, Float64, Int32, Int64, Uint8};

type Outcome = Result<(), Box<dyn Error>>;

/// Bytes of the largest operand that fits the first-level cache beside others.
const CACHED: usize = 8 << 10;

struct Bench {
    machine: Machine,
    words: Vec<String>,
}

impl Bench {
    fn wants(&self, line: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| line.contains(word))
    }

    /// Measures a kernel over `size` elements and `bytes` bytes.
    fn line<K: HostKernel + 'static>(
        &self,
        name: &str,
        (size, bytes): (usize, usize),
        kernel: impl Fn() -> Result<K, Box<dyn Error>>,
    ) -> Outcome {
        let alone = self.machine.alone(&kernel()?);
        print!("{name:44} {size:>10}");
        let print = |seconds: f64| {
            let nanoseconds = seconds * 1e9;
            let (each, rate) = (nanoseconds / size as f64, bytes as f64 / nanoseconds);
            print!(" {each:9.3} ns {rate:7.1} GB/s");
        };
        print(alone);
        if bytes > 1 << 20 {
            print(self.machine.shared(kernel()?));
        }
        println!();
        Ok(())
    }

    fn fill(&self, dtypes: &[DType]) {
        for (index, &dtype) in dtypes.iter().enumerate() {
            let range = if dtype == Bool {
                (0.0, 1.99)
            } else {
                (0.5, 9.5)
            };
            self.machine.fill(index + 1, dtype, range);
        }
    }

    /// An operation over contiguous arrays of a dtype.
    fn contiguous(&self, name: &str, dtype: DType, bytes: &[usize]) -> Outcome {
        let operation = find(name).ok_or("no such operation")?;
        let work = operation.contiguous_loop(dtype).ok_or("no such loop")?;
        let inputs: Vec<_> = (0..operation.arity()).map(|at| work.input(at)).collect();
        let item: usize =
            inputs.iter().map(|input| input.size()).sum::<usize>() + work.output().size();
        let mut filled = false;
        for &bytes in bytes {
            let size = bytes / dtype.size();
            let line = format!("{name} {dtype}");
            if !self.wants(&line) {
                continue;
            }
            if !std::mem::replace(&mut filled, true) {
                self.fill(&inputs);
            }
            self.line(&line, (size, size * item), || Ok(work.over(size)))?;
        }
        Ok(())
    }

    /// An operation over arrays as they are, the output contiguous.
    fn strided(&self, line: &str, name: &str, out: DType, inputs: &[(DType, Layout)]) -> Outcome {
        if !self.wants(line) {
            return Ok(());
        }
        let dtypes: Vec<_> = inputs.iter().map(|(dtype, _)| *dtype).collect();
        self.fill(&dtypes);
        let shape = inputs[0].1.shape();
        let layout = Layout::contiguous(shape, out.size())?;
        let size: usize = shape.iter().product();
        let item = out.size() + dtypes.iter().map(|dtype| dtype.size()).sum::<usize>();
        let arrays: Vec<_> = inputs
            .iter()
            .map(|(dtype, layout)| Input::Array(*dtype, layout))
            .collect();
        self.line(line, (size, size * item), || {
            if name == "copy" {
                return Ok(MapKernel::copy((out, &layout), arrays[0])?);
            }
            let operation = find(name).ok_or("no such operation")?;
            let signature = operation.resolve(&dtypes, Float64)?;
            Ok(MapKernel::new(
                operation,
                &signature,
                (out, &layout),
                &arrays,
            )?)
        })
    }

    /// A reduction of a contiguous array.
    fn reduce(&self, name: &str, dtype: DType, shape: &[usize], axes: &[usize]) -> Outcome {
        let line = format!("{name} {dtype} {shape:?} axes {axes:?}");
        if !self.wants(&line) {
            return Ok(());
        }
        self.fill(&[dtype]);
        let reduction = find_reduction(name).ok_or("no such reduction")?;
        let signature = reduction.resolve(dtype, None, Float64)?;
        let input = Layout::contiguous(shape, dtype.size())?;
        let kept: Vec<_> = (0..shape.len())
            .filter(|axis| !axes.contains(axis))
            .map(|axis| shape[axis])
            .collect();
        let output = Layout::contiguous(&kept, signature.output.size())?;
        let size = shape.iter().product();
        self.line(&line, (size, size * dtype.size()), || {
            let output = (signature.output, &output);
            Ok(ReduceKernel::new(
                reduction,
                signature,
                output,
                (dtype, &input),
                axes,
                0.0,
            )?)
        })
    }
}

fn main() -> Outcome {
    let bench = Bench {
        machine: Machine::new()?,
        words: std::env::args().skip(1).collect(),
    };
    println!(
        "{:44} {:>10} {:>12} {:>12} {:>12} {:>12}",
        "", "elements", "one", "", "all", ""
    );
    let sizes = [400, CACHED, 10_000_000, 100_000_000];
    for dtype in [Float32, Float64] {
        for name in [
            "positive", "add", "multiply", "divide", "sqrt", "exp", "sin", "log1p", "tanh", "pow",
        ] {
            bench.contiguous(name, dtype, &sizes)?;
        }
        for name in ["where", "less", "maximum", "isnan"] {
            bench.contiguous(name, dtype, &sizes)?;
        }
    }
    for dtype in [Int32, Int64] {
        for name in ["add", "multiply", "less", "floor_divide"] {
            bench.contiguous(name, dtype, &sizes)?;
        }
    }
    for name in ["logical_and", "logical_not"] {
        bench.contiguous(name, Bool, &sizes[1..3])?;
    }
    for dtype in [Complex64, Complex128] {
        for name in ["add", "multiply", "divide", "abs", "exp"] {
            bench.contiguous(name, dtype, &sizes[1..3])?;
        }
    }
    strided(&bench)?;
    reductions(&bench)
}

fn strided(bench: &Bench) -> Outcome {
    let new = |shape: &[usize], strides: &[isize], offset| Layout::new(shape, strides, offset);
    let long = 4_000_000;
    let side = 2000;
    for dtype in [Float32, Float64] {
        let flat = (dtype, new(&[long], &[1], 0)?);
        let square = (dtype, new(&[side, side], &[side as isize, 1], 0)?);
        let turned = (dtype, new(&[side, side], &[1, side as isize], 0)?);
        let every_other = (dtype, new(&[long], &[2], 0)?);
        let backwards = (dtype, new(&[long], &[-1], long - 1)?);
        let row = (dtype, new(&[side, side], &[0, 1], 0)?);
        let column = (dtype, new(&[side, side], &[1, 0], 0)?);
        let inner = (dtype, new(&[side, side], &[side as isize + 100, 1], 0)?);
        let one = (dtype, new(&[long], &[0], 0)?);
        let narrow = (dtype, new(&[long / 4, 4], &[4, 1], 0)?);
        let narrow_row = (dtype, new(&[long / 4, 4], &[0, 1], 0)?);
        let two = |a: &(DType, Layout), b: &(DType, Layout)| vec![a.clone(), b.clone()];
        for (line, inputs) in [
            ("a + b (planned)", two(&flat, &flat)),
            ("a.T + b", two(&turned, &square)),
            ("a[::2] + b[::2]", two(&every_other, &every_other)),
            ("a[::-1] + b", two(&backwards, &flat)),
            ("a[::-1] + one", two(&backwards, &one)),
            ("a + row", two(&square, &row)),
            ("a + column", two(&square, &column)),
            ("a[:, :n] + b[:, :n]", two(&inner, &inner)),
            ("a + one", two(&flat, &one)),
            ("(n, 4) + (4,)", two(&narrow, &narrow_row)),
        ] {
            bench.strided(&format!("{line} {dtype}"), "add", dtype, &inputs)?;
        }
        bench.strided(&format!("copy a.T {dtype}"), "copy", dtype, &[turned])?;
        bench.strided(
            &format!("copy a[::2] {dtype}"),
            "copy",
            dtype,
            &[every_other],
        )?;
        bench.strided(&format!("copy a {dtype}"), "copy", dtype, &[flat])?;
    }
    let flat = |dtype: DType| Ok::<_, Box<dyn Error>>((dtype, new(&[long], &[1], 0)?));
    for (a, b) in [
        (Float32, Float64),
        (Int32, Float32),
        (Int32, Int64),
        (Uint8, Float32),
    ] {
        let out = millpond_types::promote::result_type(&[a, b])?;
        bench.strided(&format!("{a} + {b}"), "add", out, &[flat(a)?, flat(b)?])?;
    }
    bench.strided(
        "float16 + float16",
        "add",
        Float16,
        &[flat(Float16)?, flat(Float16)?],
    )?;
    for (from, to) in [
        (Float32, Float64),
        (Float64, Float32),
        (Int32, Float32),
        (Int64, Float64),
        (Float64, Int64),
        (Float32, Int32),
        (Uint8, Float32),
        (Bool, Float32),
        (Float32, Bool),
        (Float16, Float32),
        (Float32, Float16),
    ] {
        bench.strided(&format!("cast {from} to {to}"), "copy", to, &[flat(from)?])?;
    }
    Ok(())
}

fn reductions(bench: &Bench) -> Outcome {
    let shapes: &[(&[usize], &[&[usize]])] = &[
        (&[10_000_000], &[&[0]]),
        (&[1000, 1000], &[&[0, 1], &[0], &[1]]),
        (&[1_000_000, 8], &[&[0], &[1]]),
        (&[8, 1_000_000], &[&[0], &[1]]),
        (&[2_000_000, 4], &[&[0], &[1]]),
        (&[100, 100, 100], &[&[1]]),
    ];
    for name in ["sum", "max", "mean", "argmax", "any", "all", "var"] {
        for dtype in [Float32, Float64, Int32, Bool] {
            let defined = match name {
                "any" | "all" => dtype == Bool,
                "mean" | "var" => matches!(dtype, Float32 | Float64),
                _ => true,
            };
            for (shape, axes) in shapes.iter().filter(|_| defined) {
                for axes in *axes {
                    bench.reduce(name, dtype, shape, axes)?;
                }
            }
        }
    }
    Ok(())
}
