//! Devices that are split. Devices that can't be split pass.

use std::sync::Arc;

use millpond_hal::{Device, DeviceError, Partition};

use super::raw::Line;

/// A part makes queues, and its points order work of the whole.
pub fn a_part_of_all_cores_works_as_a_device(device: &Arc<dyn Device>) {
    let cores = device.info().cores;
    let parts = match device.partition(&Partition::Equally(cores)) {
        Err(DeviceError::Unsupported { .. }) => return,
        parts => parts.expect("a device can be split into one part"),
    };
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].info().cores, cores);
    let [part, whole] = [Line::in_order(&parts[0]), Line::in_order(device)];
    let (gate, held) = part.gate(&[]);
    let later = whole.run(&[held], || ());
    assert!(!whole.reached(later));
    gate.open(Ok(()));
    assert_eq!(whole.outcome(later), Ok(()));
}

/// Counts that don't fit are refused with a reason.
pub fn parts_without_cores_are_invalid(device: &Arc<dyn Device>) {
    let too_many = device.info().cores + 1;
    for partition in [
        Partition::Equally(0),
        Partition::ByCounts(Vec::new()),
        Partition::ByCounts(vec![0]),
        Partition::ByCounts(vec![1, too_many]),
    ] {
        match device.partition(&partition).map(|parts| parts.len()) {
            Err(DeviceError::Unsupported { .. } | DeviceError::Invalid { .. }) => (),
            other => panic!("{partition:?} of {} cores: {other:?}", too_many - 1),
        }
    }
}
