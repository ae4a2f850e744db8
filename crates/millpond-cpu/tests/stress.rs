//! Many threads at once, with everything mixed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{Driver, Point};
use millpond_testkit::contract::raw::{Increment, Line, Memory};
use millpond_testkit::dice::Dice;
use millpond_testkit::watchdog::watched;

const THREADS: usize = 8;
const COMMANDS: usize = 1000;

/// Each thread has a queue; every command notes that all it comes after has run.
#[test]
fn eight_threads_with_points_across_their_queues() {
    for threads in [1, 3] {
        watched(move || {
            let driver = CpuDriver::new(CpuConfig {
                threads: Some(threads),
                ..CpuConfig::default()
            });
            let device = driver.devices().expect("the host is there").remove(0);
            let lines = [(); THREADS].map(|()| Line::in_order(&device));
            let latest = [const { AtomicU64::new(0) }; THREADS];
            let done = Arc::new([const { AtomicU64::new(0) }; THREADS]);
            let wrong = Arc::new(AtomicUsize::new(0));
            thread::scope(|scope| {
                for me in 0..THREADS {
                    let (lines, latest) = (&lines, &latest);
                    let (done, wrong) = (Arc::clone(&done), Arc::clone(&wrong));
                    scope.spawn(move || {
                        let mut dice = Dice::numbered(me as u64);
                        for _ in 0..COMMANDS {
                            let other = dice.roll(THREADS);
                            let after = Point {
                                queue: lines[other].queue().id(),
                                sequence: latest[other].load(Ordering::Relaxed),
                            };
                            let (done, wrong) = (Arc::clone(&done), Arc::clone(&wrong));
                            let point = lines[me].run(&[after], move || {
                                if done[other].load(Ordering::Relaxed) < after.sequence {
                                    wrong.fetch_add(1, Ordering::Relaxed);
                                }
                                done[me].fetch_add(1, Ordering::Relaxed);
                            });
                            latest[me].store(point.sequence, Ordering::Relaxed);
                            match dice.roll(8) {
                                0 => lines[me].wait(point),
                                1 => lines[other].wait(after),
                                _ => (),
                            }
                        }
                    });
                }
            });
            for line in &lines {
                line.wait(line.barrier(&[]));
            }
            assert_eq!(wrong.load(Ordering::Relaxed), 0);
            for count in &*done {
                assert_eq!(count.load(Ordering::Relaxed), COMMANDS as u64);
            }
            device.shutdown();
        });
    }
}

/// Kernels of several queues share the threads of a device, with helpers that come and go.
#[test]
fn kernels_of_many_queues_cover_each_index_once() {
    const EXTENT: usize = 20_000;
    const LAUNCHES: usize = 60;
    watched(|| {
        let driver = CpuDriver::new(CpuConfig {
            threads: Some(3),
            ..CpuConfig::default()
        });
        let device = driver.devices().expect("the host is there").remove(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let line = Line::in_order(&device);
                    let memory = Memory::holding(&device, &vec![0; EXTENT]);
                    for index in 0..LAUNCHES {
                        let kernel = Arc::new(Increment::new(EXTENT, 50));
                        let point = line.launch(&[], &kernel, &memory.all());
                        if index % 3 == 0 {
                            line.wait(point);
                            assert_eq!(kernel.ran_at_finish(), EXTENT);
                            assert_eq!(Arc::strong_count(&kernel), 1);
                        }
                    }
                    assert!(memory.bytes().iter().all(|&byte| byte == LAUNCHES as u8));
                });
            }
        });
    });
}
