//! Programs that are made while others do their work.
//!
//! One thread makes them, one after the other: who wants them doesn't wait, and a compiler takes a
//! processor for as long as it works. An order keeps the kernel whose program is wanted. What was begun
//! is finished before the device is shut down, since a compiler can't be stopped; what wasn't is left.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_hal::{DeviceCode, HostKernel};

use crate::crew::{Blocked, guard};
use crate::program::key;
use crate::queue::Work;
use crate::station::Station;

/// A program to be made.
pub(crate) struct Order {
    kernel: Arc<dyn HostKernel>,
    /// Whether it is that of the code which does the kernel's work meanwhile.
    is_meanwhile: bool,
}

impl Order {
    /// The program of a kernel, if nobody makes it yet.
    pub(crate) fn of_own(station: &Station, kernel: &Arc<dyn HostKernel>) -> Option<Self> {
        Self::of(station, kernel, false)
    }

    /// The program that does its work meanwhile, if nobody makes it yet.
    pub(crate) fn of_meanwhile(station: &Station, kernel: &Arc<dyn HostKernel>) -> Option<Self> {
        Self::of(station, kernel, true)
    }

    fn of(station: &Station, kernel: &Arc<dyn HostKernel>, is_meanwhile: bool) -> Option<Self> {
        let order = Self {
            kernel: Arc::clone(kernel),
            is_meanwhile,
        };
        let is_new = station.programs.order(&key(order.code()?));
        is_new.then_some(order)
    }

    fn code(&self) -> Option<&dyn DeviceCode> {
        let own = self.kernel.device_code()?;
        if self.is_meanwhile {
            own.meanwhile()
        } else {
            Some(own)
        }
    }

    fn carry_out(&self, station: &Station) {
        if let (Some(code), Some(workshop)) = (self.code(), &station.system.workshop)
            && !station.is_closing()
            && let Ok(current) = station.card.enter()
        {
            let programs = &station.programs;
            programs.make(&current, workshop, &key(code), code, true);
        }
    }
}

/// The orders of a device.
#[derive(Default)]
pub(crate) struct Orders(Mutex<List>);

#[derive(Default)]
struct List {
    waiting: VecDeque<Order>,
    /// Whether a thread sees to them.
    is_manned: bool,
}

impl Orders {
    fn lock(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there are none.
    pub(crate) fn are_done(&self) -> bool {
        !self.lock().is_manned
    }

    /// Has one carried out.
    pub(crate) fn give(&self, station: &Arc<Station>, order: Order) {
        let mut list = self.lock();
        list.waiting.push_back(order);
        if !std::mem::replace(&mut list.is_manned, true) {
            drop(list);
            station.crew.give(Work::Orders(Arc::clone(station)));
        }
    }

    /// Carries them out, on a thread of the crew, which is one less meanwhile.
    pub(crate) fn serve(&self, station: &Station) {
        let _blocked = Blocked::begin();
        loop {
            let order = {
                let mut list = self.lock();
                let order = list.waiting.pop_front();
                list.is_manned = order.is_some();
                order
            };
            let Some(order) = order else {
                return;
            };
            // What goes wrong is noted by the workshop.
            let _ = guard(|| {
                order.carry_out(station);
                Ok(())
            });
        }
    }
}
