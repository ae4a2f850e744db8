//! Which way a command is carried out.

use millpond_hal::{Address, Command, DeviceError};

use crate::api::Pointer;
use crate::library::may_be_job;
use crate::memory::Place;
use crate::program::LoadedEntry;
use crate::staging::SMALL;
use crate::station::Station;

/// Which way a command is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// There is nothing to do but to keep the order.
    Nothing,
    /// By the device.
    Lane,
    /// By the device, as launches, unless it turns out to be the host's.
    Kernel,
    /// By the device, from a pinned buffer that the bytes are put into when it begins.
    Upload,
    /// By the device, into a pinned buffer that the bytes are taken from when it has ended.
    Download,
    /// By a thread, through pinned buffers: more than one holds.
    Staged {
        /// Whether the host's memory is the source.
        upload: bool,
    },
    /// By a thread alone.
    Host,
}

impl Route {
    /// Whether a thread carries it out.
    pub(crate) const fn on_host(self) -> bool {
        matches!(self, Self::Host | Self::Staged { .. })
    }

    /// Whether a wait on the device is enough of an order: it touches nothing that only the host
    /// sees.
    pub(crate) const fn follows_issue(self) -> bool {
        matches!(self, Self::Nothing | Self::Lane | Self::Kernel)
    }

    /// The way of a command on a queue.
    ///
    /// # Errors
    /// For a command that this backend doesn't offer; a lost device.
    pub(super) fn of(
        station: &Station,
        in_order: bool,
        command: &Command,
    ) -> Result<Self, DeviceError> {
        let find = |address: Address| -> Result<Place, DeviceError> {
            let places = &station.system.places;
            let found = places.find(&station.card, address.get() as Pointer);
            found.map_err(|error| station.card.refusal("submit", &error))
        };
        Ok(match *command {
            Command::Task { .. } | Command::Gate(_) => Self::Host,
            Command::Launch {
                ref kernel,
                ref bases,
            } => {
                let compiles = station.system.workshop.is_some();
                let coded = compiles && (kernel.grows() || kernel.device_code().is_some());
                if !coded && !may_be_job(&**kernel) {
                    return Ok(Self::Host);
                }
                let mut reached = true;
                for (operand, base) in bases.iter().enumerate().take(kernel.operands()) {
                    let bytes = kernel.footprint(operand).bytes;
                    if !bytes.is_empty() {
                        let place = find(base.offset(bytes.start))?;
                        link(station, place)?;
                        reached &= place != Place::Pageable;
                    }
                }
                if reached { Self::Kernel } else { Self::Host }
            }
            Command::Run { ref entry, .. } => {
                if LoadedEntry::of(&**entry, station).is_none() {
                    let reason = format!("{command} was loaded by another device");
                    let call = "submit";
                    return Err(DeviceError::Invalid { call, reason });
                }
                Self::Lane
            }
            // What they follow was done when they were submitted, or is done on a stream.
            Command::Allocate { .. } | Command::Free { .. } => Self::Lane,
            Command::Stream(_) => Self::Nothing,
            Command::Barrier if in_order => Self::Nothing,
            Command::Barrier => Self::Host,
            Command::Copy { bytes: 0, .. }
            | Command::Fill { bytes: 0, .. }
            | Command::Prefetch { bytes: 0, .. }
            | Command::Advise { bytes: 0, .. } => Self::Nothing,
            Command::Copy { src, dst, bytes } => {
                let small = bytes <= SMALL;
                match (find(src)?, find(dst)?) {
                    (src, dst) if src.is_of_the_host() && dst.is_of_the_host() => Self::Host,
                    (Place::Pageable, _) if small => Self::Upload,
                    (_, Place::Pageable) if small => Self::Download,
                    (Place::Pageable, _) => Self::Staged { upload: true },
                    (_, Place::Pageable) => Self::Staged { upload: false },
                    (src, dst) => {
                        link(station, src)?;
                        link(station, dst)?;
                        Self::Lane
                    }
                }
            }
            Command::Fill { dst, .. } => match find(dst)? {
                Place::Pageable => Self::Host,
                dst => {
                    link(station, dst)?;
                    Self::Lane
                }
            },
            // Only what the driver moves can be moved early.
            Command::Prefetch { address, .. } | Command::Advise { address, .. } => {
                match find(address)? {
                    Place::Managed => Self::Lane,
                    _ => Self::Nothing,
                }
            }
            _ => {
                return Err(DeviceError::Unsupported {
                    device: station.card.label().to_owned(),
                    what: command.to_string(),
                });
            }
        })
    }
}

/// Lets the device reach memory of another, if it can: otherwise the driver goes by way of the host.
fn link(station: &Station, place: Place) -> Result<(), DeviceError> {
    let Place::Device(other) = place else {
        return Ok(());
    };
    let linked = station.system.link(&station.card, other);
    linked.map_err(|error| station.card.refusal("submit", &error))
}
