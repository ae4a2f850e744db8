"""The C interface as programs and extensions see it, also through the headers of earlier versions."""

import gc
import importlib.util
import re
import shutil
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import DeviceMemory, Pool, SharedMemory

from .compiler import STRICT, VERSIONS, compiler, execute, extension, library, program

SOURCES = Path(__file__).parent
INCLUDE = Path(millpond.get_include())

#: The headers of every version that was handed out, and those of today.
HEADERS = [*sorted(VERSIONS.iterdir(), key=lambda path: int(path.name)), INCLUDE]


@pytest.mark.parametrize("include", HEADERS, ids=lambda path: path.name)
def test_a_program_of_any_version_runs(tmp_path, include):
    made = program(tmp_path, SOURCES / "surface.c", include)
    installed = next(Path(option.removeprefix("-L")) for option in library() if option.startswith("-L"))
    copy = shutil.copy(installed / "libmillpond.so", tmp_path / "another.so")
    execute(made, copy)


#: Headers that go together, with the standards of C and C++ that they are for.
STANDARDS = {
    "millpond.h": ["c11", "c++11", "c++20"],
    "millpond_python.h": ["c11", "c++11", "c++20"],
    "millpond.hpp": ["c++17", "c++20"],
    "millpond_python.h millpond.hpp": ["c++17", "c++20"],
}


@pytest.mark.parametrize(
    ("header", "standard"), [(header, standard) for header in STANDARDS for standard in STANDARDS[header]]
)
def test_headers_compile_without_a_warning(tmp_path, header, standard):
    source = tmp_path / ("source.c" if standard == "c11" else "source.cpp")
    lines = [f"#include <{name}>" for name in header.split()]
    source.write_text("\n".join([*lines, "int main(void) { return 0; }\n"]))
    options = [f"-std={standard}", *STRICT, "-fsyntax-only", "-isystem", sysconfig.get_path("include")]
    execute(compiler("cc" if standard == "c11" else "c++"), *options, f"-I{INCLUDE}", source)


def fields(header: str, table: str) -> list[str]:
    """The lines of a table."""
    found = re.search(rf"typedef struct {table} \{{\n(.*?)\n\}} {table};", header, re.DOTALL)
    assert found is not None
    return [" ".join(line.split()) for line in found[1].split(";")]


@pytest.mark.parametrize("include", HEADERS[:-1], ids=lambda path: path.name)
@pytest.mark.parametrize(("file", "table"), [("millpond.h", "mp_table"), ("millpond_python.h", "mp_python_table")])
def test_the_table_only_grows(include, file, table):
    old, new = (fields((folder / file).read_text(), table) for folder in (include, INCLUDE))
    assert new[: len(old) - 1] == old[:-1]


@pytest.mark.parametrize("include", HEADERS[:-1], ids=lambda path: path.name)
def test_constants_keep_their_numbers(include):
    old, new = (re.findall(r"(MP_\w+) = (\d+)", (folder / "millpond.h").read_text()) for folder in (include, INCLUDE))
    assert len(old) > 30
    assert set(old) <= set(new)


@pytest.mark.parametrize("include", HEADERS[-2:-1], ids=lambda path: path.name)
def test_what_grew_has_a_new_version(include):
    """The newest version that was handed out has other functions only if its number is another."""
    old, new = ((folder / "millpond.h").read_text() for folder in (include, INCLUDE))
    version = re.compile(r"#define MP_VERSION (\d+)u")
    if version.findall(old) == version.findall(new):
        assert fields(old, "mp_table") == fields(new, "mp_table")


def load(file: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location("probe", file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(params=HEADERS, ids=lambda path: path.name)
def probe(request, tmp_path):
    module = load(extension(tmp_path, SOURCES / "probe.c", request.param))
    before = module.handles()
    yield module
    gc.collect()
    assert module.handles() == before


def test_objects_go_through_handles(probe):
    queue = millpond.Queue()
    x = xp.reshape(xp.arange(6.0, queue=queue), (2, 3))[:, ::-1]
    y = probe.through(x)
    y += 1
    assert x.tolist() == y.tolist() == [[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]
    memory = SharedMemory(16, queue=queue)
    part = probe.through(memory[4:12])
    assert (type(part), part.ptr, part.nbytes) == (SharedMemory, memory.ptr + 4, 8)
    pool = Pool(name="own")
    for thing in (queue, queue.device, pool):
        assert probe.through(thing) == thing
    gate = queue.gate()
    event = queue.record()
    same = probe.through(event)
    assert (same.status, same.sequence, same.queue) == ("pending", event.sequence, queue)
    probe.through(gate).open()
    same.wait()
    assert gate.is_open
    assert probe.through("a text") is None


def test_arrays_say_where_they_are(probe):
    x = xp.asarray(xp.reshape(xp.arange(12), (3, 4)), usm_type="shared")
    assert probe.describe(x[1:, ::2])[1:] == ((4, 2), 4, False)
    assert probe.describe(x[::-1])[1:] == ((-4, 1), 8, False)
    assert probe.describe(xp.zeros((0, 3)))[1] == (3, 1)
    read_only = xp.ones(2)
    read_only.flags.writable = False
    assert probe.describe(read_only)[1:] == ((1,), 0, True)
    assert probe.describe(x[1:])[0] - probe.describe(x)[0] == 4 * x.itemsize


def test_memory_that_is_read_only_stays_so(probe):
    wrapped = SharedMemory.wrap(bytes(8))
    assert probe.through(wrapped).read_only
    freed = DeviceMemory(8)
    freed.queue.free(freed)
    with pytest.raises(ValueError, match="was freed"):
        probe.through(freed)


def test_wrong_objects_are_type_errors(probe):
    for wrong in (3, "queue", xp.ones(1)):
        with pytest.raises(TypeError, match="expected a queue, got"):
            probe.queue_of(wrong)
    with pytest.raises(ValueError, match="a queue was expected, got a null"):
        probe.queue_of(None)


def test_errors_have_their_classes_and_attributes(probe):
    queue = millpond.Queue()
    pool = Pool(name="tiny", maximum_size=1 << 16)
    assert probe.allocate(pool, queue, 100).nbytes == 100
    with pytest.raises(millpond.OutOfMemoryError) as caught:
        probe.allocate(pool, queue, 1 << 20)
    assert (caught.value.requested, caught.value.maximum_size) == (1 << 20, 1 << 16)
    queue.close()
    with pytest.raises(millpond.QueueClosedError):
        probe.allocate(pool, queue, 100)


def test_a_wait_with_the_lock_held_lets_it_go(tmp_path, run):
    """Also in a thread that has called nothing else of millpond's; or the program would hang."""
    extension(tmp_path, SOURCES / "probe.c")
    program = f"""
        import sys, threading
        sys.path.insert(0, {str(tmp_path)!r})
        import millpond, probe

        queue = millpond.Queue()
        gate = queue.gate()
        begun = threading.Event()

        def wait():
            begun.set()
            probe.wait_carelessly(queue)

        # So long that a thread which doesn't let the lock go is in the wait before others run.
        sys.setswitchinterval(1.0)
        waiter = threading.Thread(target=wait)
        waiter.start()
        begun.wait()
        gate.open()
        waiter.join()
    """
    ended = run(program)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_extension_of_a_newer_version_is_refused(tmp_path):
    for header in ("millpond.h", "millpond_python.h"):
        text = (INCLUDE / header).read_text()
        (tmp_path / header).write_text(re.sub(r"(#define MP_VERSION) \d+u", r"\1 99u", text))
    file = extension(tmp_path, SOURCES / "probe.c", tmp_path)
    with pytest.raises(ImportError, match="compiled with version 99 of millpond's C interface"):
        load(file)


def test_the_package_says_where_its_files_are():
    library()
    ask = [sys.executable, "-m", "millpond"]
    assert execute(*ask, "--includes") == f"-I{INCLUDE}\n"
    libraries = execute(*ask, "--libs").split()
    assert libraries[-1] == "-lmillpond"
    assert Path(libraries[0].removeprefix("-L"), "libmillpond.so").is_file()
    assert Path(execute(*ask, "--cmakedir").strip(), "millpondConfig.cmake").is_file()
    description = Path(execute(*ask, "--pkgconfig").strip(), "millpond.pc").read_text()
    assert f"Version: {millpond.__version__}\n" in description
    assert execute(*ask, "--includes", "--libs").startswith(f"-I{INCLUDE} -L")
