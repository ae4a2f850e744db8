//! The order checker: the life of memory, and uses of it by address.

use std::ops::Range;
use std::sync::Arc;

use crate::command::{Command, Submission, Touch};
use crate::kernel::Access;
use crate::layers::{Conflict, Layered, Order, Trace, Validate};
use crate::life::Life;
use crate::null::NullDriver;
use crate::point::Point;
use crate::queue::{Queue, QueueOptions};
use crate::{Address, Device, Driver};

/// Queues that finish nothing by themselves, and what tells of memory.
struct World {
    null: NullDriver,
    order: Arc<Layered<Order>>,
    device: Arc<dyn Device>,
    queues: [Arc<dyn Queue>; 3],
}

fn world() -> World {
    let null = NullDriver::with(crate::null::NullOptions {
        manual: true,
        ..crate::null::NullOptions::default()
    });
    let order = Arc::new(Layered::new(Arc::new(null.clone()), Order::default()));
    // Other layers pass on what pools tell.
    let driver = Layered::new(
        Arc::new(Layered::new(
            Arc::clone(&order) as Arc<dyn Driver>,
            Trace::default(),
        )),
        Validate::default(),
    );
    let device = driver.devices().unwrap().remove(0);
    let queues = std::array::from_fn(|index| {
        let options = QueueOptions {
            out_of_order: index == 2,
            ..QueueOptions::default()
        };
        device.create_queue(&options).unwrap()
    });
    World {
        null,
        order,
        device,
        queues,
    }
}

impl World {
    /// A command of a queue that uses bytes by their address.
    fn claim(&self, queue: usize, bytes: Range<usize>, behind: &[Point]) -> Point {
        let claims = [Touch {
            address: Address::new(bytes.start),
            bytes: bytes.len(),
            access: Access::Write,
        }];
        let command = Command::Task {
            name: Arc::from("solve"),
            task: Box::new(|| Ok(())),
        };
        let submission = Submission {
            behind,
            claims: &claims,
            origin: Some(Arc::from("model.py:7")),
            ..Submission::new(command)
        };
        // SAFETY: the null device touches no memory, and each test submits from one thread.
        unsafe { self.queues[queue].submit(submission).unwrap() }
    }

    fn point(&self, queue: usize, sequence: u64) -> Point {
        Point {
            queue: self.queues[queue].id(),
            sequence,
        }
    }

    fn begin(&self, bytes: Range<usize>, after: &[Point]) {
        self.device.note(&Life::Begin {
            bytes,
            at: self.point(0, 0),
            after,
            origin: Some(Arc::from("model.py:3")),
        });
    }

    fn end(&self, bytes: Range<usize>, after: &[Point]) {
        self.device.note(&Life::End {
            bytes,
            at: self.point(0, 0),
            after,
            origin: Some(Arc::from("model.py:9")),
        });
    }

    fn conflicts(&self) -> Vec<(Conflict, Range<usize>)> {
        let races = self.order.layer().take_races();
        races
            .into_iter()
            .map(|race| (race.conflict, race.bytes))
            .collect()
    }
}

#[test]
fn uses_between_begin_and_end_are_silent() {
    let world = world();
    assert!(world.device.listens());
    world.begin(0x1000..0x1400, &[]);
    let one = world.claim(0, 0x1000..0x1200, &[]);
    let two = world.claim(1, 0x1100..0x1400, &[one]);
    world.end(0x1000..0x1400, &[two]);
    // Again, by another owner, who comes behind the free.
    world.begin(0x1000..0x1400, &[two]);
    let three = world.claim(1, 0x1000..0x1400, &[]);
    world.end(0x1000..0x1400, &[three]);
    assert_eq!(world.conflicts(), []);
}

#[test]
fn a_use_before_the_allocation_is_told_with_both_lines() {
    let world = world();
    let free = world.claim(1, 0x9000..0x9100, &[]);
    world.begin(0x1000..0x1400, &[free]);
    world.claim(0, 0x1300..0x1500, &[]);
    let races = world.order.layer().take_races();
    assert_eq!(races.len(), 1);
    assert_eq!(races[0].conflict, Conflict::BeforeAllocation);
    assert_eq!(races[0].bytes, 0x1300..0x1400);
    let text = races[0].to_string();
    for part in [
        "host task solve",
        "model.py:7",
        "the 256 bytes at 0x1300",
        "before",
        "allocation of 1024 bytes",
        "model.py:3",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // Behind the point, or once it is reached.
    let solved = world.claim(0, 0x1000..0x1010, &[free]);
    world.null.run_all();
    world.claim(2, 0x1020..0x1030, &[]);
    let _ = solved;
    assert_eq!(world.conflicts(), []);
}

#[test]
fn a_use_after_the_free_is_told_with_both_lines() {
    let world = world();
    world.begin(0x1000..0x1400, &[]);
    world.end(0x1000..0x1400, &[]);
    world.null.run_all();
    world.claim(0, 0x0f00..0x1010, &[]);
    let races = world.order.layer().take_races();
    assert_eq!(races.len(), 1);
    assert_eq!(races[0].conflict, Conflict::AfterFree);
    assert_eq!(races[0].bytes, 0x1000..0x1010);
    let text = races[0].to_string();
    for part in [
        "solve",
        "model.py:7",
        "after free of 1024 bytes",
        "model.py:9",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_free_that_does_not_come_behind_a_use_is_told() {
    let world = world();
    world.begin(0x1000..0x1400, &[]);
    let one = world.claim(0, 0x1000..0x1100, &[]);
    let two = world.claim(1, 0x1200..0x1300, &[]);
    world.end(0x1000..0x1400, &[one]);
    let races = world.order.layer().take_races();
    assert_eq!(races.len(), 1);
    assert_eq!(races[0].conflict, Conflict::FreedInUse);
    assert_eq!(races[0].bytes, 0x1200..0x1300);
    assert_eq!(races[0].first.point, two);
    let text = races[0].to_string();
    assert!(
        text.contains("free of 1024 bytes") && text.contains("model.py:9"),
        "{text}"
    );
    assert!(
        text.contains("solve") && text.contains("model.py:7"),
        "{text}"
    );
}

#[test]
fn a_use_that_has_finished_needs_no_order_with_the_free() {
    let world = world();
    world.begin(0x1000..0x1400, &[]);
    world.claim(1, 0x1000..0x1400, &[]);
    world.null.run_all();
    world.end(0x1000..0x1400, &[]);
    assert_eq!(world.conflicts(), []);
}

#[test]
fn memory_that_is_handed_out_while_it_is_used_is_told() {
    let world = world();
    world.begin(0x1000..0x1400, &[]);
    let used = world.claim(0, 0x1000..0x1100, &[]);
    world.end(0x1000..0x1400, &[used]);
    world.begin(0x1000..0x1080, &[used]);
    assert_eq!(world.conflicts(), []);
    world.begin(0x1080..0x1200, &[]);
    assert_eq!(
        world.conflicts(),
        [(Conflict::AllocatedInUse, 0x1080..0x1100)]
    );
}

#[test]
fn bytes_are_allocated_once() {
    let world = world();
    world.begin(0x1000..0x1400, &[]);
    world.begin(0x1300..0x1600, &[]);
    assert_eq!(
        world.conflicts(),
        [(Conflict::AllocatedTwice, 0x1300..0x1400)]
    );
}

#[test]
fn a_part_that_is_a_pool_has_a_life_of_its_own() {
    let world = world();
    let part = 0x1100..0x1300;
    world.begin(0x1000..0x1400, &[]);
    world.device.note(&Life::Lend {
        bytes: part.clone(),
    });
    world.begin(0x1100..0x1200, &[]);
    let used = world.claim(0, 0x1100..0x1200, &[]);
    world.end(0x1100..0x1200, &[used]);
    world.claim(0, 0x1180..0x1190, &[]);
    assert_eq!(world.conflicts(), [(Conflict::AfterFree, 0x1180..0x1190)]);
    world.device.note(&Life::Return { bytes: part });
    let used = world.claim(0, 0x1000..0x1400, &[]);
    world.end(0x1000..0x1400, &[used]);
    assert_eq!(world.conflicts(), []);
}

#[test]
fn memory_that_went_back_to_the_driver_is_forgotten() {
    let world = world();
    let layout = std::alloc::Layout::from_size_align(0x1000, 0x1000).unwrap();
    let kind = millpond_types::MemoryKind::Device;
    let memory = world.device.allocate(kind, layout).unwrap();
    let begin = memory.address.get();
    world.begin(begin..begin + 64, &[]);
    world.end(begin..begin + 64, &[]);
    // SAFETY: it came from this device and nothing uses it.
    unsafe { world.device.release(memory) };
    world.claim(0, begin..begin + 64, &[]);
    assert_eq!(world.conflicts(), []);
}
