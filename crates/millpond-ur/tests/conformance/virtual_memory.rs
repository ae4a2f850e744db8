//! Addresses that are reserved, and physical memory that is mapped there.

use std::cell::Cell;
use std::ffi::c_void;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::ptr;

use ur_adapter_millpond::numbers::{AccessFlags, Code, DeviceInfo};

use crate::support::functions::Functions;
use crate::support::gate::Gate;
use crate::support::shapes::{Flags, Handle, Header, PHYSICAL_PROPERTIES};
use crate::support::watch::watched;
use crate::support::world::{MOMENT, World, fails, ok};

const READ_WRITE: u32 = AccessFlags::READ_WRITE.0;
const READ_ONLY: u32 = AccessFlags::READ_ONLY.0;

/// Addresses of some pages, and physical memory of as many.
struct Mapped<'w> {
    world: &'w World,
    page: usize,
    pages: usize,
    begin: *mut c_void,
    physical: Handle,
}

impl<'w> Mapped<'w> {
    /// None where virtual memory isn't offered.
    fn new(world: &'w World, pages: usize) -> Option<Self> {
        let (f, mut offered, mut page) = (world.f, 0_u8, 0_usize);
        ok((f.urDeviceGetInfo)(
            world.device,
            DeviceInfo::VIRTUAL_MEMORY_SUPPORT.0,
            1,
            (&raw mut offered).cast(),
            ptr::null_mut(),
        ));
        if offered == 0 {
            eprintln!("skipped: there is no virtual memory");
            return None;
        }
        ok((f.urVirtualMemGranularityGetInfo)(
            world.context,
            world.device,
            1,
            0x30100,
            8,
            (&raw mut page).cast(),
            ptr::null_mut(),
        ));
        let mut begin = ptr::null_mut();
        ok((f.urVirtualMemReserve)(
            world.context,
            ptr::null(),
            pages * page,
            &raw mut begin,
        ));
        let physical = physical(world, pages * page, 0);
        Some(Self {
            world,
            page,
            pages,
            begin,
            physical,
        })
    }

    fn at(&self, page: usize) -> *mut c_void {
        self.begin.wrapping_byte_add(page * self.page)
    }

    /// Maps pages of the memory, from one on, at a place.
    fn map(&self, at: usize, from: usize, pages: usize) -> u32 {
        (self.world.f.urVirtualMemMap)(
            self.world.context,
            self.at(at),
            pages * self.page,
            self.physical,
            from * self.page,
            READ_WRITE,
        )
    }

    fn unmap(&self, at: usize, pages: usize) -> u32 {
        (self.world.f.urVirtualMemUnmap)(self.world.context, self.at(at), pages * self.page)
    }

    fn access(&self, at: usize, pages: usize) -> Result<u32, Code> {
        let mut flags = 0_u32;
        let code = (self.world.f.urVirtualMemGetInfo)(
            self.world.context,
            self.at(at),
            pages * self.page,
            0,
            4,
            (&raw mut flags).cast(),
            ptr::null_mut(),
        );
        if code == 0 {
            Ok(flags)
        } else {
            Err(Code(code))
        }
    }

    fn set_access(&self, at: usize, pages: usize, flags: u32) -> u32 {
        let size = pages * self.page;
        (self.world.f.urVirtualMemSetAccess)(self.world.context, self.at(at), size, flags)
    }

    fn free(&self) -> u32 {
        let size = self.pages * self.page;
        (self.world.f.urVirtualMemFree)(self.world.context, self.begin, size)
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        for page in 0..self.pages {
            self.unmap(page, 1);
        }
        self.free();
        (self.world.f.urPhysicalMemRelease)(self.physical);
    }
}

fn physical(world: &World, size: usize, flags: u32) -> Handle {
    let properties = Flags {
        header: Header::new(PHYSICAL_PROPERTIES),
        flags,
    };
    let mut physical = ptr::null_mut();
    ok((world.f.urPhysicalMemCreate)(
        world.context,
        world.device,
        size,
        &raw const properties,
        &raw mut physical,
    ));
    physical
}

#[test]
fn memory_is_where_it_is_mapped_from_the_byte_that_was_asked_for() {
    let world = World::new();
    let Some(mapped) = Mapped::new(&world, 4) else {
        return;
    };
    let (queue, page) = (world.queue(0), mapped.page);
    ok(mapped.map(0, 2, 2));
    world.fill(queue, mapped.at(0), 1, page, &[]);
    world.fill(queue, mapped.at(1), 2, page, &[]);
    world.finish(queue);
    // The same pages the other way round: the second there is the last of the memory.
    ok(mapped.map(3, 2, 1));
    ok(mapped.map(2, 3, 1));
    let seen = world.read(queue, mapped.at(2), 2 * page, &[]);
    assert!(seen[..page].iter().all(|&byte| byte == 2));
    assert!(seen[page..].iter().all(|&byte| byte == 1));
    // What was written stays when it isn't mapped any more.
    ok(mapped.unmap(0, 2));
    ok(mapped.map(0, 3, 1));
    assert_eq!(world.read(queue, mapped.at(0), 1, &[]), [2]);
}

#[test]
fn only_what_is_mapped_may_be_used_and_as_it_is_mapped() {
    let world = World::new();
    let Some(mapped) = Mapped::new(&world, 3) else {
        return;
    };
    let (f, queue, page) = (world.f, world.queue(0), mapped.page);
    let fill = |at: usize, bytes: usize| {
        let value = 5_u8;
        (f.urEnqueueUSMFill)(
            queue,
            mapped.at(at),
            1,
            (&raw const value).cast(),
            bytes,
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    };
    fails(fill(0, page), Code::INVALID_VALUE);
    ok(mapped.map(0, 0, 2));
    ok(fill(0, 2 * page));
    fails(fill(0, 3 * page), Code::INVALID_VALUE);
    fails(fill(2, 2 * page), Code::INVALID_SIZE);
    ok(mapped.set_access(1, 1, READ_ONLY));
    assert_eq!(mapped.access(0, 1), Ok(READ_WRITE));
    assert_eq!(mapped.access(1, 1), Ok(READ_ONLY));
    assert_eq!(mapped.access(0, 2), Err(Code::INVALID_VALUE));
    assert_eq!(mapped.access(2, 1), Err(Code::INVALID_VALUE));
    ok(fill(0, page));
    fails(fill(0, 2 * page), Code::INVALID_VALUE);
    assert!(
        world
            .read(queue, mapped.at(0), 2 * page, &[])
            .iter()
            .all(|&byte| byte == 5)
    );
    ok(mapped.set_access(1, 1, READ_WRITE));
    ok(fill(0, 2 * page));
    world.finish(queue);
}

#[test]
fn access_is_of_the_memory_itself_and_not_a_note_of_it() {
    let world = World::new();
    let Some(mapped) = Mapped::new(&world, 1) else {
        return;
    };
    ok(mapped.map(0, 0, 1));
    // A system call says whether the address may be written, without a signal.
    let is_writable = || {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&[7]).unwrap();
        // SAFETY: one byte at an address that is reserved, which only the system looks at.
        unsafe { libc::read(reader.as_raw_fd(), mapped.at(0), 1) == 1 }
    };
    assert!(is_writable());
    ok(mapped.set_access(0, 1, READ_ONLY));
    assert!(!is_writable());
    ok(mapped.set_access(0, 1, AccessFlags::NONE.0));
    assert!(!is_writable());
    ok(mapped.set_access(0, 1, READ_WRITE));
    assert!(is_writable());
    ok(mapped.unmap(0, 1));
    assert!(!is_writable());
}

#[test]
fn taking_away_waits_for_the_commands_before() {
    let world = World::new();
    let Some(mapped) = Mapped::new(&world, 1) else {
        return;
    };
    let queue = world.queue(0);
    ok(mapped.map(0, 0, 1));
    let Some(gate) = Gate::close(queue) else {
        return;
    };
    let filled = world.fill(queue, mapped.at(0), 9, mapped.page, &[]);
    let open = gate.opener();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(MOMENT);
            open();
        });
        ok(mapped.unmap(0, 1));
        assert!(world.is_complete(filled));
    });
    ok(mapped.map(0, 0, 1));
    assert_eq!(world.read(queue, mapped.at(0), 1, &[]), [9]);
}

#[test]
fn reservations_and_mappings_end_where_they_began() {
    let world = World::new();
    let Some(mapped) = Mapped::new(&world, 4) else {
        return;
    };
    let (f, page) = (world.f, mapped.page);
    fails(mapped.map(0, 3, 2), Code::INVALID_SIZE);
    fails(mapped.map(3, 0, 2), Code::INVALID_VALUE);
    ok(mapped.map(1, 0, 2));
    fails(mapped.map(2, 0, 1), Code::INVALID_OPERATION);
    fails(mapped.map(0, 0, 2), Code::INVALID_OPERATION);
    fails(mapped.free(), Code::INVALID_OPERATION);
    fails(mapped.unmap(0, 2), Code::INVALID_VALUE);
    ok(mapped.unmap(1, 1));
    assert_eq!(mapped.access(2, 1), Ok(READ_WRITE));
    ok(mapped.unmap(2, 1));
    for (begin, size) in [(mapped.at(0), page), (mapped.at(1), 3 * page)] {
        fails(
            (f.urVirtualMemFree)(world.context, begin, size),
            Code::INVALID_VALUE,
        );
    }
    let odd = mapped.begin.wrapping_byte_add(1);
    for (begin, size) in [(odd, page), (mapped.at(0), page + 1), (mapped.at(0), 0)] {
        let code = (f.urVirtualMemMap)(world.context, begin, size, mapped.physical, 0, READ_WRITE);
        fails(code, Code::INVALID_SIZE);
    }
    let both = READ_WRITE | READ_ONLY;
    for (flags, code) in [
        (0, Code::INVALID_VALUE),
        (both, Code::INVALID_VALUE),
        (8, Code::INVALID_ENUMERATION),
    ] {
        fails(
            (f.urVirtualMemMap)(world.context, mapped.at(0), page, mapped.physical, 0, flags),
            code,
        );
    }
}

#[test]
fn a_ticket_leads_to_the_same_memory_until_it_is_put_back() {
    let world = World::new();
    let Some(mapped) = Mapped::new(&world, 2) else {
        return;
    };
    let (f, queue, page) = (world.f, world.queue(0), mapped.page);
    let shared = physical(&world, page, 2);
    let (mut ticket, mut size) = (ptr::null_mut(), 0);
    let code = (f.urIPCGetPhysMemHandleExp)(world.context, shared, &raw mut ticket, &raw mut size);
    if code == Code::UNSUPPORTED_FEATURE.0 {
        eprintln!("skipped: the loader has no tickets");
        ok((f.urPhysicalMemRelease)(shared));
        return;
    }
    ok(code);
    let (mut none, mut no_size) = (ptr::null_mut(), 0);
    let code = (f.urIPCGetPhysMemHandleExp)(
        world.context,
        mapped.physical,
        &raw mut none,
        &raw mut no_size,
    );
    fails(code, Code::INVALID_ARGUMENT);
    // SAFETY: the bytes of the ticket, which isn't put back yet.
    let copy = unsafe { std::slice::from_raw_parts(ticket.cast::<u8>(), size) }.to_vec();
    let open = |bytes: &[u8]| {
        let mut opened = ptr::null_mut();
        let code = (f.urIPCOpenPhysMemHandleExp)(
            world.context,
            world.device,
            bytes.as_ptr().cast(),
            bytes.len(),
            &raw mut opened,
        );
        (code, opened)
    };
    let (code, opened) = open(&copy);
    ok(code);
    let map = |at: usize, physical: Handle| {
        ok((f.urVirtualMemMap)(
            world.context,
            mapped.at(at),
            page,
            physical,
            0,
            READ_WRITE,
        ));
    };
    map(0, shared);
    map(1, opened);
    world.fill(queue, mapped.at(0), 3, page, &[]);
    assert_eq!(world.read(queue, mapped.at(1), 1, &[]), [3]);
    ok((f.urIPCPutPhysMemHandleExp)(world.context, ticket));
    fails(
        (f.urIPCPutPhysMemHandleExp)(world.context, ticket),
        Code::INVALID_VALUE,
    );
    fails(open(&copy).0, Code::INVALID_VALUE);
    fails(open(&copy[1..]).0, Code::INVALID_VALUE);
    ok((f.urIPCClosePhysMemHandleExp)(world.context, opened));
    ok((f.urPhysicalMemRelease)(shared));
    // Mapped memory outlives its handle.
    assert_eq!(world.read(queue, mapped.at(1), 1, &[]), [3]);
}

/// Reserves addresses in another context, and gives them up again.
extern "C" fn reserve(data: *mut c_void) {
    // SAFETY: what the test passes, for as long as its context is there.
    let again = unsafe { &*data.cast::<Again>() };
    let (f, mut begin) = (Functions::get(), ptr::null_mut());
    let place = &raw mut begin;
    ok((f.urVirtualMemReserve)(
        again.other,
        ptr::null(),
        again.page,
        place,
    ));
    ok((f.urVirtualMemFree)(again.other, begin, again.page));
    again.calls.set(again.calls.get() + 1);
}

struct Again {
    other: Handle,
    page: usize,
    calls: Cell<usize>,
}

#[test]
fn a_context_that_goes_with_its_last_reservation_may_call_the_program() {
    watched(|| {
        let world = World::new();
        let Some(other) = Mapped::new(&world, 1) else {
            return;
        };
        let (f, device, page) = (world.f, &raw const world.device, other.page);
        let calls = Cell::new(0);
        let again = Again {
            other: world.context,
            page,
            calls,
        };
        let (mut context, mut begin) = (ptr::null_mut(), ptr::null_mut());
        ok((f.urContextCreate)(
            1,
            device,
            ptr::null(),
            &raw mut context,
        ));
        let data = (&raw const again).cast_mut().cast();
        ok((f.urContextSetExtendedDeleter)(context, reserve, data));
        ok((f.urVirtualMemReserve)(
            context,
            ptr::null(),
            page,
            &raw mut begin,
        ));
        ok((f.urContextRelease)(context));
        assert_eq!(again.calls.get(), 0, "the reservation needs it");
        ok((f.urVirtualMemFree)(context, begin, page));
        assert_eq!(again.calls.get(), 1);
    });
}
