//! Contiguous loops over an operation's body.
//!
//! [`Body`] is what a row of an operation holds for each dtype: a body whose types are forgotten.
//! [`Unary`], [`Binary`] and [`Ternary`] make one of a function. The *guarded* ones hold two
//! instances of a function, a fast one that may give NaN where it doesn't know better, and the
//! exact one that is asked again wherever the fast one gave NaN.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use millpond_types::DType;

use crate::device::Template;
use crate::host::level::{Home, Work, at_level};
use crate::host::value::{Storage, Value};
use crate::simd::Level;

/// The most operands that a body reads.
pub const MAX_INPUTS: usize = 3;

/// Addresses of the inputs; those beyond the body's arity aren't looked at.
pub type Inputs = [*const u8; MAX_INPUTS];

/// A loop over contiguous elements, for one operation and one dtype.
///
/// # Safety
/// `run` reads `count` elements of each input and writes `count` of the output, nothing else.
pub unsafe trait Body: Sync {
    /// The dtypes of its operands.
    fn form(&self) -> Form;

    /// How many inputs it reads.
    fn arity(&self) -> usize {
        self.form().inputs().len()
    }

    /// The dtype of an input.
    fn input(&self, index: usize) -> DType {
        self.form().inputs()[index]
    }

    /// The dtype of the output.
    fn output(&self) -> DType {
        self.form().output
    }

    /// Whether an element costs many instructions, so that fewer are worth a thread.
    fn is_heavy(&self) -> bool;

    /// The same as an expression, for devices.
    fn template(&self) -> Template;

    /// Computes `count` elements.
    ///
    /// # Safety
    /// `out` is valid for writes and each input for reads of `count` elements of its dtype,
    /// initialised and aligned; the output overlaps no input. `level` comes from
    /// [`simd`](crate::simd).
    unsafe fn run(&self, level: Level, out: *mut u8, inputs: Inputs, count: usize);
}

/// The dtypes of a body's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The dtype of the output.
    pub output: DType,
    inputs: [DType; MAX_INPUTS],
    arity: u8,
    /// Bytes of an element, of the output and of each input.
    sizes: [u8; MAX_INPUTS + 1],
    /// What addresses are multiples of, likewise.
    alignments: [u8; MAX_INPUTS + 1],
}

impl Form {
    /// A form of these dtypes, of at most [`MAX_INPUTS`] inputs.
    const fn new(inputs: &[DType], output: DType) -> Self {
        let mut form = Self {
            output,
            inputs: [output; MAX_INPUTS],
            arity: inputs.len() as u8,
            sizes: [output.size() as u8; MAX_INPUTS + 1],
            alignments: [output.real().size() as u8; MAX_INPUTS + 1],
        };
        let mut index = 0;
        while index < inputs.len() {
            form.inputs[index] = inputs[index];
            form.sizes[index + 1] = inputs[index].size() as u8;
            form.alignments[index + 1] = inputs[index].real().size() as u8;
            index += 1;
        }
        form
    }

    /// The dtypes of the inputs.
    #[inline]
    #[must_use]
    pub fn inputs(&self) -> &[DType] {
        &self.inputs[..usize::from(self.arity)]
    }

    /// The number of inputs.
    #[inline]
    pub(crate) const fn arity(&self) -> usize {
        self.arity as usize
    }

    /// Bytes of an element of the output, operand 0, or of input `operand - 1`.
    #[inline]
    pub(crate) const fn size(&self, operand: usize) -> usize {
        self.sizes[operand] as usize
    }

    /// Whether an address may be read as elements of an operand, numbered as for `size`.
    #[inline]
    pub(crate) fn is_aligned(&self, operand: usize, address: *const u8) -> bool {
        address.addr() & (usize::from(self.alignments[operand]) - 1) == 0
    }
}

/// A function whose instance is inlined wherever it is called, however long it is.
///
/// What a row calls by its name is a function item, and the shim by which an item is called as a
/// closure isn't always inlined. Long functions come as types of this trait, so that they are
/// compiled for the instructions of the loop.
pub trait Function<Arguments>: Copy {
    /// What it returns.
    type Output;

    /// Calls it; implementations are `#[inline(always)]`.
    fn call(self, arguments: Arguments) -> Self::Output;
}

impl fmt::Debug for dyn Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs: Vec<_> = (0..self.arity()).map(|index| self.input(index)).collect();
        write!(f, "{inputs:?} -> {:?}", self.output())
    }
}

/// # Safety
/// As for [`Body::run`], with the dtype of `T`.
#[inline(always)]
unsafe fn input<'a, T: Storage>(from: *const u8, count: usize) -> &'a [T] {
    // SAFETY: the caller vouches for `count` initialised, aligned elements.
    unsafe { std::slice::from_raw_parts(from.cast(), count) }
}

/// # Safety
/// As for [`Body::run`], with the dtype of `T`.
#[inline(always)]
unsafe fn output<'a, T: Storage>(to: *mut u8, count: usize) -> &'a mut [MaybeUninit<T>] {
    // SAFETY: the caller vouches for `count` writable, aligned elements that nothing else uses;
    // `MaybeUninit` asks for no content.
    unsafe { std::slice::from_raw_parts_mut(to.cast(), count) }
}

/// Elements between two looks for NaN.
const BLOCK: usize = 256;

macro_rules! bodies {
    ($(
        $(#[$doc:meta])*
        $name:ident: $($arg:ident $index:literal $t:ident),*;
    )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<F, $($t,)* O> {
            body: F,
            template: Template,
            types: PhantomData<fn($($t),*) -> O>,
        }

        impl<F: Fn($($t),*) -> O, $($t: Value,)* O: Value> $name<F, $($t,)* O> {
            /// The loop of a function.
            pub const fn new(body: F, template: Template) -> Self {
                Self { body, template, types: PhantomData }
            }
        }

        impl<F, $($t,)* O> fmt::Debug for $name<F, $($t,)* O> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }

        const _: () = {
            struct Plain<'a, F, $($t: Value,)* O: Value> {
                body: F,
                out: &'a mut [MaybeUninit<O::Storage>],
                $($arg: &'a [$t::Storage],)*
            }

            impl<F: Fn($($t),*) -> O, $($t: Value,)* O: Value> Work for Plain<'_, F, $($t,)* O> {
                type Home = F;

                #[inline(always)]
                fn work(self) {
                    let count = self.out.len();
                    $(let $arg = &self.$arg[..count];)*
                    for index in 0..count {
                        self.out[index].write((self.body)($($t::load($arg[index])),*).store());
                    }
                }
            }

            // SAFETY: the loop indexes slices of `count` elements made of the given addresses.
            unsafe impl<F, $($t: Value,)* O: Value> Body for $name<F, $($t,)* O>
            where
                F: Fn($($t),*) -> O + Copy + Send + Sync,
            {
                #[inline]
                fn form(&self) -> Form {
                    const { Form::new(&[$($t::DTYPE),*], O::DTYPE) }
                }

                fn is_heavy(&self) -> bool {
                    false
                }

                fn template(&self) -> Template {
                    self.template
                }

                unsafe fn run(&self, level: Level, out: *mut u8, inputs: Inputs, count: usize) {
                    // SAFETY: the caller vouches for the output.
                    let out = unsafe { output::<O::Storage>(out, count) };
                    $(
                        // SAFETY: the caller vouches for this input.
                        let $arg = unsafe { input::<$t::Storage>(inputs[$index], count) };
                    )*
                    at_level(level, Plain { body: self.body, out, $($arg),* });
                }
            }
        };
    )* };
}

bodies! {
    /// A function of one operand.
    Unary: a 0 A;
    /// A function of two operands.
    Binary: a 0 A, b 1 B;
    /// A function of three operands.
    Ternary: a 0 A, b 1 B, c 2 C;
}

macro_rules! guarded_bodies {
    ($(
        $(#[$doc:meta])*
        $guarded:ident: $($arg:ident $index:literal $t:ident $l:ident),*;
    )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $guarded<F, G, $($l,)* P, $($t,)* O> {
            fast: F,
            exact: G,
            template: Template,
            types: PhantomData<(fn($($l),*) -> P, fn($($t),*) -> O)>,
        }

        impl<F, G, $($l: Value,)* P: Value, $($t: Value,)* O: Value> $guarded<F, G, $($l,)* P, $($t,)* O>
        where
            F: Function<($($l,)*), Output = P>,
            G: Fn($($t),*) -> O,
        {
            /// The loop of two instances of a function.
            pub const fn new(fast: F, exact: G, template: Template) -> Self {
                Self { fast, exact, template, types: PhantomData }
            }
        }

        impl<F, G, $($l,)* P, $($t,)* O> fmt::Debug for $guarded<F, G, $($l,)* P, $($t,)* O> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($guarded))
            }
        }

        const _: () = {
            struct Reference<'a, F, G, $($t: Value,)* O: Value> {
                fast: PhantomData<F>,
                exact: G,
                out: &'a mut [MaybeUninit<O::Storage>],
                $($arg: &'a [$t::Storage],)*
            }

            impl<F, G: Fn($($t),*) -> O, $($t: Value,)* O: Value> Work for Reference<'_, F, G, $($t,)* O> {
                type Home = F;

                #[inline(always)]
                fn work(self) {
                    for index in 0..self.out.len() {
                        self.out[index].write((self.exact)($($t::load(self.$arg[index])),*).store());
                    }
                }
            }

            /// The reference, where the fast loop gave NaN.
            struct Again<'a, F, G, $($t: Value,)* O: Value>(Reference<'a, F, G, $($t,)* O>);

            impl<F, G: Fn($($t),*) -> O, $($t: Value,)* O: Value> Work for Again<'_, F, G, $($t,)* O> {
                type Home = F;

                #[inline(always)]
                fn work(self) {
                    let Reference { exact, out, $($arg,)* .. } = self.0;
                    for (index, out) in out.iter_mut().enumerate() {
                        // SAFETY: the fast loop wrote every element of the block.
                        let fast = unsafe { out.assume_init() };
                        if fast.has_nan() {
                            out.write(exact($($t::load($arg[index])),*).store());
                        }
                    }
                }
            }

            struct Guarded<'a, F, G, $($l: Value,)* P: Value, $($t: Value<Storage = $l::Storage>,)* O: Value<Storage = P::Storage>> {
                fast: F,
                exact: G,
                out: &'a mut [MaybeUninit<P::Storage>],
                $($arg: &'a [$l::Storage],)*
                types: PhantomData<(fn($($l),*) -> P, fn($($t),*) -> O)>,
            }

            impl<F, G, $($l: Value,)* P: Value, $($t,)* O> Work for Guarded<'_, F, G, $($l,)* P, $($t,)* O>
            where
                F: Function<($($l,)*), Output = P>,
                G: Fn($($t),*) -> O + Copy,
                $($t: Value<Storage = $l::Storage>,)*
                O: Value<Storage = P::Storage>,
            {
                type Home = F;

                #[inline(always)]
                fn work(self) {
                    let total = self.out.len();
                    let mut begin = 0;
                    while begin < total {
                        let count = BLOCK.min(total - begin);
                        let out = &mut self.out[begin..begin + count];
                        $(let $arg = &self.$arg[begin..begin + count];)*
                        let mut any = false;
                        for index in 0..count {
                            let value = self.fast.call(($($l::load($arg[index]),)*)).store();
                            any |= value.has_nan();
                            out[index].write(value);
                        }
                        if any {
                            let (fast, exact) = (PhantomData::<F>, self.exact);
                            F::seldom(Again::<F, G, $($t,)* O>(Reference { fast, exact, out, $($arg),* }));
                        }
                        begin += count;
                    }
                }
            }

            // SAFETY: the loop indexes slices of `count` elements made of the given addresses.
            unsafe impl<F, G, $($l: Value,)* P: Value, $($t,)* O> Body for $guarded<F, G, $($l,)* P, $($t,)* O>
            where
                F: Function<($($l,)*), Output = P> + Send + Sync,
                G: Fn($($t),*) -> O + Copy + Send + Sync,
                $($t: Value<Storage = $l::Storage>,)*
                O: Value<Storage = P::Storage>,
            {
                #[inline]
                fn form(&self) -> Form {
                    const { Form::new(&[$($t::DTYPE),*], O::DTYPE) }
                }

                fn is_heavy(&self) -> bool {
                    true
                }

                fn template(&self) -> Template {
                    self.template
                }

                unsafe fn run(&self, level: Level, out: *mut u8, inputs: Inputs, count: usize) {
                    // SAFETY: the caller vouches for the output.
                    let out = unsafe { output::<P::Storage>(out, count) };
                    $(
                        // SAFETY: the caller vouches for this input.
                        let $arg = unsafe { input::<$l::Storage>(inputs[$index], count) };
                    )*
                    let (fast, exact) = (self.fast, self.exact);
                    if level == Level::Baseline {
                        // Without fused multiply-add the fast instance is the slow one.
                        let fast = PhantomData::<F>;
                        return at_level(level, Reference::<F, G, $($t,)* O> { fast, exact, out, $($arg),* });
                    }
                    at_level(
                        level,
                        Guarded::<F, G, $($l,)* P, $($t,)* O> { fast, exact, out, $($arg,)* types: PhantomData },
                    );
                }
            }
        };
    )* };
}

guarded_bodies! {
    /// A function of one operand, in two instances: the fast one computes everything, the exact one
    /// what came out as NaN.
    GuardedUnary: a 0 A LA;
    /// A function of two operands, in two instances, as [`GuardedUnary`].
    GuardedBinary: a 0 A LA, b 1 B LB;
}
