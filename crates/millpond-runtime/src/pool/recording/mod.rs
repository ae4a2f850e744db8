//! What a pool was asked for, written down, and what another pool would have made of it.
//!
//! A [`Recorder`] notes the allocations and frees of a pool, the requests that it refused, which queues
//! used the memory and how, and the waits between queues and of the host, in the order in which they
//! happened. The [`Recording`] is text, one step a line, and can be replayed on a device without
//! memory under other limits: how much would have been reserved, how often the driver asked, what
//! would have waited or been refused. A [`RecordingWriter`] writes the same text as it happens, and
//! keeps none of it.

mod lane;
mod replay;
mod stage;
mod step;
mod tally;
mod tape;
mod text;

use std::fmt;
use std::io::{BufRead, Write};
use std::str::FromStr;

use crate::error::{Error, Result};

pub use self::replay::{Refused, Replay};
pub use self::step::{RecordedPoint, RecordedUse, Step};
pub use self::tape::{Recorder, RecordingWriter};
pub(crate) use self::tape::{Tape, note_free, uses_to_note};
use self::text::{Reader, write_header};

/// What happened to a pool, in order.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Device, MemoryKind, PoolOptions, Recording};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// let pool = device.default_pool(MemoryKind::Device);
/// let queue = device.default_queue()?;
/// let recorder = pool.record();
/// for _ in 0..3 {
///     drop(queue.allocate(MemoryKind::Device, 1 << 20)?);
/// }
/// let recording: Recording = recorder.finish().to_string().parse()?;
///
/// let small = PoolOptions { maximum_size: Some(1 << 20), ..PoolOptions::default() };
/// let replay = recording.replay(&small, 1 << 30)?;
/// assert_eq!((replay.allocations, replay.refused, replay.reserved_high), (3, 0, 1 << 20));
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording(Vec<Step>);

impl Recording {
    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Reads what [`Recording::write`] or a [`RecordingWriter`] wrote. A last line that was cut off
    /// in the middle, as that of a program that was killed, is left out.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the line that can't be read; [`Error::Io`].
    pub fn read(reader: impl BufRead) -> Result<Self> {
        Reader::new(reader)?
            .collect::<Result<Vec<Step>>>()
            .map(Self)
    }

    /// Writes it as text, one step a line.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, mut writer: impl Write) -> Result<()> {
        write_header(&mut writer)
            .and_then(|()| {
                self.0
                    .iter()
                    .try_for_each(|step| writeln!(writer, "{step}"))
            })
            .and_then(|()| writer.flush())
            .map_err(|error| Error::io("writing a recording", &error))
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", text::HEADER)?;
        self.0.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl FromStr for Recording {
    type Err = Error;

    /// # Errors
    /// [`Error::Invalid`] with the line that can't be read.
    fn from_str(text: &str) -> Result<Self> {
        Self::read(text.as_bytes())
    }
}
