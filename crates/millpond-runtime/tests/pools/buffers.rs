//! Pools over memory that a program has already.

use millpond_runtime::{Error, MemoryKind, PoolOptions};
use millpond_testkit::watchdog::watched;

use crate::support::in_order;
use crate::{KIB, at_once, check, close_gate, use_on};

#[test]
fn p15_a_pool_over_memory_stays_in_it_and_comes_after_its_earlier_uses() {
    watched(|| {
        let device = crate::support::device();
        let queue = in_order(&device);
        for kind in MemoryKind::ALL {
            let memory = queue.allocate(kind, 4 * KIB + 100).unwrap();
            let begin = memory.address().get();
            let gate = close_gate(&queue);
            use_on(&queue, &memory);
            let pool = device
                .create_pool_over(&memory, 100..memory.bytes(), PoolOptions::default())
                .unwrap();
            assert!(pool.is_over_buffer());
            let other = in_order(&device);
            let answer = other.allocate_with(&pool, KIB, &at_once());
            assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
            gate.open();
            queue.wait().unwrap();
            let parts: Vec<_> = (0..3)
                .map(|_| other.allocate_from(&pool, KIB).unwrap())
                .collect();
            for part in &parts {
                assert!(part.address().get() >= begin + 100);
                assert!(part.address().get() + KIB <= begin + 4 * KIB + 100);
                assert_eq!(part.kind(), kind);
            }
            let answer = other.allocate_from(&pool, KIB).unwrap_err();
            let Error::OutOfMemory(report) = answer else {
                panic!("{answer}")
            };
            assert!(report.reason.contains("can't grow"), "{report}");
            pool.trim(0).unwrap();
            check(&pool);
            drop(memory);
            drop(pool);
            drop(parts);
        }
    });
}
