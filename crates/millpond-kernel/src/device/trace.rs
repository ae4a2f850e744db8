//! Records what a body computes: the instances of the vocabularies that compute nothing.
//!
//! A body is generic over [`Real`], [`Int`] or [`Mask`]; run once at the symbols of this module it
//! leaves its expression on the tape of the thread, equal subexpressions once. The tape knows no
//! dtypes: literals and constants are named, and whoever prints a [`Function`] says what a number is.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use num_complex::Complex;
use smallvec::SmallVec;

use crate::math::int::int_vocabulary;
use crate::math::{Half, Int, Mask, Real};
use crate::real_vocabulary;

/// A node of an expression, by its number.
pub(super) type Node = u32;

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// A parameter of the function, or a part of one that is complex.
    Parameter { index: usize, part: Part },
    /// The number nearest to a literal of `f64`, by its bits: zeros of either sign are two.
    Literal(u64),
    /// A small integer.
    Integer(i8),
    /// A truth value.
    Truth(bool),
    /// What the prelude has for a type of numbers under a name.
    Constant(&'static str),
    /// A function of the prelude.
    Call(&'static str, SmallVec<[Node; 3]>),
}

/// Which part of a value is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Real,
    Imaginary,
}

/// What a parameter or a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Number,
    Truth,
    Complex,
}

/// A body as data.
#[derive(Clone, Debug)]
pub struct Function {
    pub(super) parameters: SmallVec<[Sort; 3]>,
    pub(super) terms: Vec<Recorded>,
    pub(super) result: Sort,
    /// The result's node, or the nodes of its parts.
    pub(super) results: SmallVec<[Node; 2]>,
}

/// A term, and whether it is a truth value and not a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recorded {
    pub(super) term: Term,
    pub(super) is_truth: bool,
}

/// How a body is recorded, under the name that is its own among all bodies.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// The path of its operation and the body's name.
    pub name: &'static str,
    /// Records it.
    pub trace: fn() -> Function,
}

thread_local! {
    static TAPE: RefCell<Vec<Recorded>> = const { RefCell::new(Vec::new()) };
}

fn record(term: Term, is_truth: bool) -> Node {
    let recorded = Recorded { term, is_truth };
    TAPE.with_borrow_mut(|tape| {
        let known = tape.iter().position(|known| *known == recorded);
        let node = known.unwrap_or_else(|| {
            tape.push(recorded);
            tape.len() - 1
        });
        node as Node
    })
}

/// A value that bodies take or give.
pub(crate) trait Symbol: Copy {
    /// What it is.
    const SORT: Sort;

    /// The parameter of a number.
    fn parameter(index: usize) -> Self;
    /// The nodes of its parts.
    fn nodes(self) -> SmallVec<[Node; 2]>;
}

macro_rules! symbols {
    ($($(#[$doc:meta])* $name:ident: $sort:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(Node);

        impl $name {
            fn call(function: &'static str, operands: &[Node]) -> Self {
                let term = Term::Call(function, operands.into());
                Self(record(term, matches!(Sort::$sort, Sort::Truth)))
            }
        }

        impl Symbol for $name {
            const SORT: Sort = Sort::$sort;

            fn parameter(index: usize) -> Self {
                let part = Part::Whole;
                let is_truth = matches!(Sort::$sort, Sort::Truth);
                Self(record(Term::Parameter { index, part }, is_truth))
            }

            fn nodes(self) -> SmallVec<[Node; 2]> {
                SmallVec::from_iter([self.0])
            }
        }
    )* };
}

symbols! {
    /// A real number.
    Number: Number;
    /// An integer.
    Integer: Number;
    /// A number of 16 bits.
    Short: Number;
    /// A truth value.
    Truth: Truth;
}

impl Symbol for Complex<Number> {
    const SORT: Sort = Sort::Complex;

    fn parameter(index: usize) -> Self {
        let part = |part| Number(record(Term::Parameter { index, part }, false));
        Self::new(part(Part::Real), part(Part::Imaginary))
    }

    fn nodes(self) -> SmallVec<[Node; 2]> {
        SmallVec::from_iter([self.re.0, self.im.0])
    }
}

macro_rules! operators {
    ($($name:ident: $($operator:ident $method:ident $function:literal)*;)*) => { $($(
        impl $operator for $name {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                Self::call($function, &[self.0, other.0])
            }
        }
    )*)* };
}

operators! {
    Number: Add add "add" Sub sub "subtract" Mul mul "multiply" Div div "divide";
    Integer: BitAnd bitand "bit_and" BitOr bitor "bit_or" BitXor bitxor "bit_xor";
    Truth: BitAnd bitand "bit_and" BitOr bitor "bit_or" BitXor bitxor "bit_xor";
}

impl Neg for Number {
    type Output = Self;

    fn neg(self) -> Self {
        Self::call("negate", &[self.0])
    }
}

macro_rules! inverted {
    ($($name:ident)*) => { $(
        impl Not for $name {
            type Output = Self;

            fn not(self) -> Self {
                Self::call("bit_not", &[self.0])
            }
        }
    )* };
}

inverted!(Integer Truth);

impl Mask for Truth {
    fn lit(value: bool) -> Self {
        Self(record(Term::Truth(value), true))
    }
}

/// Comparisons and choices, which both kinds of numbers have.
macro_rules! choices {
    () => {
        fn less(self, other: Self) -> Truth {
            Truth::call("less", &[self.0, other.0])
        }
        fn equals(self, other: Self) -> Truth {
            Truth::call("equals", &[self.0, other.0])
        }
        fn select(mask: Truth, yes: Self, no: Self) -> Self {
            Self::call("select", &[mask.0, yes.0, no.0])
        }
    };
}

macro_rules! real {
    ($( $(#[$documentation:meta])* $name:ident($first:ident $(, $more:ident)*) = $host:expr, $c_name:literal; )*) => {
        impl Real for Number {
            type Mask = Truth;

            fn lit(value: f64) -> Self {
                Self(record(Term::Literal(value.to_bits()), false))
            }
            fn epsilon() -> Self {
                Self(record(Term::Constant("epsilon"), false))
            }
            fn largest() -> Self {
                Self(record(Term::Constant("largest"), false))
            }
            fn smallest_normal() -> Self {
                Self(record(Term::Constant("smallest_normal"), false))
            }

            choices!();

            $(
                fn $name(self $(, $more: Self)*) -> Self {
                    Self::call($c_name, &[self.0 $(, $more.0)*])
                }
            )*
        }
    };
}
real_vocabulary!(real);

macro_rules! int {
    ($( $(#[$documentation:meta])* $name:ident($first:ident $(, $more:ident)*) = $c_name:literal; )*) => {
        impl Int for Integer {
            type Mask = Truth;

            fn lit(value: i8) -> Self {
                Self(record(Term::Integer(value), false))
            }

            choices!();

            $(
                fn $name(self $(, $more: Self)*) -> Self {
                    Self::call($c_name, &[self.0 $(, $more.0)*])
                }
            )*
        }
    };
}
int_vocabulary!(int);

impl Half for Short {
    fn nextafter(self, towards: Self) -> Self {
        Self::call("nextafter", &[self.0, towards.0])
    }
}

macro_rules! traces {
    ($($(#[$doc:meta])* $name:ident($($arg:ident $index:literal $t:ident),*);)*) => { $(
        $(#[$doc])*
        pub(crate) fn $name<$($t: Symbol,)* O: Symbol>(body: impl Fn($($t),*) -> O) -> Function {
            let before = TAPE.take();
            let results = body($($t::parameter($index)),*).nodes();
            Function {
                parameters: SmallVec::from_iter([$($t::SORT),*]),
                terms: TAPE.replace(before),
                result: O::SORT,
                results,
            }
        }
    )* };
}

traces! {
    /// Records a body of one operand.
    unary(a 0 A);
    /// Records a body of two operands.
    binary(a 0 A, b 1 B);
    /// Records a body of three operands.
    ternary(a 0 A, b 1 B, c 2 C);
}

impl Function {
    /// Which terms the results need, in their order.
    pub(super) fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.terms.len()];
        for &node in &self.results {
            needed[node as usize] = true;
        }
        for node in (0..self.terms.len()).rev() {
            if let (true, Term::Call(_, operands)) = (needed[node], &self.terms[node].term) {
                for &operand in operands {
                    needed[operand as usize] = true;
                }
            }
        }
        needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_subexpressions_are_recorded_once() {
        let function = binary(|a: Number, b: Number| (a + b) * (a + b));
        // Two parameters, a sum and a product.
        assert_eq!(function.terms.len(), 4);
        assert_eq!(function.results[..], [3]);
    }

    #[test]
    fn literals_are_told_apart_by_their_bits() {
        let function = unary(|a: Number| {
            let (zero, minus_zero) = (Number::lit(0.0), Number::lit(-0.0));
            let (nan, again) = (Number::lit(f64::NAN), Number::lit(f64::NAN));
            (a.copysign(zero) + a.copysign(minus_zero)) * (nan + again)
        });
        let literals = function.terms.iter().filter_map(|recorded| {
            if let Term::Literal(bits) = recorded.term {
                Some(bits)
            } else {
                None
            }
        });
        let expected = [0.0, -0.0, f64::NAN].map(f64::to_bits);
        assert_eq!(literals.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_no_result_needs_is_known() {
        let function = unary(|a: Number| {
            let _ = a.sin();
            a.cos()
        });
        assert_eq!(function.needed(), [true, false, true]);
    }
}
