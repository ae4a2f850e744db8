//! Devices: which there are, their memory, their parts.

use std::alloc::Layout;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{DeviceClass, DeviceError, Driver, Partition, QueueOptions};
use millpond_testkit::contract::raw::Line;
use millpond_types::{DType, MemoryKind};

fn over(devices: Vec<Vec<usize>>) -> CpuDriver {
    CpuDriver::new(CpuConfig {
        devices: Some(devices),
        ..CpuConfig::default()
    })
}

#[test]
fn the_host_is_one_device_that_is_listed_the_same_each_time() {
    let driver = CpuDriver::new(CpuConfig {
        simd: "avx2",
        ..CpuConfig::default()
    });
    let devices = driver.devices().unwrap();
    assert_eq!(devices.len(), 1);
    let info = devices[0].info();
    assert_eq!((info.backend, info.index), ("cpu", 0));
    assert_eq!((info.class, info.simd), (DeviceClass::Cpu, "avx2"));
    assert!(info.cores > 0 && info.threads > 0 && info.memory > 0);
    assert!(info.host_executed);
    assert!(info.caches.is_sorted_by_key(|cache| cache.level));
    let again = driver.devices().unwrap();
    assert!(std::sync::Arc::ptr_eq(&devices[0], &again[0]));
}

#[test]
fn devices_have_the_cores_that_were_asked_for() {
    let devices = over(vec![vec![0], vec![0]]).devices().unwrap();
    let places: Vec<_> = devices
        .iter()
        .map(|device| {
            (
                device.info().index,
                device.info().cores,
                device.info().threads,
            )
        })
        .collect();
    assert_eq!(places, [(0, 1, 1), (1, 1, 1)]);
    let [first, second] = [0, 1].map(|index| Line::in_order(&devices[index]));
    let (gate, held) = first.gate(&[]);
    let point = second.run(&[held], || ());
    gate.open(Ok(()));
    second.wait(point);
}

#[test]
fn a_device_offers_float64_unless_it_is_told_not_to() {
    let offers = |float64: &[bool]| {
        let driver = CpuDriver::new(CpuConfig {
            devices: Some(vec![vec![0]; 3]),
            float64: float64.to_vec(),
            ..CpuConfig::default()
        });
        let devices = driver.devices().unwrap();
        let answers: Vec<_> = devices
            .iter()
            .map(|device| device.info().supports(DType::Float64))
            .collect();
        let part = devices[1].partition(&Partition::Equally(1)).unwrap();
        assert_eq!(part[0].info().float64, answers[1]);
        answers
    };
    assert_eq!(offers(&[]), [true, true, true]);
    assert_eq!(offers(&[false]), [false, false, false]);
    assert_eq!(offers(&[true, false]), [true, false, false]);
}

#[test]
fn core_lists_that_make_no_sense_are_explained() {
    for (list, words) in [
        (vec![], "without cores"),
        (vec![0, 100_000], "core 100000"),
        (vec![0, 0], "core 0 is listed twice"),
    ] {
        match over(vec![list]).devices() {
            Err(DeviceError::Invalid { call, reason }) => {
                assert_eq!(call, "devices");
                assert!(reason.contains(words), "{reason}");
            }
            other => panic!("{words}: {:?}", other.map(|devices| devices.len())),
        }
    }
}

#[test]
fn the_number_of_threads_can_be_set() {
    let driver = CpuDriver::new(CpuConfig {
        threads: Some(5),
        ..CpuConfig::default()
    });
    assert_eq!(driver.devices().unwrap()[0].info().threads, 5);
}

#[test]
fn too_much_memory_is_refused_with_size_kind_and_reason() {
    let device = CpuDriver::new(CpuConfig::default())
        .devices()
        .unwrap()
        .remove(0);
    let bytes = device.info().max_allocation + 1;
    let layout = Layout::from_size_align(bytes, 64).unwrap();
    let Err(error) = device.allocate(MemoryKind::Shared, layout) else {
        panic!("{bytes} bytes were given");
    };
    let largest = device.info().max_allocation;
    assert_eq!(
        error,
        DeviceError::OutOfMemory {
            device: "cpu".to_owned(),
            kind: MemoryKind::Shared,
            bytes,
            reason: format!("the largest allocation is {largest} bytes"),
        }
    );
}

#[test]
fn parts_have_cores_of_their_own_and_share_memory_and_order() {
    let device = CpuDriver::new(CpuConfig::default())
        .devices()
        .unwrap()
        .remove(0);
    let cores = device.info().cores;
    let counts: Vec<_> = vec![1; cores];
    for partition in [Partition::Equally(1), Partition::ByCounts(counts)] {
        let parts = device.partition(&partition).unwrap();
        assert_eq!(parts.len(), cores);
        assert!(parts.iter().all(|part| part.info().cores == 1));
        let lines: Vec<_> = parts.iter().map(Line::in_order).collect();
        let (gate, mut last) = Line::in_order(&device).gate(&[]);
        let points = lines.iter().map(|line| {
            last = line.run(&[last], || ());
            last
        });
        let points: Vec<_> = points.collect();
        gate.open(Ok(()));
        for (line, &point) in lines.iter().zip(&points) {
            line.wait(point);
        }
        // A part that is shut down doesn't take the whole with it.
        parts[0].shutdown();
        assert!(parts[0].create_queue(&QueueOptions::default()).is_err());
        assert!(device.create_queue(&QueueOptions::default()).is_ok());
    }
    let answer = device.partition(&Partition::Equally(cores + 1));
    let text = answer.map(|parts| parts.len()).unwrap_err().to_string();
    assert!(text.contains(&format!("{cores} cores of cpu")), "{text}");
}
