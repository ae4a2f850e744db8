//! What commands do to bytes, beside copies of them that are made here.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::{Code, MemFlags};

use crate::support::functions::List;
use crate::support::shapes::{BufferProperties, Handle, Header, Region, Triple};
use crate::support::world::{World, fails, ok};

const BYTES: usize = 3 << 10;

fn shared(world: &World, size: usize) -> *mut c_void {
    let mut memory = ptr::null_mut();
    ok((world.f.urUSMSharedAlloc)(
        world.context,
        world.device,
        ptr::null(),
        ptr::null_mut(),
        size,
        &raw mut memory,
    ));
    memory
}

fn free(world: &World, memory: *mut c_void) {
    ok((world.f.urUSMFree)(world.context, memory));
}

#[test]
fn fills_repeat_patterns_of_any_length() {
    let world = World::new();
    let queue = world.queue(0);
    let memory = shared(&world, BYTES);
    for length in [1, 2, 3, 4, 6, 8, 12, 16, 32, 96, 256, 1024, BYTES] {
        let pattern: Vec<u8> = (0..length)
            .map(|index| (index * 7 + length) as u8)
            .collect();
        ok((world.f.urEnqueueUSMFill)(
            queue,
            memory,
            length,
            pattern.as_ptr().cast(),
            BYTES,
            0,
            ptr::null(),
            ptr::null_mut(),
        ));
        let bytes = world.read(queue, memory, BYTES, &[]);
        assert!(
            bytes.chunks(length).all(|chunk| chunk == pattern),
            "{length}"
        );
    }
    let pattern = [1_u8; 8];
    for (length, size) in [(0, 8), (8, 0), (8, 12), (8, BYTES + 8)] {
        let code = (world.f.urEnqueueUSMFill)(
            queue,
            memory,
            length,
            pattern.as_ptr().cast(),
            size,
            0,
            ptr::null(),
            ptr::null_mut(),
        );
        fails(code, Code::INVALID_SIZE);
    }
    free(&world, memory);
}

#[test]
fn copies_move_what_is_there_when_they_run() {
    let world = World::new();
    let queue = world.queue(0);
    // Large enough that several threads share it.
    let size = 8 << 20;
    let (src, dst) = (shared(&world, size), shared(&world, size));
    for value in 1..=3 {
        world.fill(queue, src, value, size, &[]);
        ok((world.f.urEnqueueUSMMemcpy)(
            queue,
            false,
            dst,
            src,
            size,
            0,
            ptr::null(),
            ptr::null_mut(),
        ));
        assert!(
            world
                .read(queue, dst, size, &[])
                .iter()
                .all(|&byte| byte == value)
        );
    }
    let within = src.wrapping_byte_add(1);
    fails(
        (world.f.urEnqueueUSMMemcpy)(
            queue,
            true,
            within,
            src,
            100,
            0,
            ptr::null(),
            ptr::null_mut(),
        ),
        Code::INVALID_SIZE,
    );
    fails(
        (world.f.urEnqueueUSMMemcpy)(
            queue,
            true,
            within,
            dst,
            size,
            0,
            ptr::null(),
            ptr::null_mut(),
        ),
        Code::INVALID_SIZE,
    );
    ok((world.f.urUSMContextMemcpyExp)(
        world.context,
        src,
        dst,
        size,
    ));
    free(&world, src);
    free(&world, dst);
}

#[test]
fn a_pattern_goes_on_from_row_to_row() {
    let world = World::new();
    let queue = world.queue(0);
    let memory = shared(&world, BYTES);
    let pattern = [1_u8, 2, 3, 4];
    ok((world.f.urEnqueueUSMFill2D)(
        queue,
        memory,
        16,
        4,
        pattern.as_ptr().cast(),
        6,
        2,
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    let seen = world.read(queue, memory, 32, &[]);
    assert_eq!(
        (&seen[..6], &seen[16..22]),
        (&[1, 2, 3, 4, 1, 2][..], &[3, 4, 1, 2, 3, 4][..])
    );
    free(&world, memory);
}

#[test]
fn rows_are_filled_and_copied_without_what_is_between_them() {
    let world = World::new();
    let queue = world.queue(0);
    let (src, dst) = (shared(&world, BYTES), shared(&world, BYTES));
    let (width, height) = (10_usize, 7);
    world.fill(queue, src, 0, BYTES, &[]);
    world.fill(queue, dst, 0, BYTES, &[]);
    // It goes on from row to row.
    let pattern: Vec<u8> = (1..=14).collect();
    ok((world.f.urEnqueueUSMFill2D)(
        queue,
        src,
        32,
        5,
        pattern.as_ptr().cast(),
        width,
        height,
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    ok((world.f.urEnqueueUSMMemcpy2D)(
        queue,
        false,
        dst,
        100,
        src,
        32,
        width,
        height,
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    for (pitch, width, height) in [(9, 10, 7), (32, 0, 7), (32, 10, 0), (BYTES, 10, 2)] {
        let code = (world.f.urEnqueueUSMMemcpy2D)(
            queue,
            true,
            dst,
            pitch,
            src,
            32,
            width,
            height,
            0,
            ptr::null(),
            ptr::null_mut(),
        );
        fails(code, Code::INVALID_SIZE);
    }
    let check = |bytes: &[u8], pitch: usize| {
        for (index, &byte) in bytes.iter().enumerate() {
            let (row, column) = (index / pitch, index % pitch);
            let is_in = row < height && column < width;
            assert_eq!(
                byte,
                if is_in { pattern[column % 5] } else { 0 },
                "byte {index}"
            );
        }
    };
    check(&world.read(queue, src, BYTES, &[]), 32);
    check(&world.read(queue, dst, BYTES, &[]), 100);
    free(&world, src);
    free(&world, dst);
}

#[test]
fn hints_change_nothing_and_are_checked() {
    let world = World::new();
    let queue = world.queue(0);
    let memory = shared(&world, BYTES);
    world.fill(queue, memory, 4, BYTES, &[]);
    let f = world.f;
    ok((f.urEnqueueUSMPrefetch)(
        queue,
        memory,
        BYTES,
        1,
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    for bit in 0..17 {
        ok((f.urEnqueueUSMAdvise)(
            queue,
            memory,
            BYTES,
            1 << bit,
            ptr::null_mut(),
        ));
    }
    fails(
        (f.urEnqueueUSMAdvise)(queue, memory, BYTES, 1 << 17, ptr::null_mut()),
        Code::INVALID_ENUMERATION,
    );
    fails(
        (f.urEnqueueUSMAdvise)(queue, memory, BYTES + 1, 1, ptr::null_mut()),
        Code::INVALID_SIZE,
    );
    let code = (f.urEnqueueUSMPrefetch)(queue, memory, 0, 1, 0, ptr::null(), ptr::null_mut());
    fails(code, Code::INVALID_SIZE);
    assert!(
        world
            .read(queue, memory, BYTES, &[])
            .iter()
            .all(|&byte| byte == 4)
    );
    free(&world, memory);
}

/// Buffers of the test, and what they and their commands need.
struct Buffers<'a> {
    world: &'a World,
    queue: Handle,
    made: Vec<Handle>,
}

/// No events to wait for, and none wanted.
const NO_EVENTS: (u32, List, *mut Handle) = (0, ptr::null(), ptr::null_mut());

impl<'a> Buffers<'a> {
    fn new(world: &'a World) -> Self {
        Self {
            world,
            queue: world.queue(0),
            made: Vec::new(),
        }
    }

    fn make(&mut self, content: &[u8]) -> Handle {
        let (f, flags) = (self.world.f, MemFlags::READ_WRITE.0);
        let mut buffer = ptr::null_mut();
        let (count, list, event) = NO_EVENTS;
        let context = self.world.context;
        ok((f.urMemBufferCreate)(
            context,
            flags,
            content.len(),
            ptr::null(),
            &raw mut buffer,
        ));
        ok((f.urEnqueueMemBufferWrite)(
            self.queue,
            buffer,
            true,
            0,
            content.len(),
            content.as_ptr().cast(),
            count,
            list,
            event,
        ));
        self.made.push(buffer);
        buffer
    }

    fn try_read(&self, buffer: Handle, offset: usize, size: usize) -> (u32, Vec<u8>) {
        let mut bytes = vec![0_u8; size];
        let (count, list, event) = NO_EVENTS;
        let code = (self.world.f.urEnqueueMemBufferRead)(
            self.queue,
            buffer,
            true,
            offset,
            size,
            bytes.as_mut_ptr().cast(),
            count,
            list,
            event,
        );
        (code, bytes)
    }

    fn read(&self, buffer: Handle, offset: usize, size: usize) -> Vec<u8> {
        let (code, bytes) = self.try_read(buffer, offset, size);
        ok(code);
        bytes
    }
}

impl Drop for Buffers<'_> {
    fn drop(&mut self) {
        for &buffer in &self.made {
            (self.world.f.urMemRelease)(buffer);
        }
    }
}

fn counting() -> Vec<u8> {
    (0..BYTES).map(|index| (index % 251) as u8).collect()
}

#[test]
fn buffers_are_written_read_copied_and_filled() {
    let world = World::new();
    let mut buffers = Buffers::new(&world);
    let host = counting();
    let (one, two) = (buffers.make(&host), buffers.make(&[0; BYTES]));
    assert_eq!(buffers.read(one, 7, 100), host[7..107]);
    let (count, list, event) = NO_EVENTS;
    let (f, queue) = (world.f, buffers.queue);
    ok((f.urEnqueueMemBufferFill)(
        queue,
        two,
        [9_u8, 8].as_ptr().cast(),
        2,
        0,
        BYTES,
        count,
        list,
        event,
    ));
    ok((f.urEnqueueMemBufferCopy)(
        queue, one, two, 100, 200, 300, count, list, event,
    ));
    let seen = buffers.read(two, 0, BYTES);
    assert_eq!(seen[200..500], host[100..400]);
    let mut filled = seen[..200].chunks(2).chain(seen[500..].chunks(2));
    assert!(filled.all(|pair| pair == [9, 8]));
    fails(buffers.try_read(two, 1, BYTES).0, Code::INVALID_SIZE);
}

#[test]
fn rectangles_of_buffers_are_read() {
    let world = World::new();
    let mut buffers = Buffers::new(&world);
    let host = counting();
    let buffer = buffers.make(&host);
    // Two slices of three rows of four bytes, from the second row and slice on.
    let mut block = [0_u8; 24];
    let (origin, region) = (Triple(5, 1, 1), Triple(4, 3, 2));
    let (count, list, event) = NO_EVENTS;
    let read = |row_pitch, slice_pitch, block: &mut [u8]| {
        (world.f.urEnqueueMemBufferReadRect)(
            buffers.queue,
            buffer,
            true,
            origin,
            Triple(0, 0, 0),
            region,
            row_pitch,
            slice_pitch,
            0,
            0,
            block.as_mut_ptr().cast(),
            count,
            list,
            event,
        )
    };
    ok(read(50, 500, &mut block));
    for (index, &byte) in block.iter().enumerate() {
        let (slice, row, column) = (index / 12, index / 4 % 3, index % 4);
        assert_eq!(byte, host[(slice + 1) * 500 + (row + 1) * 50 + column + 5]);
    }
    for (row_pitch, slice_pitch) in [(3, 500), (50, 149), (50, 501), (50, BYTES)] {
        fails(read(row_pitch, slice_pitch, &mut block), Code::INVALID_SIZE);
    }
}

#[test]
fn parts_of_buffers_are_mapped_and_are_buffers() {
    let world = World::new();
    let mut buffers = Buffers::new(&world);
    let host = counting();
    let buffer = buffers.make(&host);
    let (f, queue) = (world.f, buffers.queue);
    let (count, list, event) = NO_EVENTS;
    let mut mapped = ptr::null_mut();
    ok((f.urEnqueueMemBufferMap)(
        queue,
        buffer,
        true,
        3,
        10,
        20,
        count,
        list,
        event,
        &raw mut mapped,
    ));
    // SAFETY: twenty bytes, mapped for the program.
    let bytes = unsafe { std::slice::from_raw_parts(mapped.cast::<u8>(), 20) };
    assert_eq!(bytes, &host[10..30]);
    ok((f.urEnqueueMemUnmap)(
        queue, buffer, mapped, count, list, event,
    ));
    let region = Region {
        header: Header::new(3),
        origin: 256,
        size: 64,
    };
    let mut part = ptr::null_mut();
    let flags = MemFlags::READ_WRITE.0;
    ok((f.urMemBufferPartition)(
        buffer,
        flags,
        0,
        &raw const region,
        &raw mut part,
    ));
    assert_eq!(buffers.read(part, 4, 60), host[260..320]);
    fails(buffers.try_read(part, 4, 61).0, Code::INVALID_SIZE);
    ok((f.urMemRelease)(part));
}

#[test]
fn a_buffer_in_the_programs_memory_is_read_to_where_it_is() {
    let world = World::new();
    let mut buffers = Buffers::new(&world);
    let mut host = counting();
    let address = host.as_mut_ptr().cast::<c_void>();
    let properties = BufferProperties {
        header: Header::new(2),
        host: address,
    };
    let flags = MemFlags::READ_WRITE.0 | MemFlags::USE_HOST_POINTER.0;
    let mut buffer = ptr::null_mut();
    let f = world.f;
    let properties = (&raw const properties).cast();
    ok((f.urMemBufferCreate)(
        world.context,
        flags,
        BYTES,
        properties,
        &raw mut buffer,
    ));
    buffers.made.push(buffer);
    let (count, list, event) = NO_EVENTS;
    for offset in [0, 1] {
        let to = address.wrapping_byte_add(offset);
        ok((f.urEnqueueMemBufferRead)(
            buffers.queue,
            buffer,
            true,
            0,
            BYTES - offset,
            to,
            count,
            list,
            event,
        ));
        assert_eq!(host[offset..], counting()[..BYTES - offset]);
    }
}

#[test]
fn a_buffer_in_the_programs_memory_ends_before_addresses_do() {
    let world = World::new();
    let flags = MemFlags::READ_WRITE.0 | MemFlags::USE_HOST_POINTER.0;
    let mut buffer = ptr::null_mut();
    let properties = BufferProperties {
        header: Header::new(2),
        host: ptr::without_provenance_mut(usize::MAX - 10),
    };
    let properties = (&raw const properties).cast();
    let code = (world.f.urMemBufferCreate)(world.context, flags, 64, properties, &raw mut buffer);
    fails(code, Code::INVALID_HOST_PTR);
    assert!(buffer.is_null());
}
