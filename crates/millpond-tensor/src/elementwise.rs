//! Element-wise operations as methods and operators; their rows are in `millpond_kernel::ops`.

use std::ops;

use millpond_kernel::ops::rows;

use crate::apply::apply;
use crate::data_types;
use crate::error::Result;
use crate::operand::Operand;
use crate::tensor::Tensor;

macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $arity:ident $name:ident($($argument:ident),+) $bodies:tt ulp $ulp:literal
        $(refuses $kind:ident)? $({ $($example:tt)* })?;
    )*) => {
        impl Tensor { $( methods!(@$arity $(#[$doc])* $name); )* }
    };
    (@unary $(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// As for [`apply`].
        pub fn $name(&self) -> Result<Self> {
            apply(&rows::$name, &[self.into()], None)
        }
    };
    (@binary $(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// As for [`apply`].
        #[inline]
        pub fn $name<'a>(&self, other: impl Into<Operand<'a>>) -> Result<Self> {
            apply(&rows::$name, &[self.into(), other.into()], None)
        }
    };
    // Operations of three operands have forms of their own, below.
    (@ternary $(#[$doc:meta])* $name:ident) => {};
}

millpond_kernel::for_each_operation!(methods);

impl Tensor {
    /// The elements of `yes` where this condition holds, else those of `no`.
    ///
    /// # Errors
    /// As for [`apply`]; the condition is an array of truth values.
    pub fn choose<'a, 'b>(
        &self,
        yes: impl Into<Operand<'a>>,
        no: impl Into<Operand<'b>>,
    ) -> Result<Self> {
        apply(&rows::where_, &[self.into(), yes.into(), no.into()], None)
    }

    /// Each element, but no less than `min` and no more than `max`. Integers out of the dtype's
    /// range bound nothing.
    ///
    /// # Errors
    /// As for [`apply`].
    pub fn clip(
        &self,
        min: Option<Operand<'_>>,
        max: Option<Operand<'_>>,
        out: Option<&Self>,
    ) -> Result<Self> {
        match (min, max) {
            (Some(min), Some(max)) => apply(&rows::clip, &[self.into(), min, max], out),
            (Some(min), None) => apply(&rows::maximum, &[self.into(), self.bound(min)], out),
            (None, Some(max)) => apply(&rows::minimum, &[self.into(), self.bound(max)], out),
            (None, None) => match out {
                Some(out) => {
                    out.assign(self)?;
                    Ok(out.clone())
                }
                None => self.astype(self.dtype(), true),
            },
        }
    }

    /// A bound of this array's elements within the range of their dtype.
    fn bound<'a>(&self, bound: Operand<'a>) -> Operand<'a> {
        match bound {
            Operand::Scalar(value) => Operand::Scalar(data_types::clamped(value, self.dtype())),
            Operand::Tensor(_) => bound,
        }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $row:ident;)*) => { $(
        impl<'a, R: Into<Operand<'a>>> ops::$trait<R> for &Tensor {
            type Output = Result<Tensor>;

            #[inline]
            fn $method(self, other: R) -> Result<Tensor> {
                self.$row(other)
            }
        }
    )* };
}

operators! {
    Add add add;
    Sub sub subtract;
    Mul mul multiply;
    Div div divide;
    Rem rem remainder;
    BitAnd bitand bitwise_and;
    BitOr bitor bitwise_or;
    BitXor bitxor bitwise_xor;
    Shl shl bitwise_left_shift;
    Shr shr bitwise_right_shift;
}

impl ops::Neg for &Tensor {
    type Output = Result<Tensor>;

    fn neg(self) -> Result<Tensor> {
        self.negative()
    }
}

impl ops::Not for &Tensor {
    type Output = Result<Tensor>;

    fn not(self) -> Result<Tensor> {
        self.bitwise_invert()
    }
}
