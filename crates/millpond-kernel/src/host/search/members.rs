//! Which elements of an array are among those of another one.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use super::set::{self, Set};
use crate::host::sort::key::{Key, Raw, Rule, with_raw, with_rule};
use crate::host::sort::{elements, places};

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 13;

/// The most members that one thread makes a set of.
const MOST: usize = 1 << 17;

/// Whether each element of an array equals one of the members: both are contiguous and of one
/// dtype. A NaN equals nothing.
#[derive(Clone, Copy, Debug)]
pub struct Membership {
    /// The dtype of both.
    pub dtype: DType,
    /// How many members there are, and the bytes that they begin at.
    pub members: (usize, usize),
    /// Elements that are looked for, and the bytes that they begin at.
    pub wanted: (usize, usize),
    /// Whether answers are turned.
    pub invert: bool,
}

/// The kernel of a [`Membership`]. Operands are the output, `bool`, which begins at its base, the
/// members, and what is looked for.
pub struct MemberKernel {
    membership: Membership,
    /// The members as a set, made by the first who needs it and gone when the kernel is done.
    set: Mutex<Option<Arc<Set>>>,
}

impl From<Membership> for MemberKernel {
    fn from(membership: Membership) -> Self {
        Self {
            membership,
            set: Mutex::default(),
        }
    }
}

impl MemberKernel {
    /// Whether the kernel is for so many members of a dtype. It isn't for `complex128`, whose
    /// elements don't fit the words of a set, and for many members of a large range, which all
    /// threads sort sooner than one makes a set of them.
    #[must_use]
    pub const fn suits(dtype: DType, members: usize) -> bool {
        match dtype.size() {
            1 | 2 => true,
            4 | 8 => members <= MOST,
            _ => false,
        }
    }

    /// Whether it is for more members than [that](Self::suits), too, some of which are in this sample:
    /// integers that look as if a table of all between them were small.
    #[must_use]
    pub fn suits_sample(dtype: DType, members: usize, sample: &[u8]) -> bool {
        if !dtype.is_integer() {
            return false;
        }
        macro_rules! range {
            ($raw:ty) => {{
                let keys = sample.chunks_exact(size_of::<$raw>()).map(|bytes| {
                    let mut element = [0; size_of::<$raw>()];
                    element.copy_from_slice(bytes);
                    <$raw>::from_ne_bytes(element).key(Rule::of(dtype)).widen() as u64
                });
                keys.clone().max().zip(keys.min())
            }};
        }
        let ends = match dtype.size() {
            1 => range!(u8),
            2 => range!(u16),
            4 => range!(u32),
            _ => range!(u64),
        };
        ends.is_some_and(|(last, first)| set::is_range(last - first, members))
    }

    /// The set of the members.
    ///
    /// # Errors
    /// No host memory.
    fn set<R: Raw>(&self, members: &[R], rule: Rule) -> Result<Arc<Set>, KernelError> {
        let mut kept = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = &*kept {
            return Ok(Arc::clone(set));
        }
        let run = |rule: Rule| {
            // No number has the key of a NaN, so NaNs that are looked for aren't found.
            let numbers = members.iter().filter(|member| !member.is_nan(rule));
            let keys = numbers.map(|member| member.key(rule).widen() as u64);
            Set::new(keys, members.len())
        };
        let set = Arc::new(with_rule!(rule, run)?);
        *kept = Some(Arc::clone(&set));
        Ok(set)
    }

    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn look_up<R: Raw>(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) -> Result<(), KernelError> {
        let Membership {
            dtype,
            members,
            wanted,
            invert,
        } = self.membership;
        let at = |operand: usize, begin: usize| {
            let base: *mut u8 = bases[operand].as_ptr();
            base.wrapping_add(begin).cast_const()
        };
        // SAFETY: all members, which the caller vouches for.
        let members: &[R] = unsafe { elements(at(1, members.1), 0, members.0) };
        // SAFETY: elements that the caller vouches for.
        let wanted: &[R] = unsafe { elements(at(2, wanted.1), range.start, range.len()) };
        // SAFETY: the outputs of these elements, which no other call writes.
        let output: &mut [u8] = unsafe { places(bases[0].as_ptr(), range.start, range.len()) };
        let rule = Rule::of(dtype);
        let set = self.set(members, rule)?;
        let mut run = |rule: Rule| {
            let keys = wanted.iter().map(|wanted| wanted.key(rule).widen() as u64);
            set.look_up(keys, output.iter_mut(), invert);
        };
        with_rule!(rule, run);
        Ok(())
    }
}

impl fmt::Debug for MemberKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: elements of the operands are touched, as many as the footprints say.
unsafe impl HostKernel for MemberKernel {
    fn operands(&self) -> usize {
        3
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let Membership {
            dtype,
            members,
            wanted,
            ..
        } = self.membership;
        let read = |(count, begin): (usize, usize)| Footprint {
            bytes: begin..begin + count * dtype.size(),
            access: Access::Read,
        };
        match operand {
            0 => Footprint::filled(0..wanted.0, wanted.0),
            1 => read(members),
            _ => read(wanted),
        }
    }

    fn extent(&self) -> usize {
        self.membership.wanted.0
    }

    fn grain(&self) -> usize {
        GRAIN
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        macro_rules! run {
            ($raw:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.look_up::<$raw>(bases, range) }
            };
        }
        with_raw!(self.membership.dtype, run)
    }

    /// Forgets the set: members may be others when the kernel runs again.
    unsafe fn finish(&self, _: &[Address]) -> Result<(), KernelError> {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Membership {
            dtype,
            members,
            wanted,
            ..
        } = self.membership;
        write!(f, "isin({dtype} ({},), ({},))", wanted.0, members.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_members_suit_if_a_sample_of_them_lies_close_together() {
        let bytes = |numbers: &[i32]| -> Vec<u8> {
            numbers
                .iter()
                .flat_map(|number| number.to_ne_bytes())
                .collect()
        };
        let suits = |members: usize, numbers: &[i32]| {
            MemberKernel::suits_sample(DType::Int32, members, &bytes(numbers))
        };
        assert!(suits(1_000_000, &[-5_000_000, 5_000_000, 0]));
        assert!(!suits(1_000_000, &[i32::MIN, 0, i32::MAX]));
        assert!(!suits(1000, &[-5_000_000, 5_000_000, 0]));
        assert!(!suits(1_000_000, &[]));
        let float = bytes(&[1.0_f32.to_bits().cast_signed(); 3]);
        assert!(!MemberKernel::suits_sample(
            DType::Float32,
            1_000_000,
            &float
        ));
    }
}
