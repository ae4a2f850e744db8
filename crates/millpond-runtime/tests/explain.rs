//! Explanations: what they note, of whom, and that they change nothing.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]
#![allow(unsafe_code, reason = "kernels touch memory")]

mod support;

use std::sync::Arc;
use std::thread;

use millpond_hal::layers::{Fault, Layered};
use millpond_hal::{DeviceError, FailureKind};
use millpond_runtime::trace::set_origin;
use millpond_runtime::{Error, Execution, Explanation, Pattern, Registry};
use millpond_testkit::watchdog::watched;
use support::{Affine, BIG, close_gate, device, driver, in_order, numbers, values};

const TWICE: Affine = Affine {
    count: 2,
    factor: 2,
    term: 0,
};

fn names(executions: &[Execution]) -> Vec<&str> {
    executions.iter().map(|it| it.name.as_str()).collect()
}

#[test]
fn executions_come_in_the_order_in_which_they_were_asked_for() {
    watched(|| {
        let device = device();
        let (queue, other) = (device.default_queue().unwrap(), in_order(&device));
        let (x, y) = (numbers(&queue, &[1, 2]), numbers(&other, &[0, 0]));
        let explanation = Explanation::begin();
        let gate = close_gate(&queue);
        queue.launch(TWICE, &[&x], BIG).unwrap();
        other
            .fill(&y, 0..16, Pattern::new(&[0; 8]).unwrap())
            .unwrap();
        gate.open();
        let executions = explanation.finish().unwrap();
        assert_eq!(executions.len(), 2, "gates aren't work: {executions:?}");
        assert_eq!(names(&executions)[1], "fill of 16 bytes");
        assert_eq!(executions[0].queue, queue.id());
        assert_eq!(executions[1].queue, other.id());
        assert_eq!(
            executions[0].traffic.moved(),
            32,
            "16 bytes read and written"
        );
        assert_eq!(executions[1].traffic.moved(), 16);
        for execution in &executions {
            assert!(execution.began.is_some() && !execution.failed && !execution.inline);
        }
        assert_eq!(values(&x), [2, 4]);
    });
}

#[test]
fn what_runs_at_once_is_noted_too() {
    let queue = device().default_queue().unwrap();
    let x = numbers(&queue, &[1, 2]);
    queue.wait().unwrap();
    let explanation = Explanation::begin();
    queue.launch(TWICE, &[&x], 1).unwrap();
    let executions = explanation.finish().unwrap();
    assert_eq!(executions.len(), 1);
    assert!(executions[0].inline);
    assert_eq!(executions[0].traffic.operations, 1);
}

#[test]
fn explanations_nest_and_belong_to_their_thread() {
    let queue = device().default_queue().unwrap();
    let x = numbers(&queue, &[1, 2]);
    let outer = Explanation::begin();
    queue.launch(TWICE, &[&x], BIG).unwrap();
    let inner = Explanation::begin();
    queue.launch(TWICE, &[&x], BIG).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| queue.launch(TWICE, &[&x], BIG).unwrap());
    });
    assert_eq!(inner.finish().unwrap().len(), 1);
    queue.launch(TWICE, &[&x], BIG).unwrap();
    assert_eq!(outer.finish().unwrap().len(), 3);
    assert_eq!(values(&x), [16, 32]);
    let after = Explanation::begin();
    assert_eq!(after.finish().unwrap(), []);
}

#[test]
fn failures_are_noted_and_surface_where_they_are_due() {
    let queue = device().default_queue().unwrap();
    let explanation = Explanation::begin();
    let event = queue
        .task("breaks", &[], || Err("no such luck".into()))
        .unwrap();
    let executions = explanation.finish().unwrap();
    assert_eq!(names(&executions), ["host task breaks"]);
    assert!(executions[0].failed);
    let Err(Error::Failed(failure)) = event.wait() else {
        panic!("the failure is still there");
    };
    assert_eq!(failure.kind(), FailureKind::Command);
}

#[test]
fn what_the_backend_refuses_is_no_execution() {
    watched(|| {
        let refusal = DeviceError::Unsupported {
            device: "cpu".to_owned(),
            what: "anything today".to_owned(),
        };
        // The second, fourth and fifth submission: numbers are written without any.
        let fault = [2, 4, 5].into_iter().fold(Fault::default(), |fault, n| {
            fault.refuse_submit(n, refusal.clone())
        });
        let registry = Registry::new(&[Arc::new(Layered::new(driver(), fault))]);
        let queue = registry.default_device().unwrap().default_queue().unwrap();
        let x = numbers(&queue, &[1, 2]);
        let explanation = Explanation::begin();
        queue.launch(TWICE, &[&x], BIG).unwrap();
        queue.launch(TWICE, &[&x], BIG).unwrap_err();
        queue.launch(TWICE, &[&x], BIG).unwrap();
        let zero = Pattern::new(&[0; 8]).unwrap();
        queue.fill(&x, 0..16, zero).unwrap_err();
        queue.launch(TWICE, &[&x], BIG).unwrap_err();
        let executions = explanation.finish().unwrap();
        assert_eq!(names(&executions), ["affine(2)"; 2]);
        assert!(executions.iter().all(|it| !it.failed && it.began.is_some()));
        assert_eq!(values(&x), [4, 8]);
    });
}

#[test]
fn lines_are_those_of_the_calls() {
    let queue = device().default_queue().unwrap();
    let x = numbers(&queue, &[1, 2]);
    let explanation = Explanation::begin();
    set_origin(Some(Arc::from("model.py:7")));
    queue.launch(TWICE, &[&x], BIG).unwrap();
    set_origin(None);
    queue.launch(TWICE, &[&x], BIG).unwrap();
    let executions = explanation.finish().unwrap();
    assert_eq!(executions[0].lines, [Arc::from("model.py:7")]);
    assert_eq!(executions[1].lines, []);
}
