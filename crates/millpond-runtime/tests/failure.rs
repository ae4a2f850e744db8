//! Rule O7: where failures of asynchronous work surface, and what they reach.

mod support;

use millpond_runtime::{
    Access, Advice, Error, Failure, FailureKind, Gate, MemoryKind, Partition, Pattern, Queue,
    QueueOptions, Status, Use, trace::set_origin,
};
use millpond_testkit::watchdog::watched;
use support::{
    Affine, BIG, Broken, SMALL, Sum, close_gate, device, in_order, numbers, out_of_order, values,
};

const ADD_1: Affine = Affine {
    count: 4,
    factor: 1,
    term: 1,
};

fn failed(answer: Result<impl Sized, Error>) -> Failure {
    match answer {
        Err(Error::Failed(failure)) => failure,
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn o7_a_failure_surfaces_at_the_queues_wait_once_with_its_origin() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[0; 4]);
        set_origin(Some("model.py:12".into()));
        queue.launch(Broken, &[&x], BIG).unwrap();
        set_origin(None);
        let failure = failed(queue.wait());
        assert_eq!(failure.command(), "take(shape=(3,), float32)");
        assert_eq!(
            failure.reason(),
            "index 7 is out of bounds for axis 0 of size 3"
        );
        assert_eq!(failure.origin(), Some("model.py:12"));
        queue.wait().expect("told once");
    });
}

#[test]
fn o7_a_queue_with_a_failure_to_tell_is_idle_but_not_settled() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        assert!(queue.is_settled(), "nothing was submitted");
        let x = numbers(&queue, &[0; 4]);
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        queue.launch(Broken, &[&x], BIG).unwrap();
        assert!(!queue.is_settled() && !device.is_settled(), "unfinished");
        gate.open(Ok(()));
        queue.record().unwrap().wait_finished(None).unwrap();
        assert!(queue.is_idle() && !queue.is_settled());
        assert!(!device.is_settled());
        failed(device.wait());
        assert!(queue.is_settled() && device.is_settled());
    });
}

#[test]
fn o7_a_wait_for_the_device_tells_one_failure_at_a_time_those_of_queues_that_are_gone_too() {
    watched(|| {
        let device = device();
        let fail = |queue: &Queue, what: &'static str| {
            queue.task("doomed", &[], || Err(what.to_owned())).unwrap();
        };
        let (one, two) = (in_order(&device), in_order(&device));
        fail(&one, "first");
        fail(&two, "second");
        let lost = in_order(&device);
        fail(&lost, "third");
        drop(lost);
        assert!(!device.is_settled());
        let mut told: Vec<String> = (0..3)
            .map(|_| failed(device.wait()).reason().to_owned())
            .collect();
        told.sort();
        assert_eq!(told, ["first", "second", "third"]);
        device.wait().unwrap();
        assert!(device.is_settled());
    });
}

#[test]
fn o7_a_failure_told_by_its_event_is_not_told_by_the_queue() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let event = queue
            .task("load", &[], || Err("no such file".to_owned()))
            .unwrap();
        assert_eq!(failed(event.wait()).reason(), "no such file");
        assert_eq!(event.status(), Status::Failed);
        assert_eq!(
            failed(event.wait()).reason(),
            "no such file",
            "an event keeps its failure"
        );
        queue.wait().expect("told already");
    });
}

#[test]
fn o7_dependents_fail_with_it_and_independent_commands_go_on() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let (x, y) = (numbers(&queue, &[0; 4]), numbers(&queue, &[0; 4]));
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        queue.launch(Broken, &[&x], BIG).unwrap();
        queue.launch(ADD_1, &[&x], BIG).unwrap();
        queue.launch(ADD_1, &[&y], BIG).unwrap();
        gate.open(Ok(()));
        assert_eq!(values(&y), [1; 4]);
        let mut bytes = [0; 32];
        assert_eq!(
            failed(x.read(0, &mut bytes)).command(),
            "take(shape=(3,), float32)"
        );
        queue.wait().expect("told by the read");
    });
}

#[test]
fn o7_failures_cross_queues_with_the_data() {
    watched(|| {
        let device = device();
        let (a, b) = (device.default_queue().unwrap(), out_of_order(&device));
        let x = numbers(&a, &[0; 4]);
        let one = numbers(&a, &[1; 4]);
        a.launch(Broken, &[&x], BIG).unwrap();
        let y = b.allocate(MemoryKind::Device, 32).unwrap();
        b.launch(Sum(4), &[&x, &one, &y], SMALL).unwrap();
        let mut bytes = [0; 32];
        assert_eq!(
            failed(y.read(0, &mut bytes)).command(),
            "take(shape=(3,), float32)"
        );
        b.launch(ADD_1, &[&one], BIG).unwrap();
        assert_eq!(values(&one), [2; 4]);
    });
}

#[test]
fn o7_overwriting_heals() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[0; 4]);
        queue.launch(Broken, &[&x], BIG).unwrap();
        failed(queue.wait());
        let one = numbers(&queue, &[1; 4]);
        queue.launch(Sum(4), &[&one, &one, &x], BIG).unwrap();
        queue.launch(ADD_1, &[&x], SMALL).unwrap();
        assert_eq!(values(&x), [3; 4]);
        queue.wait().unwrap();
    });
}

#[test]
fn o7_overwriting_a_part_heals_nothing() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let (x, one) = (numbers(&queue, &[0; 4]), numbers(&queue, &[1; 4]));
        queue.launch(Broken, &[&x], BIG).unwrap();
        queue.launch(Sum(2), &[&one, &one, &x], BIG).unwrap();
        let mut rest = [0; 16];
        assert_eq!(
            failed(x.read(16, &mut rest)).command(),
            "take(shape=(3,), float32)"
        );
    });
}

#[test]
fn o7_a_small_command_tells_its_error_at_once() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[0; 4]);
        let failure = failed(queue.launch(Broken, &[&x], SMALL));
        assert_eq!(failure.kind(), FailureKind::Command);
        queue.wait().unwrap();
    });
}

#[test]
fn o7_a_small_command_on_memory_of_another_queue_tells_its_error_at_once_on_an_idle_one() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let x = numbers(&in_order(&device), &[0; 4]);
        failed(queue.launch(Broken, &[&x], SMALL));
        queue.wait().unwrap();
        let held = close_gate(&queue);
        queue.launch(Broken, &[&x], SMALL).unwrap();
        held.open();
        failed(queue.wait());
    });
}

#[test]
fn panics_become_failures() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let event = queue.task("explode", &[], || panic!("boom {}", 7)).unwrap();
        let failure = failed(event.wait());
        assert_eq!(failure.kind(), FailureKind::Panic);
        assert!(failure.reason().contains("boom 7"), "{}", failure.reason());
    });
}

#[test]
fn bad_calls_are_refused_with_their_values_and_change_nothing() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let x = numbers(&queue, &[5; 4]);
        let small = queue.allocate(MemoryKind::Device, 16).unwrap();
        let told = |answer: Result<(), Error>| answer.unwrap_err().to_string();
        assert_eq!(
            told(queue.launch(ADD_1, &[&small], SMALL)),
            "affine(4): bytes 0..32 reach outside of an allocation of 16 bytes"
        );
        assert_eq!(
            told(queue.launch(ADD_1, &[&x, &x], SMALL)),
            "affine(4) takes 1 operands, 2 were given"
        );
        assert_eq!(
            told(queue.copy(&x, 0, &x, 8, 16)),
            "copy: source 0..+16 and destination 8..+16 overlap"
        );
        assert!(told(queue.copy(&x, 0, &small, 8, 16)).contains("bytes 8..24"));
        let pattern = millpond_runtime::Pattern::new(&[1, 2, 3, 4]).unwrap();
        assert!(told(queue.fill(&x, 0..7, pattern)).contains("7 bytes"));
        let mut bytes = [0; 8];
        assert!(told(x.read(usize::MAX, &mut bytes)).contains("outside"));
        assert!(told(x.write(32, &bytes)).contains("bytes 32..40"));
        let answer = queue.allocate(MemoryKind::Device, usize::MAX);
        assert!(matches!(
            answer,
            Err(Error::OutOfMemory(report)) if report.requested == usize::MAX
        ));
        let answer = queue.allocate(MemoryKind::Device, 1 << 60);
        assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
        assert_eq!(values(&x), [5; 4]);
    });
}

#[test]
fn operands_of_another_device_are_refused() {
    watched(|| {
        let driver = millpond_cpu::CpuDriver::new(millpond_cpu::CpuConfig {
            devices: Some(vec![vec![0], vec![0]]),
            ..millpond_cpu::CpuConfig::default()
        });
        let registry = millpond_runtime::Registry::new(&[std::sync::Arc::new(driver)]);
        let [first, second] = registry.devices() else {
            panic!("two devices")
        };
        assert_eq!((first.name(), second.name()), ("cpu:0", "cpu:1"));
        let (a, b) = (
            first.default_queue().unwrap(),
            second.default_queue().unwrap(),
        );
        let x = numbers(&a, &[7; 4]);
        let answer = b.launch(ADD_1, &[&x], SMALL).unwrap_err();
        assert_eq!(
            answer.to_string(),
            "affine(4): operand 0 is on cpu:0, the queue is on cpu:1"
        );
        let y = b.allocate(MemoryKind::Device, 32).unwrap();
        let gate = Gate::new();
        a.gate(
            &gate,
            &[Use {
                allocation: &x,
                access: Access::Update,
            }],
        )
        .unwrap();
        b.copy(&x, 0, &y, 0, 32).expect("copies go between devices");
        let answer = b.fill(&x, 0..32, Pattern::new(&[0]).unwrap()).unwrap_err();
        assert_eq!(
            answer.to_string(),
            "fill: operand 0 is on cpu:0, the queue is on cpu:1"
        );
        b.launch(ADD_1, &[&y], SMALL).unwrap();
        gate.open(Ok(()));
        assert_eq!(values(&y), [8; 4]);
    });
}

#[test]
fn fills_and_hints_on_memory_that_only_another_device_reaches_are_refused() {
    let driver = millpond_hal::null::NullDriver::new(2);
    let registry = millpond_runtime::Registry::new(&[std::sync::Arc::new(driver)]);
    let [first, second] = registry.devices() else {
        panic!("two devices")
    };
    let (here, there) = (
        first.default_queue().unwrap(),
        second.default_queue().unwrap(),
    );
    let zero = Pattern::new(&[0]).unwrap();
    for kind in MemoryKind::ALL {
        let (mine, theirs) = (
            here.allocate(kind, 64).unwrap(),
            there.allocate(kind, 64).unwrap(),
        );
        // Devices of one driver copy from and to each other's.
        here.copy(&theirs, 0, &mine, 0, 8).unwrap();
        here.copy(&mine, 0, &theirs, 0, 8).unwrap();
        here.wait().unwrap();
        let answers = [
            ("fill: operand 0", here.fill(&theirs, 0..64, zero)),
            ("prefetch: operand 0", here.prefetch(&theirs, 0..64)),
            (
                "advise: operand 0",
                here.advise(&theirs, 0..64, Advice::ReadMostly),
            ),
        ];
        for (operand, answer) in answers {
            if kind == MemoryKind::Host {
                answer.expect("every device reaches memory of the host");
                continue;
            }
            let text = format!("{operand} is on null:1, the queue is on null:0");
            assert_eq!(answer.unwrap_err().to_string(), text);
        }
        assert!(theirs.is_idle());
    }
}

#[test]
fn errors_of_a_driver_name_the_device_as_programs_do() {
    watched(|| {
        let cpus = |count| {
            let driver = millpond_cpu::CpuDriver::new(millpond_cpu::CpuConfig {
                devices: Some(vec![vec![0]; count]),
                ..millpond_cpu::CpuConfig::default()
            });
            millpond_runtime::Registry::new(&[std::sync::Arc::new(driver)])
        };
        let (one, two) = (cpus(1), cpus(2));
        let part = one.devices()[0].partition(&Partition::Equally(1)).unwrap();
        let devices = one.devices().iter().chain(two.devices()).chain(&part);
        let names = ["cpu", "cpu:0", "cpu:1", "cpu.0"];
        for (device, name) in devices.zip(names) {
            assert_eq!(device.name(), name);
            let queue = device.default_queue().unwrap();
            let answer = queue.allocate(MemoryKind::Device, usize::MAX / 4);
            let Err(Error::OutOfMemory(report)) = answer else {
                panic!("{answer:?}")
            };
            let on = format!("out of device memory on {name}: ");
            assert!(report.reason.starts_with(&on), "{report}");
            assert!(report.to_string().starts_with(&on), "{report}");
            device.shutdown();
            let lost = device.create_queue(&QueueOptions::default()).unwrap_err();
            assert_eq!(
                lost.to_string(),
                format!("{name} is lost: it was shut down")
            );
        }
    });
}
