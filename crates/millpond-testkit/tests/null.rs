//! The contract suites on the null driver, but for those that look at memory.

use millpond_hal::null::NullDriver;

millpond_testkit::backend_contract!(NullDriver::default;
    alloc, concurrency, drop, error, gate, order, partition, point, shutdown, task, watch);
