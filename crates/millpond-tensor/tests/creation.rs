//! Making arrays, dtypes, and reading arrays back.

mod support;

use millpond_runtime::MemoryKind;
use millpond_tensor::creation::{self, Indexing, Order};
use millpond_tensor::data_types::{self, Casting, TypeSource};
use millpond_tensor::range::{arange, linspace};
use millpond_tensor::{ErrorClass, Tensor};
use millpond_types::{DType, Layout, Scalar};
use support::{array, count, message, place};

#[test]
fn fills_of_any_size() {
    let place = place();
    for size in [0, 1, 1000, 100_000] {
        let x = creation::full(&[size], Scalar::Int(7), Some(DType::Int16), &place).unwrap();
        assert!(x.to_vec::<i16>().unwrap().iter().all(|&value| value == 7));
        assert_eq!(x.size(), size);
    }
    let z = creation::full(&[2], Scalar::Float(0.5), None, &place).unwrap();
    assert_eq!(z.dtype(), DType::Float64);
    assert!(
        message(creation::full(
            &[1],
            Scalar::Int(-1),
            Some(DType::Uint8),
            &place
        ))
        .contains("full: -1")
    );
    let error = creation::zeros(&[1 << 40, 1 << 40], DType::Int8, &place).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Memory);
}

#[test]
fn ranges_follow_the_standard() {
    let place = place();
    let int = |start: i128, stop: i128, step: i128| {
        arange(
            start.into_scalar(),
            stop.into_scalar(),
            step.into_scalar(),
            None,
            &place,
        )
    };
    assert_eq!(int(0, 5, 2).unwrap().to_vec::<i64>().unwrap(), [0, 2, 4]);
    assert_eq!(int(5, 0, -2).unwrap().to_vec::<i64>().unwrap(), [5, 3, 1]);
    assert_eq!(int(5, 0, 1).unwrap().shape(), [0]);
    assert!(message(int(0, 5, 0)).contains("step is zero"));
    let floats = arange(
        Scalar::Int(0),
        Scalar::Float(1.0),
        Scalar::Float(0.25),
        None,
        &place,
    );
    assert_eq!(
        floats.unwrap().to_vec::<f64>().unwrap(),
        [0.0, 0.25, 0.5, 0.75]
    );
    assert!(
        arange(
            Scalar::Int(0),
            Scalar::Int(300),
            Scalar::Int(1),
            Some(DType::Uint8),
            &place
        )
        .is_err()
    );
    assert!(
        arange(
            Scalar::Int(0),
            Scalar::Float(f64::INFINITY),
            Scalar::Int(1),
            None,
            &place
        )
        .is_err()
    );
    let bools = arange(
        Scalar::Int(0),
        Scalar::Int(2),
        Scalar::Int(1),
        Some(DType::Bool),
        &place,
    );
    assert_eq!(bools.unwrap().to_vec::<bool>().unwrap(), [false, true]);
}

trait IntoScalar {
    fn into_scalar(self) -> Scalar;
}

impl IntoScalar for i128 {
    fn into_scalar(self) -> Scalar {
        Scalar::Int(self)
    }
}

#[test]
fn linspace_meets_its_ends() {
    let place = place();
    let line = |start: f64, stop: f64, num, endpoint, dtype| {
        linspace(start.into(), stop.into(), num, endpoint, dtype, &place).unwrap()
    };
    let x = line(0.1, 0.7, 7, true, None).to_vec::<f64>().unwrap();
    assert_eq!((x[0], x[6], x.len()), (0.1, 0.7, 7));
    assert_eq!(
        line(0.0, 1.0, 4, false, None).to_vec::<f64>().unwrap(),
        [0.0, 0.25, 0.5, 0.75]
    );
    assert_eq!(
        line(2.0, 3.0, 1, true, None).to_vec::<f64>().unwrap(),
        [2.0]
    );
    assert_eq!(line(2.0, 3.0, 0, true, None).size(), 0);
    let ints = line(-2.0, 2.0, 4, true, Some(DType::Int32));
    assert_eq!(ints.to_vec::<i32>().unwrap(), [-2, -1, 0, 2]);
    let far = line(-f64::MAX, f64::MAX, 3, true, None)
        .to_vec::<f64>()
        .unwrap();
    assert_eq!(far, [-f64::MAX, 0.0, f64::MAX]);
}

#[test]
fn matrices_have_diagonals_and_triangles() {
    let place = place();
    let eye = creation::eye(2, 3, 1, DType::Int64, &place).unwrap();
    assert_eq!(eye.to_vec::<i64>().unwrap(), [0, 1, 0, 0, 0, 1]);
    assert_eq!(
        creation::eye(3, 2, -2, DType::Int64, &place)
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [0, 0, 0, 0, 1, 0]
    );
    assert_eq!(
        creation::eye(2, 2, 9, DType::Int64, &place)
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [0; 4]
    );
    let x = count(&[2, 2, 3], &place);
    let low = creation::tril(&x, 0).unwrap();
    assert_eq!(
        low.to_vec::<i64>().unwrap(),
        [0, 0, 0, 3, 4, 0, 6, 0, 0, 9, 10, 0]
    );
    let up = creation::triu(&x, 1).unwrap();
    assert_eq!(
        up.to_vec::<i64>().unwrap(),
        [0, 1, 2, 0, 0, 5, 0, 7, 8, 0, 0, 11]
    );
    assert!(message(creation::tril(&count(&[3], &place), 0)).contains("no matrix"));
}

#[test]
fn grids_have_coordinates() {
    let place = place();
    let (x, y) = (count(&[3], &place), count(&[2], &place));
    let grids = creation::meshgrid(&[&x, &y], Indexing::Xy).unwrap();
    assert_eq!(grids[0].shape(), [2, 3]);
    assert_eq!(grids[0].to_vec::<i64>().unwrap(), [0, 1, 2, 0, 1, 2]);
    assert_eq!(grids[1].to_vec::<i64>().unwrap(), [0, 0, 0, 1, 1, 1]);
    let grids = creation::meshgrid(&[&x, &y], Indexing::Ij).unwrap();
    assert_eq!(grids[0].shape(), [3, 2]);
}

#[test]
fn models_give_shape_order_and_place() {
    let place = place();
    let model = count(&[2, 3, 4], &place).permute_dims(&[2, 0, 1]).unwrap();
    let like = creation::empty_like(&model, None, Order::K, None).unwrap();
    assert_eq!(like.strides(), model.strides());
    let rows = creation::empty_like(&model, Some(DType::Bool), Order::C, None).unwrap();
    assert_eq!(
        (rows.strides(), rows.dtype()),
        (&[6, 3, 1][..], DType::Bool)
    );
    let columns = creation::empty_like(&model, None, Order::F, None).unwrap();
    assert_eq!(columns.strides(), [1, 4, 8]);
}

#[test]
fn layouts_stay_within_their_memory() {
    let place = place();
    let memory = count(&[4], &place).memory().clone();
    let make = |shape: &[usize], strides: &[isize], offset| {
        let layout = Layout::new(shape, strides, offset).unwrap();
        Tensor::from_parts(memory.clone(), DType::Int64, layout, false)
    };
    assert_eq!(
        make(&[4], &[-1], 3).unwrap().to_vec::<i64>().unwrap(),
        [3, 2, 1, 0]
    );
    assert!(make(&[0], &[1], 100).is_ok());
    for (shape, strides, offset) in [
        (5, 1, 0),
        (4, -1, 2),
        (2, isize::MAX, 1),
        (2, isize::MIN, 0),
    ] {
        let error = make(&[shape], &[strides], offset).unwrap_err();
        assert!(
            error.to_string().contains("reaches outside of 32 bytes"),
            "{error}"
        );
    }
}

#[test]
fn elements_come_back_as_they_went() {
    let place = place();
    assert_eq!(
        array(&[1.5_f32, f32::NAN], &place).to_vec::<f32>().unwrap()[0],
        1.5
    );
    assert_eq!(
        array(&[u64::MAX], &place).item().unwrap(),
        Scalar::Int(u64::MAX.into())
    );
    let z = num_complex::Complex::new(1.0_f32, -2.0);
    assert_eq!(
        array(&[z], &place)
            .to_vec::<num_complex::Complex<f32>>()
            .unwrap(),
        [z]
    );
    let x = count(&[2, 2], &place);
    assert!(message(x.to_vec::<f64>()).contains("an array of int64 isn't one of float64"));
    assert!(message(x.item()).contains("4 elements"));
    assert!(message(x.read_into(&mut [0; 5])).contains("5 bytes"));
    let moved = x.to_kind(MemoryKind::Host).unwrap();
    assert_eq!(
        (moved.kind(), moved.to_vec::<i64>().unwrap()),
        (MemoryKind::Host, vec![0, 1, 2, 3])
    );
    assert!(
        message(creation::from_bytes(vec![0; 7], DType::Int64, &[1], &place)).contains("7 bytes")
    );
}

#[test]
fn casting_has_rules() {
    let place = place();
    let x = array(&[1.9_f64, -1.9], &place);
    assert_eq!(
        x.astype(DType::Int8, true).unwrap().to_vec::<i8>().unwrap(),
        [1, -1]
    );
    assert!(
        x.astype(DType::Float64, false)
            .unwrap()
            .memory()
            .same_as(x.memory())
    );
    assert!(
        !x.astype(DType::Float64, true)
            .unwrap()
            .memory()
            .same_as(x.memory())
    );
    assert!(x.cast(DType::Int8, Casting::SameKind, true).is_err());
    let z = x.astype(DType::Complex64, true).unwrap();
    assert_eq!(
        z.astype(DType::Float32, true).unwrap_err().class(),
        ErrorClass::Type
    );
    assert!(z.cast(DType::Float32, Casting::Unsafe, true).is_ok());
    assert!(data_types::can_cast(
        DType::Int64,
        DType::Float64,
        Casting::Safe
    ));
    assert!(!data_types::can_cast(
        DType::Int32,
        DType::Uint32,
        Casting::SameKind
    ));
    let joined = data_types::result_type(
        &[
            TypeSource::Tensor(&x),
            TypeSource::DType(DType::Int8),
            TypeSource::Scalar(Scalar::Int(1)),
        ],
        DType::Float64,
    );
    assert_eq!(joined.unwrap(), DType::Float64);
    assert!(
        data_types::result_type(&[TypeSource::Scalar(Scalar::Int(1))], DType::Float64).is_err()
    );
    assert_eq!(data_types::iinfo(DType::Uint8).unwrap().max, 255);
    assert_eq!(
        data_types::finfo(DType::Complex64).unwrap().dtype,
        DType::Float32
    );
    assert!(data_types::isdtype(DType::Int8, "integral").unwrap());
    assert!(message(data_types::isdtype(DType::Int8, "number")).contains("unknown kind 'number'"));
}

/// Arrays are handed to other threads, errors as well.
#[test]
fn arrays_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Tensor>();
    crosses::<millpond_tensor::Error>();
    let place = place();
    let x = count(&[1000], &place);
    let y = std::thread::scope(|scope| scope.spawn(move || x.add(&x).unwrap()).join().unwrap());
    assert_eq!(y.to_vec::<i64>().unwrap()[999], 1998);
}

#[test]
fn complex_values_do_not_lose_their_parts() {
    let place = place();
    let z = Scalar::Complex(num_complex::Complex::new(1.0, 2.0));
    let error = creation::full(&[1], z, Some(DType::Float64), &place).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Type);
    assert_eq!(
        creation::full(&[1], z, None, &place).unwrap().dtype(),
        DType::Complex128
    );
}
