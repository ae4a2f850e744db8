//! Kernels against the bodies themselves, element by element.

use millpond_hal::{Address, HostKernel};
use millpond_types::{DType, Layout, Scalar};

use crate::host::map::{Input, MapKernel};
use crate::{find, simd};

fn bytes_of(dtype: DType, values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|&value| Scalar::Float(value).to_bytes(dtype)[..dtype.size()].to_vec())
        .collect()
}

#[test]
fn first_light() {
    for &level in simd::Level::ALL {
        simd::force(level);
        let add = find("add").unwrap();
        let signature = add
            .resolve(&[DType::Float32, DType::Int16], DType::Float64)
            .unwrap();
        assert_eq!(signature.output, DType::Float32);
        let layout = Layout::contiguous(&[1000], 4).unwrap();
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let a = bytes_of(DType::Float32, &values);
        let b = bytes_of(DType::Int16, &values);
        let mut out = vec![0_u8; 4000];
        let kernel = MapKernel::new(
            add,
            &signature,
            (DType::Float32, &layout),
            &[
                Input::Array(DType::Float32, &layout),
                Input::Array(DType::Int16, &layout),
            ],
        )
        .unwrap();
        let bases = [
            Address::of(out.as_mut_ptr()),
            Address::of(a.as_ptr()),
            Address::of(b.as_ptr()),
        ];
        // SAFETY: the buffers have the elements of the layouts.
        unsafe { kernel.run(&bases, 0..1000) }.unwrap();
        for index in 0..1000 {
            let value = Scalar::from_bytes(DType::Float32, &out[index * 4..]).unwrap();
            assert_eq!(value, Scalar::Float(2.0 * index as f64));
        }
    }
}
