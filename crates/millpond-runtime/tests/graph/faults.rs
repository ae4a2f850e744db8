//! What went wrong in other runtimes' graphs: each of these was a bug report.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use millpond_hal::layers::{Fault, Layered, Order, Trace, TraceEvent};
use millpond_hal::null::NullDriver;
use millpond_hal::{DeviceError, Driver};
use millpond_runtime::{
    Access, BACKLOG, Device, Error, GraphUse, MemoryKind, PoolOptions, Registry, Statistics, Status,
};
use millpond_testkit::watchdog::watched;

use crate::support::{close_gate, in_order, numbers, out_of_order, values};
use crate::{
    KIB, auto_free, byte, each, leaves, on_cpu, pool, recording, three_queues, touch, use_on,
};

#[test]
fn f079_recording_calls_no_driver_and_launching_only_submits() {
    watched(|| {
        let driver = Arc::new(Layered::new(
            Arc::new(NullDriver::default()),
            Trace::default(),
        ));
        let devices = Registry::new(&[Arc::clone(&driver) as Arc<dyn Driver>]);
        let device = devices.default_device().unwrap();
        let queue = in_order(&device);
        let outside = queue.allocate(MemoryKind::Device, KIB).unwrap();
        driver.layer().take();

        let mut recording = recording(&device);
        let inner = recording.allocate(KIB).unwrap();
        recording.copy(&outside, 0, inner, 0, KIB).unwrap();
        touch(&mut recording, inner, Access::Update);
        recording.free(inner).unwrap();
        assert!(recording.fill(inner, 0..KIB, byte(0)).is_err());
        assert_eq!(recording.required_memory().workspace, KIB);
        drop(outside);
        assert_eq!(driver.layer().take(), []);

        let mut graph = recording.instantiate(&queue, &pool(&device)).unwrap();
        driver.layer().take();
        for _ in 0..100 {
            graph.launch(&queue).unwrap();
        }
        let calls = driver.layer().take();
        // Two commands and the end.
        assert_eq!(calls.len(), 300);
        let is_submission = |call: &TraceEvent| matches!(call, TraceEvent::Submit { .. });
        assert!(calls.iter().all(is_submission));
    });
}

#[test]
fn f080_a_thousand_turns_of_a_recorded_loop_need_the_memory_of_one() {
    each(|device| {
        let own = device
            .create_pool(MemoryKind::Device, PoolOptions::default())
            .unwrap();
        let mut recording = recording(device);
        for _ in 0..1000 {
            let memory = recording.allocate(KIB).unwrap();
            touch(&mut recording, memory, Access::Write);
            recording.free(memory).unwrap();
        }
        assert_eq!(recording.required_memory().workspace, KIB);
        let queue = out_of_order(device);
        let mut graph = recording.instantiate(&queue, &own).unwrap();
        let before = own.statistics();
        graph.launch(&queue).unwrap();
        assert_eq!(own.statistics(), before);
        queue.wait().unwrap();
    });
}

#[test]
fn f082_host_memory_that_a_graph_names_stays_until_the_graph_goes() {
    each(|device| {
        let queue = in_order(device);
        let host = queue.allocate(MemoryKind::Host, KIB).unwrap();
        let mut recording = recording(device);
        let inner = recording.allocate(KIB).unwrap();
        recording.copy(&host, 0, inner, 0, KIB).unwrap();
        recording.free(inner).unwrap();
        drop(host);
        let live = || device.pool(MemoryKind::Host).statistics().live;
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        drop(recording);
        graph.launch(&queue).unwrap().wait().unwrap();
        assert_eq!(live(), 1);
        drop(graph);
        assert_eq!(live(), 0);
    });
}

#[test]
fn f083_ten_thousand_launches_change_no_statistics() {
    fn launches(device: &Device, holding: bool) {
        let queues = three_queues(device);
        let own = device
            .create_pool(MemoryKind::Device, PoolOptions::default())
            .unwrap();
        let mut recording = auto_free(device);
        let inner = recording.allocate(KIB).unwrap();
        let output = recording.allocate(KIB).unwrap();
        recording.fill(inner, 0..KIB, byte(1)).unwrap();
        recording.copy(inner, 0, output, 0, KIB).unwrap();
        recording.free(inner).unwrap();
        let mut graph = recording.instantiate(&queues[0], &own).unwrap();
        let mut held = None;
        let mut before: Option<Statistics> = None;
        for round in 0..10_000 {
            graph.launch(&queues[round / 1000 % 3]).unwrap();
            if holding {
                held = Some(graph.output(output).unwrap());
            }
            let now = own.statistics();
            assert_eq!(*before.get_or_insert(now), now, "launch {round}");
        }
        device.wait().unwrap();
        drop((graph, recording, held));
        let now = own.statistics();
        assert_eq!((now.live, now.used, now.pending), (0, 0, 0), "{now:?}");
        own.trim(0).unwrap();
        assert_eq!(own.statistics().reserved, 0);
    }
    each(|device| {
        launches(device, false);
        launches(device, true);
    });
}

#[test]
fn f085_a_graph_that_is_gone_leaves_no_error_to_what_it_used() {
    each(|device| {
        let queue = in_order(device);
        let buffer = queue.allocate(MemoryKind::Device, KIB).unwrap();
        let mut recording = recording(device);
        recording.fill(&buffer, 0..KIB, byte(1)).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        graph.launch(&queue).unwrap();
        drop((graph, recording));
        queue.fill(&buffer, 0..KIB, byte(2)).unwrap();
        drop(buffer);
        queue.wait().unwrap();
        queue.check().unwrap();
        device.wait().unwrap();
    });
}

#[test]
fn f086_memory_that_a_graph_names_persists_over_its_launches() {
    on_cpu(|device| {
        let queue = in_order(device);
        let [input, output] = [numbers(&queue, &[3; 16]), numbers(&queue, &[0; 16])];
        let mut recording = recording(device);
        recording.copy(&input, 0, &output, 0, 128).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        let address = input.address();
        // An explicit free is refused, dropping the handle does no harm.
        let (error, input) = queue.free(input, &[]).unwrap_err();
        assert!(matches!(error, Error::Shared { .. }), "{error}");
        drop(input);
        for round in 0..20 {
            graph.launch(&queue).unwrap();
            let other = numbers(&queue, &[round; 16]);
            assert_ne!(other.address(), address);
            assert_eq!(values(&output), [3; 16]);
        }
    });
}

#[test]
fn f074_a_recorded_command_holds_its_memory_before_it_is_submitted() {
    each(|device| {
        let queue = in_order(device);
        let memory = queue.allocate(MemoryKind::Device, KIB).unwrap();
        let address = memory.address();
        let mut recording = recording(device);
        recording.fill(&memory, 0..KIB, byte(1)).unwrap();
        drop(memory);
        let other = queue.allocate(MemoryKind::Device, KIB).unwrap();
        assert_ne!(other.address(), address);
        drop(recording);
        let next = queue.allocate(MemoryKind::Device, KIB).unwrap();
        assert_eq!(next.address(), address);
    });
}

#[test]
fn a_graph_may_go_while_its_launches_are_pending() {
    each(|device| {
        for queue in three_queues(device) {
            let own = device
                .create_pool(MemoryKind::Device, PoolOptions::default())
                .unwrap();
            let mut recording = recording(device);
            let inner = recording.allocate(4 * KIB).unwrap();
            touch(&mut recording, inner, Access::Write);
            recording.free(inner).unwrap();
            let output = recording.allocate(4 * KIB).unwrap();
            touch(&mut recording, output, Access::Write);
            let other = in_order(device);
            let mut graph = recording.instantiate(&other, &own).unwrap();
            let held = close_gate(&queue);
            let launched = graph.launch(&queue).unwrap();
            drop((graph, recording));
            // Whoever gets the bytes comes behind the launch; the checker sees to it.
            let next = three_queues(device).map(|queue| {
                let memory = queue.allocate_from(&own, 4 * KIB).unwrap();
                use_on(&queue, &memory, Access::Write)
            });
            let memory = other.allocate_from(&own, 4 * KIB).unwrap();
            let last = use_on(&out_of_order(device), &memory, Access::Update);
            held.open();
            launched.wait().unwrap();
            for event in next {
                event.wait().unwrap();
            }
            last.wait().unwrap();
            drop(memory);
            let now = own.statistics();
            assert_eq!((now.live, now.pending, now.used), (0, 0, 0), "{now:?}");
        }
    });
}

#[test]
fn a_launch_that_the_driver_refuses_half_way_can_be_repeated() {
    watched(|| {
        // A gate, a launch of two commands and the end, and then each of them is refused once.
        for refused in 1..=3 {
            let refusal = DeviceError::Unsupported {
                device: "null:0".to_owned(),
                what: "this".to_owned(),
            };
            let fault = Fault::default().refuse_submit(refused + 4, refusal.clone());
            let faulty = Arc::new(Layered::new(Arc::new(NullDriver::default()), fault));
            let driver = Arc::new(Layered::new(faulty, Order::default()));
            let devices = Registry::new(&[Arc::clone(&driver) as Arc<dyn Driver>]);
            let device = devices.default_device().unwrap();
            let (queue, other) = (in_order(&device), out_of_order(&device));
            let held = close_gate(&queue);
            let mut recording = recording(&device);
            // The second has the bytes of the first, which must come behind it next time.
            for _ in 0..2 {
                let inner = recording.allocate(KIB).unwrap();
                touch(&mut recording, inner, Access::Write);
                recording.free(inner).unwrap();
            }
            let output = recording.allocate(KIB).unwrap();
            let mut graph = recording.instantiate(&other, &pool(&device)).unwrap();
            graph.launch(&queue).unwrap();
            assert_eq!(graph.launch(&queue).unwrap_err(), refusal.into());
            assert!(graph.output(output).is_err(), "it wasn't launched");
            let again = graph.launch(&other).unwrap();
            held.open();
            again.wait().unwrap();
            graph.output(output).unwrap();
            device.wait().unwrap();
            let races = driver.layer().take_races();
            assert!(races.is_empty(), "{}", races[0]);
        }
    });
}

#[test]
fn a_launch_from_a_host_task_waits_for_nothing() {
    each(|device| {
        let queue = in_order(device);
        let (mut graph, output) = leaves(recording(device), &queue, 8, 1);
        let other = in_order(device);
        let launching = queue.clone();
        let launched = other
            .task("launch", &[], move || {
                for _ in 0..BACKLOG {
                    graph
                        .launch(&launching)
                        .map_err(|error| error.to_string())?;
                }
                graph.output(output).map_err(|error| error.to_string())?;
                Ok(())
            })
            .unwrap();
        launched.wait().unwrap();
        queue.wait().unwrap();
    });
}

#[test]
fn a_use_that_isnt_recorded_is_no_part_of_the_graph() {
    each(|device| {
        let queue = in_order(device);
        let memory = queue.allocate(MemoryKind::Device, KIB).unwrap();
        let mut recording = recording(device);
        let uses = [GraphUse::new(&memory, Access::Read)];
        recording.task("read", &uses, |_| Ok(())).unwrap();
        // Work of another thread, on the same queue and memory, while it is recorded.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let event = use_on(&queue, &memory, Access::Write);
                event.wait().unwrap();
                assert_eq!(event.status(), Status::Complete);
            });
        });
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        let before = queue.record().unwrap().sequence();
        let event = graph.launch(&queue).unwrap();
        assert_eq!(event.sequence(), before + 2);
    });
}

#[test]
fn a_launch_whose_end_is_refused_leaves_its_failures_to_nobody_else() {
    watched(|| {
        let refusal = DeviceError::Unsupported {
            device: "null:0".to_owned(),
            what: "this".to_owned(),
        };
        // A gate, a command that fails, and the end.
        let fault = Fault::default()
            .fail_command(2)
            .refuse_submit(3, refusal.clone());
        let driver = Arc::new(Layered::new(Arc::new(NullDriver::default()), fault));
        let devices = Registry::new(&[Arc::clone(&driver) as Arc<dyn Driver>]);
        let device = devices.default_device().unwrap();
        let queue = in_order(&device);
        let held = close_gate(&queue);
        let mut recording = recording(&device);
        let inner = recording.allocate(KIB).unwrap();
        touch(&mut recording, inner, Access::Write);
        recording.free(inner).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(&device)).unwrap();
        assert_eq!(graph.launch(&queue).unwrap_err(), refusal.into());
        let next = queue.task("next", &[], || Ok(())).unwrap();
        held.open();
        next.wait().unwrap();
        assert!(queue.wait().is_err(), "the command of the graph failed");
    });
}

#[test]
fn a_launch_that_is_refused_half_way_leaves_memory_of_the_host_alone() {
    watched(|| {
        let refusal = DeviceError::Unsupported {
            device: "cpu:0".to_owned(),
            what: "this".to_owned(),
        };
        let fault = Fault::default().refuse_submit(2, refusal.clone());
        let driver = Arc::new(Layered::new(crate::support::driver(), fault));
        let devices = Registry::new(&[Arc::clone(&driver) as Arc<dyn Driver>]);
        let device = devices.default_device().unwrap();
        let queue = in_order(&device);
        let host = queue.allocate(MemoryKind::Host, KIB).unwrap();
        host.share_with_host(false).unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&done);
        let mut recording = recording(&device);
        let uses = [GraphUse::new(&host, Access::Write)];
        let write = move |_: &[_]| {
            std::thread::sleep(Duration::from_millis(20));
            done.store(true, Ordering::SeqCst);
            Ok(())
        };
        recording.task("write", &uses, write).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(&device)).unwrap();
        assert_eq!(graph.launch(&queue).unwrap_err(), refusal.into());
        assert!(seen.load(Ordering::SeqCst), "it was submitted before");
    });
}
