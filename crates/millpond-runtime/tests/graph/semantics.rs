//! What graphs promise: stable addresses, memory that is known and shared, order, failures.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use millpond_runtime::{
    Access, Error, GraphBuilder, GraphOptions, GraphUse, MemoryKind, Partition, PoolOptions,
    QueueOptions, Status, Zero,
};

use crate::support::{
    Affine, Broken, Sum, close_gate, device as device_of_its_own, in_order, numbers, out_of_order,
    stays_pending, values,
};
use crate::{KIB, byte, each, leaves, on_cpu, pool, recording, three_queues, touch};

#[test]
fn p19_a_thousand_launches_find_the_same_addresses() {
    each(|device| {
        let queue = in_order(device);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut recording = recording(device);
        let first = recording.allocate(1000).unwrap();
        let second = recording.allocate(3000).unwrap();
        let uses = [first, second].map(|memory| GraphUse::new(memory, Access::Write));
        let addresses = Arc::clone(&seen);
        let note = move |found: &[_]| {
            addresses.lock().unwrap().push(found.to_vec());
            Ok(())
        };
        recording.task("note", &uses, note).unwrap();
        recording.free(first).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        for _ in 0..1000 {
            graph.launch(&queue).unwrap();
        }
        queue.wait().unwrap();
        let expected = [first, second].map(|memory| graph.address(memory).unwrap());
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 1000);
        assert!(seen.iter().all(|found| found[..] == expected));
    });
}

#[test]
fn a_launch_does_what_was_recorded_every_time() {
    on_cpu(|device| {
        let queue = in_order(device);
        let (total, step) = (numbers(&queue, &[0; 16]), numbers(&queue, &[7; 16]));
        let mut recording = recording(device);
        let sum = recording.allocate(128).unwrap();
        let operands = [(&total).into(), (&step).into(), sum.into()];
        recording.launch(Sum(16), &operands).unwrap();
        recording.copy(sum, 0, &total, 0, 128).unwrap();
        recording.free(sum).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        for count in 1..=10 {
            graph.launch(&queue).unwrap();
            assert_eq!(values(&total), [7 * count; 16]);
        }
    });
}

#[test]
fn required_memory_is_known_before_and_dead_bytes_are_used_again() {
    each(|device| {
        let queue = in_order(device);
        let pool = device
            .create_pool(MemoryKind::Device, PoolOptions::default())
            .unwrap();
        let mut recording = recording(device);
        // A chain of which two links at a time are alive, as in a deep network.
        let mut last = recording.allocate(64 * KIB).unwrap();
        for _ in 0..20 {
            let next = recording.allocate(64 * KIB).unwrap();
            recording.copy(last, 0, next, 0, 64 * KIB).unwrap();
            recording.free(last).unwrap();
            last = next;
        }
        let required = recording.required_memory();
        assert_eq!(required.workspace, 128 * KIB);
        assert_eq!(required.outputs, 64 * KIB);
        assert_eq!(pool.statistics().reserved, 0, "nothing is taken before");
        let mut graph = recording.instantiate(&queue, &pool).unwrap();
        assert_eq!(graph.required_memory(), required);
        let requested = pool.statistics().requested;
        assert_eq!(requested, required.workspace + required.outputs);
        graph.launch(&queue).unwrap().wait().unwrap();
        graph.launch(&out_of_order(device)).unwrap().wait().unwrap();
        assert_eq!(pool.statistics().requested, requested);
    });
}

#[test]
fn launches_of_one_graph_come_one_after_the_other_on_any_queues() {
    on_cpu(|device| {
        let queues = three_queues(device);
        let total = numbers(&queues[0], &[1; 8]);
        let mut recording = recording(device);
        let scratch = recording.allocate(64).unwrap();
        recording.copy(&total, 0, scratch, 0, 64).unwrap();
        let kernel = Affine {
            count: 8,
            factor: 3,
            term: 1,
        };
        recording.launch(kernel, &[scratch.into()]).unwrap();
        recording.copy(scratch, 0, &total, 0, 64).unwrap();
        recording.free(scratch).unwrap();
        let mut graph = recording.instantiate(&queues[0], &pool(device)).unwrap();
        let gates = queues.each_ref().map(close_gate);
        let mut expected = 1_u64;
        for round in 0..30 {
            graph.launch(&queues[round % 3]).unwrap();
            expected = expected.wrapping_mul(3).wrapping_add(1);
        }
        for gate in gates.iter().rev() {
            gate.open();
        }
        assert_eq!(values(&total), [expected; 8]);
    });
}

#[test]
fn graph_memory_alone_orders_launches_on_several_queues() {
    each(|device| {
        let queues = three_queues(device);
        let mut recording = recording(device);
        let first = recording.allocate(KIB).unwrap();
        touch(&mut recording, first, Access::Write);
        touch(&mut recording, first, Access::Read);
        recording.free(first).unwrap();
        let second = recording.allocate(KIB).unwrap();
        touch(&mut recording, second, Access::Write);
        recording.free(second).unwrap();
        let mut graph = recording.instantiate(&queues[1], &pool(device)).unwrap();
        assert_eq!(
            graph.address(first).unwrap(),
            graph.address(second).unwrap()
        );
        let held = close_gate(&queues[0]);
        graph.launch(&queues[0]).unwrap();
        let last = [2, 2, 1, 2].map(|index| graph.launch(&queues[index]).unwrap());
        assert!(last.iter().all(|event| event.status() == Status::Pending));
        assert!(stays_pending(&last[0]), "it shares memory with the first");
        held.open();
        last[3].wait().unwrap();
    });
}

#[test]
fn a_launch_follows_memory_of_another_driver() {
    on_cpu(|device| {
        let elsewhere = device_of_its_own();
        let far = in_order(&elsewhere);
        let input = far.allocate(MemoryKind::Host, 64).unwrap();
        let queue = in_order(device);
        let result = numbers(&queue, &[0; 8]);
        let mut recording = recording(device);
        let inner = recording.allocate(64).unwrap();
        recording.copy(&input, 0, inner, 0, 64).unwrap();
        recording.copy(inner, 0, &result, 0, 64).unwrap();
        recording.free(inner).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        let held = close_gate(&far);
        far.fill(&input, 0..64, byte(1)).unwrap();
        let event = graph.launch(&queue).unwrap();
        assert!(
            stays_pending(&event),
            "the input is written by another driver"
        );
        held.open();
        event.wait().unwrap();
        assert_eq!(values(&result), [u64::from_ne_bytes([1; 8]); 8]);
        // Overwriting comes behind the launch.
        let held = close_gate(&queue);
        graph.launch(&queue).unwrap();
        far.fill(&input, 0..64, byte(2)).unwrap();
        held.open();
        assert_eq!(values(&result), [u64::from_ne_bytes([1; 8]); 8]);
    });
}

#[test]
fn two_graphs_share_a_workspace() {
    each(|device| {
        let queues = three_queues(device);
        let pool = device
            .create_pool(MemoryKind::Device, PoolOptions::default())
            .unwrap();
        let build = |parts: usize| {
            let mut recording = recording(device);
            for _ in 0..parts {
                let memory = recording.allocate(2 * KIB).unwrap();
                touch(&mut recording, memory, Access::Write);
                recording.free(memory).unwrap();
            }
            let wide = recording.allocate(parts * KIB).unwrap();
            touch(&mut recording, wide, Access::Update);
            recording.free(wide).unwrap();
            recording
        };
        let [small, large] = [build(3), build(8)];
        let mut large = large.instantiate(&queues[0], &pool).unwrap();
        let requested = pool.statistics().requested;
        let mut small = small.instantiate_in(large.workspace()).unwrap();
        assert_eq!(pool.statistics().requested, requested);
        let held = close_gate(&queues[0]);
        for round in 0..12 {
            large.launch(&queues[round % 3]).unwrap();
            small.launch(&queues[(round / 2) % 3]).unwrap();
        }
        let last = small.launch(&queues[2]).unwrap();
        assert!(stays_pending(&last), "it shares memory with the first");
        held.open();
        last.wait().unwrap();
    });
}

#[test]
fn p19_graphs_that_share_a_workspace_on_one_queue_dont_disturb_each_other() {
    on_cpu(|device| {
        let queue = in_order(device);
        let results = [1, 2].map(|value| numbers(&queue, &[value; 32]));
        let mut workspace = None;
        let mut graphs = results.each_ref().map(|result| {
            let mut recording = recording(device);
            let scratch = recording.allocate(256).unwrap();
            recording.copy(result, 0, scratch, 0, 256).unwrap();
            let kernel = Affine {
                count: 32,
                factor: 2,
                term: 0,
            };
            recording.launch(kernel, &[scratch.into()]).unwrap();
            recording.copy(scratch, 0, result, 0, 256).unwrap();
            recording.free(scratch).unwrap();
            let workspace =
                workspace.get_or_insert_with(|| queue.allocate(MemoryKind::Device, 256).unwrap());
            recording.instantiate_in(workspace).unwrap()
        });
        for _ in 0..10 {
            for graph in &mut graphs {
                graph.launch(&queue).unwrap();
            }
        }
        assert_eq!(values(&results[0]), [1 << 10; 32]);
        assert_eq!(values(&results[1]), [2 << 10; 32]);
    });
}

#[test]
fn commands_of_a_launch_overlap_on_an_out_of_order_queue() {
    on_cpu(|device| {
        let queue = out_of_order(device);
        let mut recording = recording(device);
        // Each waits for the other to run.
        let meeting = Arc::new(Barrier::new(2));
        for _ in 0..2 {
            let memory = recording.allocate(KIB).unwrap();
            let meeting = Arc::clone(&meeting);
            let meet = move |_: &[_]| {
                meeting.wait();
                Ok(())
            };
            let uses = [GraphUse::new(memory, Access::Write)];
            recording.task("meet", &uses, meet).unwrap();
        }
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        graph.launch(&queue).unwrap().wait().unwrap();
    });
}

#[test]
fn o7_a_failed_command_fails_its_launch_and_the_next_begins_anew() {
    each(|device| {
        for queue in three_queues(device) {
            let runs = Arc::new(AtomicUsize::new(0));
            let mut recording = recording(device);
            let lost = recording.allocate(KIB).unwrap();
            let counted = Arc::clone(&runs);
            let fail_first = move |_: &[_]| match counted.fetch_add(1, Ordering::SeqCst) {
                0 => Err("not today".to_owned()),
                _ => Ok(()),
            };
            let writes = [GraphUse::new(lost, Access::Write)];
            recording.task("write", &writes, fail_first).unwrap();
            let reached = Arc::new(AtomicUsize::new(0));
            let counter = |uses: &[GraphUse<'_>], recording: &mut GraphBuilder| {
                let reached = Arc::clone(&reached);
                let count = move |_: &[_]| {
                    reached.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                };
                recording.task("count", uses, count).unwrap();
            };
            counter(&[GraphUse::new(lost, Access::Read)], &mut recording);
            recording.free(lost).unwrap();
            // This has the same bytes, but not the content that was lost.
            let other = recording.allocate(KIB).unwrap();
            counter(&[GraphUse::new(other, Access::Update)], &mut recording);
            recording.free(other).unwrap();
            let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
            let event = graph.launch(&queue).unwrap();
            let second = graph.launch(&queue).unwrap();
            let Err(Error::Failed(failure)) = event.wait() else {
                panic!("the failure is told by the launch's event");
            };
            assert_eq!(failure.command(), "host task write");
            assert_eq!(failure.reason(), "not today");
            second.wait().unwrap();
            assert_eq!(reached.load(Ordering::SeqCst), 3);
            queue.wait().unwrap();
        }
    });
}

#[test]
fn o7_a_failure_that_nobody_asked_the_event_for_is_told_by_the_queue() {
    on_cpu(|device| {
        let queue = in_order(device);
        let mut recording = recording(device);
        let memory = recording.allocate(64).unwrap();
        recording.launch(Broken, &[memory.into()]).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        graph.launch(&queue).unwrap();
        assert!(matches!(queue.wait(), Err(Error::Failed(_))));
        queue.wait().unwrap();
    });
}

#[test]
fn a_launch_is_one_step_for_everybody_else() {
    on_cpu(|device| {
        let queues = [in_order(device), in_order(device)];
        let shared = numbers(&queues[0], &[0; 64]);
        std::thread::scope(|scope| {
            for (queue, value) in queues.iter().zip([1_u8, 2]) {
                let shared = &shared;
                scope.spawn(move || {
                    let mut recording = recording(device);
                    let seen = recording.allocate(512).unwrap();
                    recording.fill(shared, 0..512, byte(value)).unwrap();
                    recording.copy(shared, 0, seen, 0, 512).unwrap();
                    let mut graph = recording.instantiate(queue, &pool(device)).unwrap();
                    for _ in 0..200 {
                        graph.launch(queue).unwrap();
                        let seen = values(&graph.output(seen).unwrap());
                        assert_eq!(seen, [u64::from_ne_bytes([value; 8]); 64]);
                    }
                });
            }
        });
    });
}

#[test]
fn memory_of_a_pool_of_zeros_is_zero_in_every_launch() {
    on_cpu(|device| {
        let queue = in_order(device);
        let options = PoolOptions {
            zero: Zero::Always,
            ..PoolOptions::default()
        };
        let zeros = device.create_pool(MemoryKind::Device, options).unwrap();
        let mut recording = recording(device);
        let output = recording.allocate(800).unwrap();
        let inner = recording.allocate(800).unwrap();
        recording.copy(inner, 0, output, 0, 400).unwrap();
        recording.fill(inner, 0..800, byte(9)).unwrap();
        recording.free(inner).unwrap();
        let mut graph = recording.instantiate(&queue, &zeros).unwrap();
        for _ in 0..3 {
            graph.launch(&queue).unwrap();
            let output = graph.output(output).unwrap();
            assert_eq!(values(&output), [0; 100]);
            queue.fill(&output, 0..800, byte(9)).unwrap();
        }
    });
}

#[test]
fn a_recording_goes_on_after_it_was_instantiated() {
    on_cpu(|device| {
        let queue = in_order(device);
        let total = numbers(&queue, &[0; 4]);
        let add = Affine {
            count: 4,
            factor: 1,
            term: 1,
        };
        let mut recording = recording(device);
        recording.launch(add, &[(&total).into()]).unwrap();
        let mut once = recording.instantiate(&queue, &pool(device)).unwrap();
        let later = recording.allocate(8).unwrap();
        recording.launch(add, &[(&total).into()]).unwrap();
        let mut twice = recording.instantiate(&queue, &pool(device)).unwrap();
        once.launch(&queue).unwrap();
        twice.launch(&queue).unwrap();
        assert_eq!(values(&total), [3; 4]);
        assert!(once.output(later).is_err());
        twice.output(later).unwrap();
    });
}

#[test]
fn what_cant_be_is_said_while_it_is_recorded() {
    each(|device| {
        let queue = in_order(device);
        let outside = queue.allocate(MemoryKind::Device, 100).unwrap();
        let text = |error: Error| error.to_string();
        let mut other = device.build_graph(GraphOptions {
            name: Some("other".to_owned()),
            ..GraphOptions::default()
        });
        let foreign = other.allocate(100).unwrap();
        let mut recording = recording(device);
        let memory = recording.allocate(100).unwrap();

        let error = recording.fill(foreign, 0..10, byte(0)).unwrap_err();
        assert_eq!(
            text(error),
            "graph fill: the memory is not of graph 'graph'"
        );
        let error = recording.copy(&outside, 1, memory, 0, 100).unwrap_err();
        assert!(matches!(error, Error::Bounds { end: 101, .. }), "{error}");
        let error = recording.copy(memory, 0, memory, 10, 20).unwrap_err();
        assert!(matches!(error, Error::Overlap { .. }), "{error}");
        let error = recording.copy(&outside, 0, &outside, 10, 20).unwrap_err();
        assert!(matches!(error, Error::Overlap { .. }), "{error}");
        let error = recording.launch(Sum(1), &[memory.into()]).unwrap_err();
        assert!(matches!(error, Error::OperandCount { .. }), "{error}");
        let error = recording.allocate(usize::MAX).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");

        recording.free(memory).unwrap();
        let expected = "memory 0 of graph 'graph' was freed before step 1";
        let error = recording.free(memory).unwrap_err();
        assert_eq!(text(error), format!("graph free: {expected}"));
        let uses = [GraphUse::new(memory, Access::Read)];
        let error = recording.task("late", &uses, |_| Ok(())).unwrap_err();
        assert_eq!(text(error), format!("graph task: {expected}"));

        let graph = recording.instantiate(&queue, &pool(device)).unwrap();
        assert!(graph.output(memory).is_err(), "it is freed inside");
        assert!(graph.address(foreign).is_err());
    });
}

#[test]
fn a_graph_runs_in_memory_that_holds_it_and_on_its_device() {
    each(|device| {
        let queue = in_order(device);
        let mut recording = recording(device);
        let memory = recording.allocate(300).unwrap();
        touch(&mut recording, memory, Access::Write);
        recording.free(memory).unwrap();
        let small = queue.allocate(MemoryKind::Device, 500).unwrap();
        let error = recording.instantiate_in(&small).unwrap_err();
        assert!(matches!(error, Error::Bounds { size: 500, .. }), "{error}");
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        let named = queue.allocate(MemoryKind::Device, 512).unwrap();
        let mut other = crate::recording(device);
        other.fill(&named, 0..512, byte(1)).unwrap();
        let error = other.instantiate_in(&named).unwrap_err();
        let expected = "graph workspace: commands of graph 'graph' name it";
        assert_eq!(error.to_string(), expected);

        let part = device
            .partition(&Partition::ByCounts(vec![1]))
            .unwrap()
            .remove(0);
        let elsewhere = part.create_queue(&QueueOptions::default()).unwrap();
        let error = graph.launch(&elsewhere).unwrap_err();
        assert!(matches!(error, Error::DeviceMismatch { .. }), "{error}");
        let foreign = elsewhere.allocate(MemoryKind::Device, 512).unwrap();
        let error = recording.instantiate_in(&foreign).unwrap_err();
        assert!(matches!(error, Error::DeviceMismatch { .. }), "{error}");
        let error = recording.fill(&foreign, 0..8, byte(1)).unwrap_err();
        assert!(matches!(error, Error::DeviceMismatch { .. }), "{error}");

        queue.close();
        assert!(matches!(graph.launch(&queue), Err(Error::Closed { .. })));
        graph.launch(&in_order(device)).unwrap().wait().unwrap();
    });
}

#[test]
fn a_launch_on_memory_shared_with_the_host_is_done_when_it_returns() {
    on_cpu(|device| {
        let queue = in_order(device);
        let shared = queue.allocate(MemoryKind::Shared, 64).unwrap();
        shared.share_with_host(false).unwrap();
        let mut recording = recording(device);
        recording.fill(&shared, 0..64, byte(5)).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        assert_eq!(graph.launch(&queue).unwrap().status(), Status::Complete);
    });
}

#[test]
fn a_graph_of_nothing_can_be_launched() {
    each(|device| {
        let queue = in_order(device);
        let (mut graph, _) = leaves(recording(device), &queue, 0, 1);
        graph.launch(&queue).unwrap().wait().unwrap();
        let mut empty = recording(device)
            .instantiate(&queue, &pool(device))
            .unwrap();
        empty.launch(&queue).unwrap().wait().unwrap();
    });
}
