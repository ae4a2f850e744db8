//! What commands cost: the calls of the driver that each of them makes.

use super::*;

/// Whoever waits asks the driver now and then whether the device still works.
const PROBE: &str = "cuStreamQuery";

/// The calls that a command makes when there was one like it before, and how often it makes the device's
/// context current.
fn cost(bench: &Bench, command: &Command) -> (Vec<&'static str>, usize) {
    let again = || match command {
        Command::Launch { kernel, bases } => Command::Launch {
            kernel: Arc::clone(kernel),
            bases: bases.clone(),
        },
        &Command::Copy { src, dst, bytes } => copy(src, dst, bytes),
        Command::Fill {
            dst,
            pattern,
            bytes,
        } => fill(*dst, pattern.bytes(), *bytes),
        other => unreachable!("{other}"),
    };
    let first = give(&bench.queue, again(), &[]);
    assert_eq!(outcome(&bench.queue, first), Ok(()));
    bench.fake.calls();
    let before = Fake::entered();
    let point = give(&bench.queue, again(), &[]);
    let entered = Fake::entered() - before;
    let calls = bench.fake.calls();
    assert_eq!(outcome(&bench.queue, point), Ok(()));
    let mut later = bench.fake.calls();
    later.retain(|&call| call != PROBE);
    assert_eq!(later, Vec::<&str>::new(), "to see that it has ended");
    (calls, entered)
}

#[test]
fn a_command_is_one_call_of_the_driver_and_its_number() {
    watched(|| {
        let bench = Bench::new();
        let [a, b] = [(); 2].map(|()| bench.memory(MemoryKind::Device, 100));
        let ordinary = [7_u8; 100];
        let from = Address::of(ordinary.as_ptr());
        let mark = "cuStreamWriteValue64";
        let kernel = Arc::new(Bump::new(100, Way::Launch));
        for (call, command) in [
            ("cuMemsetD8Async", fill(a.address(), &[7], 100)),
            ("cuMemcpyAsync", copy(a.address(), b.address(), 100)),
            ("cuLaunchKernel", launch(&kernel, &[a.address()])),
        ] {
            assert_eq!(cost(&bench, &command), (vec![call, mark], 1));
        }
        // What isn't the backend's memory is asked for.
        let calls = vec!["cuPointerGetAttributes", "cuMemcpyAsync", mark];
        assert_eq!(cost(&bench, &copy(from, a.address(), 100)), (calls, 2));
    });
}

#[test]
fn scratch_and_reports_cost_no_calls_of_their_own() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 100);
        for (way, launches) in [(Way::Scratch, 2), (Way::Find, 1)] {
            let kernel = launch(&Arc::new(Bump::new(100, way)), &[memory.address()]);
            let mut calls = vec!["cuLaunchKernel"; launches];
            calls.push("cuStreamWriteValue64");
            assert_eq!(cost(&bench, &kernel), (calls, 1), "{way:?}");
        }
    });
}

#[test]
fn work_that_was_joined_costs_nothing_and_its_window_is_given_by_who_waits() {
    watched(|| {
        let bench = Bench::new();
        let memory = bench.memory(MemoryKind::Device, 100);
        let first = bench.launch(
            &Arc::new(Bump::new(100, Way::Launch)),
            &[memory.address()],
            &[],
        );
        assert_eq!(outcome(&bench.queue, first), Ok(()));
        bench.fake.calls();
        let before = Fake::entered();
        let kernel = Arc::new(Bump::growing(100, Way::Launch, false));
        let point = bench.launch(&kernel, &[memory.address()], &[]);
        kernel.join();
        kernel.join();
        assert_eq!((bench.fake.calls(), Fake::entered()), (vec![], before));
        // The courier waits for more; sealed, it may be first.
        kernel.seal();
        assert_eq!(outcome(&bench.queue, point), Ok(()));
        let mut calls = bench.fake.calls();
        calls.retain(|&call| call != PROBE);
        assert_eq!(calls, ["cuLaunchKernel", "cuStreamWriteValue64"]);
        assert_eq!(bench.bytes(&memory, 100), [4; 100]);
    });
}
