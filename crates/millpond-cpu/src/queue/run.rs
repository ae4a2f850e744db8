//! How a command is carried out by the thread that has begun it.

use millpond_hal::{Address, Command, Failure, HostTask};

use super::line::Notes;
use super::{Begun, CpuQueue, Role, TURN};
use crate::executor::{Launch, Spread, discard, guard, transfer};
use crate::sync::{Arc, Ordering};

impl CpuQueue {
    /// Runs what may start of a queue that was taken from the board.
    pub(crate) fn pursue(self: &Arc<Self>) {
        self.listed.store(false, Ordering::Release);
        if let Some(begun) = self.begin(&Role::Worker) {
            self.pursue_from(begun);
        }
    }

    /// Runs a command and those after it, for a while if there is other work.
    pub(crate) fn pursue_from(self: &Arc<Self>, begun: Begun) {
        let mut next = Some(begun);
        let mut turn = TURN;
        while let Some(begun) = next {
            turn = turn.saturating_sub(1);
            let role = if turn == 0 && self.crew().board.has_offers() {
                Role::Leaving
            } else {
                Role::Worker
            };
            next = self.run(begun, &role);
        }
    }

    /// Runs a command. If it is finished on return, and by this thread, answers with the next
    /// one that the role permits.
    pub(crate) fn run(self: &Arc<Self>, begun: Begun, role: &Role<'_>) -> Option<Begun> {
        let Begun {
            sequence,
            command,
            failure,
            notes: Notes { origin, watch },
        } = begun;
        if failure.is_some() {
            discard(command);
            return self.conclude(sequence, failure.as_ref(), role);
        }
        let command = match command {
            Command::Launch { kernel, bases } => {
                let launch = Launch { kernel, bases };
                return self.launch(sequence, launch, Notes { origin, watch }, role);
            }
            command => command,
        };
        if let Some(watch) = watch {
            watch.began();
        }
        let failure = match command {
            Command::Task { name, task } => run_task(name, task, origin),
            Command::Copy { src, dst, bytes } => {
                let kernel = transfer::Copy {
                    bytes,
                    streaming: bytes > self.crew().last_cache() / 2,
                };
                return self.transfer(sequence, kernel, &[src, dst], bytes, origin, role);
            }
            Command::Fill {
                dst,
                pattern,
                bytes,
            } => {
                let kernel = transfer::Fill {
                    bytes,
                    pattern,
                    streaming: bytes > self.crew().last_cache(),
                };
                return self.transfer(sequence, kernel, &[dst], bytes, origin, role);
            }
            Command::Gate(gate) => {
                let queue = Arc::clone(self);
                gate.on_open(move |outcome| queue.pass_gate(sequence, outcome));
                return None;
            }
            // Host memory needs neither; `submit` lets no command pass that isn't named here.
            _ => None,
        };
        self.conclude(sequence, failure.as_ref(), role)
    }

    /// Whether [`CpuQueue::run`] knows what to do with a command.
    pub(super) fn offers(command: &Command) -> bool {
        matches!(
            command,
            Command::Task { .. }
                | Command::Launch { .. }
                | Command::Copy { .. }
                | Command::Fill { .. }
                | Command::Gate(_)
                | Command::Prefetch { .. }
                | Command::Advise { .. }
                | Command::Barrier
        )
    }

    fn transfer(
        self: &Arc<Self>,
        sequence: u64,
        kernel: impl millpond_hal::HostKernel + 'static,
        bases: &[Address],
        bytes: usize,
        origin: Option<Arc<str>>,
        role: &Role<'_>,
    ) -> Option<Begun> {
        if bytes >= transfer::SHARED {
            let launch = Launch {
                kernel: Arc::new(kernel),
                bases: bases.into(),
            };
            let watch = None;
            return self.launch(sequence, launch, Notes { origin, watch }, role);
        }
        // SAFETY: the submitter promised A1 to A4 for the ranges that the kernel declares; it is
        // run once, over the whole extent. It can't fail.
        let _ = unsafe { kernel.run(bases, 0..kernel.extent()) };
        self.conclude(sequence, None, role)
    }

    fn launch(
        self: &Arc<Self>,
        sequence: u64,
        launch: Launch,
        Notes { origin, watch }: Notes,
        role: &Role<'_>,
    ) -> Option<Begun> {
        let crew = self.crew();
        let size = match launch.begin() {
            Ok(size) => size,
            Err(fault) => {
                let failure = launch.end(Err(fault), origin);
                return self.conclude(sequence, failure.as_ref(), role);
            }
        };
        if let Some(watch) = watch {
            watch.began();
        }
        match Spread::new(self, sequence, launch, size, origin, crew.width()) {
            Ok(spread) => {
                crew.answer(crew.board.add_share(&spread));
                spread.participate(role).map(|(_, begun)| begun)
            }
            Err((launch, origin)) => {
                let outcome = if size.extent == 0 {
                    Ok(())
                } else {
                    // SAFETY: the submitter promised the kernel's rules; this is the only call.
                    unsafe { launch.run(0..size.extent) }
                };
                // SAFETY: as above; the call of `run` has returned.
                let outcome = outcome.and_then(|()| unsafe { launch.finish() });
                let failure = launch.end(outcome, origin);
                self.conclude(sequence, failure.as_ref(), role)
            }
        }
    }
}

fn run_task(name: Arc<str>, task: HostTask, origin: Option<Arc<str>>) -> Option<Failure> {
    let fault = guard(task).err()?;
    // Stands for the command, whose closure is used up, in the message.
    let command = Command::Task {
        name,
        task: Box::new(|| Ok(())),
    };
    Some(fault.of(command, origin))
}
