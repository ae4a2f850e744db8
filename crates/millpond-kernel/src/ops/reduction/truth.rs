//! Reductions of truth values.

use super::{Reducer, Words};

macro_rules! truth {
    ($($(#[$doc:meta])* $name:ident: $state:ty = $start:expr, $output:ty, |$a:ident, $b:ident| $merge:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl Reducer for $name {
            type Value = bool;
            type Partial = $state;
            type State = $state;
            type Output = $output;

            #[inline(always)]
            fn nothing(self) -> $state {
                $start
            }

            #[inline(always)]
            fn push(self, $a: $state, value: bool, _: u64) -> $state {
                let $b = <$state>::from(value);
                $merge
            }

            #[inline(always)]
            fn join(self, $a: $state, $b: $state) -> $state {
                $merge
            }

            #[inline(always)]
            fn start(self) -> $state {
                $start
            }

            #[inline(always)]
            fn absorb(self, $a: $state, $b: $state) -> $state {
                $merge
            }

            #[inline(always)]
            fn merge(self, $a: $state, $b: $state) -> $state {
                $merge
            }

            #[inline(always)]
            fn finish(self, state: $state, _: u64, _: f64) -> $output {
                state
            }

            fn pack(self, state: $state) -> Words {
                [i64::from(state).cast_unsigned(), 0, 0, 0]
            }

            fn unpack(self, words: Words) -> $state {
                let unpack: fn(u64) -> $state = Unpack::unpack;
                unpack(words[0])
            }
        }
    )* };
}

/// A state of one word.
trait Unpack {
    fn unpack(word: u64) -> Self;
}

impl Unpack for bool {
    fn unpack(word: u64) -> Self {
        word != 0
    }
}

impl Unpack for i64 {
    fn unpack(word: u64) -> Self {
        word.cast_signed()
    }
}

truth! {
    /// Whether all hold.
    All: bool = true, bool, |a, b| a & b;
    /// Whether any holds.
    Any: bool = false, bool, |a, b| a | b;
    /// How many hold.
    Count: i64 = 0, i64, |a, b| a + b;
}
