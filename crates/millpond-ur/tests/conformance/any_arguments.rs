//! Calls with arguments of all sorts, one after the other: nulls, handles of other kinds and of what is
//! gone, wait lists, sizes, flags, addresses. Each answers a code, writes nothing where that is an error, and what
//! there was before works afterwards.
//!
//! Every function that is offered is called. A loader may look at handles itself, so that this package's
//! own functions are. `MILLPOND_UR_CALLS` says how many calls are made and `MILLPOND_UR_SEED` which; what
//! isn't told by a code is found by AddressSanitizer:
//!
//! ```text
//! RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 MILLPOND_UR_CALLS=10000000 cargo +nightly test \
//!     -p millpond-ur --target x86_64-unknown-linux-gnu --test conformance any_arguments
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ptr;

use ur_adapter_millpond::numbers::Code;
use ur_adapter_millpond::tables;

use crate::support::any::{Answer, Choices, call};
use crate::support::functions::Functions;
use crate::support::world::{World, ok, platform};

/// Functions by what their arguments are, as `support/any.rs` lists them. One that makes an object begins
/// with `+` and its kind, one that makes memory with `*`, one that takes memory away with `-`, and one that
/// changes what may be done with it with `~`.
const CALLS: &[(&str, &str)] = &[
    ("urAdapterGet", "noo"),
    ("urAdapterRetain", "A"),
    ("urAdapterRelease", "A"),
    ("urAdapterGetLastError", "Aoo"),
    ("urAdapterGetInfo", "Anbo"),
    ("urAdapterSetLoggerCallback", "Afnn"),
    ("urAdapterSetLoggerCallbackLevel", "An"),
    ("urPlatformGet", "Aloo"),
    ("urPlatformGetInfo", "Tnbo"),
    ("urPlatformGetNativeHandle", "To"),
    ("urPlatformCreateWithNativeHandle", "hAio"),
    ("urPlatformGetApiVersion", "To"),
    ("urPlatformGetBackendOption", "Tio"),
    ("urDeviceGet", "Tnloo"),
    ("urDeviceGetInfo", "Dnbo"),
    ("urDeviceRetain", "D"),
    ("urDeviceRelease", "D"),
    ("urDevicePartition", "Diloo"),
    ("urDeviceSelectBinary", "Dilo"),
    ("urDeviceGetNativeHandle", "Do"),
    ("urDeviceCreateWithNativeHandle", "hAio"),
    ("urDeviceGetGlobalTimestamps", "Doo"),
    ("urDeviceWaitExp", "D"),
    ("urContextCreate", "+CHio"),
    ("urContextRetain", "C"),
    ("urContextRelease", "C"),
    ("urContextGetInfo", "Cnbo"),
    ("urContextGetNativeHandle", "Co"),
    ("urContextCreateWithNativeHandle", "hAHio"),
    ("urContextSetExtendedDeleter", "Cfn"),
    ("urQueueCreate", "+QCDso"),
    ("urQueueRetain", "Q"),
    ("urQueueRelease", "Q"),
    ("urQueueGetInfo", "Qnbo"),
    ("urQueueGetNativeHandle", "Qio"),
    ("urQueueCreateWithNativeHandle", "hCDio"),
    ("urQueueFinish", "Q"),
    ("urQueueFlush", "Q"),
    ("urEventCreateExp", "+ECDso"),
    ("urEventRetain", "E"),
    ("urEventRelease", "E"),
    ("urEventGetInfo", "Enbo"),
    ("urEventGetProfilingInfo", "Enbo"),
    ("urEventWait", "w"),
    ("urEventGetNativeHandle", "Eo"),
    ("urEventCreateWithNativeHandle", "+EhCio"),
    ("urEventSetCallback", "Enfn"),
    ("urMemBufferCreate", "+BCnzjo"),
    ("urMemBufferPartition", "+BBnnso"),
    ("urMemRetain", "B"),
    ("urMemRelease", "-B"),
    ("urMemGetInfo", "Bnbo"),
    ("urMemGetNativeHandle", "BDo"),
    ("urMemBufferCreateWithNativeHandle", "hCio"),
    ("urCommandBufferCreateExp", "+LCDso"),
    ("urCommandBufferRetainExp", "L"),
    ("urCommandBufferReleaseExp", "L"),
    ("urCommandBufferFinalizeExp", "L"),
    ("urCommandBufferGetInfoExp", "Lnbo"),
    ("urCommandBufferGetNativeHandleExp", "Lo"),
    ("urCommandBufferAppendUSMMemcpyExp", "LMMzuwooo"),
    ("urCommandBufferAppendUSMFillExp", "LMiyzuwooo"),
    ("urCommandBufferAppendUSMPrefetchExp", "LMznuwooo"),
    ("urCommandBufferAppendUSMAdviseExp", "LMznuwooo"),
    ("urCommandBufferAppendMemBufferCopyExp", "LBBzzzuwooo"),
    ("urCommandBufferAppendMemBufferWriteExp", "LBzzMuwooo"),
    ("urCommandBufferAppendMemBufferReadExp", "LBzzMuwooo"),
    ("urCommandBufferAppendMemBufferFillExp", "LBiyzzuwooo"),
    (
        "urCommandBufferAppendMemBufferCopyRectExp",
        "LBBrrrzzzzuwooo",
    ),
    (
        "urCommandBufferAppendMemBufferReadRectExp",
        "LBrrrzzzzMuwooo",
    ),
    (
        "urCommandBufferAppendMemBufferWriteRectExp",
        "LBrrrzzzzMuwooo",
    ),
    ("urCommandBufferAppendKernelLaunchExp", "LXdgggHuwooo"),
    (
        "urCommandBufferAppendKernelLaunchWithArgsExp",
        "LXdgggKHuwooo",
    ),
    ("urCommandBufferUpdateKernelLaunchExp", "Lli"),
    ("urEnqueueCommandBufferExp", "+EQLwo"),
    ("urProgramCreateWithBinary", "+GCHgtio"),
    ("urProgramBuild", "CGi"),
    ("urProgramRetain", "G"),
    ("urProgramRelease", "G"),
    ("urProgramGetFunctionPointer", "DGio"),
    ("urProgramGetGlobalVariablePointer", "DGioo"),
    ("urProgramGetInfo", "Gnbo"),
    ("urProgramGetBuildInfo", "GDnbo"),
    ("urProgramGetNativeHandle", "Go"),
    ("urProgramCreateWithNativeHandle", "hCio"),
    ("urKernelCreate", "+XGio"),
    ("urKernelCreateWithNativeHandle", "+XkChio"),
    ("urKernelRetain", "X"),
    ("urKernelRelease", "X"),
    ("urKernelGetNativeHandle", "Xo"),
    ("urKernelGetInfo", "Xnbo"),
    ("urKernelGetGroupInfo", "XDnbo"),
    ("urKernelGetSubGroupInfo", "XDnbo"),
    ("urKernelSuggestMaxCooperativeGroupCount", "XDdgzo"),
    ("urKernelSetExecInfo", "Xnyii"),
    ("urKernelGetSuggestedLocalWorkSize", "XQdggo"),
    ("urKernelGetSuggestedLocalWorkSizeWithArgs", "XQdggKo"),
    ("urKernelSetArgValue", "Xnyii"),
    ("urKernelSetArgLocal", "Xnyi"),
    ("urKernelSetArgPointer", "Xnim"),
    ("urKernelSetArgMemObj", "XniB"),
    ("urPhysicalMemCreate", "+YCDpso"),
    ("urPhysicalMemRetain", "Y"),
    ("urPhysicalMemRelease", "-Y"),
    ("urPhysicalMemGetInfo", "Ynbo"),
    ("urUSMHostAlloc", "*CsPzo"),
    ("urUSMDeviceAlloc", "*CDsPzo"),
    ("urUSMSharedAlloc", "*CDsPzo"),
    ("urUSMPitchedAllocExp", "*CDsPzzzoo"),
    ("urUSMFree", "-Cm"),
    ("urUSMGetMemAllocInfo", "Cmnbo"),
    ("urUSMPoolCreate", "+PCco"),
    ("urUSMPoolRetain", "P"),
    ("urUSMPoolRelease", "P"),
    ("urUSMPoolGetInfo", "Pnbo"),
    ("urUSMPoolCreateExp", "+PCDco"),
    ("urUSMPoolDestroyExp", "CDP"),
    ("urUSMPoolGetDefaultDevicePoolExp", "CDo"),
    ("urUSMPoolGetInfoExp", "Pnoo"),
    ("urUSMPoolSetInfoExp", "Pniy"),
    ("urUSMPoolSetDevicePoolExp", "CDP"),
    ("urUSMPoolGetDevicePoolExp", "CDo"),
    ("urUSMPoolTrimToExp", "CDPz"),
    ("urUSMContextMemcpyExp", "Cmmz"),
    ("urUSMHostAllocRegisterExp", "Cmzs"),
    ("urUSMHostAllocUnregisterExp", "Cm"),
    ("urUSMImportExp", "Cmz"),
    ("urUSMReleaseExp", "Cm"),
    ("urUsmP2PEnablePeerAccessExp", "DD"),
    ("urUsmP2PDisablePeerAccessExp", "DD"),
    ("urUsmP2PPeerAccessGetInfoExp", "DDnbo"),
    ("urIPCGetPhysMemHandleExp", "CYoo"),
    ("urIPCPutPhysMemHandleExp", "Cm"),
    ("urIPCOpenPhysMemHandleExp", "CDizo"),
    ("urIPCClosePhysMemHandleExp", "-CY"),
    ("urVirtualMemGranularityGetInfo", "CDznbo"),
    ("urVirtualMemReserve", "*Cmpo"),
    ("urVirtualMemFree", "-Cap"),
    ("urVirtualMemMap", "CapYpn"),
    ("urVirtualMemUnmap", "~Cap"),
    ("urVirtualMemSetAccess", "~Capn"),
    ("urVirtualMemGetInfo", "Capnbo"),
    ("urEnqueueKernelLaunch", "+EQXdgggniwo"),
    ("urEnqueueKernelLaunchWithArgsExp", "+EQXdgggKiwo"),
    ("urEnqueueEventsWait", "+EQwo"),
    ("urEnqueueEventsWaitWithBarrier", "+EQwo"),
    ("urEnqueueEventsWaitWithBarrierExt", "+EQswo"),
    ("urEnqueueMemBufferRead", "QBnzzmwo"),
    ("urEnqueueMemBufferWrite", "QBnzzmwo"),
    ("urEnqueueMemBufferReadRect", "QBnrrrzzzzmwo"),
    ("urEnqueueMemBufferWriteRect", "QBnrrrzzzzmwo"),
    ("urEnqueueMemBufferCopy", "QBBzzzwo"),
    ("urEnqueueMemBufferCopyRect", "QBBrrrzzzzwo"),
    ("urEnqueueMemBufferFill", "QBiyzzwo"),
    ("urEnqueueMemBufferMap", "QBnnzzwoo"),
    ("urEnqueueMemUnmap", "QBmwo"),
    ("urEnqueueDeviceGlobalVariableRead", "QGinzzmwo"),
    ("urEnqueueDeviceGlobalVariableWrite", "QGinzzmwo"),
    ("urEnqueueUSMFill", "+EQmyizwo"),
    ("urEnqueueUSMMemcpy", "+EQnmmzwo"),
    ("urEnqueueUSMFill2D", "+EQmzyizzwo"),
    ("urEnqueueUSMMemcpy2D", "+EQnmzmzzzwo"),
    ("urEnqueueUSMPrefetch", "Qmznwo"),
    ("urEnqueueUSMAdvise", "Qmzno"),
    ("urEnqueueUSMDeviceAllocExp", "*QPziwoo"),
    ("urEnqueueUSMSharedAllocExp", "*QPziwoo"),
    ("urEnqueueUSMHostAllocExp", "*QPziwoo"),
    ("urEnqueueUSMFreeExp", "-QPmwo"),
    ("urEnqueueTimestampRecordingExp", "+EQnwo"),
    ("urEnqueueHostTaskExp", "+EQfnswo"),
    ("urEnqueueNativeCommandExp", "+EQfnHswo"),
];

/// How many calls, and which, where nothing says so.
const USUAL: (usize, u64) = (12_000, 0x9e37_79b9_7f4a_7c15);

/// Calls after which all begins anew, as too much is gone.
const ROUND: usize = 3_000;

#[allow(
    clippy::disallowed_methods,
    reason = "says what is tested, not how millpond runs"
)]
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Calls functions at random; how often each code was answered.
fn round(world: &World, seed: u64, calls: usize, answers: &mut BTreeMap<u32, usize>) {
    let queues = [world.queue(1), world.queue(0)];
    let pool = world.pool(64 << 20, 0);
    let memory = world.alloc(queues[0], pool, 4096);
    let gone = world.alloc(queues[0], pool, 4096);
    let event = world.free(queues[0], gone, &[]);
    let dead = world.queue(0);
    world.release_queue(dead);
    world.finish(queues[0]);
    let mut adapter = ptr::null_mut();
    ok((world.f.urAdapterGet)(1, &raw mut adapter, ptr::null_mut()));
    let platform = platform(world.f);
    let objects = [
        ('A', adapter),
        ('T', platform),
        ('D', world.device),
        ('C', world.context),
        ('Q', queues[0]),
        ('Q', queues[1]),
        ('Q', dead),
        ('P', pool),
        ('E', event),
    ];
    let mut choices = Choices::new(seed, &objects, memory);
    let functions: Vec<_> = CALLS
        .iter()
        .map(|&(name, kinds)| {
            let mut all = tables::functions_by_name();
            let found = all.find(|(other, function)| *other == name && function.is_some());
            let function = found.and_then(|(_, function)| function);
            (
                name,
                kinds,
                function.unwrap_or_else(|| panic!("{name} is offered")),
            )
        })
        .collect();
    for _ in 0..calls {
        let (name, kinds, function) = functions[choices.roll(functions.len())];
        if kinds.starts_with(['-', '~']) {
            // Who takes memory away answers for what uses it.
            ok((world.f.urDeviceWaitExp)(world.device));
        }
        let Answer {
            code,
            arguments,
            wrote,
        } = call(function, kinds, &mut choices);
        let of_lists =
            Code::INVALID_COMMAND_BUFFER_EXP.0..=Code::INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP.0;
        let is_known = code <= Code::IN_EVENT_LIST_EXEC_STATUS.0 || of_lists.contains(&code);
        assert!(is_known, "{name} answered {code:#x} to {arguments:x?}");
        assert!(
            code == 0 || !wrote,
            "{name} wrote something, and answered {code:#x} to {arguments:x?}"
        );
        *answers.entry(code).or_default() += 1;
    }
    ok((world.f.urDeviceWaitExp)(world.device));
    let named = |name: &str| functions.iter().find(|(other, ..)| *other == name);
    choices.give_up(|name| named(name).expect("it is listed").2);
    forget_current_pool(world);
}

/// Goes back to the device's default pool, as other tests expect. The context may be gone.
fn forget_current_pool(world: &World) {
    let (f, mut context, mut pool) = (world.f, ptr::null_mut(), ptr::null_mut());
    let device = &raw const world.device;
    ok((f.urContextCreate)(
        1,
        device,
        ptr::null(),
        &raw mut context,
    ));
    ok((f.urUSMPoolGetDefaultDevicePoolExp)(
        context,
        world.device,
        &raw mut pool,
    ));
    ok((f.urUSMPoolSetDevicePoolExp)(context, world.device, pool));
    ok((f.urContextRelease)(context));
}

#[test]
fn whatever_is_passed_is_answered_by_a_code() {
    let calls = setting("MILLPOND_UR_CALLS").map_or(USUAL.0, |calls| calls as usize);
    let seed = setting("MILLPOND_UR_SEED").unwrap_or(USUAL.1);
    let mut answers = BTreeMap::new();
    for number in 0..calls.div_ceil(ROUND) {
        let world = World::of(Functions::own());
        let seed = seed.wrapping_mul(2 * number as u64 + 1);
        round(&world, seed, ROUND, &mut answers);
    }
    assert!(
        answers[&0] > calls / 8,
        "some calls were right: {answers:?}"
    );
    assert!(answers.len() > 20, "errors of several kinds: {answers:?}");
    // Others find everything as it is.
    let world = World::of(Functions::own());
    let queue = world.queue(0);
    let memory = world.alloc(queue, ptr::null_mut(), 4096);
    world.fill(queue, memory, 7, 4096, &[]);
    assert!(
        world
            .read(queue, memory, 4096, &[])
            .iter()
            .all(|&byte| byte == 7)
    );
    world.free(queue, memory, &[]);
    world.finish(queue);
}

#[test]
fn every_function_is_called_or_says_that_it_is_not_offered() {
    let listed: BTreeSet<_> = CALLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed.len(), CALLS.len(), "each is listed once");
    let all: Vec<_> = tables::functions_by_name().collect();
    let offered: BTreeSet<_> = all
        .iter()
        .filter(|(_, function)| function.is_some())
        .collect();
    let offered: BTreeSet<_> = offered.into_iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, offered);
    for (name, _) in all.iter().filter(|(name, _)| !offered.contains(name)) {
        let code = Functions::named(name)();
        assert_eq!(Code(code), Code::UNSUPPORTED_FEATURE, "{name}");
    }
}
