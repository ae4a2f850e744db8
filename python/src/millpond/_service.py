"""The thread that runs callables: tasks of queues, and callbacks of events.

Their turn is decided without it (`runtime/service.rs`); here they are called, with no lock held.
"""

import contextlib
import threading

from millpond import _millpond

_thread: threading.Thread | None = None

#: Seconds that the thread has to end at exit, once it was told to.
_PATIENCE = 1.0


def start() -> None:
    """Start the thread. Called once, by the first task or callback."""
    global _thread
    _thread = threading.Thread(target=_serve, name="millpond-tasks", daemon=True)
    _thread.start()


def shut_down() -> None:
    """Finish all work and stop all threads; every later call raises `ShutDownError`."""
    try:
        _millpond.shutdown()
    finally:
        if _thread is not None and _thread is not threading.current_thread():
            _thread.join(_PATIENCE)


def _serve() -> None:
    while (job := _millpond.next_job()) is not None:
        _run(job)
        del job


def _run(job: "_millpond._Job") -> None:
    arguments: tuple[object, ...] = ()
    try:
        arguments = job.arguments()
        job.function(*arguments)
    except BaseException as exception:
        # Frames keep views, and whatever else the callable had, alive.
        job.fail(exception)
        exception.__traceback__ = None
    else:
        job.finish()
    for argument in arguments:
        if isinstance(argument, memoryview):
            _release(argument)


def _release(view: memoryview) -> None:
    # Where something made of the view is still there, that keeps the memory.
    with contextlib.suppress(BufferError):
        view.release()
