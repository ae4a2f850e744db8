//! Kernels whose own program has yet to be made: others do their work meanwhile.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use millpond_hal::HostKernel as _;

use super::super::{begin, driver_pool, end};
use super::*;

/// A chain that no bench has prepared.
const NEW: usize = 1000;

/// What the code of chains has in common is launched so often for each.
const MEANWHILE: usize = 3;

impl Bench {
    /// Launches a chain, waits for it, and counts its launches.
    fn chain(&self, chain: usize, memory: &Memory) -> usize {
        self.fake.calls();
        let point = self.launch(&Arc::new(Bump::chain(100, chain)), &[memory.address()], &[]);
        assert_eq!(outcome(&self.queue, point), Ok(()));
        self.launches()
    }

    /// A bench where the program that does the work of chains is there, memory, and how often chains were
    /// run on it.
    fn prepared(folder: Option<PathBuf>) -> (Self, Memory, u8) {
        let bench = Self::with(folder);
        let memory = bench.memory(MemoryKind::Device, 100);
        // The first is waited for, and has the other made.
        assert_eq!(bench.chain(1, &memory), 1);
        let (mut runs, mut chain) = (2, 2);
        while bench.chain(chain, &memory) != MEANWHILE {
            (runs, chain) = (runs + 1, chain + 1);
        }
        // Nothing is to be made any more.
        runs += bench.run_until_made(chain, &memory);
        (bench, memory, runs)
    }

    /// Runs a chain until its own program is there; how often that was.
    fn run_until_made(&self, chain: usize, memory: &Memory) -> u8 {
        let mut runs = 1;
        while self.chain(chain, memory) != 1 {
            thread::yield_now();
            runs += 1;
        }
        runs
    }

    /// How often sources of this name were compiled.
    fn compiled(&self, name: &str) -> usize {
        let compiled = self.compiler.compiled();
        compiled.iter().filter(|it| it.ends_with(name)).count()
    }

    fn hold_compiler(&self) -> Gate {
        let gate = Gate::new();
        self.compiler.hold(&gate);
        gate
    }

    /// Waits until somebody compiles who is held.
    fn await_compiler(&self) {
        while !self.compiler.has_held() {
            thread::yield_now();
        }
    }
}

#[test]
fn a_chain_that_has_yet_to_be_compiled_runs_at_once() {
    watched(|| {
        let (bench, memory, before) = Bench::prepared(None);
        let gate = bench.hold_compiler();
        for _ in 0..2 {
            assert_eq!(bench.chain(NEW, &memory), MEANWHILE);
        }
        gate.open(Ok(()));
        let runs = 2 + bench.run_until_made(NEW, &memory);
        assert_eq!(bench.bytes(&memory, 100), [before.wrapping_add(runs); 100]);
        for name in ["Launch 1", "Scratch 0", &format!("Launch {NEW}")] {
            assert_eq!(bench.compiled(name), 1, "{name}");
        }
    });
}

/// Memory that the driver gives begins and ends in the order of chains, whatever carries them out.
#[test]
fn chains_on_memory_of_a_drivers_pool_are_compiled_in_the_background() {
    watched(|| {
        let (bench, _, _) = Bench::prepared(None);
        let pool = driver_pool(&bench.device);
        let seen = Memory::new(&bench.device, MemoryKind::Host, 100).expect("memory");
        let mut places = Vec::new();
        let mut round = |chain| {
            let piece = begin(&bench.queue, &pool);
            places.push(piece);
            give(&bench.queue, fill(piece, &[7], 100), &[]);
            bench.fake.calls();
            bench.launch(&Arc::new(Bump::chain(100, chain)), &[piece], &[]);
            let point = give(&bench.queue, copy(piece, seen.address(), 100), &[]);
            end(&bench.queue, &pool, piece);
            assert_eq!(outcome(&bench.queue, point), Ok(()));
            assert_eq!(bench.bytes(&seen, 100), [8; 100]);
            bench.launches()
        };
        let gate = bench.hold_compiler();
        for _ in 0..10 {
            assert_eq!(round(NEW), MEANWHILE);
        }
        bench.await_compiler();
        gate.open(Ok(()));
        while round(NEW) != 1 {
            thread::yield_now();
        }
        places.dedup();
        assert_eq!(places.len(), 1, "it serves again");
    });
}

#[test]
fn what_an_earlier_process_kept_is_enough_to_run_at_once() {
    watched(|| {
        let name = format!("millpond-meanwhile-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        drop(Bench::prepared(Some(folder.clone())));
        let bench = Bench::with(Some(folder.clone()));
        let memory = bench.memory(MemoryKind::Device, 100);
        let gate = bench.hold_compiler();
        // One whose own is kept needs no other.
        assert_eq!(bench.chain(1, &memory), 1);
        assert_eq!(bench.fake.modules(), 1);
        assert_eq!(bench.chain(NEW, &memory), MEANWHILE);
        bench.await_compiler();
        gate.open(Ok(()));
        bench.device.shutdown();
        assert_eq!(bench.compiler.compiled().len(), 1);
        assert_eq!(bench.compiled(&format!("Launch {NEW}")), 1);
        std::fs::remove_dir_all(folder).expect("a folder of the test's");
    });
}

#[test]
fn a_program_that_is_being_made_is_finished_before_the_end() {
    watched(|| {
        let (bench, memory, _) = Bench::prepared(None);
        let gate = bench.hold_compiler();
        assert_eq!(bench.chain(NEW, &memory), MEANWHILE);
        bench.await_compiler();
        let (ended, end) = channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                bench.device.shutdown();
                ended.send(()).expect("the test waits");
            });
            let answer = end.recv_timeout(Duration::from_millis(50));
            assert_eq!(answer, Err(RecvTimeoutError::Timeout));
            gate.open(Ok(()));
            assert_eq!(end.recv(), Ok(()));
        });
        assert_eq!(bench.compiled(&format!("Launch {NEW}")), 1);
    });
}

#[test]
fn what_does_not_compile_is_the_hosts_once_that_is_known() {
    watched(|| {
        let (bench, memory, before) = Bench::prepared(None);
        let wrong = || {
            Arc::new(Bump {
                way: Way::Wrong,
                ..Bump::chain(100, NEW)
            })
        };
        let bases = [memory.address()];
        let point = bench.launch(&wrong(), &bases, &[]);
        assert_eq!(outcome(&bench.queue, point), Ok(()));
        while !bench.compiler.compiled().iter().any(|it| it == "an error") {
            thread::yield_now();
        }
        assert!(wrong().device_code().is_some());
        let point = bench.launch(&wrong(), &bases, &[]);
        assert_eq!(outcome(&bench.queue, point), Ok(()));
        assert_eq!(bench.bytes(&memory, 100), [before.wrapping_add(2); 100]);
    });
}
