//! Calls with arguments of all sorts: nulls, handles of other kinds and of what is gone, wait lists, sizes,
//! flags. Each answers a code, and what there was before works afterwards. A loader may look at handles
//! itself, so that this package's own functions are called.

use std::collections::BTreeMap;
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

/// What arguments are made of.
struct Choices {
    dice: Dice,
    handles: Vec<usize>,
    addresses: Vec<usize>,
    /// How many events, and where they are.
    lists: Vec<(usize, usize)>,
    /// Bytes that calls may read and write.
    scratch: Vec<u64>,
}

const SIZES: [usize; 6] = [0, 1, 8, 64, 100, usize::MAX];
const SMALL: [usize; 7] = [0, 1, 2, 3, 4, 8, 16];

/// Words of scratch, of which calls get the place of the first.
const SCRATCH: usize = 4096;

impl Choices {
    /// Twelve arguments for a function whose arguments are of these kinds.
    fn arguments(&mut self, kinds: &str) -> [usize; 12] {
        self.scratch.fill(0);
        let scratch = self.scratch.as_mut_ptr().expose_provenance();
        let mut arguments = [0; 12];
        let mut places = arguments.iter_mut();
        let mut push = |argument| *places.next().expect("no function has more") = argument;
        for kind in kinds.chars() {
            let dice = &mut self.dice;
            match kind {
                'h' => push(dice.one_of(&self.handles)),
                'n' => push(dice.one_of(&SMALL)),
                'z' => push(dice.one_of(&SIZES)),
                'm' => push(dice.one_of(&self.addresses)),
                'o' | 'i' => push(dice.one_of(&[0, scratch, scratch, scratch])),
                'w' => {
                    let (count, list) = dice.one_of(&self.lists);
                    push(count);
                    push(list);
                }
                other => panic!("no argument is {other}"),
            }
        }
        arguments
    }
}

/// The functions that are called, each with the kinds of its arguments.
fn functions() -> Vec<(&'static str, &'static str, Any)> {
    let find = |&(name, kinds): &(&'static str, &'static str)| {
        let found = tables::functions_by_name().find(|(other, _)| *other == name);
        let function = found.and_then(|(_, function)| function);
        let function = function.unwrap_or_else(|| panic!("{name} is offered"));
        // SAFETY: a function of numbers and pointers, which are null or lead to bytes of the test, to
        // memory of the device or to nothing; more arguments than it takes do no harm.
        (name, kinds, unsafe {
            std::mem::transmute::<*const (), Any>(function)
        })
    };
    CALLS.iter().map(find).collect()
}

/// A function with any arguments, which are numbers and pointers.
type Any = extern "C" fn(
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
    let mut scratch = vec![0; SCRATCH];
    let bytes = scratch.as_mut_ptr().expose_provenance();
    let mut events = [number(event), 0, number(queue)];
    let list = events.as_mut_ptr().expose_provenance();
    let (of_queue, of_context) = (number(queue), number(world.context));
    let mut choices = Choices {
        dice: Dice(0x9e37_79b9_7f4a_7c15),
        handles: vec![
            0,
            1,
            8,
            usize::MAX,
            of_context,
            of_context,
            number(world.device),
            of_queue,
            of_queue,
            of_queue + 8,
            number(pool),
            number(event),
            number(dead),
            number(memory),
            bytes,
        ],
        addresses: vec![
            0,
            number(memory),
            number(memory),
            number(memory) + 100,
            number(memory) + 4090,
            bytes,
        ],
        lists: vec![(0, 0), (1, list), (3, list)],
        scratch,
    };
    let functions = functions();
    let mut answers = BTreeMap::<u32, usize>::new();
    for _ in 0..20_000 {
        let (name, kinds, function) = choices.dice.one_of(&functions);
        let arguments = choices.arguments(kinds);
        let [a, b, c, d, e, f, g, h, i, j, k, l] = arguments;
        let code = function(a, b, c, d, e, f, g, h, i, j, k, l);
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
    ok((world.f.urQueueFinish)(queue));
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
        "urSamplerCreate",
    ] {
        assert!(missing.contains(&name), "{name}");
    }
    drop(world);
}
