//! A fused kernel on devices that compile: its program, each node once for each element.

use millpond_hal::Address;
use millpond_hal::code::{Call, DeviceCode, Launches, Machine};
use smallvec::SmallVec;

use crate::device::elements::{Array, Base, Elements, Step, Value};
use crate::device::reduce::{Reduce, Supply};
use crate::device::tape::Tape;
use crate::host::body::Body;
use crate::host::fused::FusedKernel;
use crate::host::fused::pair::At;
use crate::host::fused::program::{Constant, Instruction, Node, Place, Program, Scattered};

impl Program {
    /// What it does for each element.
    pub(super) fn elements(&self) -> Elements {
        let mut builder = Builder {
            program: self,
            elements: Elements::over(self.shape.iter().copied()),
            values: vec![None; self.nodes.len()],
        };
        for (constant, node) in &self.constants {
            builder.constant(constant, *node);
        }
        for instruction in &self.instructions {
            builder.instruction(instruction);
        }
        builder.elements.join_axes();
        builder.elements
    }
}

/// Elements in the making, and the value of each node that was met.
struct Builder<'a> {
    program: &'a Program,
    elements: Elements,
    values: Vec<Option<Value>>,
}

impl FusedKernel {
    /// What it is on devices, if it folds nothing: element-wise work.
    fn elements(&self) -> &Elements {
        self.elements.get_or_init(|| self.program().elements())
    }

    /// Where the results of each reduction go: the first, and bytes from one to the next.
    fn targets(&self) -> SmallVec<[(Address, isize); 1]> {
        let folds = self.program().folds.iter();
        let targets = folds.map(|fold| {
            let (begin, step) = fold.kernel.outputs_lie();
            (
                Address::new(fold.base.get().wrapping_add_signed(begin)),
                step,
            )
        });
        targets.collect()
    }

    /// The reductions of what its steps make, if there are any.
    fn reduce(&self) -> Option<Reduce<'_>> {
        let program = self.program();
        let pieces = program.pieces?;
        let supply = Supply::Elements {
            elements: self.elements(),
            targets: self.targets(),
            outputs: pieces.outputs,
            length: pieces.length,
        };
        let foldings = program.folds.iter().map(|fold| fold.kernel.folding());
        let foldings = foldings.collect();
        Some(Reduce { supply, foldings })
    }

    /// Whether the arguments of a launch fit.
    pub(super) fn fits_devices(&self) -> bool {
        let reduce = self.reduce();
        reduce.map_or_else(|| self.elements().fits(), |reduce| reduce.fits())
    }
}

impl Builder<'_> {
    fn constant(&mut self, constant: &Constant, node: Node) {
        let dtype = self.program.nodes[usize::from(node)].dtype;
        let value = match *constant {
            Constant::Scalar(bytes) => {
                let scalar = self.elements.scalar(dtype, bytes);
                self.elements.push(Step::Scalar(scalar), dtype)
            }
            Constant::Element(address) => {
                let strides = self.program.shape.iter().map(|_| 0).collect();
                let array = self.elements.array(Array {
                    dtype,
                    base: Base::Address(address),
                    offset: 0,
                    strides,
                });
                self.elements.load(array)
            }
        };
        self.values[usize::from(node)] = Some(value);
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Gather { from, to } => {
                let array = self.scattered(from, *to);
                let value = self.elements.load(array);
                self.values[usize::from(*to)] = Some(value);
            }
            Instruction::Convert { from, to } => {
                let value = self.read(*from);
                let dtype = self.program.nodes[usize::from(*to)].dtype;
                let value = self.elements.convert(value, dtype);
                self.make(*to, value);
            }
            Instruction::Apply { body, inputs, to } => {
                let inputs = inputs.iter().map(|&node| self.read(node)).collect();
                let value = self
                    .elements
                    .push(Step::Apply(*body, inputs), Body::output(*body));
                self.make(*to, value);
            }
            Instruction::Pair {
                bodies: [first, second],
                at,
                inputs: [a, b, other],
                to,
                ..
            } => {
                let inputs = [*a, *b].map(|node| self.read(node));
                let between = Step::Apply(*first, inputs.into_iter().collect());
                let between = self.elements.push(between, Body::output(*first));
                let other = self.read(*other);
                let inputs = match at {
                    At::First => [between, other],
                    At::Second => [other, between],
                };
                let made = Step::Apply(*second, inputs.into_iter().collect());
                let made = self.elements.push(made, Body::output(*second));
                self.make(*to, made);
            }
            Instruction::Store { from, to, .. } => {
                let value = self.read(*from);
                let array = self.scattered(to, *from);
                self.elements.stores.push((value, array));
            }
            // Reductions are numbered in the order of the program.
            Instruction::Fold { from, .. } => {
                let value = self.read(*from);
                self.elements.kept.push(value);
            }
        }
    }

    /// The value of a node: one that nothing has made lies in memory.
    fn read(&mut self, node: Node) -> Value {
        if let Some(value) = self.values[usize::from(node)] {
            return value;
        }
        let array = self.linear(node);
        let value = self.elements.load(array);
        self.values[usize::from(node)] = Some(value);
        value
    }

    /// A node has this value, and is written if it lies in memory.
    fn make(&mut self, node: Node, value: Value) {
        self.values[usize::from(node)] = Some(value);
        if let Place::Memory(..) = self.program.nodes[usize::from(node)].place {
            let array = self.linear(node);
            self.elements.stores.push((value, array));
        }
    }

    /// The array of a node whose elements follow one another in memory.
    fn linear(&mut self, node: Node) -> usize {
        let known = &self.program.nodes[usize::from(node)];
        let address = match known.place {
            Place::Memory(address, _) => address,
            Place::Register(_) => unreachable!("node {node} is read before it is made"),
        };
        let mut step = known.dtype.size() as isize;
        let mut strides: SmallVec<[isize; 3]> = SmallVec::from_elem(0, self.program.shape.len());
        for (stride, &size) in strides.iter_mut().zip(&self.program.shape).rev() {
            *stride = step;
            step *= size as isize;
        }
        self.elements.array(Array {
            dtype: known.dtype,
            base: Base::Address(address),
            offset: 0,
            strides,
        })
    }

    /// The array of elements that lie anywhere, of the dtype of a node.
    fn scattered(&mut self, scattered: &Scattered, node: Node) -> usize {
        self.elements.array(Array {
            dtype: self.program.nodes[usize::from(node)].dtype,
            base: Base::Address(scattered.base),
            offset: scattered.space.begin()[0],
            strides: scattered.space.strides(0, &self.program.shape),
        })
    }
}

// SAFETY: what is loaded and stored are elements of the arrays of steps, for which whoever gave the
// step answers as for an operand.
unsafe impl DeviceCode for FusedKernel {
    fn key(&self, key: &mut Vec<u8>) {
        match self.reduce() {
            Some(reduce) => reduce.key(key),
            None => self.elements().key(key),
        }
    }

    fn source(&self) -> String {
        match self.reduce() {
            Some(reduce) => reduce.source(),
            None => self.elements().source(),
        }
    }

    fn meanwhile(&self) -> Option<&dyn DeviceCode> {
        if self.program().pieces.is_some() {
            return None;
        }
        let tape = self.tape.get_or_init(|| Tape::new(self.elements()));
        tape.as_ref().map(|tape| tape as &dyn DeviceCode)
    }

    fn scratch(&self, machine: &Machine) -> usize {
        self.reduce().map_or(0, |reduce| reduce.scratch(machine))
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        match self.reduce() {
            Some(reduce) => reduce.launches(call),
            None => self.elements().launches(call),
        }
    }
}

// SAFETY: what is loaded and stored are elements of the arrays of steps, as above.
unsafe impl DeviceCode for Tape {
    fn key(&self, key: &mut Vec<u8>) {
        Tape::key(self, key);
    }

    fn source(&self) -> String {
        Tape::source(self)
    }

    fn launches(&self, _: &Call<'_>) -> Launches {
        Tape::launches(self)
    }
}
