"""Fixtures of all tests."""

import gc
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

import millpond

#: For what is run again in another mode: `--hypothesis-profile=few`.
settings.register_profile("few", max_examples=10)

#: Seconds after which a process that should have ended hangs.
HANG = 60.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--checker", choices=["asan", "valgrind"], help="a checker of memory errors for native examples")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    label = str(millpond.default_device())
    if label.partition(":")[0] == "cpu":
        return
    skip = pytest.mark.skip(reason=f"the default device is {label}, which does not work in the host's memory")
    for item in items:
        if item.get_closest_marker("host"):
            item.add_marker(skip)


@pytest.fixture
def device() -> millpond.Device:
    return millpond.default_device()


@pytest.fixture(params=["in_order", "out_of_order"])
def queue(request: pytest.FixtureRequest, device: millpond.Device) -> Iterator[millpond.Queue]:
    queue = device.create_queue(in_order=request.param == "in_order")
    yield queue
    queue.close()


@pytest.fixture
def line(device: millpond.Device) -> Iterator[millpond.Queue]:
    """An in-order queue."""
    queue = device.create_queue()
    yield queue
    queue.close()


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program of Python in a process of its own."""

    def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            capture_output=True,
            text=True,
            timeout=HANG,
            env={**os.environ, **environment},
            check=False,
        )

    return run


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Wait until something becomes true."""

    def eventually(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + HANG
        while not condition():
            assert time.monotonic() < end, "it didn't become true"
            time.sleep(0.001)

    return eventually


@pytest.fixture
def live() -> Callable[[], int]:
    """Count the allocations that are alive once everything has been let go."""

    def live() -> int:
        gc.collect()
        millpond.wait()
        return millpond.live()

    return live
