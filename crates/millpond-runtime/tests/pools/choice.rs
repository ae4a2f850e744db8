//! Which pool a request is served by: the default one, the current one, that of a scope.

use millpond_runtime::{Error, MemoryKind, PoolOptions};
use millpond_testkit::watchdog::watched;

use crate::support::in_order;
use crate::{GIB, each, null, pool};

#[test]
fn p05_the_default_pool_is_one_and_cannot_be_closed() {
    each(|device| {
        for kind in MemoryKind::ALL {
            let default = device.default_pool(kind);
            assert_eq!(default, device.default_pool(kind));
            let answer = default.close().unwrap_err();
            assert!(answer.to_string().contains("can't be closed"), "{answer}");
            let queue = in_order(device);
            let memory = queue.allocate(kind, 100).unwrap();
            assert!(memory.is_from(&default));
        }
    });
}

#[test]
fn p06_the_current_pool_serves_until_it_is_closed() {
    each(|device| {
        let queue = in_order(device);
        let own = pool(device, PoolOptions::default());
        device.set_current_pool(&own).unwrap();
        assert_eq!(device.current_pool(MemoryKind::Device), own);
        let memory = queue.allocate(MemoryKind::Device, 100).unwrap();
        assert!(memory.is_from(&own));
        assert_eq!(own.statistics().live, 1);
        let shared = queue.allocate(MemoryKind::Shared, 100).unwrap();
        assert!(shared.is_from(&device.default_pool(MemoryKind::Shared)));
        own.close().unwrap();
        let default = device.default_pool(MemoryKind::Device);
        assert_eq!(device.current_pool(MemoryKind::Device), default);
        let next = queue.allocate(MemoryKind::Device, 100).unwrap();
        assert!(next.is_from(&default));
        let answer = queue.allocate_from(&own, 100).unwrap_err();
        assert!(matches!(answer, Error::PoolClosed { .. }), "{answer}");
        assert!(matches!(
            device.set_current_pool(&own),
            Err(Error::PoolClosed { .. })
        ));
    });
}

#[test]
fn scopes_nest_and_belong_to_their_thread() {
    each(|device| {
        let queue = in_order(device);
        let (outer, inner) = (
            pool(device, PoolOptions::default()),
            pool(device, PoolOptions::default()),
        );
        let allocate = || queue.allocate(MemoryKind::Device, 100).unwrap();
        let outside = outer.scope();
        assert!(allocate().is_from(&outer));
        assert_eq!(device.current_pool(MemoryKind::Device), outer);
        let shared = device.default_pool(MemoryKind::Shared);
        assert_eq!(device.current_pool(MemoryKind::Shared), shared);
        {
            let _inside = inner.scope();
            assert!(allocate().is_from(&inner));
            let default = device.default_pool(MemoryKind::Device);
            std::thread::scope(|threads| {
                threads.spawn(|| assert!(allocate().is_from(&default)));
            });
        }
        assert!(allocate().is_from(&outer));
        // Scopes may end in any order.
        let inside = inner.scope();
        drop(outside);
        assert!(allocate().is_from(&inner));
        let again = outer.scope();
        drop(inside);
        assert!(allocate().is_from(&outer));
        drop(again);
        assert!(!allocate().is_from(&outer));
    });
}

#[test]
fn pools_of_other_devices_are_refused() {
    watched(|| {
        let ((_a, one), (_b, other)) = (null(GIB), null(GIB));
        let pool = pool(&one, PoolOptions::default());
        let answer = in_order(&other).allocate_from(&pool, 100).unwrap_err();
        assert!(matches!(answer, Error::DeviceMismatch { .. }), "{answer}");
        let answer = other.set_current_pool(&pool).unwrap_err();
        assert!(matches!(answer, Error::DeviceMismatch { .. }), "{answer}");
    });
}
