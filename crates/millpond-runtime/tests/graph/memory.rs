//! Memory that outlives a launch: freed outside, in queue order, or by the next launch.

use millpond_runtime::{Access, Error, GraphUse, MemoryKind, PoolOptions, Status};

use crate::support::{
    Affine, SMALL, close_gate, in_order, numbers, out_of_order, stays_pending, values,
};
use crate::{KIB, auto_free, byte, each, leaves, on_cpu, pool, recording, touch, use_on};

const ONES: u64 = u64::from_ne_bytes([1; 8]);

#[test]
fn p19_a_graph_is_launched_again_when_what_it_left_is_freed_outside() {
    each(|device| {
        let queue = in_order(device);
        let (mut graph, output) = leaves(recording(device), &queue, 32, 1);
        assert!(graph.output(output).is_err(), "before the first launch");
        // What nobody asked for is in nobody's way.
        graph.launch(&queue).unwrap();
        graph.launch(&queue).unwrap();
        let memory = graph.output(output).unwrap();
        let same = memory.clone();
        let error = graph.launch(&queue).unwrap_err();
        assert!(
            matches!(
                error,
                Error::OutputsHeld {
                    held: 1,
                    outputs: 1,
                    ..
                }
            ),
            "{error}"
        );
        drop(memory);
        assert!(graph.launch(&queue).is_err(), "a clone is alive");
        drop(same);
        graph.launch(&queue).unwrap();

        let memory = graph.output(output).unwrap();
        let (error, same) = queue.free(memory.clone(), &[]).unwrap_err();
        drop(same);
        assert!(matches!(error, Error::Shared { handles: 1, .. }), "{error}");
        let after = out_of_order(device).record().unwrap();
        let freed = queue.free(memory, &[&after]).unwrap();
        let event = graph.launch(&queue).unwrap();
        event.wait().unwrap();
        assert_eq!(freed.status(), Status::Complete);
    });
}

#[test]
fn a_free_outside_is_in_the_order_of_queues() {
    each(|device| {
        let (queue, other) = (in_order(device), in_order(device));
        let (mut graph, output) = leaves(recording(device), &queue, 32, 1);
        graph.launch(&queue).unwrap();
        let memory = graph.output(output).unwrap();
        let result = other.allocate(MemoryKind::Device, 256).unwrap();
        let held = close_gate(&other);
        other.copy(&memory, 0, &result, 0, 256).unwrap();
        queue.fill(&result, 0..0, byte(0)).unwrap();
        drop(memory);
        let again = graph.launch(&queue).unwrap();
        assert!(stays_pending(&again), "the copy comes before");
        held.open();
        again.wait().unwrap();
        if device.info().host_executed {
            assert_eq!(values(&result), [ONES; 32]);
        }
    });
}

#[test]
fn a_use_by_address_ends_with_the_free_that_names_its_event() {
    each(|device| {
        let (queue, other) = (in_order(device), in_order(device));
        let (mut graph, output) = leaves(recording(device), &queue, 32, 1);
        let launched = graph.launch(&queue).unwrap();
        let memory = graph.output(output).unwrap();
        let held = close_gate(&other);
        other.wait_for(&launched).unwrap();
        let by_address = other.task("by address", &[], || Ok(())).unwrap();
        queue.free(memory, &[&by_address]).unwrap();
        let again = graph.launch(&out_of_order(device)).unwrap();
        assert!(stays_pending(&again), "the free comes before");
        held.open();
        again.wait().unwrap();
    });
}

#[test]
fn outputs_are_allocations_like_any_other() {
    on_cpu(|device| {
        let queue = in_order(device);
        let (mut graph, output) = leaves(recording(device), &queue, 16, 1);
        graph.launch(&queue).unwrap();
        let memory = graph.output(output).unwrap();
        assert_eq!((memory.bytes(), memory.kind()), (128, MemoryKind::Device));
        assert!(memory.is_from(&pool(device)) && memory.is_on(&queue));
        let kernel = Affine {
            count: 16,
            factor: 2,
            term: 0,
        };
        memory.wait_idle().unwrap();
        queue.launch(kernel, &[&memory], SMALL).unwrap();
        // A graph may work on what another left.
        let mut later = recording(device);
        later.launch(kernel, &[(&memory).into()]).unwrap();
        let mut next = later.instantiate(&queue, &pool(device)).unwrap();
        next.launch(&out_of_order(device)).unwrap();
        assert_eq!(values(&memory), [4 * ONES; 16]);
        drop(memory);
        assert!(graph.launch(&queue).is_err(), "the other graph holds it");
        drop((next, later));
        graph.launch(&queue).unwrap();
    });
}

#[test]
fn p19_with_auto_free_a_launch_takes_back_what_is_held() {
    each(|device| {
        let (queue, other) = (in_order(device), in_order(device));
        let (mut graph, output) = leaves(auto_free(device), &queue, 32, 1);
        graph.launch(&queue).unwrap();
        let old = graph.output(output).unwrap();
        // Uses of before come first.
        let held = close_gate(&other);
        let used = use_on(&other, &old, Access::Read);
        let launched = graph.launch(&queue).unwrap();
        assert!(
            stays_pending(&launched),
            "the old handle's use comes before"
        );
        held.open();
        launched.wait().unwrap();
        assert_eq!(used.status(), Status::Complete);

        let new = graph.output(output).unwrap();
        assert_eq!(new.address(), old.address());
        assert!(!new.same_as(&old));
        let freed = Error::Revoked {
            address: old.address(),
            bytes: 256,
        };
        assert_eq!(queue.fill(&old, 0..8, byte(0)).unwrap_err(), freed);
        assert_eq!(other.copy(&old, 0, &new, 0, 8).unwrap_err(), freed);
        assert_eq!(old.read(0, &mut [0; 8]).unwrap_err(), freed);
        assert_eq!(old.write(0, &[0; 8]).unwrap_err(), freed);
        assert_eq!(old.write_owned(0, vec![0; 8]).unwrap_err(), freed);
        assert_eq!(old.wait_written().unwrap_err(), freed);
        assert_eq!(old.wait_idle().unwrap_err(), freed);
        let kernel = Affine {
            count: 32,
            factor: 2,
            term: 0,
        };
        assert_eq!(queue.launch(kernel, &[&old], SMALL).unwrap_err(), freed);
        let (error, old) = queue.free(old, &[]).unwrap_err();
        assert_eq!(error, freed);
        let mut late = recording(device);
        late.fill(&old, 0..8, byte(0)).unwrap();
        let mut late = late.instantiate(&queue, &pool(device)).unwrap();
        assert_eq!(late.launch(&queue).unwrap_err(), freed);

        // The end of the old handle is nothing to the new one.
        drop((old, late));
        queue.launch(kernel, &[&new], SMALL).unwrap();
        if device.info().host_executed {
            assert_eq!(values(&new), [2 * ONES; 32]);
        }
    });
}

#[test]
fn auto_free_doesnt_take_what_the_host_may_be_looking_at() {
    on_cpu(|device| {
        let queue = in_order(device);
        let (mut graph, output) = leaves(auto_free(device), &queue, 8, 1);
        graph.launch(&queue).unwrap();
        let memory = graph.output(output).unwrap();
        memory.share_with_host(true).unwrap();
        assert!(matches!(
            graph.launch(&queue),
            Err(Error::OutputsHeld { .. })
        ));
        drop(memory);
        graph.launch(&queue).unwrap();
        assert!(!graph.output(output).unwrap().is_host_shared());
    });
}

#[test]
fn what_outlives_a_launch_isnt_in_a_shared_workspace() {
    on_cpu(|device| {
        let queue = in_order(device);
        let workspace = queue.allocate(MemoryKind::Device, KIB).unwrap();
        let build = |value: u8| {
            let mut recording = recording(device);
            let scratch = recording.allocate(KIB).unwrap();
            let output = recording.allocate(KIB).unwrap();
            recording.fill(scratch, 0..KIB, byte(value)).unwrap();
            recording.copy(scratch, 0, output, 0, KIB).unwrap();
            recording.free(scratch).unwrap();
            (recording.instantiate_in(&workspace).unwrap(), output)
        };
        let ((mut one, first), (mut two, second)) = (build(1), build(2));
        one.launch(&queue).unwrap();
        let first = one.output(first).unwrap();
        two.launch(&queue).unwrap();
        let second = two.output(second).unwrap();
        assert_eq!(values(&first), [ONES; 128]);
        assert_eq!(values(&second), [2 * ONES; 128]);
    });
}

#[test]
fn what_is_held_outlives_its_graph() {
    each(|device| {
        let queue = in_order(device);
        let own = device
            .create_pool(MemoryKind::Device, PoolOptions::default())
            .unwrap();
        let mut recording = recording(device);
        let kept = recording.allocate(KIB).unwrap();
        let unused = recording.allocate(KIB).unwrap();
        let scratch = recording.allocate(KIB).unwrap();
        recording.fill(kept, 0..KIB, byte(1)).unwrap();
        touch(&mut recording, unused, Access::Write);
        touch(&mut recording, scratch, Access::Write);
        recording.free(scratch).unwrap();
        let mut graph = recording.instantiate(&queue, &own).unwrap();
        let held = close_gate(&queue);
        graph.launch(&queue).unwrap();
        let memory = graph.output(kept).unwrap();
        drop((graph, recording));
        assert_eq!(own.statistics().live, 1);
        held.open();
        if device.info().host_executed {
            assert_eq!(values(&memory), [ONES; 128]);
        }
        // The graph had a handle, and has none now.
        let (error, same) = queue.free(memory.clone(), &[]).unwrap_err();
        assert!(matches!(error, Error::Shared { handles: 1, .. }), "{error}");
        drop(same);
        queue.free(memory, &[]).unwrap().wait().unwrap();
        let statistics = own.statistics();
        assert_eq!((statistics.live, statistics.pending), (0, 0));
        own.trim(0).unwrap();
        assert_eq!(own.statistics().reserved, 0);
    });
}

#[test]
fn a_reader_of_what_is_left_shares_the_failure_of_its_writer() {
    each(|device| {
        let queue = in_order(device);
        let mut recording = recording(device);
        let output = recording.allocate(64).unwrap();
        let uses = [GraphUse::new(output, Access::Write)];
        let fail = |_: &[_]| Err("no".to_owned());
        recording.task("write", &uses, fail).unwrap();
        let mut graph = recording.instantiate(&queue, &pool(device)).unwrap();
        graph.launch(&queue).unwrap();
        let memory = graph.output(output).unwrap();
        assert!(matches!(memory.wait_written(), Err(Error::Failed(_))));
        // Overwriting heals.
        queue.fill(&memory, 0..64, byte(0)).unwrap();
        memory.wait_written().unwrap();
        let numbers = numbers(&queue, &[0; 8]);
        queue.copy(&memory, 0, &numbers, 0, 64).unwrap();
        numbers.wait_written().unwrap();
    });
}

#[test]
fn a_launch_does_not_take_back_what_a_pool_hands_out() {
    each(|device| {
        let queue = in_order(device);
        let (mut graph, output) = leaves(auto_free(device), &queue, 1024, 1);
        graph.launch(&queue).unwrap();
        let memory = graph.output(output).unwrap();
        let part = device
            .create_pool_over(&memory, 0..8 * KIB, PoolOptions::default())
            .unwrap();
        let block = queue.allocate_from(&part, KIB).unwrap();
        let answer = graph.launch(&queue);
        assert!(
            matches!(answer, Err(Error::OutputsHeld { held: 1, .. })),
            "{answer:?}"
        );
        drop(part);
        assert!(graph.launch(&queue).is_err(), "a block is alive");
        let held = close_gate(&queue);
        use_on(&queue, &block, Access::Write);
        drop(block);
        let again = graph.launch(&out_of_order(device)).unwrap();
        assert!(stays_pending(&again), "the block's use comes before");
        held.open();
        again.wait().unwrap();
        let answer = device.create_pool_over(&memory, 0..8 * KIB, PoolOptions::default());
        assert!(matches!(answer, Err(Error::Revoked { .. })), "{answer:?}");
    });
}
