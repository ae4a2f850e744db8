//! The facade on a real card: selection, arrays that go there and back, and what isn't offered yet.
//!
//! Built with the feature `card` only, and then a machine without a device fails:
//! `cargo xtask test --device cuda`.

use millpond::tensor::{Place, creation};
use millpond::types::DType;
use millpond::{Buffer, MemoryKind, Queue, QueueOptions, Scalar};

fn queue() -> Queue {
    let report = millpond::cuda_report().unwrap_or_default();
    let device = millpond::device("cuda:0");
    let device = device.unwrap_or_else(|error| panic!("{error}: {report}"));
    println!("device {device}: {}", device.info().name);
    device.default_queue().expect("a queue")
}

#[test]
fn the_card_is_there_and_not_the_default() {
    let queue = queue();
    assert_eq!(queue.device().name(), "cuda:0");
    assert_eq!(millpond::default_device().unwrap().name(), "cpu");
}

#[test]
fn buffers_of_every_kind_go_there_and_back() {
    let queue = queue();
    for kind in MemoryKind::ALL {
        for len in [1, 1000, 3_000_000] {
            let elements: Vec<u32> = (0..len).collect();
            let buffer = Buffer::from_slice(&queue, kind, &elements).unwrap();
            let zeros = Buffer::<u32>::zeroed(&queue, kind, len as usize).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), elements, "{len} of {kind}");
            assert!(zeros.to_vec().unwrap().iter().all(|&zero| zero == 0));
        }
    }
}

#[test]
fn arrays_go_there_and_back() {
    let queue = queue();
    let place = Place::on(&queue);
    let elements: Vec<f64> = (0..10_000).map(f64::from).collect();
    let there = creation::from_slice(&elements, &[100, 100], &place).unwrap();
    assert_eq!(there.to_vec::<f64>().unwrap(), elements);
    let zeros = creation::zeros(&[1000], DType::Int64, &place).unwrap();
    assert_eq!(zeros.to_vec::<i64>().unwrap(), [0; 1000]);
    let cpu = millpond::default_device().unwrap();
    let here = there.to_device(&cpu).unwrap();
    let sum = (&here + &here).unwrap();
    let back = sum.to_device(queue.device()).unwrap();
    let doubled: Vec<f64> = elements.iter().map(|element| 2.0 * element).collect();
    assert_eq!(back.to_vec::<f64>().unwrap(), doubled);
    for value in [-1.5, 0.0, 2.5] {
        let full = creation::full(&[777], Scalar::Float(value), None, &place).unwrap();
        assert_eq!(full.to_vec::<f64>().unwrap(), [value; 777]);
    }
}

#[test]
fn arrays_go_from_card_to_card() {
    let queue = queue();
    let others = millpond::devices()
        .iter()
        .filter(|device| device.name().starts_with("cuda:"));
    let place = Place::on(&queue);
    let elements: Vec<f32> = (0..1_000_000_u32).map(|element| element as f32).collect();
    let here = creation::from_slice(&elements, &[elements.len()], &place).unwrap();
    for device in others {
        let there = here.to_device(device).unwrap();
        assert_eq!(there.device(), *device);
        let back = there.to_device(queue.device()).unwrap();
        assert_eq!(back.to_vec::<f32>().unwrap(), elements);
    }
}

#[test]
fn commands_are_timed_by_the_card() {
    let device = queue().device().clone();
    let options = QueueOptions {
        profiling: true,
        ..QueueOptions::default()
    };
    let queue = device.create_queue(&options).unwrap();
    let buffer = Buffer::<u8>::zeroed(&queue, MemoryKind::Device, 1 << 30).unwrap();
    let copy = Buffer::<u8>::zeroed(&queue, MemoryKind::Device, 1 << 30).unwrap();
    queue
        .copy(buffer.memory(), 0, copy.memory(), 0, 1 << 30)
        .unwrap();
    let event = queue.record().unwrap();
    event.wait().unwrap();
    println!("a gibibyte: {:?}", event.times());
}

#[test]
fn arithmetic_is_refused_and_costs_nothing() {
    let queue = queue();
    let place = Place::on(&queue);
    let x = creation::from_slice(&[1.0, 2.0], &[2], &place).unwrap();
    let answer = &x + &x;
    println!("arithmetic: {:?}", answer.as_ref().map(|_| "a result"));
    assert!(answer.is_err(), "there are no kernels for this device yet");
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0, 2.0]);
    queue.wait().unwrap();
}

#[test]
fn buffers_come_and_go() {
    let queue = queue();
    for round in 0..1000_u32 {
        let buffer = Buffer::from_slice(&queue, MemoryKind::Device, &[round; 50_000]).unwrap();
        if round % 100 == 0 {
            assert_eq!(buffer.to_vec().unwrap()[49_999], round);
        }
    }
    queue.wait().unwrap();
}
