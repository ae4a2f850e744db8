//! A fused kernel on bytes that were moved, and which bytes it uses.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError, Moves, Touch};

use crate::host::fused::FusedKernel;
use crate::host::fused::program::{Constant, Instruction, Place, Program, Scattered};

impl Program {
    /// The bytes of each array, where it lies by its own address.
    pub(super) fn touches(&self) -> Vec<Touch> {
        let elements: usize = self.shape.iter().product();
        let touch = |address, bytes, access| Touch {
            address: Address::new(address),
            bytes,
            access,
        };
        let mut touches = Vec::new();
        let mut is_made = vec![false; self.nodes.len()];
        for instruction in &self.instructions {
            if let Some(node) = instruction.makes() {
                is_made[usize::from(node)] = true;
            }
            match instruction {
                Instruction::Gather { from, .. } => touches.push(from.touch(Access::Read)),
                Instruction::Store { to, .. } => {
                    let bytes = to.touch(Access::Write).bytes;
                    // What lies in gaps stays.
                    let filled = bytes == elements * to.item;
                    touches.push(to.touch(if filled {
                        Access::Write
                    } else {
                        Access::Update
                    }));
                }
                _ => {}
            }
        }
        for (node, is_made) in self.nodes.iter().zip(is_made) {
            if let Place::Memory(address, item) = node.place {
                let access = if is_made { Access::Write } else { Access::Read };
                touches.push(touch(address, elements * item, access));
            }
        }
        for (constant, node) in &self.constants {
            if let Constant::Element(address) = constant {
                let bytes = self.nodes[usize::from(*node)].dtype.size();
                touches.push(touch(*address, bytes, Access::Read));
            }
        }
        for fold in &self.folds {
            let Footprint { bytes, access } = fold.kernel.footprint(0);
            touches.push(touch(fold.base.get() + bytes.start, bytes.len(), access));
        }
        touches
    }
}

impl Scattered {
    fn touch(&self, access: Access) -> Touch {
        let axes = self.space.axes().iter();
        let spans = axes.map(|axis| axis.strides[0] * (axis.size as isize - 1));
        let (mut low, mut high) = (self.space.begin()[0], self.space.begin()[0]);
        for span in spans {
            low += span.min(0);
            high += span.max(0);
        }
        Touch {
            address: Address::new(self.base.wrapping_add_signed(low)),
            bytes: (high - low) as usize + self.item,
            access,
        }
    }
}

/// A fused kernel on bytes that were moved.
pub(super) struct Elsewhere<'a> {
    pub(super) kernel: &'a FusedKernel,
    pub(super) moves: Moves,
}

// SAFETY: what the kernel itself touches, where it was moved to, for which whoever moved it answers.
unsafe impl HostKernel for Elsewhere<'_> {
    fn operands(&self) -> usize {
        0
    }

    fn footprint(&self, _: usize) -> Footprint {
        unreachable!("a kernel without operands")
    }

    fn extent(&self) -> usize {
        self.kernel.extent()
    }

    fn grain(&self) -> usize {
        self.kernel.grain()
    }

    unsafe fn run(&self, _: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        // SAFETY: the caller vouches for all arrays, where they were moved to, and the range.
        unsafe { self.kernel.program().run(&self.moves, range) };
        Ok(())
    }

    unsafe fn finish(&self, _: &[Address]) -> Result<(), KernelError> {
        // SAFETY: as above, and every piece was run.
        unsafe { self.kernel.program().finish(&self.moves) }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernel.describe(f)
    }
}
