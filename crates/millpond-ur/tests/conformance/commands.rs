//! What commands do to bytes, beside copies of them that are made here.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::{Code, MemFlags};

use crate::support::shapes::{Header, Region, Triple};
use crate::support::world::{World, fails, ok};

const BYTES: usize = 3 << 10;

fn shared(world: &World, size: usize) -> *mut c_void {
    let mut memory = ptr::null_mut();
    // SAFETY: a place for the memory.
    ok(unsafe {
        (world.f.urUSMSharedAlloc)(
            world.context,
            world.device,
            ptr::null(),
            ptr::null_mut(),
            size,
            &raw mut memory,
        )
    });
    memory
}

fn free(world: &World, memory: *mut c_void) {
    // SAFETY: memory of the test.
    ok(unsafe { (world.f.urUSMFree)(world.context, memory) });
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
        // SAFETY: a pattern, and memory of the test.
        ok(unsafe {
            (world.f.urEnqueueUSMFill)(
                queue,
                memory,
                length,
                pattern.as_ptr().cast(),
                BYTES,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        });
        let bytes = world.read(queue, memory, BYTES, &[]);
        assert!(
            bytes.chunks(length).all(|chunk| chunk == pattern),
            "{length}"
        );
    }
    let pattern = [1_u8; 8];
    for (length, size) in [(0, 8), (8, 0), (8, 12), (8, BYTES + 8)] {
        // SAFETY: as above; nothing is enqueued.
        let code = unsafe {
            (world.f.urEnqueueUSMFill)(
                queue,
                memory,
                length,
                pattern.as_ptr().cast(),
                size,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
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
        // SAFETY: memory of the test.
        ok(unsafe {
            (world.f.urEnqueueUSMMemcpy)(
                queue,
                false,
                dst,
                src,
                size,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        });
        assert!(
            world
                .read(queue, dst, size, &[])
                .iter()
                .all(|&byte| byte == value)
        );
    }
    // SAFETY: as above; copies that overlap or leave the memory aren't enqueued.
    unsafe {
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
    }
    free(&world, src);
    free(&world, dst);
}

#[test]
fn rows_are_filled_and_copied_without_what_is_between_them() {
    let world = World::new();
    let queue = world.queue(0);
    let (src, dst) = (shared(&world, BYTES), shared(&world, BYTES));
    let (width, height) = (10_usize, 7);
    world.fill(queue, src, 0, BYTES, &[]);
    world.fill(queue, dst, 0, BYTES, &[]);
    let pattern = [1_u8, 2, 3, 4, 5];
    // SAFETY: memory of the test, which has these rows.
    unsafe {
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
    // SAFETY: memory of the test.
    unsafe {
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
    }
    assert!(
        world
            .read(queue, memory, BYTES, &[])
            .iter()
            .all(|&byte| byte == 4)
    );
    free(&world, memory);
}

#[test]
fn buffers_are_written_read_copied_filled_mapped_and_parted() {
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let mut buffers = [ptr::null_mut(); 2];
    let mut part = ptr::null_mut();
    let host: Vec<u8> = (0..BYTES).map(|index| (index % 251) as u8).collect();
    let mut seen = vec![0_u8; BYTES];
    let flags = MemFlags::READ_WRITE.0;
    // SAFETY: places for what is answered, and bytes of the test.
    unsafe {
        for buffer in &mut buffers {
            ok((f.urMemBufferCreate)(
                world.context,
                flags,
                BYTES,
                ptr::null(),
                buffer,
            ));
        }
        let [one, two] = buffers;
        let none = (0, ptr::null(), ptr::null_mut());
        ok((f.urEnqueueMemBufferWrite)(
            queue,
            one,
            true,
            0,
            BYTES,
            host.as_ptr().cast(),
            none.0,
            none.1,
            none.2,
        ));
        ok((f.urEnqueueMemBufferFill)(
            queue,
            two,
            [9_u8, 8].as_ptr().cast(),
            2,
            0,
            BYTES,
            none.0,
            none.1,
            none.2,
        ));
        ok((f.urEnqueueMemBufferCopy)(
            queue, one, two, 100, 200, 300, none.0, none.1, none.2,
        ));
        ok((f.urEnqueueMemBufferRead)(
            queue,
            two,
            true,
            0,
            BYTES,
            seen.as_mut_ptr().cast(),
            none.0,
            none.1,
            none.2,
        ));
        assert_eq!(seen[200..500], host[100..400]);
        assert!(
            seen[..200]
                .chunks(2)
                .chain(seen[500..].chunks(2))
                .all(|pair| pair == [9, 8])
        );

        // Two slices of three rows of four bytes, from the second row and slice on.
        let mut block = [0_u8; 24];
        let (origin, region) = (Triple(5, 1, 1), Triple(4, 3, 2));
        ok((f.urEnqueueMemBufferReadRect)(
            queue,
            one,
            true,
            origin,
            Triple(0, 0, 0),
            region,
            50,
            500,
            0,
            0,
            block.as_mut_ptr().cast(),
            none.0,
            none.1,
            none.2,
        ));
        for (index, &byte) in block.iter().enumerate() {
            let (slice, row, column) = (index / 12, index / 4 % 3, index % 4);
            assert_eq!(byte, host[(slice + 1) * 500 + (row + 1) * 50 + column + 5]);
        }

        let mut mapped = ptr::null_mut();
        ok((f.urEnqueueMemBufferMap)(
            queue,
            one,
            true,
            3,
            10,
            20,
            none.0,
            none.1,
            none.2,
            &raw mut mapped,
        ));
        assert_eq!(
            std::slice::from_raw_parts(mapped.cast::<u8>(), 20),
            &host[10..30]
        );
        ok((f.urEnqueueMemUnmap)(
            queue, one, mapped, none.0, none.1, none.2,
        ));

        let region = Region {
            header: Header::new(3),
            origin: 256,
            size: 64,
        };
        ok((f.urMemBufferPartition)(
            one,
            flags,
            0,
            &raw const region,
            &raw mut part,
        ));
        ok((f.urEnqueueMemBufferRead)(
            queue,
            part,
            true,
            4,
            60,
            seen.as_mut_ptr().cast(),
            none.0,
            none.1,
            none.2,
        ));
        assert_eq!(seen[..60], host[260..320]);
        let code = (f.urEnqueueMemBufferRead)(
            queue,
            part,
            true,
            4,
            61,
            seen.as_mut_ptr().cast(),
            none.0,
            none.1,
            none.2,
        );
        fails(code, Code::INVALID_SIZE);
        for buffer in [part, one, two] {
            ok((f.urMemRelease)(buffer));
        }
    }
}
