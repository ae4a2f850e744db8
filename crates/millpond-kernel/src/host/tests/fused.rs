//! Fused kernels: random chains give the same bits as their steps one after the other, but for signs of NaNs.

use half::f16;
use millpond_hal::{Access, Address, Growing, HostKernel, Moves};
use millpond_testkit::dice::Dice;
use millpond_types::{DType, Layout, Scalar};

use super::array::{AtLevel, levels, sample};
use crate::host::fused::{FusedKernel, Operand, Step, View};
use crate::{Input, MapKernel, Operation, ReduceKernel, find, find_reduction};

/// Places for arrays, each with bytes of its own.
const PLACES: usize = 7;

const DTYPES: &[DType] = &[
    DType::Float32,
    DType::Float32,
    DType::Float64,
    DType::Int32,
    DType::Bool,
    DType::Float16,
    DType::Complex64,
];

const OPERATIONS: &[&str] = &[
    "add", "subtract", "multiply", "negative", "sqrt", "exp", "less", "where", "maximum", "abs",
    "copy", "divide",
];

/// The memory of all places.
#[derive(Clone)]
struct Bank {
    memory: Vec<u64>,
    words: usize,
}

impl Bank {
    fn new(elements: usize) -> Self {
        // Room for strided arrays of the largest elements.
        let words = (elements * 3 + 8) * 2;
        let memory = (0..words * PLACES)
            .map(|word| word as u64 * 0x0101_0101_0101)
            .collect();
        Self { memory, words }
    }

    fn base(&mut self, place: usize) -> Address {
        Address::of(self.memory[place * self.words..].as_mut_ptr())
    }

    fn bytes(&mut self, place: usize) -> &mut [u8] {
        let words = &mut self.memory[place * self.words..][..self.words];
        // SAFETY: the same memory as bytes.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
    }

    /// The bytes of each element of an array in a place.
    fn elements(&mut self, place: usize, (dtype, layout): &(DType, Layout)) -> Vec<Vec<u8>> {
        let at = places(layout, dtype.size());
        let bytes = self.bytes(place);
        at.map(|at| bytes[at..at + dtype.size()].to_vec()).collect()
    }

    fn fill(&mut self, place: usize, (dtype, layout): &(DType, Layout)) {
        let item = dtype.size();
        for (index, at) in places(layout, item).enumerate() {
            let bytes = sample(*dtype, index).to_bytes(*dtype);
            self.bytes(place)[at..at + item].copy_from_slice(&bytes[..item]);
        }
    }
}

/// Whether two elements have the same bits, or both are NaN. The sign of a NaN is that of either operand: which one is
/// up to the compiler, loop by loop.
fn are_same(dtype: DType, a: &[u8], b: &[u8]) -> bool {
    fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
        match dtype {
            DType::Float16 => f16::from_ne_bytes(bytes.try_into().unwrap()).is_nan(),
            DType::Float32 => f32::from_ne_bytes(bytes.try_into().unwrap()).is_nan(),
            DType::Float64 => f64::from_ne_bytes(bytes.try_into().unwrap()).is_nan(),
            _ => false,
        }
    }
    let part = match dtype {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        real => real,
    };
    let mut parts = a.chunks(part.size()).zip(b.chunks(part.size()));
    parts.all(|(a, b)| a == b || (is_nan(part, a) && is_nan(part, b)))
}

/// Whether bytes are the same but for signs of what may be NaN, of whatever dtype was there.
fn agree_but_for_signs(a: &[u8], b: &[u8]) -> bool {
    let mut bytes = a.iter().zip(b);
    bytes.all(|(a, b)| a == b || (a ^ b == 0x80 && a & 0x7c == 0x7c))
}

/// Where each element of an array of two axes begins, in bytes.
fn places(layout: &Layout, item: usize) -> impl Iterator<Item = usize> {
    let [rows, columns] = [layout.shape()[0], layout.shape()[1]];
    let [down, across] = [layout.strides()[0], layout.strides()[1]];
    let begin = layout.offset() as isize;
    let elements = (0..rows as isize)
        .flat_map(move |row| (0..columns as isize).map(move |column| (row, column)));
    elements.map(move |(row, column)| (begin + row * down + column * across) as usize * item)
}

/// A layout of two axes that reaches no further than three times its elements.
fn lie(dice: &mut Dice, rows: usize, columns: usize) -> Layout {
    let (r, c) = (rows as isize, columns as isize);
    let (strides, offset) = match dice.roll(8) {
        0 => ([2 * c, 1], 1),
        1 => ([2 * c, 2], 0),
        2 => ([-c, -1], rows * columns - 1),
        3 => ([-c, 1], (rows - 1) * columns),
        4 => ([1, r], 0),
        _ => ([c, 1], 0),
    };
    Layout::new(&[rows, columns], &strides, offset).unwrap()
}

/// What a step is made of, apart from the addresses.
struct Plan {
    operation: Option<&'static Operation>,
    computes: Vec<DType>,
    output: (usize, DType, Layout),
    /// A place and how it is read, or a scalar.
    inputs: Vec<Result<(usize, DType, Layout), Scalar>>,
}

impl Plan {
    fn step<R>(&self, bank: &mut Bank, body: impl FnOnce(&Step<'_>) -> R) -> R {
        let mut view = |(place, dtype, layout): &'_ (usize, DType, Layout)| {
            (*dtype, layout.clone(), bank.base(*place))
        };
        let (dtype, layout, base) = view(&self.output);
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|input| input.as_ref().map(&mut view).map_err(|value| *value))
            .collect();
        let operands: Vec<_> = inputs
            .iter()
            .map(|input| match input {
                Ok((dtype, layout, base)) => Operand::Array(View {
                    dtype: *dtype,
                    layout,
                    base: *base,
                }),
                Err(value) => Operand::Scalar(*value),
            })
            .collect();
        body(&Step {
            operation: self.operation,
            computes: &self.computes,
            output: View {
                dtype,
                layout: &layout,
                base,
            },
            inputs: &operands,
        })
    }

    /// Carries it out by itself.
    fn alone(&self, bank: &mut Bank) {
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|input| match input {
                Ok((_, dtype, layout)) => Input::Array(*dtype, layout),
                Err(value) => Input::Scalar(*value),
            })
            .collect();
        let output = (self.output.1, &self.output.2);
        let kernel = match self.operation {
            Some(operation) => {
                let dtypes: Vec<_> = self.computes.clone();
                let signature = operation.resolve(&dtypes, DType::Float64).unwrap();
                MapKernel::new(operation, &signature, output, &inputs).unwrap()
            }
            None => MapKernel::copy(output, inputs[0]).unwrap(),
        };
        let arrays = self.inputs.iter().filter_map(|input| input.as_ref().ok());
        let places = std::iter::once(self.output.0).chain(arrays.map(|array| array.0));
        let bases: Vec<_> = places.map(|place| bank.base(place)).collect();
        // SAFETY: the bank has room for every layout.
        unsafe { kernel.run(&bases, 0..kernel.extent()) }.unwrap();
    }
}

/// A random step over what the places hold.
fn plan(
    dice: &mut Dice,
    held: &[(DType, Layout)],
    (rows, columns): (usize, usize),
) -> Option<Plan> {
    let name = OPERATIONS[dice.roll(OPERATIONS.len())];
    let operation = find(name);
    let arity = operation.map_or(1, Operation::arity);
    let mut inputs = Vec::new();
    for _ in 0..arity {
        let place = dice.roll(PLACES);
        let (dtype, layout) = held[place].clone();
        inputs.push(match dice.roll(10) {
            0 => Err(sample(DType::Float32, dice.roll(20) * 3 + 1)),
            1 => {
                let row = Layout::new(&[rows, columns], &[0, layout.strides()[1]], layout.offset());
                Ok((place, dtype, row.unwrap()))
            }
            2 => {
                let column =
                    Layout::new(&[rows, columns], &[layout.strides()[0], 0], layout.offset());
                Ok((place, dtype, column.unwrap()))
            }
            3 => {
                let one = Layout::new(&[rows, columns], &[0, 0], layout.offset());
                Ok((place, dtype, one.unwrap()))
            }
            _ => Ok((place, dtype, layout)),
        });
    }
    let dtypes: Vec<_> = inputs
        .iter()
        .map(|input| input.as_ref().map_or(DType::Float32, |input| input.1))
        .collect();
    let (computes, output) = match operation {
        Some(operation) => {
            let signature = operation.resolve(&dtypes, DType::Float64).ok()?;
            (signature.inputs.to_vec(), signature.output)
        }
        None => (Vec::new(), DTYPES[dice.roll(DTYPES.len())]),
    };
    // In place where that is possible, else anywhere that isn't read.
    let target = dice.roll(PLACES);
    let is_read = |place| inputs.iter().flatten().any(|input| input.0 == place);
    let whole = |place: usize| {
        let mut reads = inputs.iter().flatten().filter(|input| input.0 == place);
        reads.all(|input| input.2 == held[place].1)
    };
    let layout = if is_read(target) {
        if !whole(target) || held[target].0 != output {
            return None;
        }
        held[target].1.clone()
    } else {
        lie(dice, rows, columns)
    };
    Some(Plan {
        operation,
        computes,
        output: (target, output, layout),
        inputs,
    })
}

/// A reduction of a place, with its result both ways.
struct Reduced {
    dtype: DType,
    fused: [u64; 1024],
    alone: [u64; 1024],
}

impl Reduced {
    /// Joins a random reduction over all elements or those of each row; `None` if it doesn't fit.
    fn join(
        dice: &mut Dice,
        kernel: &FusedKernel,
        (place, dtype, layout): (usize, DType, &Layout),
        banks: [&mut Bank; 2],
    ) -> Option<Box<Self>> {
        const NAMES: &[&str] = &["sum", "max", "mean", "argmax", "var", "all", "logsumexp"];
        let reduction = find_reduction(NAMES[dice.roll(NAMES.len())])?;
        let signature = reduction.resolve(dtype, None, DType::Float64).ok()?;
        let rows = layout.shape()[0];
        let (axes, shape): (&[usize], &[usize]) = if dice.roll(2) == 0 {
            (&[0, 1], &[])
        } else {
            (&[1], &[rows])
        };
        let output = Layout::contiguous(shape, 1).unwrap();
        let plan = || {
            let output = (signature.output, &output);
            Box::new(
                ReduceKernel::new(reduction, signature, output, (dtype, layout), axes, 1.0)
                    .unwrap(),
            )
        };
        let mut reduced = Box::new(Self {
            dtype: signature.output,
            fused: [0; 1024],
            alone: [0; 1024],
        });
        let [fused, alone] = banks;
        let input = View {
            dtype,
            layout,
            base: fused.base(place),
        };
        let target = View {
            dtype: signature.output,
            layout: &output,
            base: Address::of(reduced.fused.as_mut_ptr()),
        };
        kernel.join_reduction(plan(), &input, &target).ok()?;
        let bases = [Address::of(reduced.alone.as_mut_ptr()), alone.base(place)];
        let kernel = plan();
        // SAFETY: there is room for a result of each row.
        unsafe { kernel.run(&bases, 0..kernel.extent()) }.unwrap();
        // SAFETY: as above.
        unsafe { kernel.finish(&bases) }.unwrap();
        Some(reduced)
    }
}

fn finish(kernel: &FusedKernel, dice: &mut Dice) {
    kernel.seal();
    kernel.begin();
    let mut begin = 0;
    while begin < kernel.extent() {
        let end = (begin + 1 + dice.roll(2 * kernel.extent())).min(kernel.extent());
        // SAFETY: the arrays of all steps lie in the bank.
        unsafe { kernel.run(&[], begin..end) }.unwrap();
        begin = end;
    }
    // SAFETY: as above.
    unsafe { kernel.finish(&[]) }.unwrap();
}

/// Runs a random program both ways; how many steps and reductions were joined to others.
fn compare(seed: u64, rows: usize, columns: usize, steps: usize) -> (usize, usize) {
    let mut dice = Dice::numbered(seed);
    let mut fused = Bank::new(rows * columns);
    let mut held = Vec::new();
    for place in 0..PLACES {
        let dtype = DTYPES[dice.roll(DTYPES.len())];
        let array = (dtype, lie(&mut dice, rows, columns));
        fused.fill(place, &array);
        held.push(array);
    }
    let mut alone = fused.clone();
    let (mut forgotten, mut ever_forgotten) = ([false; PLACES], [false; PLACES]);
    let (mut kernel, mut joined): (Option<FusedKernel>, usize) = (None, 0);
    let mut reduced = Vec::new();
    for _ in 0..steps {
        if let (0, Some(kernel)) = (dice.roll(4), &kernel) {
            let place = dice.roll(PLACES);
            let begin = fused.base(place).get();
            kernel.forget(&(begin..begin + fused.words * 8));
            forgotten[place] = true;
            ever_forgotten[place] = true;
        }
        if let (0, Some(kernel)) = (dice.roll(4), &kernel) {
            let place = dice.roll(PLACES);
            let (dtype, layout) = &held[place];
            if !forgotten[place] {
                let banks = [&mut fused, &mut alone];
                reduced.extend(Reduced::join(
                    &mut dice,
                    kernel,
                    (place, *dtype, layout),
                    banks,
                ));
            }
        }
        let Some(plan) = plan(&mut dice, &held, (rows, columns)) else {
            continue;
        };
        // What was forgotten isn't read.
        if plan.inputs.iter().flatten().any(|input| forgotten[input.0]) {
            continue;
        }
        plan.alone(&mut alone);
        let joins = kernel
            .as_ref()
            .is_some_and(|kernel| plan.step(&mut fused, |step| kernel.join(step)));
        joined += usize::from(joins);
        if !joins {
            if let Some(kernel) = kernel.take() {
                finish(&kernel, &mut dice);
            }
            kernel = plan.step(&mut fused, FusedKernel::new);
            if kernel.is_none() {
                plan.alone(&mut fused);
            }
        }
        let (place, dtype, layout) = plan.output;
        held[place] = (dtype, layout);
        forgotten[place] = false;
    }
    if let Some(kernel) = kernel {
        finish(&kernel, &mut dice);
    }
    for place in (0..PLACES).filter(|&place| !forgotten[place]) {
        // Gaps between elements that were forgotten before may hold anything.
        let whole =
            ever_forgotten[place] || agree_but_for_signs(fused.bytes(place), alone.bytes(place));
        let pair = [&mut fused, &mut alone].map(|bank| bank.elements(place, &held[place]));
        let mut elements = pair[0].iter().zip(&pair[1]);
        assert!(
            whole && elements.all(|(a, b)| are_same(held[place].0, a, b)),
            "seed {seed}, place {place}, {:?}",
            held[place]
        );
    }
    for reduced in &reduced {
        let [fused, alone] = [&reduced.fused, &reduced.alone].map(|words| {
            let bytes = words.iter().flat_map(|word| word.to_ne_bytes());
            bytes.collect::<Vec<_>>()
        });
        let item = reduced.dtype.size();
        let mut results = fused.chunks(item).zip(alone.chunks(item));
        assert!(
            results.all(|(a, b)| are_same(reduced.dtype, a, b)),
            "a reduction, seed {seed}"
        );
    }
    (joined, reduced.len())
}

#[test]
fn what_nobody_can_name_any_more_is_not_written() {
    let line = || Layout::new(&[1, 5000], &[5000, 1], 0).unwrap();
    let square = |from, to| Plan {
        operation: find("square"),
        computes: vec![DType::Float32],
        output: (to, DType::Float32, line()),
        inputs: vec![Ok((from, DType::Float32, line()))],
    };
    let mut bank = Bank::new(5000);
    bank.fill(0, &(DType::Float32, line()));
    let untouched = bank.bytes(1).to_vec();
    let mut alone = bank.clone();
    square(0, 1).alone(&mut alone);
    square(1, 2).alone(&mut alone);

    let kernel = square(0, 1).step(&mut bank, FusedKernel::new).unwrap();
    assert!(square(1, 2).step(&mut bank, |step| kernel.join(step)));
    let begin = bank.base(1).get();
    kernel.forget(&(begin..begin + untouched.len()));
    finish(&kernel, &mut Dice::new(1));
    assert!(bank.bytes(1) == untouched, "written for nobody");
    assert!(bank.bytes(2) == alone.bytes(2));
}

#[test]
fn random_chains_give_the_bits_of_their_steps() {
    for level in levels() {
        let _level = AtLevel::new(level);
        let (mut joined, mut reduced) = (0, 0);
        for seed in 0..240 {
            let shapes = [
                (1, 1),
                (3, 5),
                (1, 700),
                (40, 33),
                (2, 2100),
                (900, 2),
                (9, 300),
                (4, 1100),
            ];
            let (rows, columns) = shapes[seed as usize % shapes.len()];
            let counts = compare(seed, rows, columns, 30);
            (joined, reduced) = (joined + counts.0, reduced + counts.1);
        }
        assert!(joined > 1000, "only {joined} steps were joined");
        assert!(reduced > 100, "only {reduced} reductions were joined");
    }
}

#[test]
fn random_chains_with_reductions_in_pieces_give_the_bits_of_their_steps() {
    let reduced: usize = (0..12).map(|seed| compare(seed, 2, 70_000, 12).1).sum();
    assert!(reduced > 3, "only {reduced} reductions were joined");
}

#[test]
fn a_kernel_works_on_bytes_that_were_moved() {
    const ROWS: usize = 3;
    const COLUMNS: usize = 400;
    let layout = Layout::contiguous(&[ROWS, COLUMNS], 4).unwrap();
    // Every other element of the source, so that it is gathered.
    let strided = Layout::new(&[ROWS, COLUMNS], &[2 * COLUMNS as isize, 2], 1).unwrap();
    let sums = Layout::contiguous(&[ROWS], 4).unwrap();
    let source: Vec<f32> = (0..2 * ROWS * COLUMNS)
        .map(|index| index as f32 * 1e-3)
        .collect();
    let (mut made, mut total) = (vec![0.0_f32; ROWS * COLUMNS], vec![0.0_f32; ROWS]);
    let view = |layout, base| View {
        dtype: DType::Float32,
        layout,
        base,
    };
    let from = view(&strided, Address::of(source.as_ptr()));
    let to = view(&layout, Address::of(made.as_mut_ptr()));
    let sum = view(&sums, Address::of(total.as_mut_ptr()));
    let kernel = FusedKernel::new(&Step {
        operation: find("exp"),
        computes: &[DType::Float32],
        output: to,
        inputs: &[Operand::Array(from)],
    })
    .unwrap();
    let reduction = find_reduction("sum").unwrap();
    let signature = reduction
        .resolve(DType::Float32, None, DType::Float64)
        .unwrap();
    let (input, output) = ((DType::Float32, &layout), (DType::Float32, &sums));
    let fold = ReduceKernel::new(reduction, signature, output, input, &[1], 0.0).unwrap();
    assert!(kernel.grows());
    kernel.join_reduction(Box::new(fold), &to, &sum).unwrap();
    kernel.seal();
    assert!(!kernel.grows());

    let mut bytes: Vec<_> = kernel
        .touches()
        .into_iter()
        .map(|touch| (touch.access, touch))
        .collect();
    bytes.sort_by_key(|(access, _)| access.writes());
    let sizes: Vec<_> = bytes
        .iter()
        .map(|(access, touch)| (*access, touch.bytes))
        .collect();
    let read = 4 * (2 * ROWS * COLUMNS - 1);
    assert_eq!(sizes[0], (Access::Read, read));
    assert_eq!(sizes.len(), 3);
    let mut moves = Moves::default();
    let mut elsewhere: Vec<Vec<f32>> = Vec::new();
    for (_, touch) in &bytes {
        let first = touch.address.as_ptr::<f32>().cast_const();
        // SAFETY: what the kernel touches is memory of this test, made of whole numbers.
        let mut moved = unsafe { std::slice::from_raw_parts(first, touch.bytes / 4) }.to_vec();
        let address = touch.address.get();
        moves.add(
            address..address + touch.bytes,
            Address::of(moved.as_mut_ptr()),
        );
        elsewhere.push(moved);
    }
    let moved = kernel.elsewhere(moves).unwrap();
    // SAFETY: the bytes lie where the moves say.
    unsafe { moved.run(&[], 0..moved.extent()) }.unwrap();
    // SAFETY: as above.
    unsafe { moved.finish(&[]) }.unwrap();
    assert!(
        made.iter().chain(&total).all(|&value| value == 0.0),
        "written where it was"
    );
    // SAFETY: the arrays of the test.
    unsafe { kernel.run(&[], 0..kernel.extent()) }.unwrap();
    // SAFETY: as above.
    unsafe { kernel.finish(&[]) }.unwrap();
    for (expected, name) in [(&made, "elements"), (&total, "sums")] {
        assert!(
            elsewhere[1..].contains(expected),
            "{name} are made elsewhere"
        );
    }
}
