//! What one device may do with another's memory: everything, where both are the host.

use crate::argument::{Answer, Out};
use crate::device::Device;
use crate::entry::entry;
use crate::handle::Handle;
use crate::numbers::{Code, PeerInfo};
use crate::property::Property;

/// Whether commands of a device may use memory of another without further ado.
fn reaches(device: Handle<Device>, peer: Handle<Device>) -> Answer<bool> {
    let (device, peer) = (device.get()?, peer.get()?);
    Ok([device, peer].iter().all(|one| one.is_host()))
}

/// Access is there or it isn't: nothing is switched.
fn switch(device: Handle<Device>, peer: Handle<Device>) -> Answer {
    if reaches(device, peer)? {
        Ok(())
    } else {
        Err(Code::UNSUPPORTED_FEATURE)
    }
}

entry! {
    fn urUsmP2PEnablePeerAccessExp(device: Handle<Device>, peer: Handle<Device>) {
        switch(device, peer)
    }

    fn urUsmP2PDisablePeerAccessExp(device: Handle<Device>, peer: Handle<Device>) {
        switch(device, peer)
    }

    fn urUsmP2PPeerAccessGetInfoExp(
        device: Handle<Device>,
        peer: Handle<Device>,
        what: PeerInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let reaches = reaches(device, peer)?;
        let property: Property = match what {
            PeerInfo::ACCESS_SUPPORT | PeerInfo::ATOMICS_SUPPORT => u32::from(reaches).into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }
}
