//! What the queues of a device share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::api::Ordinal;
use crate::card::{Card, CudaError};
use crate::clock::Clock;
use crate::courier::Courier;
use crate::crew::Crew;
use crate::lanes::Lanes;
use crate::library::{Libraries, Toolbox};
use crate::memory::{Frees, Places};
use crate::order::Orders;
use crate::program::{Programs, Retired, Workshop};
use crate::queue::Registry;
use crate::reports::Reports;
use crate::staging::Staging;
use crate::streams::Streams;

/// What the devices of a driver share.
pub(crate) struct System {
    pub(crate) cards: Vec<Arc<Card>>,
    pub(crate) places: Places,
    pub(crate) frees: Frees,
    pub(crate) registry: Registry,
    /// What makes programs of kernels, if there is a compiler.
    pub(crate) workshop: Option<Workshop>,
    /// Libraries of mathematics, as far as there are any.
    pub(crate) libraries: Libraries,
    /// Pairs of devices of which the first has been let reach the second, as far as it can.
    linked: Mutex<HashSet<(Ordinal, Ordinal)>>,
}

impl System {
    pub(crate) fn new(
        cards: Vec<Arc<Card>>,
        workshop: Option<Workshop>,
        libraries: Libraries,
    ) -> Self {
        Self {
            cards,
            workshop,
            libraries,
            places: Places::default(),
            frees: Frees::default(),
            registry: Registry::default(),
            linked: Mutex::default(),
        }
    }

    /// Lets a device reach another's memory directly, if it can.
    pub(crate) fn link(&self, card: &Card, other: Ordinal) -> Result<(), CudaError> {
        if other == card.ordinal {
            return Ok(());
        }
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if !linked.insert((card.ordinal, other)) {
            return Ok(());
        }
        let peer = self.cards.iter().find(|peer| peer.ordinal == other);
        match peer {
            Some(peer) if card.reaches(peer) => card.enter()?.enable_peer(peer),
            _ => Ok(()),
        }
    }
}

/// What the queues of a device share: lanes, buffers, and threads.
pub(crate) struct Station {
    pub(crate) card: Arc<Card>,
    pub(crate) system: Arc<System>,
    pub(crate) lanes: Lanes,
    pub(crate) staging: Staging,
    pub(crate) streams: Streams,
    pub(crate) programs: Programs,
    pub(crate) orders: Orders,
    /// What libraries keep for the device.
    pub(crate) toolbox: Toolbox,
    /// Programs of callers' own that can be unloaded.
    pub(crate) retired: Retired,
    pub(crate) reports: Reports,
    pub(crate) clock: Clock,
    pub(crate) crew: Arc<Crew>,
    pub(crate) courier: Arc<Courier>,
    /// Set when the device is shut down: nothing more is taken.
    closing: AtomicBool,
    /// Set when that has come to its end.
    closed: AtomicBool,
}

impl Station {
    pub(crate) fn new(card: &Arc<Card>, system: &Arc<System>) -> Self {
        Self {
            crew: Crew::new(card.label()),
            courier: Courier::new(card.label()),
            card: Arc::clone(card),
            system: Arc::clone(system),
            lanes: Lanes::default(),
            staging: Staging::default(),
            streams: Streams::default(),
            programs: Programs::default(),
            orders: Orders::default(),
            toolbox: Toolbox::default(),
            retired: Retired::default(),
            reports: Reports::default(),
            clock: Clock::default(),
            closing: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Keeps what a library didn't take: it is carried out in another way.
    pub(crate) fn complain(&self, error: &CudaError) {
        if let Some(workshop) = &self.system.workshop {
            workshop.complain(format!("a library refuses work: {error}"));
        }
    }

    /// Sets the clock by which commands are timed.
    pub(crate) fn set_clock(&self) -> Result<(), CudaError> {
        let current = self.card.enter()?;
        let mut lane = self.lanes.take(&self.card)?;
        let set = self.clock.set(&current, &mut lane);
        self.lanes.give(lane);
        set
    }

    /// Whether this call is the first.
    pub(crate) fn begin_closing(&self) -> bool {
        !self.closing.swap(true, Ordering::SeqCst)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn finish_closing(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.crew.dismiss();
        self.courier.dismiss();
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        self.finish_closing();
        // A device that was never used has no context, and shall have none for this.
        if self.card.is_used()
            && let Ok(current) = self.card.enter_lost()
        {
            self.toolbox.close(self);
            self.clock.close(&current);
            self.programs.close(&current);
            self.retired.unload(&current);
            self.reports.close(&current);
            self.staging.close(&current);
            self.streams.close(&current);
            self.lanes.close(&current);
        }
    }
}
