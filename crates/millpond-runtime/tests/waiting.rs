//! The hook that waits go through. One test, since there is one hook for the whole process.

mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use millpond_runtime::{BACKLOG, Error, Gate, MemoryKind, waiting};
use millpond_testkit::watchdog::watched;
use support::{Affine, BIG, device, numbers, values};

const ADD_1: Affine = Affine {
    count: 4,
    factor: 1,
    term: 1,
};

static GIVE_UP: AtomicBool = AtomicBool::new(false);
static WAITS: AtomicUsize = AtomicUsize::new(0);

fn hook(slice: &mut waiting::Slice<'_>, may_stop: bool) -> bool {
    WAITS.fetch_add(1, Ordering::SeqCst);
    if !may_stop {
        return slice(None);
    }
    while !slice(Some(Instant::now() + Duration::from_millis(5))) {
        if GIVE_UP.load(Ordering::SeqCst) {
            return false;
        }
    }
    true
}

#[test]
fn o9_every_wait_goes_through_the_hook_and_submissions_can_be_interrupted() {
    watched(|| {
        assert!(waiting::set_hook(hook));
        assert!(!waiting::set_hook(hook), "the first hook stays");
        let queue = device().default_queue().unwrap();
        let x = numbers(&queue, &[0; 4]);
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        for _ in 1..BACKLOG {
            queue.launch(ADD_1, &[&x], BIG).unwrap();
        }
        GIVE_UP.store(true, Ordering::SeqCst);
        let answer = queue.launch(ADD_1, &[&x], BIG).unwrap_err();
        assert_eq!(
            answer.to_string(),
            "a wait for room on the queue was interrupted"
        );
        assert!(matches!(x.wait_idle(), Err(Error::Interrupted { .. })));

        GIVE_UP.store(false, Ordering::SeqCst);
        gate.open(Ok(()));
        assert_eq!(
            values(&x),
            [BACKLOG - 1; 4],
            "what was refused was not submitted"
        );

        let shared = queue.allocate(MemoryKind::Shared, 32).unwrap();
        shared.write(0, &[0; 32]).unwrap();
        shared.share_with_host(false).unwrap();
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        GIVE_UP.store(true, Ordering::SeqCst);
        let answer = queue.launch(ADD_1, &[&shared], BIG).unwrap_err();
        assert!(matches!(answer, Error::Interrupted { .. }), "{answer}");
        gate.open(Ok(()));
        assert_eq!(
            values(&shared),
            [1; 4],
            "what was submitted stays submitted"
        );
        // Reading values may find them there.
        assert!(WAITS.load(Ordering::SeqCst) >= 3);
    });
}
