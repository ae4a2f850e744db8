//! Enumerations, which C passes as numbers: any number may come.

use std::marker::PhantomData;

use millpond::runtime::{Access, MemoryKind, Status as EventState};
use millpond::types::DType;

use crate::data::Plain;
use crate::describe::CType;
use crate::status::{Problem, Result};

/// A constant: its name, its number, and a line about it.
pub type Constant = (String, i32, &'static str);

/// A Rust type whose values have numbers in C. Numbers are never given another meaning.
pub trait Enumeration: Copy + 'static {
    /// The name of the type in C.
    const NAME: &'static str;
    /// A line about it.
    const DOC: &'static str;

    /// The number.
    fn number(self) -> i32;

    /// The value of a number, if it has one.
    fn of_number(number: i32) -> Option<Self>;

    /// The constants of all values.
    fn constants() -> Vec<Constant>;
}

/// A number that C handed in.
#[repr(transparent)]
pub struct Number<E>(i32, PhantomData<E>);

impl<E> Clone for Number<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Number<E> {}

impl<E> std::fmt::Debug for Number<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: Enumeration> Number<E> {
    /// The number of a value.
    pub(crate) fn of(value: E) -> Self {
        Self(value.number(), PhantomData)
    }

    /// The value.
    ///
    /// # Errors
    /// [`Problem::Number`].
    pub(crate) fn get(self) -> Result<E> {
        E::of_number(self.0).ok_or(Problem::Number {
            number: self.0,
            name: E::NAME,
        })
    }
}

impl<E: Enumeration> CType for Number<E> {
    fn declare(name: &str) -> String {
        crate::describe::join(E::NAME, name)
    }
}

impl<E: Enumeration> Plain for Number<E> {
    const NAME: &'static str = E::NAME;
}

macro_rules! enumerations {
    ($($rust:ty = $c:literal $doc:literal { $($variant:ident = $constant:literal $number:literal $of:literal;)+ })+) => { $(
        impl Enumeration for $rust {
            const NAME: &'static str = $c;
            const DOC: &'static str = $doc;

            fn number(self) -> i32 {
                match self {
                    $( Self::$variant => $number, )+
                }
            }

            fn of_number(number: i32) -> Option<Self> {
                match number {
                    $( $number => Some(Self::$variant), )+
                    _ => None,
                }
            }

            fn constants() -> Vec<Constant> {
                vec![$(($constant.to_owned(), $number, $of)),+]
            }
        }
    )+ };
}

enumerations! {
    MemoryKind = "mp_kind" "Who can touch memory, and where it lives." {
        Device = "MP_MEMORY_DEVICE" 0 "Lives on the device; the host reaches it by copies, and by tasks of a device that runs on the host.";
        Shared = "MP_MEMORY_SHARED" 1 "Migrates between host and device.";
        Host = "MP_MEMORY_HOST" 2 "Lives on the host; the device reaches it over its bus.";
    }
    Access = "mp_access" "What work does with memory." {
        Read = "MP_READ" 0 "Only reads it.";
        Write = "MP_WRITE" 1 "Overwrites all of it and reads nothing.";
        Update = "MP_UPDATE" 2 "Reads and writes.";
    }
    EventState = "mp_event_state" "What has become of the work that an event stands for." {
        Pending = "MP_EVENT_PENDING" 0 "Not finished.";
        Complete = "MP_EVENT_COMPLETE" 1 "Finished well.";
        Failed = "MP_EVENT_FAILED" 2 "Failed; mp_event_wait says how.";
    }
}

impl Enumeration for DType {
    const NAME: &'static str = "mp_dtype";
    const DOC: &'static str = "Type of the elements of an array.";

    fn number(self) -> i32 {
        self as i32
    }

    fn of_number(number: i32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    fn constants() -> Vec<Constant> {
        let constant = |&dtype: &Self| {
            let name = format!("MP_{}", dtype.name().to_uppercase());
            (name, dtype.number(), "")
        };
        Self::ALL.iter().map(constant).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers_and_values_agree<E: Enumeration + PartialEq + std::fmt::Debug>(count: usize) {
        let constants = E::constants();
        assert_eq!(constants.len(), count);
        for (number, constant) in (0..).zip(constants) {
            assert_eq!(constant.1, number, "{constant:?}");
            let value = Number::<E>(number, PhantomData).get().unwrap();
            assert_eq!(value.number(), number);
        }
        for stranger in [-1, count as i32, i32::MAX] {
            assert!(Number::<E>(stranger, PhantomData).get().is_err());
        }
    }

    #[test]
    fn every_value_has_a_number_and_other_numbers_are_refused() {
        numbers_and_values_agree::<MemoryKind>(MemoryKind::ALL.len());
        numbers_and_values_agree::<Access>(3);
        numbers_and_values_agree::<EventState>(3);
        numbers_and_values_agree::<DType>(DType::ALL.len());
        let refused = Number::<DType>(99, PhantomData).get().unwrap_err();
        assert_eq!(refused.to_string(), "99 is no mp_dtype");
    }

    /// The numbers of dtypes come from the table's order, which programs were compiled with.
    #[test]
    fn numbers_of_dtypes_stay() {
        let names: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        let first = [
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "bfloat16",
            "float32",
            "float64",
            "complex64",
            "complex128",
        ];
        assert_eq!(names[..first.len()], first);
    }
}
