//! How many instructions a pair of allocation and free takes: a number that no noise changes.
//!
//! `cargo run --release -p millpond-runtime --example pair_instructions` prints a line for each
//! case: its name and the instructions of one pair. A child of this process is run step by step
//! under `ptrace`, from one stop of its own to the next; twice as many pairs tell what a pair is
//! and what surrounds them. Where that can't be done, the program says why and ends well.
//! `cargo xtask gate` compares the figures with those that were agreed on.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints what it measured"
)]
#![allow(
    unsafe_code,
    reason = "the system's calls for tracing are asked directly"
)]

/// Pairs that are counted; and twice as many.
const PAIRS: usize = 50;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() {
    for (name, pairs) in cases::ALL {
        match trace::steps(*pairs) {
            Ok([once, twice]) => println!("{name}: {}", (twice - once) / PAIRS as u64),
            Err(why) => println!("skipped: {name}: {why}"),
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() {
    let _ = (PAIRS, cases::ALL);
    println!("skipped: instructions are counted on Linux on x86-64 only");
}

mod cases {
    //! What is counted.

    use std::hint::black_box;
    use std::sync::Arc;

    use millpond_hal::null::{NullDriver, NullOptions};
    use millpond_hal::{Access, Driver, QueueOptions};
    use millpond_runtime::{MemoryKind, PoolOptions, Queue, Registry, Use};

    use super::PAIRS;

    /// Stops the process for whoever watches it.
    pub(crate) type Mark = fn();

    /// A case: pairs between two marks, then twice as many between two more.
    pub(crate) type Pairs = fn(Mark);

    /// All cases by name.
    pub(crate) const ALL: &[(&str, Pairs)] = &[
        ("same queue, a size class", |mark| same_queue(1000, mark)),
        ("same queue, its lock held", lock_held),
        ("same queue, a large size", |mark| {
            same_queue(64 << 20, mark);
        }),
        ("same queue, a gigabyte", |mark| same_queue(1 << 30, mark)),
        ("another queue, never used", |mark| {
            another_queue(Before::Nothing, mark);
        }),
        ("another queue, through an event", |mark| {
            another_queue(Before::Followed, mark);
        }),
        ("another queue, completed", |mark| {
            another_queue(Before::Completed, mark);
        }),
    ];

    /// What was done with memory when another queue asks for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Before {
        Nothing,
        /// A command, which hasn't run; the other queue waits for an event behind it.
        Followed,
        Completed,
    }

    fn default_queue() -> Queue {
        // An eighth of such a device is less than a gigabyte.
        let driver = NullDriver::with(NullOptions {
            memory: 4 << 30,
            ..NullOptions::default()
        });
        let devices = Registry::new(&[Arc::new(driver) as Arc<dyn Driver>]);
        devices.default_device().unwrap().default_queue().unwrap()
    }

    /// The same as `same_queue`, by who holds the queue's lock.
    fn lock_held(mark: Mark) {
        default_queue().hold(|queue| {
            let pairs = |count: usize| {
                for _ in 0..count {
                    let memory = queue.allocate(MemoryKind::Device, black_box(1000));
                    queue.free(black_box(memory.unwrap()));
                }
            };
            pairs(100);
            for count in [PAIRS, 2 * PAIRS] {
                mark();
                pairs(count);
                mark();
            }
        });
    }

    /// A queue that finds what it freed a moment ago.
    fn same_queue(bytes: usize, mark: Mark) {
        let queue = default_queue();
        let pairs = |count: usize| {
            for _ in 0..count {
                drop(black_box(
                    queue
                        .allocate(MemoryKind::Device, black_box(bytes))
                        .unwrap(),
                ));
            }
        };
        pairs(100);
        for count in [PAIRS, 2 * PAIRS] {
            mark();
            pairs(count);
            mark();
        }
    }

    /// A queue that finds what another one freed, in a pool that has nothing else.
    fn another_queue(before: Before, mark: Mark) {
        let driver = NullDriver::with(NullOptions {
            manual: true,
            ..NullOptions::default()
        });
        let devices = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]);
        let device = devices.default_device().unwrap();
        let queue = || device.create_queue(&QueueOptions::default()).unwrap();
        for count in [PAIRS, 2 * PAIRS] {
            let (first, second) = (queue(), queue());
            let options = PoolOptions {
                maximum_size: Some((count + 1) << 10),
                ..PoolOptions::default()
            };
            let pool = device.create_pool(MemoryKind::Device, options).unwrap();
            let allocate = |queue: &Queue| queue.allocate_from(&pool, 1000).unwrap();
            let mut blocks: Vec<_> = (0..=count).map(|_| allocate(&first)).collect();
            for memory in blocks.iter().filter(|_| before != Before::Nothing) {
                let access = Access::Write;
                let uses = [Use {
                    allocation: memory,
                    access,
                }];
                first.task("use", &uses, || Ok(())).unwrap();
            }
            blocks.clear();
            match before {
                Before::Nothing => {}
                Before::Followed => second.wait_for(&first.record().unwrap()).unwrap(),
                Before::Completed => assert!(driver.run_all() > 0),
            }
            // The second queue holds what it got, so that it has to look every time.
            let mut held = Vec::with_capacity(count + 1);
            held.push(allocate(&second));
            mark();
            for _ in 0..count {
                held.push(black_box(allocate(&second)));
            }
            held.clear();
            mark();
            driver.run_all();
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trace {
    //! Counting the steps of a child.

    use std::io::{Error, Result};
    use std::ptr::null_mut;

    use crate::cases::Mark;

    /// Instructions between the child's first and second stop, and between the third and fourth.
    ///
    /// # Errors
    /// The system doesn't let a process be traced, or the child ended early.
    pub(crate) fn steps(body: fn(Mark)) -> Result<[u64; 2]> {
        // SAFETY: this process has one thread, so the child may do whatever it could.
        let child = unsafe { libc::fork() };
        match child {
            -1 => Err(Error::last_os_error()),
            0 => be_traced(body),
            _ => {
                let counts = watch(child);
                // SAFETY: the child is this process's own and wasn't waited for to its end.
                unsafe { libc::kill(child, libc::SIGKILL) };
                let mut status = 0;
                // SAFETY: the status is a number that the call may write.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                counts
            }
        }
    }

    /// The child's part, which never returns.
    fn be_traced(body: fn(Mark)) -> ! {
        // SAFETY: asking to be traced by the parent has no requirements.
        let answer =
            unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, null_mut::<u8>(), null_mut::<u8>()) };
        let code = if answer == 0 {
            body(stop);
            0
        } else {
            Error::last_os_error().raw_os_error().unwrap_or(1)
        };
        // SAFETY: nothing of the child has to be cleaned up.
        unsafe { libc::_exit(code) }
    }

    /// Hands over to the parent.
    fn stop() {
        // SAFETY: the signal stops a traced process and changes nothing else.
        unsafe { libc::raise(libc::SIGTRAP) };
    }

    fn watch(child: libc::pid_t) -> Result<[u64; 2]> {
        wait_stopped(child)?;
        let once = count_steps(child)?;
        resume(child, libc::PTRACE_CONT)?;
        let twice = count_steps(child)?;
        Ok([once, twice])
    }

    /// Steps from one stop to the next. A step ends with the same signal as a stop of the child's
    /// own, which alone was sent by a process.
    fn count_steps(child: libc::pid_t) -> Result<u64> {
        let mut steps = 0;
        loop {
            resume(child, libc::PTRACE_SINGLESTEP)?;
            steps += 1;
            if was_sent(child)? {
                return Ok(steps);
            }
        }
    }

    fn was_sent(child: libc::pid_t) -> Result<bool> {
        // SAFETY: the structure is plain data, for which zeros are valid.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the child is stopped, and the structure is what the call writes.
        let answer = unsafe {
            libc::ptrace(
                libc::PTRACE_GETSIGINFO,
                child,
                null_mut::<u8>(),
                &raw mut info,
            )
        };
        if answer == -1 {
            return Err(Error::last_os_error());
        }
        Ok(info.si_code == libc::SI_TKILL)
    }

    /// Lets the child go on, and waits for its next stop.
    fn resume(child: libc::pid_t, how: libc::c_uint) -> Result<()> {
        // SAFETY: the child is stopped; no signal is passed on.
        let answer = unsafe { libc::ptrace(how, child, null_mut::<u8>(), null_mut::<u8>()) };
        if answer == -1 {
            return Err(Error::last_os_error());
        }
        wait_stopped(child)
    }

    fn wait_stopped(child: libc::pid_t) -> Result<()> {
        let mut status = 0;
        // SAFETY: the status is a number that the call may write.
        let answer = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if answer == -1 {
            return Err(Error::last_os_error());
        }
        if libc::WIFEXITED(status) {
            return Err(Error::from_raw_os_error(libc::WEXITSTATUS(status)));
        }
        if libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP {
            return Ok(());
        }
        Err(Error::other(format!(
            "the child ended with status {status:#x}"
        )))
    }
}
