//! Rules O1 to O6: what follows what.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use millpond_runtime::queue::as_task;
use millpond_runtime::{Access, BACKLOG, Error, Event, Gate, MemoryKind, Status, Use};
use millpond_testkit::watchdog::watched;
use support::{
    Affine, BIG, Exclusive, SMALL, Sum, close_gate, device, in_order, numbers, out_of_order,
    stays_pending, values,
};

const DOUBLE_PLUS_1: Affine = Affine {
    count: 4,
    factor: 2,
    term: 1,
};
const ADD_1: Affine = Affine {
    count: 4,
    factor: 1,
    term: 1,
};

#[test]
fn o1_commands_of_an_in_order_queue_take_effect_in_submission_order() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[1; 4]);
        let mut expected = 1_u64;
        for step in 0..200 {
            let cost = if step % 3 == 0 { BIG } else { SMALL };
            queue.launch(DOUBLE_PLUS_1, &[&x], cost).unwrap();
            expected = expected.wrapping_mul(2).wrapping_add(1);
        }
        assert_eq!(values(&x), [expected; 4]);
    });
}

#[test]
fn o1_submission_is_atomic_among_threads() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[0; 4]);
        thread::scope(|scope| {
            for thread in 0..8 {
                let (queue, x) = (&queue, &x);
                scope.spawn(move || {
                    for step in 0..500 {
                        let cost = if (thread + step) % 2 == 0 { BIG } else { SMALL };
                        queue.launch(ADD_1, &[x], cost).unwrap();
                    }
                });
            }
        });
        assert_eq!(values(&x), [4000; 4]);
    });
}

#[test]
fn o1_small_commands_of_many_threads_do_not_overlap() {
    watched(|| {
        let device = device();
        let queues = [device.default_queue().unwrap(), in_order(&device)];
        let x = numbers(&queues[0], &[0]);
        let kernel = Exclusive::default();
        thread::scope(|scope| {
            for thread in 0..4 {
                let (queue, x, kernel) = (&queues[thread % 2], &x, &kernel);
                scope.spawn(move || {
                    for _ in 0..20 {
                        queue.launch(kernel.clone(), &[x], SMALL).unwrap();
                    }
                });
            }
        });
        device.wait().unwrap();
    });
}

#[test]
fn o2_order_is_kept_per_allocation_across_queues() {
    watched(|| {
        let device = device();
        let queues = [
            device.default_queue().unwrap(),
            in_order(&device),
            out_of_order(&device),
        ];
        let x = numbers(&queues[0], &[1; 4]);
        let mut expected = 1_u64;
        for step in 0..300 {
            queues[step % 3].launch(DOUBLE_PLUS_1, &[&x], BIG).unwrap();
            expected = expected.wrapping_mul(2).wrapping_add(1);
        }
        assert_eq!(values(&x), [expected; 4]);
    });
}

#[test]
fn o2_threads_on_queues_of_their_own_share_an_allocation() {
    watched(|| {
        let device = device();
        let home = device.default_queue().unwrap();
        let x = numbers(&home, &[0; 4]);
        thread::scope(|scope| {
            for index in 0..4 {
                let (device, x) = (&device, &x);
                scope.spawn(move || {
                    let queue = if index % 2 == 0 {
                        out_of_order(device)
                    } else {
                        in_order(device)
                    };
                    for step in 0..300 {
                        queue
                            .launch(ADD_1, &[x], if step % 2 == 0 { BIG } else { SMALL })
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(values(&x), [1200; 4]);
    });
}

#[test]
fn o2_a_write_waits_for_readers_of_other_queues() {
    watched(|| {
        let device = device();
        let (writer, reader) = (device.default_queue().unwrap(), out_of_order(&device));
        let x = numbers(&writer, &[5; 4]);
        let zero = numbers(&writer, &[0; 4]);
        let gate = Gate::new();
        let use_ = Use {
            allocation: &x,
            access: Access::Read,
        };
        reader.gate(&gate, &[use_]).unwrap();
        let y = reader.allocate(MemoryKind::Device, 32).unwrap();
        reader.launch(Sum(4), &[&x, &zero, &y], SMALL).unwrap();
        writer.launch(DOUBLE_PLUS_1, &[&x], SMALL).unwrap();
        let after = writer.record().unwrap();
        assert_eq!(
            after.status(),
            Status::Pending,
            "the write must wait for the gated read"
        );
        gate.open(Ok(()));
        assert_eq!(values(&x), [11; 4]);
        assert_eq!(values(&y), [5; 4]);
    });
}

#[test]
fn o2_a_write_of_another_queue_waits_for_readers_at_home() {
    watched(|| {
        let device = device();
        let (home, writer) = (device.default_queue().unwrap(), in_order(&device));
        let x = numbers(&home, &[5; 4]);
        let gate = Gate::new();
        home.gate(
            &gate,
            &[Use {
                allocation: &x,
                access: Access::Read,
            }],
        )
        .unwrap();
        writer.launch(DOUBLE_PLUS_1, &[&x], SMALL).unwrap();
        assert!(
            stays_pending(&writer.record().unwrap()),
            "the reader is still pending"
        );
        gate.open(Ok(()));
        assert_eq!(values(&x), [11; 4]);
    });
}

#[test]
fn o2_many_reads_of_an_out_of_order_queue_are_joined() {
    watched(|| {
        let device = device();
        let (writer, reader) = (device.default_queue().unwrap(), out_of_order(&device));
        let x = numbers(&writer, &[5; 4]);
        let (early, late) = (Gate::new(), Gate::new());
        for gate in [&early, &late] {
            for _ in 0..200 {
                reader
                    .gate(
                        gate,
                        &[Use {
                            allocation: &x,
                            access: Access::Read,
                        }],
                    )
                    .unwrap();
            }
        }
        let use_ = [Use {
            allocation: &x,
            access: Access::Write,
        }];
        let write = writer.task("write", &use_, || Ok(())).unwrap();
        late.open(Ok(()));
        assert!(stays_pending(&write), "the early reads are still pending");
        early.open(Ok(()));
        write.wait().unwrap();
    });
}

#[test]
fn o2_an_allocation_handed_to_another_thread_is_still_ordered() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        let x = numbers_behind_gate(&queue);
        let reader = thread::spawn(move || values(&x));
        gate.open(Ok(()));
        assert_eq!(reader.join().unwrap(), [7; 4]);
    });
}

fn numbers_behind_gate(queue: &millpond_runtime::Queue) -> millpond_runtime::Allocation {
    let x = queue.allocate(MemoryKind::Device, 32).unwrap();
    let seven: Vec<u8> = [7_u64; 4]
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect();
    x.write_owned(0, seven).unwrap();
    x
}

#[test]
fn o4_submission_does_not_wait_for_the_device() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[0; 4]);
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        for _ in 0..1000 {
            queue.launch(ADD_1, &[&x], SMALL).unwrap();
        }
        assert!(!queue.is_idle());
        gate.open(Ok(()));
        assert_eq!(values(&x), [1000; 4]);
    });
}

#[test]
fn o4_the_backlog_is_bounded() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[0; 4]);
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        let submitted = Arc::new(AtomicU64::new(0));
        thread::scope(|scope| {
            let (queue, x, counter) = (&queue, &x, Arc::clone(&submitted));
            scope.spawn(move || {
                for _ in 0..2 * BACKLOG {
                    queue.launch(ADD_1, &[x], BIG).unwrap();
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            });
            while submitted.load(Ordering::SeqCst) < BACKLOG - 1 {
                thread::yield_now();
            }
            thread::sleep(std::time::Duration::from_millis(50));
            assert!(
                submitted.load(Ordering::SeqCst) <= BACKLOG,
                "submission must wait"
            );
            gate.open(Ok(()));
        });
        assert_eq!(values(&x), [2 * BACKLOG; 4]);
    });
}

#[test]
fn o5_observing_waits_for_exactly_what_it_observes() {
    watched(|| {
        let device = device();
        let (open, held) = (device.default_queue().unwrap(), out_of_order(&device));
        let (x, large) = (numbers(&open, &[3; 4]), numbers(&open, &vec![3; 1 << 17]));
        let gate = Gate::new();
        held.gate(&gate, &[]).unwrap();
        open.gate(&gate, &[]).unwrap();
        assert_eq!(values(&x), [3; 4]);
        assert!(values(&large).iter().all(|&value| value == 3));
        gate.open(Ok(()));
    });
}

#[test]
fn o5_a_kernel_for_the_host_waits_for_its_operands_and_nothing_else() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let (x, y) = (numbers(&queue, &[1; 4]), numbers(&queue, &[2; 4]));
        let z = numbers(&device.host_queue().unwrap(), &[0; 4]);
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        for cost in [SMALL, BIG] {
            z.write(0, &[0; 32]).unwrap();
            device.observe(Sum(4), &[&x, &y, &z], cost).unwrap();
            assert_eq!(values(&z), [3; 4]);
        }
        queue.launch(ADD_1, &[&x], SMALL).unwrap();
        device.observe(Sum(4), &[&x, &y, &z], SMALL).unwrap();
        assert!(!z.is_idle(), "what writes an operand comes before");
        gate.open(Ok(()));
        assert_eq!(values(&z), [4; 4]);
    });
}

#[test]
fn o6_an_event_stands_for_what_was_before_it_only() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let early = queue.record().unwrap();
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        let late = queue.record().unwrap();
        assert_eq!(early.status(), Status::Complete);
        assert_eq!(late.status(), Status::Pending);
        early.wait().unwrap();
        gate.open(Ok(()));
        late.wait().unwrap();
        assert_eq!(late.status(), Status::Complete);
    });
}

#[test]
fn o6_an_event_on_a_queue_without_order_holds_nothing_back() {
    watched(|| {
        let device = device();
        let queue = out_of_order(&device);
        let gate = Gate::new();
        let held = queue.gate(&gate, &[]).unwrap();
        let all = queue.record().unwrap();
        queue
            .task("beside it", &[], || Ok(()))
            .unwrap()
            .wait()
            .unwrap();
        assert!(stays_pending(&all));
        let (one, same) = (queue.record().unwrap(), queue.record().unwrap());
        assert_eq!(one.sequence(), same.sequence(), "nothing came between them");
        gate.open(Ok(()));
        all.wait().unwrap();
        assert_eq!(held.status(), Status::Complete);
        one.wait().unwrap();
    });
}

#[test]
fn o4_an_event_needs_no_room_and_who_acts_as_a_task_neither() {
    watched(|| {
        let queue = out_of_order(&device());
        let gate = Gate::new();
        for _ in 0..BACKLOG {
            queue.gate(&gate, &[]).unwrap();
        }
        let all = queue.record().unwrap();
        let more = as_task(|| queue.gate(&gate, &[])).unwrap();
        let waits = AtomicBool::new(true);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                queue.wait_for_room().unwrap();
                waits.store(false, Ordering::SeqCst);
            });
            assert!(stays_pending(&all));
            assert!(waits.load(Ordering::SeqCst), "there is no room");
            gate.open(Ok(()));
            waiting.join().unwrap();
        });
        all.wait().unwrap();
        more.wait().unwrap();
        queue.close();
        assert!(matches!(queue.wait_for_room(), Err(Error::Closed { .. })));
    });
}

#[test]
fn o6_waiting_for_an_event_merges_its_clock() {
    watched(|| {
        let device = device();
        let (a, b, c) = (device.default_queue().unwrap(), out_of_order(&device), {
            in_order(&device)
        });
        let gate = Gate::new();
        let on_a = a.gate(&gate, &[]).unwrap();
        b.wait_for(&on_a).unwrap();
        let on_b = b.record().unwrap();
        c.wait_for(&on_b).unwrap();
        let x = numbers(&c, &[0; 4]);
        c.launch(ADD_1, &[&x], SMALL).unwrap();
        let on_c = c.record().unwrap();
        assert_eq!(on_c.status(), Status::Pending);
        assert!(on_c.clock().of(millpond_hal_id(&a, &on_a)) >= on_a.sequence());
        gate.open(Ok(()));
        on_c.wait().unwrap();
    });
}

fn millpond_hal_id(
    queue: &millpond_runtime::Queue,
    event: &millpond_runtime::Event,
) -> millpond_hal::QueueId {
    let point = event.point();
    assert_eq!(point.queue.get(), queue.id());
    point.queue
}

#[test]
fn events_call_back_and_wait_with_a_deadline() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let gate = Gate::new();
        let event = queue.gate(&gate, &[]).unwrap();
        let soon = std::time::Instant::now() + std::time::Duration::from_millis(5);
        assert!(matches!(
            event.wait_until(Some(soon)),
            Err(millpond_runtime::Error::TimedOut { .. })
        ));
        let (sender, receiver) = std::sync::mpsc::channel();
        event.on_complete(move |status| sender.send(status).unwrap());
        gate.open(Ok(()));
        assert_eq!(receiver.recv().unwrap(), Status::Complete);
    });
}

#[test]
fn barriers_and_tasks_are_ordered_on_an_out_of_order_queue() {
    watched(|| {
        let device = device();
        let queue = out_of_order(&device);
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        let barrier = queue.barrier(&[]).unwrap();
        let after = queue.task("after", &[], || Ok(())).unwrap();
        assert_eq!(after.status(), Status::Pending);
        gate.open(Ok(()));
        after.wait().unwrap();
        assert_eq!(barrier.status(), Status::Complete);
    });
}

#[test]
fn o8_a_task_comes_behind_events_and_holds_nothing_else_back() {
    watched(|| {
        let device = device();
        let (one, other) = (in_order(&device), out_of_order(&device));
        let gate = Gate::new();
        let read = one.gate(&gate, &[]).unwrap();
        let behind = other
            .task_after("behind", &[], &[&read], || Ok(()))
            .unwrap();
        other
            .task("beside", &[], || Ok(()))
            .unwrap()
            .wait()
            .unwrap();
        assert!(stays_pending(&behind));
        gate.open(Ok(()));
        behind.wait().unwrap();
    });
}

#[test]
fn a_device_that_was_waited_for_is_settled_until_one_of_its_queues_has_something_to_wait_for() {
    watched(|| {
        let (device, elsewhere) = (device(), device());
        let queues = [device.default_queue().unwrap(), out_of_order(&device)];
        for queue in &queues {
            assert!(device.try_wait() && device.is_settled());
            queue.task("work", &[], || Ok(())).unwrap();
            device.wait().unwrap();
            assert!(device.try_wait() && device.is_settled());
            // What happens on another device is its own.
            let gate = close_gate(&elsewhere.default_queue().unwrap());
            assert!(device.try_wait() && !elsewhere.try_wait());
            // Unless a queue is told to follow it.
            let event = elsewhere.default_queue().unwrap().record().unwrap();
            queue.wait_for(&event).unwrap();
            assert!(!device.try_wait() && !device.is_settled());
            gate.open();
            device.wait().unwrap();
            elsewhere.wait().unwrap();
        }
        let gate = close_gate(&queues[0]);
        drop(queues);
        assert!(!device.try_wait());
        gate.open();
        device.wait().unwrap();
        assert!(device.try_wait());
    });
}

#[test]
fn o4_bytes_of_the_host_are_taken_without_a_wait() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[1]);
        let mut seen = [0; 8];
        assert!(x.read_at_once(0, &mut seen).unwrap());
        assert_eq!(u64::from_ne_bytes(seen), 1);
        let gate = close_gate(&queue);
        let double = Affine {
            count: 1,
            factor: 2,
            term: 0,
        };
        queue.launch(double, &[&x], BIG).unwrap();
        assert!(!x.read_at_once(0, &mut seen).unwrap(), "it is pending");
        let y = queue.allocate(MemoryKind::Device, 8).unwrap();
        for memory in [&x, &y] {
            memory.write_soon(0, &7_u64.to_ne_bytes()).unwrap();
            queue.launch(double, &[memory], BIG).unwrap();
        }
        gate.open();
        assert_eq!((values(&x), values(&y)), (vec![14], vec![14]));
        x.read_at_once(1, &mut seen).unwrap_err();
        x.write_soon(1, &seen).unwrap_err();
    });
}

#[test]
fn a_wait_for_the_device_is_for_queues_without_handles_too() {
    watched(|| {
        let device = device();
        for queue in [in_order(&device), out_of_order(&device)] {
            let done = Arc::new(AtomicBool::new(false));
            let gate = Gate::new();
            queue.gate(&gate, &[]).unwrap();
            queue.barrier(&[]).unwrap();
            let set = Arc::clone(&done);
            let task = move || {
                std::thread::sleep(Duration::from_millis(20));
                set.store(true, Ordering::Relaxed);
                Ok(())
            };
            queue.task("late", &[], task).unwrap();
            drop(queue);
            assert!(!device.is_settled());
            gate.open(Ok(()));
            device.wait().unwrap();
            assert!(done.load(Ordering::Relaxed));
            assert!(device.is_settled());
        }
    });
}

#[test]
fn a_wait_for_the_device_is_for_all_that_a_queue_without_handles_has_out_of_order() {
    watched(|| {
        let device = device();
        let queue = out_of_order(&device);
        let gate = Gate::new();
        let held = queue.gate(&gate, &[]).unwrap();
        let last = queue.task("last", &[], || Ok(())).unwrap();
        last.wait().unwrap();
        let held_point = held.point();
        drop((queue, held, last));
        assert!(!device.is_settled(), "{held_point} goes on");
        let opener = gate.clone();
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            opener.open(Ok(()));
        });
        device.wait().unwrap();
        assert!(gate.is_open());
        assert!(device.is_settled());
        thread.join().unwrap();
    });
}

#[test]
fn o6_an_event_knows_nothing_that_its_queue_was_told_later() {
    watched(|| {
        let device = device();
        for _ in 0..100 {
            let (queue, other) = (in_order(&device), in_order(&device));
            let gate = Gate::new();
            let pending = other.gate(&gate, &[]).unwrap();
            let (teller, told) = (queue.clone(), pending.clone());
            let thread = thread::spawn(move || teller.wait_for(&told).unwrap());
            // Until the queue has to wait for the other, which is held back, so that there is no room
            // for more than its backlog.
            let mut events = Vec::new();
            while !thread.is_finished() && (events.len() as u64) < BACKLOG / 2 {
                events.push(queue.task("one of many", &[], || Ok(())).unwrap());
            }
            thread.join().unwrap();
            let knows = |event: &&Event| event.clock().is_after(pending.point());
            if let Some(first) = events.iter().find(knows) {
                let soon = Instant::now() + Duration::from_millis(2);
                let answer = first.wait_until(Some(soon));
                assert!(
                    matches!(answer, Err(Error::TimedOut { .. })),
                    "{first:?} is said to come behind {pending:?}: {answer:?}"
                );
            }
            gate.open(Ok(()));
            device.wait().unwrap();
        }
    });
}

#[test]
fn a_wait_for_a_closed_queue_is_for_all_that_it_has_out_of_order() {
    watched(|| {
        let device = device();
        let queue = out_of_order(&device);
        let held = support::close_gate(&queue);
        queue.task("last", &[], || Ok(())).unwrap().wait().unwrap();
        queue.close();
        let soon = || Some(Instant::now() + Duration::from_millis(20));
        let answer = queue.wait_until(soon()).unwrap_err();
        assert!(matches!(answer, Error::TimedOut { .. }), "{answer}");
        held.open();
        queue.wait().unwrap();
        assert!(queue.is_idle());
    });
}
