//! Rust types as elements: to bytes and back, in native order.

use half::{bf16, f16};
use millpond_types::dtype::{Element, storage};
use num_complex::Complex;

/// A Rust type that arrays can be made of and read as.
pub trait Item: Element {
    /// Appends the element's bytes.
    fn append(self, bytes: &mut Vec<u8>);

    /// The element of its bytes, of which there are as many as the dtype's size.
    fn of(bytes: &[u8]) -> Self;
}

/// The first bytes, padded with zeros.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut result = [0; N];
    let len = N.min(bytes.len());
    result[..len].copy_from_slice(&bytes[..len]);
    result
}

macro_rules! items {
    ($($number:ty),*) => { $(
        impl Item for $number {
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }

            fn of(bytes: &[u8]) -> Self {
                Self::from_ne_bytes(first(bytes))
            }
        }
    )* };
}

items! {
    storage::Int8, storage::Int16, storage::Int32, storage::Int64,
    storage::Uint8, storage::Uint16, storage::Uint32, storage::Uint64,
    f16, bf16, storage::Float32, storage::Float64
}

impl Item for bool {
    fn append(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }

    fn of(bytes: &[u8]) -> Self {
        bytes.first().is_some_and(|&byte| byte != 0)
    }
}

macro_rules! complex_items {
    ($($float:ty),*) => { $(
        impl Item for Complex<$float> {
            fn append(self, bytes: &mut Vec<u8>) {
                self.re.append(bytes);
                self.im.append(bytes);
            }

            fn of(bytes: &[u8]) -> Self {
                let (re, im) = bytes.split_at(size_of::<$float>().min(bytes.len()));
                Self::new(<$float>::of(re), <$float>::of(im))
            }
        }
    )* };
}

complex_items! { f32, f64 }

/// The bytes of elements, one after the other.
pub(crate) fn to_bytes<T: Item>(items: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(items));
    for &item in items {
        item.append(&mut bytes);
    }
    bytes
}
