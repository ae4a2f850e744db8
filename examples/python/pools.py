"""A service with a memory budget: a pool of its own, a tag for each request, a cache that gives way.

Requests ask for the spectrum of an interval, a table of some MiB. Tables are cached as long as there is room; when the
pool runs short, a reclaimer drops the oldest. A request may use so much memory and no more, whatever it asks for:

    python examples/python/pools.py
    python examples/python/pools.py --requests 200 --limit 96
"""

import argparse
from collections import OrderedDict
from typing import Any

import millpond
import millpond.tensor as xp
from millpond.memory import Pool, Pressure, Tag, add_reclaimer, use_pool

Array = Any
MIB = 1 << 20


class Service:
    """Answers requests within a limit of memory."""

    def __init__(self, limit: int, budget: int) -> None:
        self.pool = Pool(name="service", maximum_size=limit)
        self.tag = Tag("service")
        self.budget = budget
        self.cache: OrderedDict[int, Array] = OrderedDict()
        self.hits = self.refused = self.dropped = 0
        self.reclaimer = add_reclaimer(self.reclaim)

    def close(self) -> None:
        """Let go of everything."""
        self.reclaimer.close()
        self.cache.clear()
        self.pool.close()

    def reclaim(self, pressure: Pressure) -> None:
        """Drop the oldest tables until what is wanted has room."""
        freed = 0
        while self.cache and freed < pressure.wanted:
            _, table = self.cache.popitem(last=False)
            freed += table.nbytes
            self.dropped += 1

    def answer(self, number: int, size: int) -> float | None:
        """Answer a request; None if it wants more than its budget."""
        request = self.tag.child(str(number))
        request.budget = self.budget
        try:
            with use_pool(self.pool), request:
                return float(xp.sum(self.table(size)))
        except millpond.BudgetError as error:
            self.refused += 1
            print(f"request {number}: {error}")
            return None

    def table(self, size: int) -> Array:
        """Find the table of a size, or compute it."""
        found = self.cache.get(size)
        if found is None:
            step = xp.linspace(0.0, 1.0, size)
            found = xp.sqrt(step) * xp.exp(-step)
            self.cache[size] = found
        else:
            self.hits += 1
            self.cache.move_to_end(size)
        return found


def main() -> None:
    """Answer requests of several sizes, the last of them too large."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--requests", type=int, default=60)
    options.add_argument("--limit", type=int, default=48, help="MiB of the pool")
    options.add_argument("--budget", type=int, default=40, help="MiB of one request")
    chosen = options.parse_args()

    service = Service(chosen.limit * MIB, chosen.budget * MIB)
    for number in range(chosen.requests):
        service.answer(number, (number * number % 23 + 1) * 40_000)
    service.answer(chosen.requests, 10_000_000)

    held = service.pool.statistics()
    print(f"{chosen.requests} requests: {service.hits} from the cache, {service.refused} refused")
    print(f"{service.dropped} tables were dropped, {len(service.cache)} are kept")
    print(f"{held.used / MIB:.1f} MiB used, {held.reserved_high / MIB:.1f} MiB of {chosen.limit} reserved at most")
    service.close()
    print(f"{service.tag.live} allocations are left")


if __name__ == "__main__":
    main()
