//! What an element-wise kernel does, whatever kind of kernel it is on the host: the elements that it
//! loads, what is computed of them, and where results go.
//!
//! [`Elements`] are made when a kernel is launched, of what it knows; all else about the device
//! follows from them: the source, its key, and the launches.

use millpond_types::DType;
use smallvec::{SmallVec, smallvec};

use crate::host::body::{Body, MAX_INPUTS};
use crate::host::index::IndexMode;
use crate::template::space::Space;

/// A value, by the number of the step that makes it.
pub(crate) type Value = usize;

/// Where an array's bytes are counted from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    /// The address of an operand.
    Operand(usize),
    /// This address.
    Address(usize),
}

/// Elements in memory.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) base: Base,
    /// Bytes from the base to the first element.
    pub(crate) offset: isize,
    /// Bytes of a step along each axis.
    pub(crate) strides: SmallVec<[isize; 3]>,
}

/// What is done for each element, and what it makes.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The element of an array.
    Load(usize),
    /// A scalar, by its number.
    Scalar(usize),
    /// A value as another dtype.
    Convert(Value),
    /// What a body makes of values.
    Apply(&'static dyn Body, SmallVec<[Value; MAX_INPUTS]>),
    /// The element of an array that indices name besides.
    Pick(Pick),
    /// What a function of the prelude makes of the element's number and of scalars.
    Rule(&'static str, SmallVec<[usize; 4]>),
}

/// Which element of an array indices name, from the one on that the array's steps lead to.
#[derive(Clone, Debug)]
pub(crate) struct Pick {
    pub(crate) array: usize,
    /// The values of the indices.
    pub(crate) indices: SmallVec<[Value; 1]>,
    /// The numbers of scalars: for each index the size of its axis and bytes of a step along it.
    pub(crate) axes: SmallVec<[[usize; 2]; 1]>,
    pub(crate) mode: IndexMode,
    /// The array that is the report.
    pub(crate) report: usize,
}

/// An element-wise kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elements {
    /// Sizes of the axes, from the outermost to the innermost.
    pub(crate) axes: SmallVec<[usize; 3]>,
    pub(crate) arrays: SmallVec<[Array; 4]>,
    pub(crate) scalars: SmallVec<[(DType, [u8; 16]); 2]>,
    /// Steps with the dtypes of what they make.
    pub(crate) steps: Vec<(Step, DType)>,
    /// Values that are written, and to which array.
    pub(crate) stores: SmallVec<[(Value, usize); 2]>,
    /// Values that are folded, by the number of the fold.
    pub(crate) kept: SmallVec<[Value; 1]>,
}

impl Elements {
    /// No steps over these axes.
    pub(crate) fn over(axes: impl IntoIterator<Item = usize>) -> Self {
        Self {
            axes: axes.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The number of elements.
    pub(crate) fn size(&self) -> usize {
        self.axes.iter().product()
    }

    /// Appends a step.
    pub(crate) fn push(&mut self, step: Step, dtype: DType) -> Value {
        self.steps.push((step, dtype));
        self.steps.len() - 1
    }

    /// Appends an array.
    pub(crate) fn array(&mut self, array: Array) -> usize {
        self.arrays.push(array);
        self.arrays.len() - 1
    }

    /// Appends an array that is an operand of the axes' space, counted from a base.
    pub(crate) fn operand(
        &mut self,
        space: &Space,
        operand: usize,
        dtype: DType,
        base: Base,
    ) -> usize {
        let strides = space.axes().iter().map(|axis| axis.strides[operand]);
        self.array(Array {
            dtype,
            base,
            offset: space.begin()[operand],
            strides: strides.collect(),
        })
    }

    /// Appends a scalar.
    pub(crate) fn scalar(&mut self, dtype: DType, bytes: [u8; 16]) -> usize {
        self.scalars.push((dtype, bytes));
        self.scalars.len() - 1
    }

    /// A value as another dtype, if it isn't of that already.
    pub(crate) fn convert(&mut self, from: Value, to: DType) -> Value {
        if self.steps[from].1 == to {
            return from;
        }
        self.push(Step::Convert(from), to)
    }

    /// The value that is loaded from an array.
    pub(crate) fn load(&mut self, array: usize) -> Value {
        let dtype = self.arrays[array].dtype;
        self.push(Step::Load(array), dtype)
    }

    /// Orders the axes by the steps of an array, the largest outermost.
    pub(crate) fn sort_axes(&mut self, array: usize) {
        let mut order: SmallVec<[usize; 4]> = (0..self.axes.len()).collect();
        let steps = &self.arrays[array].strides;
        order.sort_by_key(|&axis| std::cmp::Reverse(steps[axis].unsigned_abs()));
        self.axes = order.iter().map(|&axis| self.axes[axis]).collect();
        for array in &mut self.arrays {
            array.strides = order.iter().map(|&axis| array.strides[axis]).collect();
        }
    }

    /// Whether some elements are named by indices.
    pub(crate) fn has_picks(&self) -> bool {
        self.steps
            .iter()
            .any(|(step, _)| matches!(step, Step::Pick(_)))
    }

    /// Joins each axis with the next where every array runs on from one in the other, so that the
    /// fewest are left, at least one.
    pub(crate) fn join_axes(&mut self) {
        let mut at = 0;
        while at < self.axes.len() {
            let size = self.axes[at];
            let joins = size == 1
                || (at + 1 < self.axes.len()
                    && self.arrays.iter().all(|array| {
                        array.strides[at] == array.strides[at + 1] * self.axes[at + 1] as isize
                    }));
            if !joins {
                at += 1;
                continue;
            }
            // Of no elements there are none, whatever is joined.
            if size != 1 {
                self.axes[at + 1] *= size;
            }
            self.axes.remove(at);
            for array in &mut self.arrays {
                array.strides.remove(at);
            }
            // What was joined may join with what lies before it.
            at = at.saturating_sub(1);
        }
        if self.axes.is_empty() {
            self.axes = smallvec![1];
            for array in &mut self.arrays {
                array.strides = smallvec![array.dtype.size() as isize];
            }
        }
    }
}

/// Makes what a kernel does for each element, which its `elements` answers, its code for devices.
///
/// What it loads and stores must be elements within its footprints.
macro_rules! element_wise {
    ($kernel:ty) => {
        // SAFETY: whoever names the kernel here answers for what its elements are.
        unsafe impl millpond_hal::DeviceCode for $kernel {
            fn key(&self, key: &mut Vec<u8>) {
                self.elements().key(key);
            }

            fn source(&self) -> String {
                self.elements().source()
            }

            fn launches(
                &self,
                call: &millpond_hal::code::Call<'_>,
            ) -> millpond_hal::code::Launches {
                // A space without elements has no axes that would tell.
                if millpond_hal::HostKernel::extent(self) == 0 {
                    return millpond_hal::code::Launches::new();
                }
                self.elements().launches(call)
            }
        }
    };
}
pub(crate) use element_wise;
