//! Allocations and frees in the order of queues: the part of the extension that is enqueued.
//!
//! An address is known at once and may be used by what comes behind the allocation's event, or behind
//! the allocation on an in-order queue. Nothing here waits on the host: memory that is about to be freed
//! serves if the queue can be made to come behind it, and what is short is told at the call.

use std::sync::Arc;

use millpond::runtime::queue::as_task;
use millpond::{AllocateOptions, MemoryKind, Wait};
use smallvec::SmallVec;

use crate::argument::{Answer, In, Out, Pointer};
use crate::entry::entry;
use crate::error::{code, memory_code};
use crate::event::Event;
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, Command};
use crate::pool::{self, Chosen, Pool};
use crate::queue::{Enqueued, Queue};
use crate::structures::AsyncAllocProperties;
use crate::usm::{self, Usm};
use crate::usm_commands::do_nothing;
use crate::waits::Waits;

/// What memory is asked for.
struct Request {
    kind: MemoryKind,
    command: Command,
    pool: Handle<Pool>,
    size: usize,
    properties: In<AsyncAllocProperties>,
}

fn allocate(
    queue: Handle<Queue>,
    request: &Request,
    (count, list): (u32, In<Handle<Event>>),
    memory: Out<Pointer>,
    event: Out<Handle<Event>>,
) -> Answer {
    let queue = &queue.get()?;
    let pool = request.pool.optional()?;
    let memory = memory.required()?;
    let waits = &Waits::new(count, list)?;
    if let Some(properties) = request.properties.value() {
        properties.flags.check()?;
    }
    let (context, device) = (queue.context(), queue.device());
    usm::check_size(device, request.size)?;
    let kind = if broken(Rule::Kind) {
        MemoryKind::Device
    } else {
        request.kind
    };
    let Chosen { pool, runtime } = pool::choose(context, device, pool, kind)?;
    let after = waits.runtime();
    let options = AllocateOptions {
        after: if broken(Rule::AllocationWaits) {
            &[]
        } else {
            &after
        },
        wait: Wait::Never,
        ..AllocateOptions::default()
    };
    let got = queue
        .runtime()
        .allocate_with(&runtime, request.size, &options);
    let (got, ready) = got.map_err(|error| match memory_code(&error, request.kind) {
        Code::OUT_OF_DEVICE_MEMORY => Code::OUT_OF_RESOURCES,
        other => other,
    })?;
    let enqueued = Enqueued {
        queue,
        command: request.command,
        waits,
        blocking: false,
        event,
    };
    enqueued.submitted(timed(queue, "allocation", ready)?)?;
    memory.set(Pointer::to(usm::add(Usm {
        context: Arc::clone(context),
        device: Arc::clone(device),
        pool: Arc::downgrade(&pool),
        depth: pool.depth(),
        kind,
        memory: got,
    })));
    Ok(())
}

/// The functions that allocate: the same but for the kind of memory.
macro_rules! allocations {
    ($($name:ident: $kind:ident by $command:ident),* $(,)?) => {
        entry! {$(
            fn $name(
                queue: Handle<Queue>,
                pool: Handle<Pool>,
                size: usize,
                properties: In<AsyncAllocProperties>,
                count: u32,
                list: In<Handle<Event>>,
                memory: Out<Pointer>,
                event: Out<Handle<Event>>,
            ) {
                let (kind, command) = (MemoryKind::$kind, Command::$command);
                let request = Request { kind, command, pool, size, properties };
                allocate(queue, &request, (count, list), memory, event)
            }
        )*}
    };
}
allocations! {
    urEnqueueUSMDeviceAllocExp: Device by ENQUEUE_USM_DEVICE_ALLOC_EXP,
    urEnqueueUSMSharedAllocExp: Shared by ENQUEUE_USM_SHARED_ALLOC_EXP,
    urEnqueueUSMHostAllocExp: Host by ENQUEUE_USM_HOST_ALLOC_EXP,
}

entry! {
    /// Frees memory behind what is on the queue, however it was had. The pool is known by the address,
    /// so that one which is named only has to be one.
    fn urEnqueueUSMFreeExp(
        queue: Handle<Queue>,
        pool: Handle<Pool>,
        memory: Pointer,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        pool.optional()?;
        let address = memory.required()?;
        let waits = &Waits::new(count, list)?;
        let found = usm::take(queue.context(), address)?;
        let Usm { memory, .. } = found;
        let after = if broken(Rule::FreeWaits) { SmallVec::new() } else { waits.runtime() };
        let freed = free(queue, memory, &after).map_err(|(error, memory)| {
            usm::add(Usm { memory, ..found });
            code(&error)
        })?;
        let command = Command::ENQUEUE_USM_FREE_EXP;
        let freed = timed(queue, "free", freed)?;
        Enqueued { queue, command, waits, blocking: false, event }.submitted(freed)
    }
}

/// The same as a command of its own, on a queue that keeps times: what begins or ends a life without a wait
/// goes by the command before it.
fn timed(queue: &Queue, name: &'static str, done: millpond::Event) -> Answer<millpond::Event> {
    let queue = queue.runtime();
    if !queue.is_profiling() || broken(Rule::OwnTimes) {
        return Ok(done);
    }
    do_nothing(queue, name, &[&done]).map_err(|error| code(&error))
}

type Refused = (millpond::Error, millpond::Allocation);

/// Frees memory in the order of a queue. Memory of another device is freed by a queue of that device,
/// which comes behind this one.
fn free(
    queue: &Queue,
    memory: millpond::Allocation,
    after: &[&millpond::Event],
) -> Result<millpond::Event, Refused> {
    let queue = queue.runtime();
    if memory.device() == *queue.device() || memory.kind() == MemoryKind::Host {
        return queue.free(memory, after);
    }
    let so_far = match queue.record() {
        Ok(so_far) => so_far,
        Err(error) => return Err((error, memory)),
    };
    let home = memory.queue();
    as_task(|| home.free(memory, &[after, &[&so_far]].concat()))
}
