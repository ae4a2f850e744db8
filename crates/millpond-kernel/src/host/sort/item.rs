//! What is moved while sorting: a key, with the position that it came from where that is wanted.
//!
//! Items of one row are all different where they hold positions, so that any way to sort them is
//! stable; without positions, equal items are the same bits. There are six types of items for all
//! dtypes, so that sorting is compiled six times.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use millpond_hal::KernelError;

use super::key::{Key, Raw, Rule};
use super::spread::{PARTS, PIVOTS, group};
#[cfg(target_arch = "x86_64")]
use super::vector;
use super::{radix, row, window};
use crate::simd::{self, Level};

/// What is moved.
pub(super) trait Item: Copy + Ord + Send + Sync + 'static {
    /// The bits that tell items apart, but for the position of a [`Long`].
    fn word(self) -> u128;

    /// The bits from `shift` on, and others above them.
    fn digit(self, shift: u32) -> usize;

    /// As words, to be kept whatever the type is.
    fn pack(self) -> [u64; 3];

    /// The item of words that [`Item::pack`] made.
    fn unpack(words: [u64; 3]) -> Self;

    /// Sorts items whose bits below `first` are positions, in rising order among equal keys.
    ///
    /// # Errors
    /// No host memory.
    fn sort(items: &mut [Self], aside: &mut Aside<Self>, first: u32) -> Result<(), KernelError> {
        radix::sort(items, aside, first)
    }

    /// Moves items to the parts between pivots, and says where each part begins. The order within
    /// a part stays, unless [`Item::sort`] doesn't ask for it.
    ///
    /// # Errors
    /// No host memory.
    fn group(
        items: &mut [Self],
        aside: &mut Aside<Self>,
        pivots: &[Self; PIVOTS],
    ) -> Result<[usize; PARTS], KernelError> {
        group::in_order(items, aside, pivots)
    }
}

/// Memory of a kernel's own beside the items, made when it is needed.
pub(super) struct Aside<I>(Vec<MaybeUninit<I>>);

impl<I> Aside<I> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Room for `count` items.
    ///
    /// # Errors
    /// No host memory.
    pub(super) fn room(&mut self, count: usize) -> Result<&mut [MaybeUninit<I>], KernelError> {
        if self.0.len() < count {
            self.0 = row::room(count)?;
        }
        Ok(&mut self.0[..count])
    }
}

/// What is the same for all items that are nothing but a word.
macro_rules! word_is_item {
    () => {
        #[inline(always)]
        fn word(self) -> u128 {
            self.widen()
        }

        #[inline(always)]
        fn digit(self, shift: u32) -> usize {
            (self >> shift) as usize
        }

        #[inline(always)]
        fn pack(self) -> [u64; 3] {
            let word = self.widen();
            [word as u64, (word >> 64) as u64, 0]
        }

        #[inline(always)]
        fn unpack([low, high, _]: [u64; 3]) -> Self {
            Self::narrow(u128::from(high) << 64 | u128::from(low))
        }
    };
}

macro_rules! items {
    ($($item:ident: $($vector:ident)?;)*) => { $(
        impl Item for $item {
            word_is_item!();

            $(
                fn sort(
                    items: &mut [Self],
                    aside: &mut Aside<Self>,
                    first: u32,
                ) -> Result<(), KernelError> {
                    #[cfg(target_arch = "x86_64")]
                    if simd::current() == Level::Avx512 {
                        // SAFETY: the processor has the instructions of the current level.
                        unsafe { $vector::sort(items) };
                        return Ok(());
                    }
                    radix::sort(items, aside, first)
                }

                fn group(
                    items: &mut [Self],
                    aside: &mut Aside<Self>,
                    pivots: &[Self; PIVOTS],
                ) -> Result<[usize; PARTS], KernelError> {
                    #[cfg(target_arch = "x86_64")]
                    if simd::current() == Level::Avx512 {
                        // SAFETY: as above.
                        return Ok(unsafe { $vector::group(items, pivots) });
                    }
                    group::in_order(items, aside, pivots)
                }
            )?
        }
    )* };
}

items! {
    u8: ;
    u16: ;
    u32: vector;
    u64: vector;
}

impl Item for u128 {
    word_is_item!();

    fn sort(items: &mut [Self], aside: &mut Aside<Self>, first: u32) -> Result<(), KernelError> {
        if simd::current() == Level::Avx512 {
            return window::sort(items, aside);
        }
        radix::sort(items, aside, first)
    }
}

/// A key of 128 bits and a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Long {
    key: u128,
    position: u64,
}

impl Item for Long {
    #[inline(always)]
    fn word(self) -> u128 {
        self.key
    }

    #[inline(always)]
    fn digit(self, shift: u32) -> usize {
        (self.key >> shift) as usize
    }

    #[inline(always)]
    fn pack(self) -> [u64; 3] {
        [self.key as u64, (self.key >> 64) as u64, self.position]
    }

    #[inline(always)]
    fn unpack([low, high, position]: [u64; 3]) -> Self {
        let key = u128::from(high) << 64 | u128::from(low);
        Self { key, position }
    }
}

/// How the elements of a dtype are made items.
pub(super) trait Form: 'static {
    type Raw: Raw;
    type Item: Item;

    /// The lowest bit of the key within an item.
    const FIRST: u32;

    fn item(key: <Self::Raw as Raw>::Key, position: u64) -> Self::Item;
    fn key(item: Self::Item) -> <Self::Raw as Raw>::Key;
    /// 0 without positions.
    fn position(item: Self::Item) -> u64;

    /// Turns items without positions into elements, in their place.
    fn settle(items: &mut [Self::Item], rule: Rule, descending: bool) {
        let _ = (items, rule, descending);
    }
}

/// Keys alone.
pub(super) struct Alone<R>(PhantomData<R>);

macro_rules! alone {
    ($($raw:ident),*) => { $(
        impl Form for Alone<$raw> {
            type Raw = $raw;
            type Item = $raw;
            const FIRST: u32 = 0;

            #[inline(always)]
            fn item(key: $raw, _: u64) -> $raw {
                key
            }

            #[inline(always)]
            fn key(item: $raw) -> $raw {
                item
            }

            #[inline(always)]
            fn position(_: $raw) -> u64 {
                0
            }

            fn settle(items: &mut [$raw], rule: Rule, descending: bool) {
                row::settle(items, rule, descending);
            }
        }
    )* };
}

alone!(u8, u16, u32, u64);

/// Keys of up to 32 bits and positions of 32.
pub(super) struct Packed<R>(PhantomData<R>);

impl<R: Raw> Form for Packed<R> {
    type Raw = R;
    type Item = u64;
    const FIRST: u32 = 32;

    #[inline(always)]
    fn item(key: R::Key, position: u64) -> u64 {
        (key.widen() as u64) << 32 | position
    }

    #[inline(always)]
    fn key(item: u64) -> R::Key {
        R::Key::narrow(u128::from(item >> 32))
    }

    #[inline(always)]
    fn position(item: u64) -> u64 {
        item & u64::from(u32::MAX)
    }
}

/// Keys of up to 64 bits and positions of 64.
pub(super) struct Paired<R>(PhantomData<R>);

impl<R: Raw> Form for Paired<R> {
    type Raw = R;
    type Item = u128;
    const FIRST: u32 = 64;

    #[inline(always)]
    fn item(key: R::Key, position: u64) -> u128 {
        key.widen() << 64 | u128::from(position)
    }

    #[inline(always)]
    fn key(item: u128) -> R::Key {
        R::Key::narrow(item >> 64)
    }

    #[inline(always)]
    fn position(item: u128) -> u64 {
        item as u64
    }
}

/// Keys of 128 bits and positions.
pub(super) struct Lengthy;

impl Form for Lengthy {
    type Raw = [u64; 2];
    type Item = Long;
    const FIRST: u32 = 0;

    #[inline(always)]
    fn item(key: u128, position: u64) -> Long {
        Long { key, position }
    }

    #[inline(always)]
    fn key(item: Long) -> u128 {
        item.key
    }

    #[inline(always)]
    fn position(item: Long) -> u64 {
        item.position
    }
}
