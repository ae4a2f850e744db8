//! Kernels by the device.
//!
//! Which launches a command becomes is settled when it begins. If the program is there, it is given to
//! the device like any other command. If it has yet to be made, and there is a program of code that does
//! its work [meanwhile](DeviceCode::meanwhile), that is launched, and a thread makes the kernel's own;
//! else a queue in order waits for it. A kernel that comes to no program is the host's.

use std::sync::Arc;

use millpond_hal::code::{Call, Launch};
use millpond_hal::{Address, Command, DeviceCode, HostKernel};
use smallvec::SmallVec;

use super::dependent::Effects;
use super::line::{Begun, Report};
use super::{CudaQueue, State, Work};
use crate::card::{CudaError, Current};
use crate::crew::guard;
use crate::lanes::Lane;
use crate::library::{self, Job};
use crate::order::Order;
use crate::program::{Program, key};

/// What is known of a kernel's program.
enum Found {
    /// It is there.
    Program(Arc<Program>),
    /// That which does its work meanwhile is; its own has yet to be made.
    Meanwhile(Arc<Program>, Option<Order>),
    /// A library does it.
    Job(Box<Job>),
    /// The kernel has no code, or it doesn't compile.
    None,
    /// A thread has to look, which may take a while.
    Unknown,
}

/// What a kernel became that had no program: code, or a library's work.
#[derive(Default)]
struct Prepared {
    program: Option<Arc<Program>>,
    is_meanwhile: bool,
    job: Option<Box<Job>>,
    /// What remains to be made, when the kernel is on its way.
    order: Option<Order>,
}

/// The argument of an entry, where a structure of numbers may lie, with zeros behind it for the gap at
/// its end.
type Padded = SmallVec<[u128; 16]>;

impl CudaQueue {
    /// Gives a kernel to the device, or to who has to make its program, or leaves it to the host.
    pub(super) fn launch(
        self: &Arc<Self>,
        state: &mut State,
        mut begun: Begun,
        effects: &mut Effects,
    ) {
        let Command::Launch { kernel, bases } = &begun.command else {
            return self.issue(state, begun, effects);
        };
        if begun.failure.is_some() {
            return self.issue(state, begun, effects);
        }
        // Which lane it will be is known of a queue in order.
        let lane = state.lanes.first().filter(|_| self.in_order);
        let key = &mut state.key;
        match guard(|| Ok(self.find(kernel, bases, lane, key))) {
            Ok(Found::Job(job)) => {
                begun.job = Some(job);
                self.issue(state, begun, effects);
            }
            Ok(Found::Program(program)) => {
                begun.program = Some(program);
                self.issue(state, begun, effects);
            }
            Ok(Found::Meanwhile(program, order)) => {
                effects.make(order);
                (begun.program, begun.is_meanwhile) = (Some(program), true);
                self.issue(state, begun, effects);
            }
            Ok(Found::None) => state.line.leave_to_host(begun),
            Ok(Found::Unknown) => {
                state.line.hold_back(true);
                effects.run(begun);
            }
            Err((kind, reason)) => {
                begun.failure = Some(begun.fail(kind, reason));
                self.issue(state, begun, effects);
            }
        }
    }

    fn find(
        &self,
        kernel: &Arc<dyn HostKernel>,
        bases: &[Address],
        lane: Option<&Lane>,
        key: &mut Vec<u8>,
    ) -> Found {
        if kernel.grows() {
            return Found::Unknown;
        }
        kernel.begin();
        match self.station.find_job(&**kernel, bases, lane) {
            library::Found::Job(job) => return Found::Job(job),
            library::Found::Unknown => return Found::Unknown,
            library::Found::None => {}
        }
        let Some(code) = kernel.device_code() else {
            return Found::None;
        };
        key.clear();
        code.key(key);
        match self.station.programs.find(key) {
            Some(Some(program)) => Found::Program(program),
            Some(None) => Found::None,
            None => {
                let Some(meanwhile) = code.meanwhile() else {
                    return Found::Unknown;
                };
                key.clear();
                meanwhile.key(key);
                match self.station.programs.find(key) {
                    Some(Some(program)) => {
                        Found::Meanwhile(program, Order::of_own(&self.station, kernel))
                    }
                    _ => Found::Unknown,
                }
            }
        }
    }

    /// Has a kernel begin and its program made, on a thread, and goes on with it.
    pub(super) fn prepare(self: &Arc<Self>, mut begun: Begun) -> Option<Work> {
        let made = match &begun.command {
            Command::Launch { kernel, bases } => guard(|| Ok(self.make(kernel, bases))),
            _ => Ok(Ok(Prepared::default())),
        };
        let mut effects = Effects::of(self);
        {
            let mut state = self.lock();
            state.line.hold_back(false);
            let failure = match made {
                Ok(Ok(made)) => {
                    (begun.program, begun.is_meanwhile) = (made.program, made.is_meanwhile);
                    begun.job = made.job;
                    effects.make(made.order);
                    None
                }
                Ok(Err(error)) => Some(begun.fail_by(&error)),
                Err((kind, reason)) => Some(begun.fail(kind, reason)),
            };
            let is_hosts = begun.program.is_none() && begun.job.is_none();
            if is_hosts && failure.is_none() {
                state.line.leave_to_host(begun);
            } else {
                begun.failure = failure;
                self.issue(&mut state, begun, &mut effects);
            }
            self.advance(&mut state, &mut effects);
        }
        effects.carry_out_but_one()
    }

    /// What a kernel becomes, as quickly as may be.
    fn make(&self, kernel: &Arc<dyn HostKernel>, bases: &[Address]) -> Result<Prepared, CudaError> {
        kernel.begin();
        let station = &self.station;
        match station.make_job(&**kernel, bases) {
            Ok(None) => {}
            // What the library doesn't take is done as if there were none.
            Err(error) if error.loss().is_none() => station.complain(&error),
            job => {
                let job = job?;
                return Ok(Prepared {
                    job,
                    ..Prepared::default()
                });
            }
        }
        let (Some(code), Some(workshop)) = (kernel.device_code(), &station.system.workshop) else {
            return Ok(Prepared::default());
        };
        let current = station.card.enter()?;
        let make = |code: &dyn DeviceCode, compiles| {
            let key = key(code);
            station
                .programs
                .make(&current, workshop, &key, code, compiles)
        };
        let mut prepared = Prepared::default();
        let Some(meanwhile) = code.meanwhile() else {
            prepared.program = make(code, true).flatten();
            return Ok(prepared);
        };
        if let Some(own) = make(code, false) {
            prepared.program = own;
        } else if let Some(Some(program)) = make(meanwhile, false) {
            (prepared.program, prepared.is_meanwhile) = (Some(program), true);
            prepared.order = Order::of_own(station, kernel);
        } else {
            // Nobody had a chain compiled before. The next one won't be waited for.
            prepared.program = make(code, true).flatten();
            prepared.order = Order::of_meanwhile(station, kernel);
        }
        Ok(prepared)
    }

    /// Gives a kernel's launches to a stream.
    pub(super) fn give_launches(
        &self,
        current: &Current<'_>,
        lane: &mut Lane,
        begun: &Begun,
        report: &mut Option<Report>,
    ) -> Result<(), CudaError> {
        let Command::Launch { kernel, bases } = &begun.command else {
            return Ok(());
        };
        let (code, program): (&dyn DeviceCode, _) = match begun.job.as_deref() {
            Some(Job::Own { own, program }) => (own, program),
            Some(job) => return self.station.give_job(current, lane, job, bases),
            None => {
                let own = kernel.device_code();
                let code = if begun.is_meanwhile {
                    own.and_then(DeviceCode::meanwhile)
                } else {
                    own
                };
                let (Some(code), Some(program)) = (code, &begun.program) else {
                    return Ok(());
                };
                (code, program)
            }
        };
        let machine = &self.station.card.machine;
        let scratch = match code.scratch(machine) {
            0 => 0,
            bytes => lane.scratch.take(current, bytes)?,
        };
        let mut words = Address::new(0);
        if code.reports() {
            let taken = self.station.reports.take(current)?;
            words = taken.address();
            *report = Some(Report {
                words: taken,
                kernel: Arc::clone(kernel),
                origin: begun.notes.origin.clone(),
            });
        }
        let call = Call {
            bases,
            machine,
            scratch: Address::new(scratch as usize),
            report: words,
        };
        let launches = code.launches(&call);
        let there = |launch: &&Launch| launch.blocks.iter().all(|&blocks| blocks > 0);
        for launch in launches.iter().filter(there) {
            give(current, lane, program, launch)?;
        }
        Ok(())
    }
}

/// Gives one launch to a stream.
pub(crate) fn give(
    current: &Current<'_>,
    lane: &Lane,
    program: &Program,
    launch: &Launch,
) -> Result<(), CudaError> {
    let function = program.entry(current, launch.entry)?;
    let mut padded = padded(launch.arguments.bytes());
    let mut parameters = [padded.as_mut_ptr().cast()];
    let [x, y, z] = launch.blocks;
    // SAFETY: the entry takes one structure, of which the buffer holds all bytes; the launches of a
    // kernel stay within what its footprints say, for which the submitter promised A1 to A3, and
    // within scratch and words that are the command's own until it has ended.
    let code = unsafe {
        current.api().launch(
            function,
            x,
            y,
            z,
            launch.threads,
            1,
            1,
            launch.shared_memory,
            lane.stream,
            parameters.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    current.check("cuLaunchKernel", code)
}

fn padded(bytes: &[u8]) -> Padded {
    bytes
        .chunks(size_of::<u128>())
        .map(|chunk| {
            let mut word = [0; size_of::<u128>()];
            word[..chunk.len()].copy_from_slice(chunk);
            u128::from_ne_bytes(word)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::padded;

    #[test]
    fn arguments_lie_in_whole_words_with_zeros_behind() {
        let words = padded(&[1; 17]);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(bytes[..17], [1; 17]);
        assert_eq!(bytes[17..], [0; 15]);
    }
}
