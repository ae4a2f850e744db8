"""Memory objects and pools.

Memory is of one of three kinds: device memory, which the host reaches by copies only, and shared and host memory, which
both reach and which have Python's buffer protocol. On the CPU all three are memory of the host, but keep their rules,
so that a program that is tested there runs elsewhere.

Memory that is let go while work on it is pending goes back to its pool in queue order; nothing waits.
"""

from millpond._millpond import (
    DeviceMemory,
    HostMemory,
    Memory,
    Pool,
    SharedMemory,
    Statistics,
    live,
    pool,
    stats,
)

#: The pool that allocations of a kind on a device come from: at present the only one there is.
current_pool = pool

__all__ = [
    "DeviceMemory",
    "HostMemory",
    "Memory",
    "Pool",
    "SharedMemory",
    "Statistics",
    "current_pool",
    "live",
    "pool",
    "stats",
]
