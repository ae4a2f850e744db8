//! A queue with safe calls for each command.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use millpond_hal::{
    Command, Device, DeviceError, Failure, Gate, HostKernel, Pattern, Point, Queue, QueueOptions,
    Submission, Wait, Watch,
};

use super::kernel::Increment;
use super::memory::Part;

/// A queue whose submissions are serialised.
pub struct Line {
    device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
    in_order: bool,
    /// Who watches the next command. Locked by every submission (rule A4).
    watch: Mutex<Option<Arc<dyn Watch>>>,
}

impl Line {
    /// A queue of a device.
    ///
    /// # Errors
    /// Those of [`Device::create_queue`].
    pub fn new(device: &Arc<dyn Device>, options: &QueueOptions) -> Result<Self, DeviceError> {
        Ok(Self {
            device: Arc::clone(device),
            queue: device.create_queue(options)?,
            in_order: !options.out_of_order,
            watch: Mutex::new(None),
        })
    }

    /// An in-order queue.
    pub fn in_order(device: &Arc<dyn Device>) -> Self {
        Self::new(device, &QueueOptions::default()).expect("a device offers in-order queues")
    }

    /// An out-of-order queue; `None` where the device has none.
    pub fn out_of_order(device: &Arc<dyn Device>) -> Option<Self> {
        let options = QueueOptions {
            out_of_order: true,
            ..QueueOptions::default()
        };
        match Self::new(device, &options) {
            Ok(line) => Some(line),
            Err(DeviceError::Unsupported { .. }) => None,
            Err(error) => panic!("an out-of-order queue: {error}"),
        }
    }

    /// The queue.
    pub fn queue(&self) -> &Arc<dyn Queue> {
        &self.queue
    }

    /// Has the command that is submitted next be watched.
    pub fn watch_next(&self, watch: Arc<dyn Watch>) {
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch);
    }

    /// Submits a task that can fail.
    pub fn task(
        &self,
        after: &[Point],
        task: impl FnOnce() -> Result<(), String> + Send + 'static,
    ) -> Point {
        self.must(after, named_task("test", task), &[])
    }

    /// Submits a task that can't fail.
    pub fn run(&self, after: &[Point], task: impl FnOnce() + Send + 'static) -> Point {
        self.task(after, move || {
            task();
            Ok(())
        })
    }

    /// Submits a closed gate.
    pub fn gate(&self, after: &[Point]) -> (Gate, Point) {
        let gate = Gate::new();
        let point = self.must(after, Command::Gate(gate.clone()), &[]);
        (gate, point)
    }

    /// Submits a barrier.
    pub fn barrier(&self, after: &[Point]) -> Point {
        self.must(after, Command::Barrier, &[])
    }

    /// Submits a task that starts after points whose failures it doesn't share.
    pub fn run_behind(&self, behind: &[Point], task: impl FnOnce() + Send + 'static) -> Point {
        let command = named_task("test", move || {
            task();
            Ok(())
        });
        self.submit(Submission {
            behind,
            ..Submission::new(command)
        })
        .unwrap_or_else(|error| panic!("a task behind points: {error}"))
    }

    /// Submits a command that names no memory.
    ///
    /// # Errors
    /// Those of [`Queue::submit`].
    pub fn submit(&self, submission: Submission<'_>) -> Result<Point, DeviceError> {
        assert!(
            matches!(
                submission.command,
                Command::Task { .. } | Command::Gate(_) | Command::Barrier
            ),
            "{} names no memory",
            submission.command
        );
        self.submit_on(submission, &[])
    }

    /// Submits a copy between parts of one length.
    pub fn copy(&self, after: &[Point], src: &Part<'_>, dst: &Part<'_>) -> Point {
        assert_eq!(src.range.len(), dst.range.len(), "a copy has one length");
        assert!(
            !std::ptr::eq(src.memory, dst.memory)
                || src.range.end <= dst.range.start
                || dst.range.end <= src.range.start,
            "the ranges of a copy don't overlap"
        );
        assert!(src.memory.is_initialised(), "only written memory is copied");
        let command = Command::Copy {
            src: src.address(),
            dst: dst.address(),
            bytes: src.range.len(),
        };
        self.must(after, command, &[(src, false), (dst, true)])
    }

    /// Submits a fill.
    pub fn fill(&self, after: &[Point], dst: &Part<'_>, pattern: &[u8]) -> Point {
        assert!(
            dst.range.len().is_multiple_of(pattern.len()),
            "whole patterns"
        );
        let command = Command::Fill {
            dst: dst.address(),
            pattern: Pattern::new(pattern).expect("a pattern has 1, 2, 4, 8 or 16 bytes"),
            bytes: dst.range.len(),
        };
        self.must(after, command, &[(dst, true)])
    }

    /// Submits a kernel over the beginning of a part.
    pub fn launch(&self, after: &[Point], kernel: &Arc<Increment>, operand: &Part<'_>) -> Point {
        assert!(
            kernel.extent() <= operand.range.len() && operand.memory.is_initialised(),
            "the kernel's footprint lies in written memory"
        );
        let command = Command::Launch {
            kernel: Arc::<Increment>::clone(kernel),
            bases: std::iter::once(operand.address()).collect(),
        };
        // The kernel only updates, so it initialises nothing.
        self.must(after, command, &[(operand, false)])
    }

    /// Waits for a command of this queue without a deadline.
    pub fn wait(&self, point: Point) {
        assert_eq!(point.queue, self.queue.id(), "a point of this queue");
        assert_eq!(self.queue.wait(point.sequence, None), Wait::Reached);
    }

    /// Waits for a command of this queue and tells how it ended.
    ///
    /// # Errors
    /// The command's failure.
    pub fn outcome(&self, point: Point) -> Result<(), Failure> {
        self.wait(point);
        self.queue
            .outcome(point.sequence)
            .expect("a command that was waited for has an outcome")
    }

    /// Waits for a command of this queue that must fail.
    pub fn failure(&self, point: Point) -> Failure {
        self.outcome(point)
            .expect_err("the command was made to fail")
    }

    /// Whether a command of this queue has finished.
    pub fn reached(&self, point: Point) -> bool {
        self.queue.reached(point.sequence)
    }

    fn must(&self, after: &[Point], command: Command, parts: &[(&Part<'_>, bool)]) -> Point {
        let name = command.to_string();
        let submission = Submission {
            after,
            ..Submission::new(command)
        };
        self.submit_on(submission, parts)
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Submits a command that names these parts and writes those marked so.
    fn submit_on(
        &self,
        mut submission: Submission<'_>,
        parts: &[(&Part<'_>, bool)],
    ) -> Result<Point, DeviceError> {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        submission.watch = watch.take();
        for (part, _) in parts {
            assert!(
                part.memory.is_of(&self.device),
                "memory of the queue's device"
            );
            part.memory.check_order(&*self.queue, &submission);
        }
        // SAFETY: A1: `record` below makes each memory outlive the command, and the parts borrow
        // it until then. A2 and A3: checked above. A4: `watch` is locked. A launch is made only by
        // `launch`, which checks that the footprint is initialised and allocated.
        let point = unsafe { self.queue.submit(submission)? };
        for (part, writes) in parts {
            let whole = *writes && part.is_whole();
            part.memory
                .record(&self.queue, point.sequence, self.in_order, whole);
        }
        drop(watch);
        Ok(point)
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("queue", &self.queue.id())
            .field("in_order", &self.in_order)
            .finish_non_exhaustive()
    }
}

/// A task command.
pub fn named_task(
    name: &str,
    task: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> Command {
    Command::Task {
        name: Arc::from(name),
        task: Box::new(task),
    }
}
