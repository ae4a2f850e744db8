//! Exactly what is planned goes wrong.

use std::sync::Arc;

use super::{allocate, over, queue, release, submit};
use crate::command::{Command, Submission};
use crate::error::{DeviceError, FailureKind};
use crate::gate::Gate;
use crate::layers::Fault;
use crate::queue::QueueOptions;

#[test]
fn fault_refuses_the_planned_calls_only() {
    let lost = DeviceError::Lost {
        device: "null:0".to_owned(),
        reason: "by plan".to_owned(),
    };
    let (_driver, devices) = over(
        Fault::default()
            .refuse_allocate(2, lost.clone())
            .refuse_create_queue(2, lost.clone())
            .refuse_submit(2, lost.clone()),
    );
    let memory = [(); 3].map(|()| allocate(&devices[0], 64));
    assert_eq!(memory[1], Err(lost.clone()));
    assert!(memory[0].is_ok() && memory[2].is_ok());
    let [first, second, third] =
        [0, 1, 0].map(|device| devices[device].create_queue(&QueueOptions::default()));
    assert_eq!(second.err(), Some(lost.clone()));
    let points = [first.unwrap(), third.unwrap()]
        .map(|line| [(); 2].map(|()| submit(&line, Submission::new(Command::Barrier))));
    assert_eq!(points[0][1], Err(lost), "counted over all queues");
    assert!(points[0][0].is_ok() && points[1][0].is_ok() && points[1][1].is_ok());
}

#[test]
fn fault_counts_calls_of_all_kinds_together_and_loses_devices_for_good() {
    let refusal = DeviceError::Invalid {
        call: "any",
        reason: "by plan".to_owned(),
    };
    let (driver, devices) = over(Fault::default().refuse_call(3, refusal.clone()));
    let memory = allocate(&devices[0], 64).unwrap();
    let line = queue(&devices[1]);
    let answer = submit(&line, Submission::new(Command::Barrier));
    assert_eq!(answer, Err(refusal), "the third call of any kind");
    submit(&line, Submission::new(Command::Barrier)).unwrap();
    assert_eq!(driver.layer().calls(), 4);
    driver.layer().lose();
    for _ in 0..2 {
        let answers = [
            allocate(&devices[0], 64).map(drop),
            devices[1].create_queue(&QueueOptions::default()).map(drop),
            submit(&line, Submission::new(Command::Barrier)).map(drop),
        ];
        let is_lost = |answer| matches!(answer, Err(DeviceError::Lost { .. }));
        assert!(answers.into_iter().all(is_lost));
    }
    release(&devices[0], memory);
    assert!(line.reached(1), "what was submitted goes on");
}

#[test]
fn fault_fails_a_command_instead_of_running_it() {
    let (_driver, devices) = over(Fault::default().fail_command(1));
    let line = queue(&devices[0]);
    let task = Command::Task {
        name: Arc::from("never"),
        task: Box::new(|| panic!("a failed command ran")),
    };
    let submission = Submission {
        origin: Some(Arc::from("test.py:1")),
        ..Submission::new(task)
    };
    let point = submit(&line, submission).unwrap();
    let failure = line.outcome(point.sequence).unwrap().unwrap_err();
    assert_eq!(failure.kind(), FailureKind::Injected);
    assert_eq!(failure.command(), "host task never");
    assert_eq!(failure.origin(), Some("test.py:1"));
}

#[test]
fn fault_delays_a_command_until_its_gate_opens() {
    let gate = Gate::new();
    let (_driver, devices) = over(Fault::default().delay_command(2, gate.clone()));
    let line = queue(&devices[0]);
    for _ in 0..3 {
        submit(&line, Submission::new(Command::Barrier)).unwrap();
    }
    assert_eq!(line.progress().completed(), 1);
    gate.open(Err(Command::Barrier.fail(
        FailureKind::Injected,
        "shared by nobody",
        None,
    )));
    assert_eq!(line.progress().completed(), 3);
    assert_eq!(line.outcome(2), Some(Ok(())));
}
