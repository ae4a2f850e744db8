//! The contract suites through all layers: what a layer wraps must stay a backend.

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::layers::{Fault, Layered, Trace, Validate};
use millpond_hal::null::NullDriver;

fn layered() -> impl Driver {
    let faulty = Layered::new(Arc::new(NullDriver::default()), Fault::default());
    let checked = Layered::new(Arc::new(faulty), Validate::default());
    Layered::new(Arc::new(checked), Trace::default())
}

millpond_testkit::backend_contract!(layered;
    alloc, concurrency, drop, error, gate, order, partition, point, shutdown, task, watch);
