//! Calls with arguments of all sorts: nulls, handles of other kinds and of what is gone, wait lists, sizes,
//! flags. Each answers a code, and what there was before works afterwards. A loader may look at handles
//! itself, so that this package's own functions are called.

use std::ffi::c_void;

use ur_adapter_millpond::numbers::Code;
use ur_adapter_millpond::tables;

use crate::support::functions::Functions;
use crate::support::world::{World, ok};

/// Functions by what their arguments are: `h` a handle, `n` a small number, `z` a size, `m` an address of
/// memory, `i` a structure or a list that is read, `o` a place that is written, `w` a wait list and its
/// length. What is called for what it gives back is left out, and so is what takes functions.
const CALLS: &[(&str, &str)] = &[
    ("urAdapterRetain", "h"),
    ("urAdapterGetInfo", "hnnoo"),
    ("urPlatformGet", "hnoo"),
    ("urPlatformGetInfo", "hnnoo"),
    ("urPlatformGetApiVersion", "ho"),
    ("urDeviceGet", "hnnoo"),
    ("urDeviceGetInfo", "hnnoo"),
    ("urDevicePartition", "hinoo"),
    ("urDeviceGetGlobalTimestamps", "hoo"),
    ("urContextCreate", "niio"),
    ("urContextGetInfo", "hnnoo"),
    ("urQueueCreate", "hhio"),
    ("urQueueGetInfo", "hnnoo"),
    ("urQueueFinish", "h"),
    ("urQueueFlush", "h"),
    ("urEventGetInfo", "hnnoo"),
    ("urEventGetProfilingInfo", "hnnoo"),
    ("urEventWait", "w"),
    ("urMemBufferCreate", "hnzio"),
    ("urMemBufferPartition", "hnnio"),
    ("urMemGetInfo", "hnnoo"),
    ("urUSMHostAlloc", "hihzo"),
    ("urUSMDeviceAlloc", "hhihzo"),
    ("urUSMSharedAlloc", "hhihzo"),
    ("urUSMGetMemAllocInfo", "hmnnoo"),
    ("urUSMPoolCreate", "hio"),
    ("urUSMPoolGetInfo", "hnnoo"),
    ("urUSMPoolCreateExp", "hhio"),
    ("urUSMPoolGetDefaultDevicePoolExp", "hho"),
    ("urUSMPoolGetInfoExp", "hnoo"),
    ("urUSMPoolSetInfoExp", "hnin"),
    ("urUSMPoolGetDevicePoolExp", "hho"),
    ("urUSMPoolTrimToExp", "hhhz"),
    ("urUSMContextMemcpyExp", "hmmz"),
    ("urEnqueueUSMDeviceAllocExp", "hhziwoo"),
    ("urEnqueueUSMSharedAllocExp", "hhziwoo"),
    ("urEnqueueUSMHostAllocExp", "hhziwoo"),
    ("urEnqueueUSMFill", "hmnizwo"),
    ("urEnqueueUSMMemcpy", "hnmmzwo"),
    ("urEnqueueUSMFill2D", "hmznizzwo"),
    ("urEnqueueUSMMemcpy2D", "hnmzmzzzwo"),
    ("urEnqueueUSMPrefetch", "hmznwo"),
    ("urEnqueueUSMAdvise", "hmzno"),
    ("urEnqueueEventsWait", "hwo"),
    ("urEnqueueEventsWaitWithBarrier", "hwo"),
    ("urEnqueueEventsWaitWithBarrierExt", "hiwo"),
    ("urEnqueueMemBufferRead", "hhnzzmwo"),
    ("urEnqueueMemBufferWrite", "hhnzzmwo"),
    ("urEnqueueMemBufferCopy", "hhhzzzwo"),
    ("urEnqueueMemBufferFill", "hhinzzwo"),
    ("urEnqueueMemBufferMap", "hhnnzzwoo"),
    ("urEnqueueMemUnmap", "hhmwo"),
];

/// Numbers that look random, and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len())]
    }
}

/// Bytes that calls may read and write, of which a half is zero.
struct Scratch(Box<[u64; 8192]>);

impl Scratch {
    fn place(&mut self) -> usize {
        self.0.as_mut_ptr().expose_provenance()
    }
}

/// A function with any arguments, which are numbers and pointers.
type Any = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> u32;

#[test]
fn whatever_is_passed_is_answered_by_a_code() {
    let world = World::of(Functions::own());
    let queue = world.queue(1);
    let pool = world.pool(64 << 20, 0);
    let memory = world.alloc(queue, pool, 4096);
    let gone = world.alloc(queue, pool, 4096);
    let event = world.free(queue, gone, &[]);
    let dead = world.queue(0);
    world.release_queue(dead);
    world.finish(queue);
    let number = |pointer: *mut c_void| pointer.expose_provenance();
    let mut scratch = Scratch(Box::new([0; 8192]));
    let handles = [
        0,
        1,
        8,
        usize::MAX,
        number(world.context),
        number(world.context),
        number(world.device),
        number(queue),
        number(queue),
        number(pool),
        number(event),
        number(dead),
        number(queue) + 8,
        number(memory),
        scratch.place(),
    ];
    let addresses = [
        0,
        number(memory),
        number(memory),
        number(memory) + 100,
        number(memory) + 4090,
        scratch.place(),
    ];
    let mut events = [number(event), 0, number(queue)];
    let lists = [
        (0, 0),
        (1, events.as_mut_ptr().expose_provenance()),
        (3, events.as_mut_ptr().expose_provenance()),
    ];
    let sizes = [0, 1, 8, 64, 100, usize::MAX];
    let small = [0, 1, 2, 3, 4, 8, 16];
    let functions: Vec<(&str, &str, *const ())> = CALLS
        .iter()
        .map(|&(name, kinds)| {
            let found = tables::functions_by_name().find(|(other, _)| *other == name);
            (
                name,
                kinds,
                found
                    .and_then(|(_, function)| function)
                    .unwrap_or_else(|| panic!("{name} is offered")),
            )
        })
        .collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut answers = std::collections::BTreeMap::<u32, usize>::new();
    for _ in 0..20_000 {
        let (name, kinds, function) = functions[dice.roll(functions.len())];
        let mut arguments = Vec::new();
        for kind in kinds.chars() {
            match kind {
                'h' => arguments.push(dice.one_of(&handles)),
                'n' => arguments.push(dice.one_of(&small)),
                'z' => arguments.push(dice.one_of(&sizes)),
                'm' => arguments.push(dice.one_of(&addresses)),
                'o' | 'i' => arguments.push(if dice.roll(4) == 0 {
                    0
                } else {
                    scratch.place() + 32768
                }),
                'w' => {
                    let (count, list) = dice.one_of(&lists);
                    arguments.extend([count, list]);
                }
                other => panic!("no argument is {other}"),
            }
        }
        arguments.resize(12, 0);
        scratch.0[4096..].fill(0);
        // SAFETY: a function of numbers and pointers, which are null or lead to this function's bytes, to
        // memory of the device or to nothing; more arguments than it takes do no harm.
        let code = unsafe {
            let function = std::mem::transmute::<*const (), Any>(function);
            let [a, b, c, d, e, f, g, h, i, j, k, l] = arguments[..] else {
                unreachable!("twelve")
            };
            function(a, b, c, d, e, f, g, h, i, j, k, l)
        };
        let is_known = code <= Code::IN_EVENT_LIST_EXEC_STATUS.0;
        assert!(is_known, "{name} answered {code:#x} to {arguments:x?}");
        *answers.entry(code).or_default() += 1;
    }
    assert!(answers[&0] > 100, "some calls were right: {answers:?}");
    assert!(answers.len() > 8, "errors of several kinds: {answers:?}");
    // What was there works still.
    world.fill(queue, memory, 7, 4096, &[]);
    world.finish(queue);
    assert!(
        world
            .read(queue, memory, 4096, &[])
            .iter()
            .all(|&byte| byte == 7)
    );
    world.free(queue, memory, &[]);
    // SAFETY: a handle.
    ok(unsafe { (world.f.urQueueFinish)(queue) });
}

#[test]
fn every_function_that_is_not_offered_says_so() {
    let world = World::of(Functions::own());
    let missing: Vec<&str> = tables::functions_by_name()
        .filter(|(_, function)| function.is_none())
        .map(|(name, _)| name)
        .collect();
    for name in [
        "urKernelCreate",
        "urProgramBuild",
        "urCommandBufferCreateExp",
        "urVirtualMemReserve",
    ] {
        assert!(missing.contains(&name), "{name}");
    }
    drop(world);
}
