//! Whether elements are true: of all, or of any.

use super::{Reducer, Words};

macro_rules! truth {
    ($($(#[$doc:meta])* $name:ident: $start:literal, |$a:ident, $b:ident| $merge:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl Reducer for $name {
            type Value = bool;
            type Partial = bool;
            type State = bool;
            type Output = bool;

            #[inline(always)]
            fn nothing(self) -> bool {
                $start
            }

            #[inline(always)]
            fn push(self, $a: bool, $b: bool, _: u64) -> bool {
                $merge
            }

            #[inline(always)]
            fn join(self, $a: bool, $b: bool) -> bool {
                $merge
            }

            #[inline(always)]
            fn start(self) -> bool {
                $start
            }

            #[inline(always)]
            fn absorb(self, $a: bool, $b: bool) -> bool {
                $merge
            }

            #[inline(always)]
            fn merge(self, $a: bool, $b: bool) -> bool {
                $merge
            }

            #[inline(always)]
            fn finish(self, state: bool, _: u64, _: f64) -> bool {
                state
            }

            fn pack(self, state: bool) -> Words {
                [u64::from(state), 0, 0, 0]
            }

            fn unpack(self, words: Words) -> bool {
                words[0] != 0
            }
        }
    )* };
}

truth! {
    /// Whether all hold.
    All: true, |a, b| a & b;
    /// Whether any holds.
    Any: false, |a, b| a | b;
}
