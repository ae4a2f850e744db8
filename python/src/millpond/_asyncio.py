"""`await event`."""

import asyncio
import contextlib

from millpond._millpond import Event


async def wait(event: Event) -> None:
    """Wait for an event without blocking the loop; raise its failure."""
    if not event.is_done:
        loop = asyncio.get_running_loop()
        done = loop.create_future()

        def finish() -> None:
            if not done.done():
                done.set_result(None)

        def wake(_event: Event) -> None:
            # The loop may be closed by now: then nobody waits any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(finish)

        event.on_complete(wake)
        await done
    event.wait()
