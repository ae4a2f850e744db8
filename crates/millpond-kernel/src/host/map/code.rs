//! A map kernel on devices that compile.

use crate::device::elements::{Base, Elements, Step, element_wise};
use crate::host::body::Body;
use crate::host::map::MapKernel;

impl MapKernel {
    /// What it does for each element.
    fn elements(&self) -> Elements {
        let space = &self.space;
        let mut elements = Elements::over(space.axes().iter().map(|axis| axis.size));
        let output = elements.operand(space, 0, self.output.dtype, Base::Operand(0));
        let mut values = smallvec::SmallVec::new();
        for (index, input) in self.inputs.iter().enumerate() {
            let value = if let Some(bytes) = input.scalar {
                let scalar = elements.scalar(input.compute, bytes);
                elements.push(Step::Scalar(scalar), input.compute)
            } else {
                let base = Base::Operand(input.base);
                let array = elements.operand(space, index + 1, input.dtype, base);
                elements.load(array)
            };
            values.push(elements.convert(value, input.compute));
        }
        let made = match self.body {
            Some(body) => elements.push(Step::Apply(body, values), Body::output(body)),
            None => values[0],
        };
        let result = elements.convert(made, self.output.dtype);
        elements.stores.push((result, output));
        elements.join_axes();
        elements
    }
}

// What is loaded and stored are elements of the layouts, which lie within the footprints.
element_wise!(MapKernel);
