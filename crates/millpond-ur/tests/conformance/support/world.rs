//! A context with a device, and what tests make in it.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ur_adapter_millpond::numbers::{Code, UsmPoolInfo};

use super::functions::Functions;
use super::shapes::{Flags, Handle, Header, LIMITS_DESC, Limits, POOL_DESC, QUEUE_PROPERTIES};

/// Tests take turns: threads that wait help the device, and must not meet another test's gate.
static TURN: Mutex<()> = Mutex::new(());

/// A context, and whatever a test makes in it.
pub(crate) struct World {
    pub(crate) f: &'static Functions,
    pub(crate) device: Handle,
    pub(crate) context: Handle,
    made: RefCell<Vec<Made>>,
    _turn: MutexGuard<'static, ()>,
}

enum Made {
    Queue(Handle),
    Event(Handle),
    Pool(Handle),
}

/// Fails unless the call succeeds.
#[track_caller]
pub(crate) fn ok(code: u32) {
    assert_eq!(Code(code), Code::SUCCESS);
}

/// Fails unless the call answers this.
#[track_caller]
pub(crate) fn fails(code: u32, expected: Code) {
    assert_eq!(Code(code), expected);
}

/// How long a test looks whether something happens that must not.
pub(crate) const MOMENT: Duration = Duration::from_millis(20);

/// Bit 0 of a queue's flags.
pub(crate) const OUT_OF_ORDER: u32 = 1;
/// Bit 1 of a queue's flags.
pub(crate) const PROFILING: u32 = 2;
/// Bit 1 of a pool's flags.
pub(crate) const NATIVE: u32 = 2;

/// Names the backend of the platform that is tested, by its number: the first where nothing does.
pub(crate) const BACKEND: &str = "UR_BACKEND";

/// The platforms, each with the number of its backend.
pub(crate) fn platforms(f: &Functions) -> Vec<(Handle, u32)> {
    let (mut adapter, mut count) = (ptr::null_mut(), 0);
    ok((f.urAdapterGet)(1, &raw mut adapter, ptr::null_mut()));
    ok((f.urPlatformGet)(
        adapter,
        0,
        ptr::null_mut(),
        &raw mut count,
    ));
    let mut platforms = vec![ptr::null_mut(); count as usize];
    ok((f.urPlatformGet)(
        adapter,
        count,
        platforms.as_mut_ptr(),
        ptr::null_mut(),
    ));
    let backend = |platform: Handle| {
        let mut backend = 0_u32;
        let place = (&raw mut backend).cast();
        ok((f.urPlatformGetInfo)(
            platform,
            6,
            4,
            place,
            ptr::null_mut(),
        ));
        (platform, backend)
    };
    platforms.into_iter().map(backend).collect()
}

/// The platform that is tested.
pub(crate) fn platform(f: &Functions) -> Handle {
    #[allow(
        clippy::disallowed_methods,
        reason = "says what is tested, not how millpond runs"
    )]
    let named: Option<u32> = std::env::var(BACKEND)
        .ok()
        .map(|text| text.parse().expect("a number of a backend"));
    let all = platforms(f);
    let mut meant = all
        .iter()
        .filter(|(_, backend)| named.is_none_or(|named| named == *backend));
    meant.next().expect("there is such a platform").0
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(Functions::get())
    }

    /// A context of an adapter with these functions.
    pub(crate) fn of(f: &'static Functions) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut device = ptr::null_mut();
        let mut context = ptr::null_mut();
        let platform = platform(f);
        ok((f.urDeviceGet)(
            platform,
            2,
            1,
            &raw mut device,
            ptr::null_mut(),
        ));
        ok((f.urContextCreate)(
            1,
            &raw const device,
            ptr::null(),
            &raw mut context,
        ));
        Self {
            f,
            device,
            context,
            made: RefCell::default(),
            _turn: turn,
        }
    }

    pub(crate) fn queue(&self, flags: u32) -> Handle {
        let properties = Flags {
            header: Header::new(QUEUE_PROPERTIES),
            flags,
        };
        let mut queue = ptr::null_mut();
        ok((self.f.urQueueCreate)(
            self.context,
            self.device,
            &raw const properties,
            &raw mut queue,
        ));
        self.made.borrow_mut().push(Made::Queue(queue));
        queue
    }

    /// Gives a queue up before the test ends.
    pub(crate) fn release_queue(&self, queue: Handle) {
        self.made
            .borrow_mut()
            .retain(|made| !matches!(made, Made::Queue(one) if *one == queue));
        ok((self.f.urQueueRelease)(queue));
    }

    pub(crate) fn finish(&self, queue: Handle) {
        ok((self.f.urQueueFinish)(queue));
    }

    /// Keeps an event until the test ends.
    pub(crate) fn event(&self, event: Handle) -> Handle {
        assert!(!event.is_null());
        self.made.borrow_mut().push(Made::Event(event));
        event
    }

    pub(crate) fn wait(&self, event: Handle) {
        ok((self.f.urEventWait)(1, &raw const event));
    }

    pub(crate) fn event_info(&self, event: Handle, what: u32) -> u32 {
        let mut value = 0_u32;
        ok((self.f.urEventGetInfo)(
            event,
            what,
            4,
            (&raw mut value).cast(),
            ptr::null_mut(),
        ));
        value
    }

    /// Whether an event's command is complete.
    pub(crate) fn is_complete(&self, event: Handle) -> bool {
        self.event_info(event, 3) == 0
    }

    /// Whether an event stays pending for a moment, in which its command would be done by mistake.
    pub(crate) fn stays_pending(&self, event: Handle) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < MOMENT {
            if self.is_complete(event) {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// Makes a pool of the device; native, with limits in that sense.
    pub(crate) fn pool(&self, maximum: usize, threshold: usize) -> Handle {
        let limits = Limits {
            header: Header::new(LIMITS_DESC),
            first: maximum,
            second: threshold,
        };
        let desc = Flags {
            header: Header::before(POOL_DESC, &limits),
            flags: NATIVE,
        };
        let mut pool = ptr::null_mut();
        ok((self.f.urUSMPoolCreateExp)(
            self.context,
            self.device,
            &raw const desc,
            &raw mut pool,
        ));
        self.made.borrow_mut().push(Made::Pool(pool));
        pool
    }

    /// Forgets a pool that the test gives back itself.
    pub(crate) fn forget_pool(&self, pool: Handle) {
        self.made
            .borrow_mut()
            .retain(|made| !matches!(made, Made::Pool(one) if *one == pool));
    }

    pub(crate) fn pool_info(&self, pool: Handle, what: UsmPoolInfo) -> usize {
        let mut value = 0_usize;
        ok((self.f.urUSMPoolGetInfoExp)(
            pool,
            what.0,
            (&raw mut value).cast(),
            ptr::null_mut(),
        ));
        value
    }

    pub(crate) fn set_pool_info(&self, pool: Handle, what: UsmPoolInfo, value: usize) -> u32 {
        (self.f.urUSMPoolSetInfoExp)(pool, what.0, (&raw const value).cast(), size_of::<usize>())
    }

    pub(crate) fn reserved(&self, pool: Handle) -> usize {
        self.pool_info(pool, UsmPoolInfo::RESERVED_CURRENT_EXP)
    }

    pub(crate) fn used(&self, pool: Handle) -> usize {
        self.pool_info(pool, UsmPoolInfo::USED_CURRENT_EXP)
    }

    pub(crate) fn trim(&self, pool: Handle, keep: usize) {
        ok((self.f.urUSMPoolTrimToExp)(
            self.context,
            self.device,
            pool,
            keep,
        ));
    }

    /// Asks for device memory in queue order; the address and the code.
    pub(crate) fn try_alloc(
        &self,
        queue: Handle,
        pool: Handle,
        size: usize,
        waits: &[Handle],
    ) -> (*mut c_void, u32, Handle) {
        let untouched = ptr::without_provenance_mut(0x55);
        let (mut memory, mut event) = (untouched, ptr::null_mut());
        let code = (self.f.urEnqueueUSMDeviceAllocExp)(
            queue,
            pool,
            size,
            ptr::null(),
            waits.len() as u32,
            list(waits),
            &raw mut memory,
            &raw mut event,
        );
        if code == 0 {
            self.event(event);
        } else {
            assert_eq!(
                (memory, event),
                (untouched, ptr::null_mut()),
                "an error changes nothing"
            );
        }
        (memory, code, event)
    }

    /// Device memory in queue order.
    pub(crate) fn alloc(&self, queue: Handle, pool: Handle, size: usize) -> *mut c_void {
        let (memory, code, _) = self.try_alloc(queue, pool, size, &[]);
        ok(code);
        memory
    }

    /// Frees in queue order; the event.
    pub(crate) fn free(&self, queue: Handle, memory: *mut c_void, waits: &[Handle]) -> Handle {
        let mut event = ptr::null_mut();
        ok((self.f.urEnqueueUSMFreeExp)(
            queue,
            ptr::null_mut(),
            memory,
            waits.len() as u32,
            list(waits),
            &raw mut event,
        ));
        self.event(event)
    }

    /// Fills bytes of memory with a value; the event.
    pub(crate) fn fill(
        &self,
        queue: Handle,
        memory: *mut c_void,
        value: u8,
        size: usize,
        waits: &[Handle],
    ) -> Handle {
        let mut event = ptr::null_mut();
        ok((self.f.urEnqueueUSMFill)(
            queue,
            memory,
            1,
            (&raw const value).cast(),
            size,
            waits.len() as u32,
            list(waits),
            &raw mut event,
        ));
        self.event(event)
    }

    /// Copies memory to the host when the events are complete, and waits for that.
    pub(crate) fn read(
        &self,
        queue: Handle,
        memory: *const c_void,
        size: usize,
        waits: &[Handle],
    ) -> Vec<u8> {
        let mut bytes = vec![0_u8; size];
        ok((self.f.urEnqueueUSMMemcpy)(
            queue,
            true,
            bytes.as_mut_ptr().cast(),
            memory,
            size,
            waits.len() as u32,
            list(waits),
            ptr::null_mut(),
        ));
        bytes
    }
}

/// A wait list as C passes it: nothing for none.
pub(crate) fn list(events: &[Handle]) -> *const Handle {
    if events.is_empty() {
        ptr::null()
    } else {
        events.as_ptr()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for made in self.made.take().into_iter().rev() {
            match made {
                Made::Queue(queue) => {
                    (self.f.urQueueFinish)(queue);
                    (self.f.urQueueRelease)(queue)
                }
                Made::Event(event) => (self.f.urEventRelease)(event),
                Made::Pool(pool) => (self.f.urUSMPoolRelease)(pool),
            };
        }
        (self.f.urContextRelease)(self.context);
    }
}
