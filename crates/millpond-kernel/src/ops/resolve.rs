//! Which dtypes an operation computes with, for the operands it is given.
//!
//! Operands are promoted to one dtype. If no body computes with it, truth values count as
//! `int8`, and integers become the default float, as the standard leaves open and NumPy and
//! `dpctl.tensor` do. A half type stays what it is, though most are computed in `float32`.

use millpond_types::promote::{promote, result_type};
use millpond_types::{DType, Kind};
use smallvec::{SmallVec, smallvec};

use crate::error::UnsupportedDType;
use crate::host::map::compute_dtype;
use crate::ops::Operation;
use crate::ops::row::Refusal;

/// The dtypes of a call: what operands are cast to, and what the result is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What each operand is cast to.
    pub inputs: SmallVec<[DType; 3]>,
    /// The dtype of the result.
    pub output: DType,
}

impl Operation {
    /// The dtypes of a call with operands of `inputs`. Integers that a float operation takes
    /// become `default_float`.
    ///
    /// # Errors
    /// [`UnsupportedDType`] if the operation isn't defined for them.
    pub fn resolve(
        &self,
        inputs: &[DType],
        default_float: DType,
    ) -> Result<Signature, UnsupportedDType> {
        let unsupported = || UnsupportedDType {
            operation: self.name,
            dtypes: inputs.into(),
        };
        if inputs.len() != self.arity() {
            return Err(unsupported());
        }
        let (condition, values) = if self.has_condition() {
            inputs.split_at(1)
        } else {
            inputs.split_at(0)
        };
        if condition.iter().any(|&dtype| dtype != DType::Bool) {
            return Err(unsupported());
        }
        let joined = result_type(values).map_err(|_| unsupported())?;
        let refused = match self.refuses {
            Some(Refusal::Bool) => joined == DType::Bool,
            None => false,
        };
        if refused {
            return Err(unsupported());
        }
        let dtype = self
            .accepted(joined, default_float)
            .ok_or_else(unsupported)?;
        let body = self.loop_for(dtype).ok_or_else(unsupported)?;
        let mut signature = Signature {
            inputs: smallvec![dtype; inputs.len()],
            output: body.output(),
        };
        if !condition.is_empty() {
            signature.inputs[0] = DType::Bool;
        }
        if signature.output == compute_dtype(dtype) {
            signature.output = dtype;
        }
        Ok(signature)
    }

    /// The dtype that operands of `dtype` are cast to, if the operation is defined for them.
    fn accepted(&self, dtype: DType, default_float: DType) -> Option<DType> {
        let computes = |dtype: DType| self.loop_for(dtype).is_some();
        if computes(dtype) {
            return Some(dtype);
        }
        let fallback = match dtype.kind() {
            Kind::Bool if computes(DType::Int8) => DType::Int8,
            Kind::Bool => default_float,
            Kind::Int | Kind::Uint => default_float,
            // Operations on complex numbers alone take real ones for them.
            Kind::Float => promote(dtype, DType::Complex64).ok()?,
            Kind::Complex => return None,
        };
        computes(fallback).then_some(fallback)
    }

    /// Whether the first operand is a condition, apart from the others' promotion.
    fn has_condition(&self) -> bool {
        self.table
            .at(DType::Int8)
            .is_some_and(|body| body.input(0) == DType::Bool)
    }
}
