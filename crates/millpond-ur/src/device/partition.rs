//! Parts of devices.

use std::sync::Arc;

use millpond::Partition;

use crate::argument::{Answer, In, Out};
use crate::device::Device;
use crate::entry::entry;
use crate::error;
use crate::handle::Handle;
use crate::numbers::{Code, DevicePartition};
use crate::structures::{DevicePartitionProperties, PartitionProperty};

/// Ways that devices are split in.
pub(super) const WAYS: [DevicePartition; 2] =
    [DevicePartition::EQUALLY, DevicePartition::BY_COUNTS];

/// How a part was made.
pub(super) struct Part {
    pub(super) whole: Arc<Device>,
    pub(super) made: Vec<PartitionProperty>,
}

/// How the runtime is asked, and how many parts that makes.
fn plan(cores: usize, properties: &[PartitionProperty]) -> Answer<(Partition, usize)> {
    let [first, others @ ..] = properties else {
        return Err(Code::INVALID_SIZE);
    };
    if others.iter().any(|other| other.kind != first.kind) {
        return Err(Code::INVALID_VALUE);
    }
    match first.kind {
        DevicePartition::EQUALLY => {
            let size = first.value as usize;
            if !others.is_empty() {
                return Err(Code::INVALID_VALUE);
            }
            if size == 0 || size > cores {
                return Err(Code::DEVICE_PARTITION_FAILED);
            }
            Ok((Partition::Equally(size), cores / size))
        }
        DevicePartition::BY_COUNTS => {
            let counts: Vec<_> = properties.iter().map(|part| part.value as usize).collect();
            if counts.contains(&0) || counts.iter().sum::<usize>() > cores {
                return Err(Code::INVALID_DEVICE_PARTITION_COUNT);
            }
            let parts = counts.len();
            Ok((Partition::ByCounts(counts), parts))
        }
        DevicePartition::BY_AFFINITY_DOMAIN | DevicePartition::BY_CSLICE => {
            Err(Code::DEVICE_PARTITION_FAILED)
        }
        _ => Err(Code::INVALID_ENUMERATION),
    }
}

entry! {
    fn urDevicePartition(
        device: Handle<Device>,
        properties: In<DevicePartitionProperties>,
        room: u32,
        parts: Out<Handle<Device>>,
        count: Out<u32>,
    ) {
        let whole = device.get()?;
        let properties = properties.required()?;
        let properties = properties.properties.list(properties.count)?;
        if !whole.is_host() {
            return Err(Code::DEVICE_PARTITION_FAILED);
        }
        let (partition, number) = plan(whole.runtime.info().cores, properties)?;
        if parts.is_null() {
            if room > 0 {
                return Err(Code::INVALID_NULL_POINTER);
            }
            count.set(number as u32);
            return Ok(());
        }
        let made = whole.runtime.partition(&partition).map_err(|error| {
            error::code(&error);
            Code::DEVICE_PARTITION_FAILED
        })?;
        let made = made.into_iter().take(room as usize).map(|runtime| {
            let part = Part {
                whole: Arc::clone(&whole),
                made: properties.to_vec(),
            };
            Device::make(runtime, Some(part))
        });
        let made: Vec<_> = made.collect::<Answer<_>>()?;
        parts.set_all(made.iter().map(|part| part.handle()));
        count.set(number as u32);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::plan;
    use crate::numbers::{Code, DevicePartition};
    use crate::structures::PartitionProperty;

    fn by(kind: DevicePartition, values: &[u32]) -> Vec<PartitionProperty> {
        let property = |&value| PartitionProperty { kind, value };
        values.iter().map(property).collect()
    }

    #[test]
    fn plans_count_the_parts_and_refuse_what_does_not_fit() {
        let equally = |values: &[u32]| plan(8, &by(DevicePartition::EQUALLY, values));
        assert_eq!(equally(&[3]).unwrap().1, 2);
        assert_eq!(equally(&[9]).unwrap_err(), Code::DEVICE_PARTITION_FAILED);
        assert_eq!(equally(&[0]).unwrap_err(), Code::DEVICE_PARTITION_FAILED);
        assert_eq!(equally(&[1, 1]).unwrap_err(), Code::INVALID_VALUE);
        let counts = |values: &[u32]| plan(8, &by(DevicePartition::BY_COUNTS, values));
        assert_eq!(counts(&[5, 2]).unwrap().1, 2);
        assert_eq!(
            counts(&[5, 4]).unwrap_err(),
            Code::INVALID_DEVICE_PARTITION_COUNT
        );
        assert_eq!(plan(8, &[]).unwrap_err(), Code::INVALID_SIZE);
        let cslice = by(DevicePartition::BY_CSLICE, &[1]);
        assert_eq!(plan(8, &cslice).unwrap_err(), Code::DEVICE_PARTITION_FAILED);
    }
}
