//! Rules that can be broken, one at a time, so that it is seen whether a test notices.
//!
//! Only with the feature `mutants`, which nothing that is handed out is built with, and by the name in
//! `MILLPOND_UR_MUTANT`. Without it no rule is broken, which is a constant, and nothing of this is left.

macro_rules! rules {
    ($($rule:ident: $what:literal,)*) => {
        /// A rule, which one place in this library keeps.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $(#[doc = $what] $rule,)*
        }

        impl Rule {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];
        }
    };
}

rules! {
    // Order.
    WaitLists: "Commands come after the events of their wait lists.",
    AllocationWaits: "Allocations do.",
    FreeWaits: "Frees do.",
    NativeWaits: "What a native command enqueues does.",
    WaitListForm: "A list has events, and no list has none.",
    WaitListEntries: "What is in a list are events.",
    Barrier: "A barrier holds back what comes next.",
    WaitForAll: "A wait for nothing waits for what is before it.",
    Blocking: "Who asks for that is kept until the command is done.",
    Status: "An event is complete when its command is.",
    Callback: "A callback is called when the command is done.",
    FreeBehindAll: "Memory that is freed without a queue is freed behind what was enqueued.",
    LeftWork: "Also behind what queues have left that are gone.",
    AtOnce: "Memory that is had without a queue may be used at once.",
    TimestampBehind: "A timestamp comes behind what is before it.",
    TimestampBefore: "What comes next comes behind it, on a queue with an order.",
    KernelBehind: "The groups of a kernel come behind what its launch does.",
    KernelBefore: "A launch is done when its groups are.",
    LaunchOffset: "Its items are numbered from the one that it names.",
    ReusedEvent: "An event that is used again stands for the last command.",
    SyncPoints: "Commands of a list come behind those that they name.",
    ListsInTurn: "Executions of a list come one after the other.",
    Update: "A launch that was changed is another from then on.",
    UnmapWaits: "Mappings are taken away behind what was enqueued.",
    // Alignment.
    Alignment: "Memory has the alignment that was asked for.",
    AlignmentPower: "An alignment is a power of two.",
    AlignmentLimit: "An alignment that can't be had is refused.",
    Pitch: "Rows begin at elements and lines of the cache.",
    Pages: "Addresses are mapped by whole pages.",
    // Accounting.
    Used: "Used is what all parts of a pool have given out.",
    Reserved: "Reserved is what the pool has from the system.",
    HighsApart: "The highs are reset one by one.",
    HighsToZero: "And to nothing but zero.",
    Trim: "Trimming keeps what it is told to.",
    Threshold: "A pool gives back what is above its threshold.",
    Maximum: "A pool reserves no more than its maximum.",
    SetThreshold: "A threshold can be set.",
    SetMaximum: "A maximum can be set.",
    Destroy: "A pool that is destroyed gives nothing out.",
    DefaultPool: "A default pool isn't destroyed.",
    CurrentPool: "What names no pool comes from the current one.",
    CurrentHandle: "The current pool is known by its handle.",
    PoolContext: "A pool serves its context.",
    PoolKind: "A pool gives out its kinds of memory.",
    PoolPart: "A pool over a buffer is in the part that was named.",
    Kind: "Memory is of the kind that was asked for.",
    Command: "An event tells which command it is of.",
    Times: "A command begins before it ends.",
    FirstTimes: "One that is several for the runtime begins with the first of them.",
    OwnTimes: "An allocation and a free have times of their own.",
    EventTimes: "An event that is made for times has them on any queue.",
    // Mapping.
    MapOffset: "A buffer is mapped from the byte that was named.",
    PartOrigin: "A part of a buffer begins where it was cut.",
    NativeBuffer: "A buffer is found by its address.",
    HostEnd: "A program's memory ends before addresses do.",
    RowPitch: "Rows are as far apart as was said.",
    SlicePitch: "Slices are.",
    PatternGoesOn: "A pattern goes on from row to row.",
    PhysicalOffset: "Addresses lead to the byte of physical memory that was named.",
    Access: "Memory can be used as it was mapped.",
    Unmap: "What is unmapped can't be reached.",
    Overlap: "What is mapped isn't mapped over.",
    Ranges: "Commands stay in the memory that they name.",
    BufferRanges: "Commands stay in the buffer that they name.",
    MappedRanges: "Commands use addresses that are mapped.",
    FirstByte: "Memory is freed by its first byte.",
    OwnContext: "Memory is freed in its context.",
    Ticket: "A ticket that was put back leads nowhere.",
    Registered: "Memory that is registered isn't registered again.",
}

/// Whether a rule is broken: never.
#[cfg(not(feature = "mutants"))]
#[inline]
pub(crate) const fn broken(_: Rule) -> bool {
    false
}

/// Whether a rule is broken: the one that is named.
#[cfg(feature = "mutants")]
pub(crate) fn broken(rule: Rule) -> bool {
    use std::sync::OnceLock;
    static NAMED: OnceLock<Option<String>> = OnceLock::new();
    #[allow(
        clippy::disallowed_methods,
        reason = "no setting of millpond's: only tests are built with this"
    )]
    let named = NAMED.get_or_init(|| std::env::var("MILLPOND_UR_MUTANT").ok());
    named.as_deref() == Some(format!("{rule:?}").as_str())
}
