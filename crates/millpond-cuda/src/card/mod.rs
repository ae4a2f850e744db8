//! A device of the driver: its context, and what became of it.
//!
//! The context is made when the first call needs it, since it takes hundreds of megabytes of the
//! device: to list devices costs none. Every call is made with the device's primary context current on the calling thread, which is
//! the one that CUDA's runtime and other libraries use; the context that was current before comes
//! back afterwards. An error that leaves the context unusable is remembered: the device is lost,
//! and every later call says why without asking the driver.

mod error;
mod info;

use std::alloc::Layout;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use millpond_hal::code::Machine;
use millpond_hal::{DeviceError, DeviceInfo, Failure, FailureKind};

pub(crate) use error::CudaError;

use crate::api::{Api, Code, ContextHandle, Found, Ordinal, StreamHandle, attribute};

/// A device of the driver.
pub(crate) struct Card {
    pub(crate) info: DeviceInfo,
    pub(crate) ordinal: Ordinal,
    /// What launches need to know.
    pub(crate) machine: Machine,
    /// What is compiled for: ten times the major number of its compute capability, and the minor.
    pub(crate) architecture: i32,
    /// Whether the host may use managed memory while the device runs something.
    pub(crate) concurrent_managed: bool,
    api: Found,
    context: OnceLock<ContextHandle>,
    /// Held while the context is made.
    making: Mutex<()>,
    lost: OnceLock<Failure>,
}

impl Card {
    /// The device of this number, with what must be known of it before it can be used.
    pub(crate) fn open(api: &Found, number: usize, label: String) -> Result<Self, CudaError> {
        let mut ordinal = 0;
        // SAFETY: the answer is written to a place of its type.
        let code = unsafe { api.device(&raw mut ordinal, number as i32) };
        error::check(&**api, "cuDeviceGet", code)?;
        for (attribute, what) in [
            (attribute::UNIFIED_ADDRESSING, "unified addressing"),
            (attribute::STREAM_VALUES, "64-bit values in streams"),
        ] {
            if info::attribute(&**api, ordinal, attribute)? == 0 {
                return Err(CudaError::lacking(what));
            }
        }
        let mut card = Self {
            info: info::blank(number, label),
            ordinal,
            machine: Machine {
                multiprocessors: 0,
                resident_threads: 0,
                warp: 0,
                shared_memory: 0,
            },
            architecture: 0,
            concurrent_managed: false,
            api: Arc::clone(api),
            context: OnceLock::new(),
            making: Mutex::new(()),
            lost: OnceLock::new(),
        };
        info::read(&mut card)?;
        Ok(card)
    }

    pub(crate) fn label(&self) -> &str {
        &self.info.label
    }

    /// Makes the device's context current until the answer is dropped.
    pub(crate) fn enter(&self) -> Result<Current<'_>, CudaError> {
        self.check_alive()?;
        self.enter_lost()
    }

    /// The same of a device that may be lost, for what is given back.
    pub(crate) fn enter_lost(&self) -> Result<Current<'_>, CudaError> {
        let context = self.context()?;
        // SAFETY: the context is retained while the card lives.
        let code = unsafe { self.api.context_push(context) };
        self.judge("cuCtxPushCurrent", code)?;
        Ok(Current {
            card: self,
            context,
            thread: PhantomData,
        })
    }

    fn context(&self) -> Result<ContextHandle, CudaError> {
        if let Some(context) = self.context.get() {
            return Ok(*context);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = self.context.get() {
            return Ok(*context);
        }
        let mut context = ContextHandle(0);
        // SAFETY: the answer is written to a place of its type. The context is given back when the
        // card is dropped.
        let code = unsafe { self.api.context_retain(&raw mut context, self.ordinal) };
        self.judge("cuDevicePrimaryCtxRetain", code)?;
        Ok(*self.context.get_or_init(|| context))
    }

    /// Whether the context was made.
    pub(crate) fn is_used(&self) -> bool {
        self.context.get().is_some()
    }

    /// Whether the device can reach the memory of another.
    pub(crate) fn reaches(&self, other: &Self) -> bool {
        let mut can = 0;
        // SAFETY: the answer is written to a place of its type.
        let code = unsafe {
            self.api
                .can_access_peer(&raw mut can, self.ordinal, other.ordinal)
        };
        code == Code::SUCCESS && can != 0
    }

    /// Whether an attribute of the device isn't 0.
    pub(crate) fn has(&self, attribute: i32) -> bool {
        self.ask(attribute).is_ok_and(|value| value != 0)
    }

    /// An attribute of the device.
    pub(crate) fn ask(&self, attribute: i32) -> Result<i32, CudaError> {
        info::attribute(&*self.api, self.ordinal, attribute)
    }

    /// The failure of everything that isn't finished, if the device is lost.
    pub(crate) fn loss(&self) -> Option<&Failure> {
        self.lost.get()
    }

    /// The error of every call on the device, if it is lost.
    pub(crate) fn gone(&self) -> Option<DeviceError> {
        let failure = self.lost.get()?;
        Some(DeviceError::Lost {
            device: self.label().to_owned(),
            reason: lost_reason(self.label(), failure),
        })
    }

    fn check_alive(&self) -> Result<(), CudaError> {
        match self.lost.get() {
            Some(failure) => Err(CudaError::lost(failure)),
            None => Ok(()),
        }
    }

    /// What a code means: an error, perhaps the end of the device.
    pub(crate) fn judge(&self, call: &'static str, code: Code) -> Result<(), CudaError> {
        if code == Code::SUCCESS {
            return Ok(());
        }
        let error = CudaError::of(&*self.api, call, code);
        if !code.is_sticky() {
            return Err(error);
        }
        let label = self.label();
        let reason = format!("{label} is lost: {error}");
        let failure = Failure::new(FailureKind::Lost, "command", reason);
        Err(CudaError::lost(self.lost.get_or_init(|| failure)))
    }

    /// An error as that of a call on the device.
    pub(crate) fn refusal(&self, call: &'static str, error: &CudaError) -> DeviceError {
        self.gone().unwrap_or_else(|| DeviceError::Invalid {
            call,
            reason: format!("{}: {error}", self.label()),
        })
    }

    /// An error as that of a request for memory.
    pub(crate) fn no_memory(
        &self,
        kind: millpond_types::MemoryKind,
        layout: Layout,
        error: &CudaError,
    ) -> DeviceError {
        if error.loss().is_some() {
            return self.refusal("allocate", error);
        }
        DeviceError::OutOfMemory {
            device: self.label().to_owned(),
            kind,
            bytes: layout.size(),
            reason: error.to_string(),
        }
    }
}

/// The reason without the name of the device, which the error says itself.
fn lost_reason(label: &str, failure: &Failure) -> String {
    let prefix = format!("{label} is lost: ");
    let reason = failure.reason();
    reason.strip_prefix(&prefix).unwrap_or(reason).to_owned()
}

impl Drop for Card {
    fn drop(&mut self) {
        if self.context.get().is_some() {
            // SAFETY: retained once, by `context`; whatever used the context held the card.
            let _ = unsafe { self.api.context_release(self.ordinal) };
        }
    }
}

/// The device's context, current on this thread until this is dropped.
pub(crate) struct Current<'card> {
    card: &'card Card,
    context: ContextHandle,
    /// It stays on its thread: contexts are current on threads.
    thread: PhantomData<*const ()>,
}

impl Current<'_> {
    pub(crate) fn api(&self) -> &dyn Api {
        &*self.card.api
    }

    /// What is compiled for.
    pub(crate) const fn architecture(&self) -> i32 {
        self.card.architecture
    }

    /// What the answer of a call means.
    ///
    /// An error that the driver itself can't name may be of the call alone, as where there is no memory
    /// left for what a launch needs: then the context answers as before.
    pub(crate) fn check(&self, call: &'static str, code: Code) -> Result<(), CudaError> {
        if code == Code::UNKNOWN && self.answers() {
            return Err(CudaError::of(self.api(), call, code));
        }
        self.card.judge(call, code)
    }

    /// Whether the context can do something yet.
    fn answers(&self) -> bool {
        // SAFETY: the default stream of the current context is always there.
        let code = unsafe { self.api().stream_query(StreamHandle::DEFAULT) };
        matches!(code, Code::SUCCESS | Code::NOT_READY)
    }

    /// Lets this device's copies and kernels use the memory of another, which it can reach.
    pub(crate) fn enable_peer(&self, peer: &Card) -> Result<(), CudaError> {
        let context = peer.context()?;
        // SAFETY: both contexts are retained; 0 is the only value of the flags.
        match unsafe { self.api().enable_peer(context, 0) } {
            // Another library has done so.
            Code::PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            code => self.check("cuCtxEnablePeerAccess", code),
        }
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut popped = ContextHandle(0);
        // SAFETY: the answer is written to a place of its type; it is the context pushed by
        // `enter`, as whoever pushes another in between takes it off again.
        let code = unsafe { self.card.api.context_pop(&raw mut popped) };
        debug_assert!(code != Code::SUCCESS || popped == self.context);
    }
}
