//! A driver that is no driver: devices of the host's memory, for tests.
//!
//! Streams are carried out by a thread of the fake's, a step at a time and each time of a stream
//! that dice choose among those that may go on, so that whatever isn't ordered happens in all
//! orders. It is as strict as a device and more: a copy or fill that leaves live memory, or comes
//! after its end, is an illegal address and loses the device; a call without a context is refused.
//! Tests hold it still, let calls of theirs choosing fail, and read which calls there were.

mod engine;
mod tests;
mod world;

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::api::{
    AccessDescription, Api, Code, ContextHandle, EventHandle, Ordinal, PhysicalHandle,
    PhysicalProperties, Pointer, StreamHandle, attribute, pointer,
};
use world::{Kind, Step, World};

/// Bytes of memory of each device.
pub(crate) const MEMORY: usize = 1 << 30;

/// What the driver's granularity is.
const GRANULE: usize = 2 << 20;

thread_local! {
    /// The contexts of this thread, the current one last.
    static CONTEXTS: RefCell<Vec<ContextHandle>> = const { RefCell::new(Vec::new()) };
}

/// A fake driver.
pub(crate) struct Fake {
    shared: Arc<Shared>,
    /// The context of the first device; the others' follow.
    first_context: usize,
}

/// What the fake and its thread share.
struct Shared {
    world: Mutex<World>,
    wake: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fake {
    /// A driver of so many devices.
    pub(crate) fn new(devices: usize) -> Arc<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let shared = Arc::new(Shared {
            world: Mutex::new(World::new(devices)),
            wake: Condvar::new(),
        });
        engine::start(&shared);
        Arc::new(Self {
            shared,
            first_context: NEXT.fetch_add(devices.max(1), Ordering::Relaxed),
        })
    }

    /// Lets streams stand still until [`Fake::resume`].
    pub(crate) fn pause(&self) {
        self.shared.lock().paused = true;
    }

    /// Lets streams go on.
    pub(crate) fn resume(&self) {
        self.shared.lock().paused = false;
        self.shared.wake.notify_all();
    }

    /// Lets the call of this name after the next `skip` ones answer a code.
    pub(crate) fn fail(&self, call: &'static str, skip: usize, code: Code) {
        self.shared.lock().faults.push((call, skip, code));
    }

    /// Lets the call with this number, counted from 0 over all of them, answer a code.
    pub(crate) fn fail_at(&self, index: usize, code: Code) {
        self.shared.lock().fault_at = Some((index, code));
    }

    /// Device memory that this backend knows nothing of.
    pub(crate) fn foreign(&self, bytes: usize) -> millpond_hal::Address {
        let block = self.shared.lock().add(bytes, 256, Kind::Device(0));
        millpond_hal::Address::new(block.expect("memory") as usize)
    }

    /// Takes an attribute from the devices.
    pub(crate) fn lack(&self, attribute: i32) {
        self.shared.lock().lacking.push(attribute);
    }

    /// Loses all devices, as an error of a kernel does.
    pub(crate) fn lose(&self, code: Code) {
        self.shared.lock().lost = Some(code);
        self.shared.wake.notify_all();
    }

    /// Takes the names of the calls since the last time.
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.shared.lock().calls)
    }

    /// How many contexts, streams with events, and pieces of physical memory there are.
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        let world = self.shared.lock();
        let streams = world.streams.len() + world.events;
        (world.retained, streams, world.physical)
    }

    /// How many allocations live, and how many streams.
    pub(crate) fn live(&self) -> (usize, usize) {
        let world = self.shared.lock();
        (world.blocks.len(), world.streams.len())
    }

    /// The context that is current on this thread.
    pub(crate) fn current() -> Option<ContextHandle> {
        CONTEXTS.with_borrow(|contexts| contexts.last().copied())
    }

    /// The device whose context is current, if it is one of this driver's.
    fn device_of_thread(&self, world: &World) -> Option<Ordinal> {
        let context = Self::current()?;
        let number = context.0.checked_sub(self.first_context)?;
        (number < world.devices).then_some(number as Ordinal)
    }

    /// A call that needs no context.
    fn call(&self, name: &'static str, body: impl FnOnce(&mut World) -> Code) -> Code {
        let mut world = self.shared.lock();
        world.calls.push(name);
        if let Some(code) = world.fault(name) {
            return code;
        }
        body(&mut world)
    }

    /// A call that needs one, and whose device isn't lost.
    fn call_within(
        &self,
        name: &'static str,
        body: impl FnOnce(&mut World, Ordinal) -> Code,
    ) -> Code {
        let answer = self.call(name, |world| {
            if let Some(code) = world.lost {
                return code;
            }
            match self.device_of_thread(world) {
                Some(device) => body(world, device),
                None => Code::INVALID_CONTEXT,
            }
        });
        self.shared.wake.notify_all();
        answer
    }

    /// A call that gives a stream a step.
    fn step(&self, name: &'static str, stream: StreamHandle, step: Step) -> Code {
        self.call_within(name, |world, _| match world.streams.get_mut(&stream) {
            Some(steps) => {
                steps.push_back(step);
                Code::SUCCESS
            }
            None => Code::INVALID_HANDLE,
        })
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.wake.notify_all();
    }
}

/// Writes an answer.
///
/// # Safety
/// As the driver's functions, the caller gives a place of the type.
unsafe fn answer<T>(place: *mut T, value: T) -> Code {
    // SAFETY: the caller's promise.
    unsafe { place.write(value) };
    Code::SUCCESS
}

fn text_of(code: Code, name: bool) -> Option<&'static CStr> {
    Some(match (code, name) {
        (Code::OUT_OF_MEMORY, true) => c"CUDA_ERROR_OUT_OF_MEMORY",
        (Code::OUT_OF_MEMORY, false) => c"out of memory",
        (Code::ILLEGAL_ADDRESS, true) => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        (Code::ILLEGAL_ADDRESS, false) => c"an illegal memory access was encountered",
        (Code::NOT_SUPPORTED, true) => c"CUDA_ERROR_NOT_SUPPORTED",
        (Code::NOT_SUPPORTED, false) => c"operation not supported",
        _ => return None,
    })
}

impl Api for Fake {
    unsafe fn init(&self, _flags: u32) -> Code {
        self.call("cuInit", |_| Code::SUCCESS)
    }

    unsafe fn driver_version(&self, version: *mut i32) -> Code {
        // SAFETY: the caller's promise.
        self.call("cuDriverGetVersion", |_| unsafe { answer(version, 13_000) })
    }

    unsafe fn error_name(&self, code: Code, name: *mut *const c_char) -> Code {
        let Some(text) = text_of(code, true) else {
            return Code::INVALID_VALUE;
        };
        // SAFETY: the caller's promise.
        unsafe { answer(name, text.as_ptr()) }
    }

    unsafe fn error_string(&self, code: Code, text: *mut *const c_char) -> Code {
        let Some(words) = text_of(code, false) else {
            return Code::INVALID_VALUE;
        };
        // SAFETY: the caller's promise.
        unsafe { answer(text, words.as_ptr()) }
    }

    unsafe fn device_count(&self, count: *mut i32) -> Code {
        self.call("cuDeviceGetCount", |world| {
            // SAFETY: the caller's promise.
            unsafe { answer(count, world.devices as i32) }
        })
    }

    unsafe fn device(&self, device: *mut Ordinal, number: i32) -> Code {
        // SAFETY: the caller's promise.
        self.call("cuDeviceGet", |_| unsafe { answer(device, number) })
    }

    unsafe fn device_name(&self, name: *mut c_char, len: i32, _device: Ordinal) -> Code {
        let text = c"Fake of the tests".to_bytes_with_nul();
        assert!(text.len() <= len as usize);
        // SAFETY: the caller gives as many bytes.
        unsafe {
            name.cast::<u8>()
                .copy_from_nonoverlapping(text.as_ptr(), text.len());
        };
        Code::SUCCESS
    }

    unsafe fn device_memory(&self, bytes: *mut usize, _device: Ordinal) -> Code {
        // SAFETY: the caller's promise.
        unsafe { answer(bytes, MEMORY) }
    }

    unsafe fn device_attribute(&self, value: *mut i32, number: i32, _device: Ordinal) -> Code {
        self.call("cuDeviceGetAttribute", |world| {
            if world.lacking.contains(&number) {
                // SAFETY: the caller's promise.
                return unsafe { answer(value, 0) };
            }
            let known = match number {
                attribute::MULTIPROCESSORS => 8,
                attribute::L2_BYTES => 1 << 20,
                attribute::CAPABILITY_MAJOR => 9,
                attribute::UNIFIED_ADDRESSING
                | attribute::VIRTUAL_MEMORY
                | attribute::STREAM_VALUES => 1,
                _ => 0,
            };
            // SAFETY: the caller's promise.
            unsafe { answer(value, known) }
        })
    }

    unsafe fn can_access_peer(&self, can: *mut i32, device: Ordinal, peer: Ordinal) -> Code {
        // SAFETY: the caller's promise.
        unsafe { answer(can, i32::from(device != peer)) }
    }

    unsafe fn context_retain(&self, context: *mut ContextHandle, device: Ordinal) -> Code {
        self.call("cuDevicePrimaryCtxRetain", |world| {
            world.retained += 1;
            let handle = ContextHandle(self.first_context + device as usize);
            // SAFETY: the caller's promise.
            unsafe { answer(context, handle) }
        })
    }

    unsafe fn context_release(&self, _device: Ordinal) -> Code {
        self.call("cuDevicePrimaryCtxRelease", |world| {
            world.retained -= 1;
            Code::SUCCESS
        })
    }

    unsafe fn context_push(&self, context: ContextHandle) -> Code {
        CONTEXTS.with_borrow_mut(|contexts| contexts.push(context));
        Code::SUCCESS
    }

    unsafe fn context_pop(&self, context: *mut ContextHandle) -> Code {
        match CONTEXTS.with_borrow_mut(Vec::pop) {
            // SAFETY: the caller's promise.
            Some(popped) => unsafe { answer(context, popped) },
            None => Code::INVALID_CONTEXT,
        }
    }

    unsafe fn enable_peer(&self, context: ContextHandle, _flags: u32) -> Code {
        self.call_within("cuCtxEnablePeerAccess", |world, device| {
            if world.peers.insert((device, context.0)) {
                Code::SUCCESS
            } else {
                Code::PEER_ACCESS_ALREADY_ENABLED
            }
        })
    }

    unsafe fn allocate(&self, address: *mut Pointer, bytes: usize) -> Code {
        self.call_within("cuMemAlloc", |world, device| {
            let block = world.add(bytes, 256, Kind::Device(device));
            // SAFETY: the caller's promise.
            block.map_or(Code::OUT_OF_MEMORY, |block| unsafe {
                answer(address, block)
            })
        })
    }

    unsafe fn free(&self, address: Pointer) -> Code {
        self.call_within("cuMemFree", |world, _| world.remove(address))
    }

    unsafe fn allocate_host(&self, address: *mut *mut c_void, bytes: usize, _flags: u32) -> Code {
        self.call_within("cuMemHostAlloc", |world, _| {
            let block = world.add(bytes, 4096, Kind::Host);
            block.map_or(Code::OUT_OF_MEMORY, |block| {
                let pointer = std::ptr::with_exposed_provenance_mut(block as usize);
                // SAFETY: the caller's promise.
                unsafe { answer(address, pointer) }
            })
        })
    }

    unsafe fn free_host(&self, address: *mut c_void) -> Code {
        let address = address.expose_provenance() as Pointer;
        self.call_within("cuMemFreeHost", |world, _| world.remove(address))
    }

    unsafe fn allocate_managed(&self, address: *mut Pointer, bytes: usize, _flags: u32) -> Code {
        self.call_within("cuMemAllocManaged", |world, _| {
            let block = world.add(bytes, 256, Kind::Managed);
            // SAFETY: the caller's promise.
            block.map_or(Code::OUT_OF_MEMORY, |block| unsafe {
                answer(address, block)
            })
        })
    }

    unsafe fn pointer_attributes(
        &self,
        count: u32,
        attributes: *const i32,
        data: *const *mut c_void,
        address: Pointer,
    ) -> Code {
        self.call_within("cuPointerGetAttributes", |world, _| {
            let kind = world.kind_of(address);
            // SAFETY: the caller gives as many.
            let attributes = unsafe { std::slice::from_raw_parts(attributes, count as usize) };
            // SAFETY: as above.
            let places = unsafe { std::slice::from_raw_parts(data, count as usize) };
            for (&attribute, place) in attributes.iter().zip(places) {
                let value = match (attribute, kind) {
                    (pointer::IS_MANAGED, kind) => u32::from(kind == Some(Kind::Managed)),
                    (pointer::MEMORY_TYPE, Some(Kind::Host)) => pointer::HOST,
                    (pointer::MEMORY_TYPE, Some(_)) => pointer::DEVICE,
                    (pointer::ORDINAL, Some(Kind::Device(device))) => device as u32,
                    _ => 0,
                };
                // SAFETY: as above.
                unsafe { answer(place.cast(), value) };
            }
            Code::SUCCESS
        })
    }

    unsafe fn granularity(
        &self,
        bytes: *mut usize,
        _properties: *const PhysicalProperties,
        _option: i32,
    ) -> Code {
        // SAFETY: the caller's promise.
        unsafe { answer(bytes, GRANULE) }
    }

    unsafe fn reserve(
        &self,
        address: *mut Pointer,
        bytes: usize,
        alignment: usize,
        _wanted: Pointer,
        _flags: u64,
    ) -> Code {
        assert!(bytes.is_multiple_of(GRANULE) && alignment.is_power_of_two());
        self.call_within("cuMemAddressReserve", |world, _| {
            let block = world.add(bytes, alignment, Kind::Reserved);
            // SAFETY: the caller's promise.
            block.map_or(Code::OUT_OF_MEMORY, |block| unsafe {
                answer(address, block)
            })
        })
    }

    unsafe fn unreserve(&self, address: Pointer, _bytes: usize) -> Code {
        self.call_within("cuMemAddressFree", |world, _| {
            if world.kind_of(address) == Some(Kind::Reserved) {
                world.remove(address)
            } else {
                Code::INVALID_VALUE
            }
        })
    }

    unsafe fn create(
        &self,
        memory: *mut PhysicalHandle,
        bytes: usize,
        _properties: *const PhysicalProperties,
        _flags: u64,
    ) -> Code {
        assert!(bytes.is_multiple_of(GRANULE));
        self.call_within("cuMemCreate", |world, _| {
            world.physical += 1;
            // SAFETY: the caller's promise.
            unsafe { answer(memory, PhysicalHandle(7)) }
        })
    }

    unsafe fn destroy(&self, _memory: PhysicalHandle) -> Code {
        self.call_within("cuMemRelease", |world, _| {
            world.physical -= 1;
            Code::SUCCESS
        })
    }

    unsafe fn map(
        &self,
        address: Pointer,
        _bytes: usize,
        _offset: usize,
        _memory: PhysicalHandle,
        _flags: u64,
    ) -> Code {
        self.call_within("cuMemMap", |world, _| {
            world.turn(address, Kind::Reserved, Kind::Mapped)
        })
    }

    unsafe fn unmap(&self, address: Pointer, _bytes: usize) -> Code {
        self.call_within("cuMemUnmap", |world, device| {
            let code = world.turn(address, Kind::Device(device), Kind::Reserved);
            if code == Code::SUCCESS {
                return code;
            }
            world.turn(address, Kind::Mapped, Kind::Reserved)
        })
    }

    unsafe fn set_access(
        &self,
        address: Pointer,
        _bytes: usize,
        _descriptions: *const AccessDescription,
        count: usize,
    ) -> Code {
        assert!(count > 0);
        self.call_within("cuMemSetAccess", |world, device| {
            world.turn(address, Kind::Mapped, Kind::Device(device))
        })
    }

    unsafe fn stream_create(&self, stream: *mut StreamHandle, _flags: u32) -> Code {
        self.call_within("cuStreamCreate", |world, _| {
            let handle = world.add_stream();
            // SAFETY: the caller's promise.
            unsafe { answer(stream, handle) }
        })
    }

    unsafe fn stream_destroy(&self, stream: StreamHandle) -> Code {
        self.call("cuStreamDestroy", |world| {
            world.streams.remove(&stream);
            Code::SUCCESS
        })
    }

    unsafe fn stream_query(&self, stream: StreamHandle) -> Code {
        self.call_within("cuStreamQuery", |world, _| {
            match world.streams.get(&stream) {
                Some(steps) if steps.is_empty() => Code::SUCCESS,
                Some(_) => Code::NOT_READY,
                None => Code::INVALID_HANDLE,
            }
        })
    }

    unsafe fn stream_wait(
        &self,
        stream: StreamHandle,
        address: Pointer,
        value: u64,
        _flags: u32,
    ) -> Code {
        self.step("cuStreamWaitValue64", stream, Step::Wait(address, value))
    }

    unsafe fn stream_write(
        &self,
        stream: StreamHandle,
        address: Pointer,
        value: u64,
        _flags: u32,
    ) -> Code {
        self.step("cuStreamWriteValue64", stream, Step::Write(address, value))
    }

    unsafe fn event_create(&self, event: *mut EventHandle, _flags: u32) -> Code {
        self.call_within("cuEventCreate", |world, _| {
            world.events += 1;
            // SAFETY: the caller's promise.
            unsafe { answer(event, EventHandle(world.next())) }
        })
    }

    unsafe fn event_destroy(&self, _event: EventHandle) -> Code {
        self.call("cuEventDestroy", |world| {
            world.events -= 1;
            Code::SUCCESS
        })
    }

    unsafe fn event_record(&self, event: EventHandle, stream: StreamHandle) -> Code {
        self.step("cuEventRecord", stream, Step::Note(event))
    }

    unsafe fn event_elapsed(
        &self,
        milliseconds: *mut f32,
        begin: EventHandle,
        end: EventHandle,
    ) -> Code {
        self.call_within("cuEventElapsedTime", |world, _| {
            let [Some(begin), Some(end)] = [begin, end].map(|it| world.noted.get(&it)) else {
                return Code::NOT_READY;
            };
            let elapsed = end.duration_since(*begin).as_secs_f32() * 1e3;
            // SAFETY: the caller's promise.
            unsafe { answer(milliseconds, elapsed) }
        })
    }

    unsafe fn copy(&self, dst: Pointer, src: Pointer, bytes: usize, stream: StreamHandle) -> Code {
        self.step("cuMemcpyAsync", stream, Step::Copy { dst, src, bytes })
    }

    unsafe fn set8(&self, dst: Pointer, value: u8, count: usize, stream: StreamHandle) -> Code {
        let step = Step::set(dst, count, &[value], count, 1);
        self.step("cuMemsetD8Async", stream, step)
    }

    unsafe fn set16(&self, dst: Pointer, value: u16, count: usize, stream: StreamHandle) -> Code {
        let step = Step::set(dst, count * 2, &value.to_ne_bytes(), count, 1);
        self.step("cuMemsetD16Async", stream, step)
    }

    unsafe fn set32(&self, dst: Pointer, value: u32, count: usize, stream: StreamHandle) -> Code {
        let step = Step::set(dst, count * 4, &value.to_ne_bytes(), count, 1);
        self.step("cuMemsetD32Async", stream, step)
    }

    unsafe fn set8_rows(
        &self,
        dst: Pointer,
        pitch: usize,
        value: u8,
        width: usize,
        height: usize,
        stream: StreamHandle,
    ) -> Code {
        let step = Step::set(dst, pitch, &[value], width, height);
        self.step("cuMemsetD2D8Async", stream, step)
    }

    unsafe fn set16_rows(
        &self,
        dst: Pointer,
        pitch: usize,
        value: u16,
        width: usize,
        height: usize,
        stream: StreamHandle,
    ) -> Code {
        let step = Step::set(dst, pitch, &value.to_ne_bytes(), width, height);
        self.step("cuMemsetD2D16Async", stream, step)
    }

    unsafe fn set32_rows(
        &self,
        dst: Pointer,
        pitch: usize,
        value: u32,
        width: usize,
        height: usize,
        stream: StreamHandle,
    ) -> Code {
        let step = Step::set(dst, pitch, &value.to_ne_bytes(), width, height);
        self.step("cuMemsetD2D32Async", stream, step)
    }

    unsafe fn prefetch(
        &self,
        address: Pointer,
        bytes: usize,
        _device: Ordinal,
        stream: StreamHandle,
    ) -> Code {
        self.step("cuMemPrefetchAsync", stream, Step::Touch { address, bytes })
    }

    unsafe fn advise(
        &self,
        _address: Pointer,
        _bytes: usize,
        _advice: i32,
        _device: Ordinal,
    ) -> Code {
        self.call_within("cuMemAdvise", |_, _| Code::SUCCESS)
    }
}
