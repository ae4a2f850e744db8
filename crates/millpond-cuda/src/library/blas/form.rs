//! The call that a product is, by sizes and steps alone.
//!
//! The library's matrices lie column by column: elements of a column side by side, columns a *leading
//! dimension* apart. A matrix that lies row by row is one that lies column by column and is read
//! transposed; a result that lies row by row is the transposed product of the transposed operands in
//! the other order. So every matrix of which either rows or columns have their elements side by side is
//! multiplied where it lies, with any distance between them.

use millpond_hal::library::{LibraryWork, Matrix, Task};
use millpond_types::DType;
use smallvec::SmallVec;

use super::table::Operation;

/// The most calls that a product is made of, where its stack has axes that don't run on in each other.
const CALLS: usize = 256;

/// What the library is asked for: the first call, and where the others begin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    pub(crate) dtype: DType,
    /// Rows and columns of the result, and the axis that is summed.
    pub(crate) size: [usize; 3],
    /// The two factors, and the result.
    pub(crate) places: [Place; 3],
    /// How the factors are read.
    pub(crate) operations: [Operation; 2],
    /// How many products a call makes.
    pub(crate) count: usize,
    /// Bytes behind the first of the matrices that each call begins with, of factors and result.
    pub(crate) calls: SmallVec<[[isize; 3]; 1]>,
}

/// Where matrices of a call lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which of the kernel's operands it is.
    pub(crate) operand: usize,
    /// Bytes from the operand's base to the first element.
    pub(crate) begin: isize,
    /// Elements from column to column.
    pub(crate) leading: usize,
    /// Elements from each matrix of a call to the next.
    pub(crate) step: usize,
}

/// A product on the way to a form. Steps are in elements; operands are the result and both factors.
#[derive(Clone)]
struct Product {
    /// Rows, columns, inner.
    size: [usize; 3],
    steps: [[isize; 2]; 3],
    stack: SmallVec<[(usize, [isize; 3]); 2]>,
}

impl Form {
    /// The form of a product, if it has one.
    pub(crate) fn of(work: &LibraryWork) -> Option<Self> {
        let Task::Product { conjugates } = work.task else {
            return None;
        };
        let &[result, lhs, rhs] = &work.operands[..] else {
            return None;
        };
        let dtype = result.dtype;
        super::super::Elements::of_product(dtype)?;
        let item = dtype.size() as isize;
        let steps = |matrix: &Matrix| matrix.steps.map(|step| step / item);
        let mut product = Product {
            size: [result.rows, result.columns, lhs.columns],
            steps: [steps(&result), steps(&lhs), steps(&rhs)],
            stack: SmallVec::new(),
        };
        if product.size.contains(&0) {
            return None;
        }
        for axis in work.stack.iter().filter(|axis| axis.size > 1) {
            let [a, b, c, _] = axis.steps;
            product
                .stack
                .push((axis.size, [a, b, c].map(|step| step / item)));
        }
        while product.fold() {}
        // A vector is a matrix of one column to the library rather than of one row.
        let orders = if product.size[0] == 1 {
            [true, false]
        } else {
            [false, true]
        };
        let begins = [result.begin, lhs.begin, rhs.begin];
        let mut forms = orders
            .iter()
            .filter_map(|&turned| product.form(dtype, begins, turned, conjugates));
        forms.next()
    }

    /// Addresses of factors and result for a call.
    pub(crate) fn addresses(&self, bases: [usize; 3], call: [isize; 3]) -> [u64; 3] {
        std::array::from_fn(|index| {
            let place = &self.places[index];
            let base = bases[place.operand].wrapping_add_signed(place.begin);
            base.wrapping_add_signed(call[index]) as u64
        })
    }
}

impl Product {
    /// Takes an axis of the stack for rows or columns, where the products along it are one product of
    /// more rows, as the second factor is the same for all of them; or of more columns, likewise.
    fn fold(&mut self) -> bool {
        for index in (0..self.stack.len()).rev() {
            let (count, steps) = self.stack[index];
            for side in [0, 1] {
                let (own, other) = (1 + side, 2 - side);
                let size = self.size[side] as isize;
                let runs_on = |operand: usize| {
                    let step = self.steps[operand][side];
                    size == 1 || steps[operand] == step * size
                };
                if steps[other] != 0 || steps[own] == 0 || !runs_on(0) || !runs_on(own) {
                    continue;
                }
                if size == 1 {
                    self.steps[0][side] = steps[0];
                    self.steps[own][side] = steps[own];
                }
                self.size[side] *= count;
                self.stack.remove(index);
                return true;
            }
        }
        false
    }

    /// The form of this product, or of its transposed.
    fn form(
        &self,
        dtype: DType,
        begins: [isize; 3],
        turned: bool,
        conjugates: bool,
    ) -> Option<Form> {
        let [rows, columns, inner] = self.size;
        // What is read of the operands: the result, and factors in the order of the call.
        let turn = |[a, b]: [isize; 2]| if turned { [b, a] } else { [a, b] };
        let order = if turned { [2, 1, 0] } else { [1, 2, 0] };
        let size = if turned {
            [columns, rows, inner]
        } else {
            [rows, columns, inner]
        };
        let shapes = [[size[0], inner], [inner, size[1]], [size[0], size[1]]];
        let mut operations = [Operation::Plain; 3];
        let mut leading = [0; 3];
        for (index, &operand) in order.iter().enumerate() {
            let steps = turn(self.steps[operand]);
            let conjugated = conjugates && operand == 1;
            let (operation, step) = stored(shapes[index], steps, conjugated)?;
            (operations[index], leading[index]) = (operation, step);
        }
        let [a, b, Operation::Plain] = operations else {
            return None;
        };
        let (count, steps, calls) = self.calls(dtype.size() as isize, order)?;
        Some(Form {
            dtype,
            size,
            operations: [a, b],
            places: std::array::from_fn(|index| Place {
                operand: order[index],
                begin: begins[order[index]],
                leading: leading[index],
                step: steps[index],
            }),
            count,
            calls,
        })
    }

    /// The largest axis of the stack that one call can go along, and where calls for the others begin.
    fn calls(&self, item: isize, order: [usize; 3]) -> Option<Calls> {
        let mut others = self.stack.clone();
        let forwards = |steps: &[isize; 3]| steps.iter().all(|&step| step >= 0);
        let along = (0..others.len())
            .filter(|&axis| forwards(&others[axis].1))
            .max_by_key(|&axis| others[axis].0);
        let (count, steps) = along.map_or((1, [0; 3]), |axis| others.remove(axis));
        let number: usize = others.iter().map(|(size, _)| size).product();
        if number > CALLS {
            return None;
        }
        let calls = (0..number).map(|number| {
            let mut begins = [0; 3];
            let mut rest = number;
            for (size, steps) in others.iter().rev() {
                let at = (rest % size) as isize;
                rest /= size;
                for (begin, &operand) in begins.iter_mut().zip(&order) {
                    *begin += steps[operand] * at * item;
                }
            }
            begins
        });
        Some((
            count,
            order.map(|operand| steps[operand].unsigned_abs()),
            calls.collect(),
        ))
    }
}

/// How many products a call makes, elements from one to the next, and where calls begin.
type Calls = (usize, [usize; 3], SmallVec<[[isize; 3]; 1]>);

/// How a matrix of a shape and with steps along rows and columns is read, and its leading dimension.
fn stored(
    [rows, columns]: [usize; 2],
    steps: [isize; 2],
    conjugated: bool,
) -> Option<(Operation, usize)> {
    let side_by_side = |size: usize, step: isize| size == 1 || step == 1;
    let leading = |least: usize, size: usize, step: isize| {
        let step = if size > 1 { step } else { least as isize };
        usize::try_from(step).ok().filter(|&step| step >= least)
    };
    if side_by_side(rows, steps[0])
        && !conjugated
        && let Some(leading) = leading(rows, columns, steps[1])
    {
        return Some((Operation::Plain, leading));
    }
    let read = if conjugated {
        Operation::Adjoint
    } else {
        Operation::Transposed
    };
    if !side_by_side(columns, steps[1]) {
        return None;
    }
    leading(columns, rows, steps[0]).map(|leading| (read, leading))
}
