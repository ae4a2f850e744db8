//! What a command has the driver do while it is submitted, rather than when the queue reaches it.
//!
//! A pool of the driver's gives an address at once, in the order of a stream that may be ahead of the
//! queue; a stream of another library is marked where it stands. Either way the command follows that
//! on the device, when its turn comes.

use std::alloc::Layout;
use std::sync::OnceLock;

use millpond_hal::{Address, Command, DeviceError, DriverPool};

use super::{CudaQueue, State};
use crate::api::{Pointer, PoolHandle, StreamHandle};
use crate::card::CudaError;
use crate::lanes::Signal;
use crate::memory::{Origin, Place, Record};

impl CudaQueue {
    /// Does what has to be done early; what the command then follows on the device.
    ///
    /// # Errors
    /// Memory that the pool hasn't got; a stream that can't be followed; a lost device.
    pub(super) fn begin_early(
        &self,
        state: &mut State,
        command: &Command,
    ) -> Result<Option<Signal>, DeviceError> {
        match command {
            Command::Allocate { pool, bytes, place } => self
                .allocate(state, &**pool, *bytes, place)
                .map_err(|error| {
                    let layout = Layout::from_size_align(*bytes, 1).unwrap_or(Layout::new::<()>());
                    self.station.card.no_memory(pool.kind(), layout, &error)
                }),
            Command::Stream(stream) => {
                let card = &self.station.card;
                let mark = card.enter().and_then(|current| {
                    let stream = StreamHandle(*stream);
                    self.station.streams.mark(&current, &self.station, stream)
                });
                mark.map(Some)
                    .map_err(|error| card.refusal("submit", &error))
            }
            _ => Ok(None),
        }
    }

    /// Has a pool give memory, in the order of a lane.
    fn allocate(
        &self,
        state: &mut State,
        pool: &dyn DriverPool,
        bytes: usize,
        place: &OnceLock<Address>,
    ) -> Result<Option<Signal>, CudaError> {
        let current = self.station.card.enter()?;
        let index = self.choose(state)?;
        let lane = &mut state.lanes[index];
        let mut address: Pointer = 0;
        // SAFETY: the address is written to a place of its type. The pool is held by the command, and is
        // of this device (A2); the lane's stream lives.
        let code = unsafe {
            current.api().pool_allocate(
                &raw mut address,
                bytes,
                PoolHandle(pool.handle()),
                lane.stream,
            )
        };
        current.check("cuMemAllocFromPoolAsync", code)?;
        let record = Record {
            bytes,
            place: Place::Device(self.station.card.ordinal),
            base: address,
            origin: Origin::Pool,
        };
        self.station.system.places.insert(address, record);
        let _ = place.set(Address::new(address as usize));
        if self.in_order {
            // What comes later is given to the same lane, and the command's own mark comes first.
            return Ok(None);
        }
        lane.mark(&current)?;
        Ok(Some(lane.last()))
    }
}
