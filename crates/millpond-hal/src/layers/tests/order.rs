//! The order checker: what is a race and what is not.

use std::sync::Arc;

use crate::command::{Command, Pattern, Submission, Touch};
use crate::kernel::Access;
use crate::layers::{Layered, Order};
use crate::null::{NullDriver, NullOptions};
use crate::point::Point;
use crate::queue::{Joined, Queue, QueueOptions};
use crate::{Address, Driver};

const X: usize = 0x1000;

/// A driver under the checker and some queues of it; every third is out of order.
fn queues<const N: usize>() -> (Layered<Order>, [Arc<dyn Queue>; N]) {
    let (_null, driver, queues) = null_queues();
    (driver, queues)
}

fn null_queues<const N: usize>() -> (NullDriver, Layered<Order>, [Arc<dyn Queue>; N]) {
    let null = NullDriver::with(NullOptions {
        manual: true,
        ..NullOptions::default()
    });
    let driver = Layered::new(Arc::new(null.clone()), Order::default());
    let device = driver.devices().unwrap().remove(0);
    let queues = std::array::from_fn(|index| {
        let options = QueueOptions {
            out_of_order: index == 2,
            ..QueueOptions::default()
        };
        device.create_queue(&options).unwrap()
    });
    (null, driver, queues)
}

fn submit(queue: &Arc<dyn Queue>, command: Command, behind: &[Point]) -> Point {
    let submission = Submission {
        behind,
        ..Submission::new(command)
    };
    // SAFETY: the null device touches no memory, and each test submits from one thread.
    unsafe { queue.submit(submission).unwrap() }
}

fn fill(queue: &Arc<dyn Queue>, start: usize, bytes: usize, behind: &[Point]) -> Point {
    let pattern = Pattern::new(&[0]).unwrap();
    let dst = Address::new(start);
    submit(
        queue,
        Command::Fill {
            dst,
            pattern,
            bytes,
        },
        behind,
    )
}

fn read(queue: &Arc<dyn Queue>, start: usize, bytes: usize, behind: &[Point]) -> Point {
    let touches = [Touch {
        address: Address::new(start),
        bytes,
        access: Access::Read,
    }];
    let task = Command::Task {
        name: Arc::from("look"),
        task: Box::new(|| Ok(())),
    };
    let submission = Submission {
        behind,
        touches: &touches,
        origin: Some(Arc::from("model.py:7")),
        ..Submission::new(task)
    };
    // SAFETY: as above.
    unsafe { queue.submit(submission).unwrap() }
}

fn races(driver: &Layered<Order>) -> Vec<String> {
    let races = driver.layer().take_races();
    races.iter().map(ToString::to_string).collect()
}

#[test]
fn two_writes_in_no_order_are_told_with_both_commands() {
    let (driver, [a, b]) = queues();
    fill(&a, X, 64, &[]);
    read(&b, X + 32, 64, &[]);
    let found = driver.layer().take_races();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].bytes, X + 32..X + 64);
    let text = found[0].to_string();
    for part in [
        "fill of 64 bytes",
        "host task look",
        "model.py:7",
        "the 32 bytes at 0x1020",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn reads_do_not_race_and_neither_do_other_bytes() {
    let (driver, [a, b]) = queues();
    read(&a, X, 64, &[]);
    read(&b, X, 64, &[]);
    fill(&a, X + 64, 64, &[]);
    fill(&b, X + 128, 64, &[]);
    assert!(races(&driver).is_empty());
    fill(&a, X, 8, &[]);
    assert_eq!(races(&driver).len(), 1, "b's read is ordered with nothing");
}

#[test]
fn order_is_by_queue_by_point_and_transitive() {
    let (driver, [a, b, _c, d]) = queues();
    let one = fill(&a, X, 64, &[]);
    fill(&a, X, 64, &[]);
    let two = fill(&b, X + 64, 64, &[one]);
    // Behind a's first fill through b, not behind its second.
    read(&d, X, 64, &[two]);
    assert_eq!(races(&driver).len(), 1);
    let three = fill(&a, X + 256, 8, &[]);
    let four = fill(&b, X + 256, 8, &[three]);
    fill(&d, X + 256, 8, &[four]);
    assert!(races(&driver).is_empty());
}

#[test]
fn an_older_point_orders_nothing_later() {
    let (driver, [a, b]) = queues();
    let old = submit(&a, Command::Barrier, &[]);
    fill(&a, X, 64, &[]);
    fill(&b, X, 64, &[old]);
    assert_eq!(races(&driver).len(), 1);
}

#[test]
fn commands_of_an_out_of_order_queue_need_points_or_a_barrier() {
    let (driver, [a, b, c]) = queues();
    fill(&c, X, 64, &[]);
    fill(&c, X, 64, &[]);
    assert_eq!(races(&driver).len(), 1);
    let two = fill(&c, X + 64, 64, &[]);
    fill(&c, X + 64, 64, &[two]);
    // Behind the second of three, which says nothing of the first.
    fill(&a, X, 64, &[two]);
    assert_eq!(races(&driver).len(), 1);
    let barrier = submit(&c, Command::Barrier, &[]);
    // Another queue behind the barrier is behind all before it, and this queue too.
    fill(&b, X + 64, 64, &[barrier]);
    assert!(races(&driver).is_empty());
    fill(&c, X + 64, 64, &[]);
    assert_eq!(
        races(&driver).len(),
        1,
        "b's fill comes after the barrier, in no order with c's"
    );
    fill(&c, X + 128, 64, &[]);
    submit(&c, Command::Barrier, &[]);
    let last = fill(&c, X + 128, 64, &[]);
    fill(&a, X + 128, 64, &[last]);
    assert!(races(&driver).is_empty());
}

/// Joins work to a command of the queue.
fn join(queue: &Arc<dyn Queue>, point: Point, start: usize, access: Access) {
    let touches = [Touch {
        address: Address::new(start),
        bytes: 64,
        access,
    }];
    queue.joined(&Joined {
        sequence: point.sequence,
        command: Arc::from("fused(add, sqrt)"),
        touches: &touches,
        origin: Some(Arc::from("model.py:8")),
    });
}

#[test]
fn what_is_joined_to_a_command_comes_after_what_that_was_submitted_behind() {
    let (driver, [a, b]) = queues();
    let known = fill(&b, X, 64, &[]);
    fill(&b, X + 64, 64, &[]);
    fill(&a, X + 128, 64, &[]);
    let window = fill(&a, X + 192, 64, &[known]);
    join(&a, window, X, Access::Write);
    join(&a, window, X + 128, Access::Update);
    join(&a, window, X + 192, Access::Update);
    assert!(races(&driver).is_empty());
    join(&a, window, X + 64, Access::Read);
    let found = races(&driver);
    assert_eq!(found.len(), 1);
    for part in ["fused(add, sqrt)", "model.py:8", "fill of 64 bytes"] {
        assert!(found[0].contains(part), "{}", found[0]);
    }
}

#[test]
fn others_must_be_ordered_with_what_was_joined() {
    let (driver, [a, b]) = queues();
    let window = fill(&a, X, 64, &[]);
    join(&a, window, X + 64, Access::Read);
    join(&a, window, X + 128, Access::Write);
    read(&b, X + 64, 64, &[]);
    assert!(races(&driver).is_empty());
    read(&b, X + 128, 64, &[]);
    assert_eq!(
        races(&driver).len(),
        1,
        "nothing orders b behind the window"
    );
    fill(&b, X + 128, 64, &[window]);
    fill(&a, X + 64, 64, &[]);
    assert_eq!(
        races(&driver).len(),
        1,
        "b reads what a's second fill writes"
    );
}

#[test]
fn what_has_finished_is_before_everything() {
    let (null, driver, [a, b]) = null_queues();
    fill(&a, X, 64, &[]);
    assert_eq!(null.run_all(), 1);
    fill(&b, X, 64, &[]);
    assert!(races(&driver).is_empty());
}
