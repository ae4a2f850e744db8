//! What is asked of a fused kernel: steps over arrays of one shape, in the order of the program.
//!
//! A step reads *sources*, arrays that lie in memory when the kernel begins, and *values*, which
//! earlier steps made. Which of them it is follows from the addresses: whatever an earlier step
//! wrote at the same place is that step's value. Steps are joined only if tile after tile gives
//! what one step after the other would:
//!
//! * an element depends only on elements of the same index. So what a step reads or overwrites is
//!   either apart from what earlier steps write and read, or the very same view of it;
//! * what is overwritten by a later step, or forgotten, need not be written at all.

use std::ops::Range;

use millpond_hal::Address;
use millpond_types::{DType, Layout, Scalar, Shape};
use smallvec::SmallVec;

use crate::host::body::{Body, MAX_INPUTS};
use crate::host::reduce::{Pieces, ReduceKernel};
use crate::ops::Operation;
use crate::template::space::Space;

/// The most steps of a kernel.
const MAX_STEPS: usize = 64;

/// The most reductions of a kernel.
const MAX_FOLDS: usize = 8;

/// Outputs of fewer elements than this are better reduced by themselves.
const SHORT_ROW: usize = 256;

/// The most arrays that a kernel reads.
const MAX_SOURCES: usize = 32;

/// Elements of an array, where its memory begins.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The dtype of the elements.
    pub dtype: DType,
    /// Where they lie.
    pub layout: &'a Layout,
    /// The address that the layout's offset counts from.
    pub base: Address,
}

/// What a step reads.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// An array, broadcast to the output's shape.
    Array(View<'a>),
    /// One value for every element.
    Scalar(Scalar),
}

/// An element-wise operation, or a copy, with its operands.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// `None` copies.
    pub operation: Option<&'static Operation>,
    /// The dtypes that the operation computes with, one for each input; none for a copy.
    pub computes: &'a [DType],
    /// The array that is written.
    pub output: View<'a>,
    /// What is read.
    pub inputs: &'a [Operand<'a>],
}

/// An array of a chain.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) dtype: DType,
    pub(super) layout: Layout,
    pub(super) base: Address,
    /// The addresses between the first and the last byte of its elements.
    span: Range<usize>,
}

impl Array {
    fn new(view: &View<'_>) -> Self {
        Self {
            dtype: view.dtype,
            layout: view.layout.clone(),
            base: view.base,
            span: span(view),
        }
    }

    fn overlaps(&self, span: &Range<usize>) -> bool {
        !are_apart(&self.span, span)
    }

    /// Whether element for element both have the same bytes.
    fn coincides(&self, view: &View<'_>, span: &Range<usize>) -> bool {
        self.span == *span
            && self.dtype.size() == view.dtype.size()
            && self.layout.strides() == view.layout.strides()
    }

    /// Whether both are the same elements.
    fn is(&self, view: &View<'_>, span: &Range<usize>) -> bool {
        self.dtype == view.dtype && self.coincides(view, span)
    }

    /// The bytes between the first and the last.
    pub(super) fn bytes(&self) -> usize {
        self.span.len()
    }

    /// Whether both may have bytes in common.
    pub(super) fn shares_bytes(&self, other: &Self) -> bool {
        self.overlaps(&other.span)
    }

    /// Its elements in the order of the shape.
    pub(super) fn space(&self) -> Space {
        let operand = Some((&self.layout, self.dtype.size()));
        Space::ordered(self.layout.shape(), &[operand])
    }
}

fn are_apart(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.end <= b.start || b.end <= a.start
}

fn span(view: &View<'_>) -> Range<usize> {
    let span = view.layout.byte_span(view.dtype.size());
    let base = view.base.get();
    base + span.start..base + span.end
}

/// Where an input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// A scalar's bytes, in the dtype that is computed with.
    Scalar([u8; 16]),
    /// A source, by its number.
    Source(usize),
    /// What a step made, by the step's number.
    Value(usize),
}

/// A step that was joined.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) name: &'static str,
    /// `None` copies.
    pub(super) body: Option<&'static dyn Body>,
    pub(super) inputs: SmallVec<[Link; MAX_INPUTS]>,
    pub(super) output: Array,
    /// Whether anybody may look at what it writes.
    pub(super) is_wanted: bool,
}

/// A reduction that was joined.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) kernel: Box<ReduceKernel>,
    pub(super) input: Link,
    /// The address of its output.
    pub(super) base: Address,
    span: Range<usize>,
    /// How many steps come before it.
    pub(super) after: usize,
}

/// A step or a reduction, each with its number among its like.
pub(super) enum Part<'a> {
    Step(usize, &'a Joined),
    Fold(usize, &'a Fold),
}

/// The steps so far.
#[derive(Debug)]
pub(super) struct Chain {
    shape: Shape,
    pub(super) sources: Vec<Array>,
    pub(super) steps: Vec<Joined>,
    /// The steps that are wanted: few of many, as a program lets go of most of what it computes.
    wanted: SmallVec<[usize; 4]>,
    pub(super) folds: Vec<Fold>,
    /// How the elements are cut for the reductions, if there are any: all in the same way.
    pub(super) pieces: Option<Pieces>,
}

impl Chain {
    /// A chain of no steps over arrays of a shape.
    pub(super) fn new(shape: &[usize]) -> Self {
        Self {
            shape: shape.into(),
            sources: Vec::new(),
            steps: Vec::new(),
            wanted: SmallVec::new(),
            folds: Vec::new(),
            pieces: None,
        }
    }

    /// The shape of all arrays.
    pub(super) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Bytes that its steps and reductions would move, each by itself.
    pub(super) fn bytes_apart(&self) -> usize {
        let read = |link: &Link| match *link {
            Link::Scalar(_) => 0,
            Link::Source(source) => self.sources[source].bytes(),
            Link::Value(step) => self.steps[step].output.bytes(),
        };
        let steps = self.steps.iter().map(|step| {
            let inputs: usize = step.inputs.iter().map(read).sum();
            inputs + step.output.bytes()
        });
        let folds = self.folds.iter();
        let folds = folds.map(|fold| read(&fold.input) + fold.span.len());
        steps.sum::<usize>() + folds.sum::<usize>()
    }

    /// Bytes that are written when they are carried out together.
    pub(super) fn bytes_written(&self) -> usize {
        let wanted = self.steps.iter().filter(|step| step.is_wanted);
        let steps: usize = wanted.map(|step| step.output.bytes()).sum();
        steps + self.folds.iter().map(|fold| fold.span.len()).sum::<usize>()
    }

    /// Its steps and reductions, in their order.
    pub(super) fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        let mut folds = self.folds.iter().enumerate().peekable();
        for number in 0..=self.steps.len() {
            while let Some((index, fold)) = folds.next_if(|(_, fold)| fold.after == number) {
                parts.push(Part::Fold(index, fold));
            }
            let step = self.steps.get(number);
            parts.extend(step.map(|step| Part::Step(number, step)));
        }
        parts
    }

    /// What they are called.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let name = |part: Part<'_>| match part {
            Part::Step(_, step) => step.name,
            Part::Fold(_, fold) => fold.kernel.name(),
        };
        self.parts().into_iter().map(name).collect()
    }

    /// Appends a step, if the chain can take it; nothing has changed otherwise.
    pub(super) fn join(&mut self, step: &Step<'_>) -> bool {
        let shape = step.output.layout.shape();
        if self.steps.len() == MAX_STEPS || *shape != *self.shape {
            return false;
        }
        let body = match step.operation {
            None => None,
            Some(operation) => match operation.body(step.computes) {
                Some(body) => Some(body),
                None => return false,
            },
        };
        let sources = self.sources.len();
        let mut inputs = SmallVec::new();
        for (index, input) in step.inputs.iter().enumerate() {
            let link = match input {
                Operand::Scalar(value) => {
                    let dtype = body.map_or(step.output.dtype, |body| body.input(index));
                    Some(Link::Scalar(value.to_bytes(dtype)))
                }
                Operand::Array(view) => self.link(view),
            };
            let Some(link) = link else {
                self.sources.truncate(sources);
                return false;
            };
            inputs.push(link);
        }
        if !self.takes(&step.output) {
            self.sources.truncate(sources);
            return false;
        }
        self.wanted.push(self.steps.len());
        self.steps.push(Joined {
            name: step.operation.map_or("copy", Operation::name),
            body,
            inputs,
            output: Array::new(&step.output),
            is_wanted: true,
        });
        true
    }

    /// Where elements come from that a step reads; `None` if they aren't those of one array.
    fn link(&mut self, view: &View<'_>) -> Option<Link> {
        if *view.layout.shape() != *self.shape || runs_elsewhere(view.layout) {
            return None;
        }
        let span = span(view);
        if self.folds.iter().any(|fold| !are_apart(&fold.span, &span)) {
            return None;
        }
        // Nobody can name the others: what was written later has taken their place.
        let mut written = self.wanted.iter().rev();
        if let Some(&number) = written.find(|&&step| self.steps[step].output.overlaps(&span)) {
            let is_whole = self.steps[number].output.is(view, &span);
            return is_whole.then_some(Link::Value(number));
        }
        let known = self
            .sources
            .iter()
            .position(|source| source.is(view, &span));
        if known.is_none() && self.sources.len() == MAX_SOURCES {
            return None;
        }
        Some(Link::Source(known.unwrap_or_else(|| {
            self.sources.push(Array::new(view));
            self.sources.len() - 1
        })))
    }

    /// Whether a step may write there. What it overwrites of earlier steps is no longer wanted.
    fn takes(&mut self, output: &View<'_>) -> bool {
        let span = span(output);
        let others = self.wanted.iter().map(|&step| &self.steps[step].output);
        let mut arrays = self.sources.iter().chain(others);
        if runs_elsewhere(output.layout)
            || self.folds.iter().any(|fold| !are_apart(&fold.span, &span))
            || arrays.any(|array| array.overlaps(&span) && !array.coincides(output, &span))
        {
            return false;
        }
        self.let_go(|array| array.overlaps(&span));
        true
    }

    /// Steps that write such arrays are no longer wanted.
    fn let_go(&mut self, of: impl Fn(&Array) -> bool) {
        let steps = &mut self.steps;
        self.wanted.retain(|number| {
            let step = &mut steps[*number];
            step.is_wanted = !of(&step.output);
            step.is_wanted
        });
    }

    /// Appends a reduction of an array to the array at `output`, if the chain can take it.
    pub(super) fn join_fold(
        &mut self,
        kernel: Box<ReduceKernel>,
        input: &View<'_>,
        output: &View<'_>,
    ) -> Result<(), Box<ReduceKernel>> {
        // In another layout the order of elements isn't that of the chain.
        let pieces = kernel
            .pieces()
            .filter(|pieces| pieces.length >= SHORT_ROW && input.layout.is_contiguous());
        let Some(pieces) = pieces else {
            return Err(kernel);
        };
        let span = span(output);
        let mut arrays = self
            .sources
            .iter()
            .chain(self.steps.iter().map(|step| &step.output));
        if self.folds.len() == MAX_FOLDS
            || self.pieces.is_some_and(|known| known != pieces)
            || arrays.any(|array| array.overlaps(&span))
            || self.folds.iter().any(|fold| !are_apart(&fold.span, &span))
        {
            return Err(kernel);
        }
        let Some(input) = self.link(input) else {
            return Err(kernel);
        };
        self.pieces = Some(pieces);
        self.folds.push(Fold {
            kernel,
            input,
            base: output.base,
            span,
            after: self.steps.len(),
        });
        Ok(())
    }

    /// Memory that nobody can name any more: what was written there is no longer wanted.
    pub(super) fn forget(&mut self, bytes: &Range<usize>) {
        self.let_go(|array| bytes.start <= array.span.start && array.span.end <= bytes.end);
    }
}

/// Whether neighbours in the order of the shape are far apart in memory, while neighbours along
/// another axis aren't: such arrays are better walked block by block.
fn runs_elsewhere(layout: &Layout) -> bool {
    let axes = layout.shape().iter().zip(layout.strides());
    let mut steps = axes.filter(|(size, stride)| **size > 1 && **stride != 0);
    let inner = steps
        .next_back()
        .map_or(0, |(_, stride)| stride.unsigned_abs());
    steps.any(|(_, stride)| stride.unsigned_abs() < inner)
}
