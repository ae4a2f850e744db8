//! The contract of backends, on the host backend: with the machine's cores, with one worker, and
//! with many.

use millpond_cpu::{CpuConfig, CpuDriver};

mod by_default {
    use super::*;
    millpond_testkit::backend_contract!(|| CpuDriver::new(CpuConfig::default()));
}

mod one_worker {
    use super::*;
    millpond_testkit::backend_contract!(|| CpuDriver::new(CpuConfig {
        threads: Some(1),
        huge_pages: false,
        ..CpuConfig::default()
    }));
}

mod many_workers {
    use super::*;
    millpond_testkit::backend_contract!(|| CpuDriver::new(CpuConfig {
        threads: Some(7),
        ..CpuConfig::default()
    }));
}
