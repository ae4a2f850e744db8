//! The calls of the fake driver.

use std::ffi::{CStr, c_char, c_void};
use std::fs::File;
use std::os::fd::IntoRawFd;

use super::code::Launched;
use super::telling::text_of;
use super::world::{Kind, Step};
use super::{CONTEXTS, ENTERED, ERROR, Fake, GRANULE, MEMORY};
use crate::api::{
    AccessDescription, Api, Code, ContextHandle, EventHandle, FunctionHandle, ModuleHandle,
    Ordinal, PhysicalHandle, PhysicalProperties, Pointer, PoolHandle, PoolPlace, PoolProperties,
    StreamHandle, function, loading,
};

/// Writes an answer.
///
/// # Safety
/// As the driver's functions, the caller gives a place of the type.
unsafe fn answer<T>(place: *mut T, value: T) -> Code {
    // SAFETY: the caller's promise.
    unsafe { place.write(value) };
    Code::SUCCESS
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
            // SAFETY: the caller's promise.
            unsafe { answer(value, world.attribute(number)) }
        })
    }

    unsafe fn device_uuid(&self, uuid: *mut [u8; 16], device: Ordinal) -> Code {
        // SAFETY: the caller's promise.
        unsafe { answer(uuid, [device as u8 + 1; 16]) }
    }

    unsafe fn device_bus(&self, _address: *mut c_char, _len: i32, _device: Ordinal) -> Code {
        Code::NOT_SUPPORTED
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
        ENTERED.set(ENTERED.get() + 1);
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

    unsafe fn memory_info(&self, free: *mut usize, all: *mut usize) -> Code {
        self.call_within("cuMemGetInfo", |_, _| {
            // SAFETY: the caller's promise.
            unsafe { answer(all, MEMORY) };
            // SAFETY: as above.
            unsafe { answer(free, MEMORY / 2) }
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
            // SAFETY: the caller gives as many.
            let attributes = unsafe { std::slice::from_raw_parts(attributes, count as usize) };
            // SAFETY: as above.
            let places = unsafe { std::slice::from_raw_parts(data, count as usize) };
            for (&attribute, place) in attributes.iter().zip(places) {
                // SAFETY: as above.
                unsafe { answer(place.cast(), world.pointer_attribute(address, attribute)) };
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
                None if stream == StreamHandle::DEFAULT => Code::SUCCESS,
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

    /// Waits for a stream that is idle: that is all that is asked of it.
    unsafe fn stream_synchronize(&self, stream: StreamHandle) -> Code {
        self.call_within("cuStreamSynchronize", |world, _| {
            match world.streams.get(&stream) {
                Some(steps) if steps.is_empty() => {
                    world.observe(stream);
                    Code::SUCCESS
                }
                Some(_) => Code::NOT_READY,
                None => Code::INVALID_HANDLE,
            }
        })
    }

    unsafe fn stream_capturing(&self, stream: StreamHandle, status: *mut i32) -> Code {
        self.call_within("cuStreamIsCapturing", |world, _| {
            if !world.streams.contains_key(&stream) {
                return Code::INVALID_HANDLE;
            }
            let captured = i32::from(world.captured == Some(stream));
            // SAFETY: the caller's promise.
            unsafe { answer(status, captured) }
        })
    }

    unsafe fn pool_create(&self, pool: *mut PoolHandle, properties: *const PoolProperties) -> Code {
        // SAFETY: the caller's promise.
        let properties = unsafe { *properties };
        self.call_within("cuMemPoolCreate", |world, device| {
            let handle = world.add_pool(device, &properties);
            // SAFETY: the caller's promise.
            unsafe { answer(pool, handle) }
        })
    }

    unsafe fn pool_destroy(&self, pool: PoolHandle) -> Code {
        self.call("cuMemPoolDestroy", |world| world.destroy_pool(pool))
    }

    unsafe fn pool_default(&self, pool: *mut PoolHandle, device: Ordinal) -> Code {
        self.call_within("cuDeviceGetDefaultMemPool", |world, _| {
            // SAFETY: the caller's promise.
            unsafe { answer(pool, world.default_pool(device)) }
        })
    }

    unsafe fn pool_attribute(&self, pool: PoolHandle, attribute: i32, value: *mut c_void) -> Code {
        self.call_within("cuMemPoolGetAttribute", |world, _| {
            match world.pool_value(pool, attribute) {
                // SAFETY: the caller's promise: what is asked for has 64 bits.
                Some(known) => unsafe { answer(value.cast(), known) },
                None => Code::INVALID_VALUE,
            }
        })
    }

    unsafe fn pool_set_attribute(
        &self,
        pool: PoolHandle,
        attribute: i32,
        value: *mut c_void,
    ) -> Code {
        // SAFETY: the caller's promise: a number of 64 bits, or one whose lower half it is.
        let value = unsafe { value.cast::<u64>().read() };
        self.call_within("cuMemPoolSetAttribute", |world, _| {
            world.set_pool_value(pool, attribute, value)
        })
    }

    unsafe fn pool_set_access(
        &self,
        pool: PoolHandle,
        _descriptions: *const AccessDescription,
        count: usize,
    ) -> Code {
        assert!(count > 0);
        self.call_within("cuMemPoolSetAccess", |world, _| {
            world.let_into_pool(pool, count)
        })
    }

    unsafe fn pool_trim(&self, pool: PoolHandle, keep: usize) -> Code {
        self.call_within("cuMemPoolTrimTo", |world, _| world.trim_pool(pool, keep))
    }

    unsafe fn pool_allocate(
        &self,
        address: *mut Pointer,
        bytes: usize,
        pool: PoolHandle,
        stream: StreamHandle,
    ) -> Code {
        self.call_within("cuMemAllocFromPoolAsync", |world, _| {
            match world.allocate_from_pool(pool, bytes, stream) {
                // SAFETY: the caller's promise.
                Ok(block) => unsafe { answer(address, block) },
                Err(code) => code,
            }
        })
    }

    unsafe fn pool_free(&self, address: Pointer, stream: StreamHandle) -> Code {
        self.call_within("cuMemFreeAsync", |world, _| {
            world.free_to_pool(address, stream)
        })
    }

    unsafe fn pool_export(
        &self,
        descriptor: *mut i32,
        pool: PoolHandle,
        _handle_type: i32,
        _flags: u64,
    ) -> Code {
        self.call_within("cuMemPoolExportToShareableHandle", |world, _| {
            let file = File::open("/dev/null");
            let (Some(_), Ok(file)) = (world.pool_access(pool), file) else {
                return Code::INVALID_VALUE;
            };
            // SAFETY: the caller's promise.
            unsafe { answer(descriptor, file.into_raw_fd()) }
        })
    }

    unsafe fn pool_import(
        &self,
        pool: *mut PoolHandle,
        _descriptor: usize,
        _handle_type: i32,
        _flags: u64,
    ) -> Code {
        self.call_within("cuMemPoolImportFromShareableHandle", |world, device| {
            let handle = world.add_pool(device, &PoolProperties::device(device, 0, 0));
            // SAFETY: the caller's promise.
            unsafe { answer(pool, handle) }
        })
    }

    unsafe fn pool_export_pointer(&self, place: *mut PoolPlace, address: Pointer) -> Code {
        self.call_within("cuMemPoolExportPointer", |world, _| {
            let told = world.tell_place(address);
            // SAFETY: the caller's promise.
            told.map_or(Code::INVALID_VALUE, |told| unsafe { answer(place, told) })
        })
    }

    /// The memory is other memory here, as two processes have no fake in common.
    unsafe fn pool_import_pointer(
        &self,
        address: *mut Pointer,
        _pool: PoolHandle,
        place: *const PoolPlace,
    ) -> Code {
        // SAFETY: the caller's promise.
        let place = unsafe { *place };
        self.call_within("cuMemPoolImportPointer", |world, device| {
            match world.open_place(device, place) {
                // SAFETY: the caller's promise.
                Ok(block) => unsafe { answer(address, block) },
                Err(code) => code,
            }
        })
    }

    unsafe fn module_load(&self, module: *mut ModuleHandle, image: *const c_void) -> Code {
        // SAFETY: the caller's promise: images of the fake compiler are texts.
        let source = unsafe { CStr::from_ptr(image.cast()) };
        self.call_within("cuModuleLoadData", |world, _| {
            // SAFETY: the caller's promise.
            unsafe { answer(module, world.load(&source.to_string_lossy())) }
        })
    }

    unsafe fn module_load_told(
        &self,
        module: *mut ModuleHandle,
        image: *const c_void,
        count: u32,
        options: *const i32,
        values: *const *mut c_void,
    ) -> Code {
        // SAFETY: the caller's promise: images are texts.
        let source = unsafe { CStr::from_ptr(image.cast()) };
        if !source.to_bytes().starts_with(ERROR) {
            // SAFETY: the caller's promise.
            return unsafe { self.module_load(module, image) };
        }
        // SAFETY: the caller gives as many.
        let options = unsafe { std::slice::from_raw_parts(options, count as usize) };
        // SAFETY: as above.
        let values = unsafe { std::slice::from_raw_parts(values, count as usize) };
        let errors = options.iter().zip(values);
        for (_, place) in errors.filter(|(option, _)| **option == loading::ERRORS) {
            let words = c"no such instruction".to_bytes_with_nul();
            // SAFETY: the caller gives more bytes than these.
            unsafe {
                place
                    .cast::<u8>()
                    .copy_from_nonoverlapping(words.as_ptr(), words.len());
            }
        }
        self.call_within("cuModuleLoadDataEx", |_, _| Code::INVALID_IMAGE)
    }

    unsafe fn module_unload(&self, module: ModuleHandle) -> Code {
        self.call("cuModuleUnload", |world| {
            let known = world.unload(module);
            if known {
                Code::SUCCESS
            } else {
                Code::INVALID_HANDLE
            }
        })
    }

    unsafe fn module_function(
        &self,
        function: *mut FunctionHandle,
        module: ModuleHandle,
        name: *const c_char,
    ) -> Code {
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        self.call_within("cuModuleGetFunction", |world, _| {
            let found = world.find_entry(module, &name);
            // SAFETY: the caller's promise.
            found.map_or(Code::NOT_FOUND, |handle| unsafe {
                answer(function, handle)
            })
        })
    }

    unsafe fn module_variable(
        &self,
        address: *mut Pointer,
        bytes: *mut usize,
        module: ModuleHandle,
        name: *const c_char,
    ) -> Code {
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        self.call_within("cuModuleGetGlobal", |world, device| {
            let Some((found, size)) = world.find_variable(device, module, &name) else {
                return Code::NOT_FOUND;
            };
            // SAFETY: the caller's promise.
            unsafe { answer(address, found) };
            // SAFETY: as above.
            unsafe { answer(bytes, size) }
        })
    }

    unsafe fn function_attribute(
        &self,
        value: *mut i32,
        attribute: i32,
        _function: FunctionHandle,
    ) -> Code {
        let known = match attribute {
            function::BLOCK => 512,
            function::REGISTERS => 16,
            _ => 0,
        };
        // SAFETY: the caller's promise.
        unsafe { answer(value, known) }
    }

    unsafe fn set_function_attribute(
        &self,
        _function: FunctionHandle,
        _attribute: i32,
        _value: i32,
    ) -> Code {
        Code::INVALID_VALUE
    }

    unsafe fn function_parameter(
        &self,
        function: FunctionHandle,
        index: usize,
        offset: *mut usize,
        bytes: *mut usize,
    ) -> Code {
        self.call("cuFuncGetParamInfo", |world| {
            let name = world.functions.get(&function);
            let entry = name.and_then(|name| world.entries.get(name));
            let Some(&size) = entry.and_then(|entry| entry.parameters.get(index)) else {
                return Code::INVALID_VALUE;
            };
            // SAFETY: the caller's promise.
            unsafe { answer(offset, 8 * index) };
            // SAFETY: as above.
            unsafe { answer(bytes, size) }
        })
    }

    unsafe fn resident_blocks(
        &self,
        blocks: *mut i32,
        _function: FunctionHandle,
        threads: i32,
        _shared_memory: usize,
    ) -> Code {
        // SAFETY: the caller's promise.
        unsafe { answer(blocks, 2048 / threads) }
    }

    unsafe fn launch(
        &self,
        function: FunctionHandle,
        blocks_x: u32,
        blocks_y: u32,
        blocks_z: u32,
        threads_x: u32,
        threads_y: u32,
        threads_z: u32,
        shared_memory: u32,
        stream: StreamHandle,
        parameters: *mut *mut c_void,
        _extra: *mut *mut c_void,
    ) -> Code {
        let blocks = [blocks_x, blocks_y, blocks_z];
        assert!(!blocks.contains(&0) && threads_x > 0, "an empty launch");
        self.call_within("cuLaunchKernel", |world, _| {
            let Some(entry) = world.entry(function) else {
                return Code::INVALID_HANDLE;
            };
            let shape = [blocks, [threads_x, threads_y, threads_z]];
            // SAFETY: the caller's promise: a pointer for each parameter, to as many bytes.
            let launched = unsafe { Launched::read(parameters, &entry, shape, shared_memory) };
            world.give(stream, Step::Run(entry, launched))
        })
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
