"""Memory objects and pools.

Memory is of one of three kinds: device memory, which the host reaches by copies only, and shared and host memory, which
both reach and which have Python's buffer protocol. On the CPU all three are memory of the host, but keep their rules,
so that a program that is tested there runs elsewhere.

It comes from pools. A device has a default pool for each kind; a program makes others, with limits of their own, and
says by `use_pool` which one its arrays come from. A `Tag` counts what is allocated in it, and reclaimers give memory up
when it becomes short.

Memory of a pool that is made with `shareable=True` can be given to other processes: `Memory.export` makes what is sent,
and `MemoryHandle.open` memory of what arrives.

What a pool is asked for can be recorded, by `Pool.record`; `Recording.replay` says what a pool with other limits would
have made of it.

Memory that is let go while work on it is pending goes back to its pool in queue order; nothing waits.
"""

from millpond._millpond import (
    DeviceMemory,
    Export,
    Fit,
    HostMemory,
    ImportedPool,
    Memory,
    Pool,
    PoolScope,
    Pressure,
    Reclaimer,
    Recorder,
    Recording,
    Refused,
    Replay,
    SharedMemory,
    Statistics,
    StreamAllocator,
    Tag,
    add_reclaimer,
    current_pool,
    default_pool,
    driver_pool,
    live,
    set_current_pool,
    stats,
    use_pool,
)
from millpond._sharing import MemoryHandle, PoolHandle

#: Another name of `current_pool`.
pool = current_pool

__all__ = [
    "DeviceMemory",
    "Export",
    "Fit",
    "HostMemory",
    "ImportedPool",
    "Memory",
    "MemoryHandle",
    "Pool",
    "PoolHandle",
    "PoolScope",
    "Pressure",
    "Reclaimer",
    "Recorder",
    "Recording",
    "Refused",
    "Replay",
    "SharedMemory",
    "Statistics",
    "StreamAllocator",
    "Tag",
    "add_reclaimer",
    "current_pool",
    "default_pool",
    "driver_pool",
    "live",
    "pool",
    "set_current_pool",
    "stats",
    "use_pool",
]
