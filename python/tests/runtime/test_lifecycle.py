import contextlib
import signal
import subprocess
import sys
import textwrap
import time

import pytest


def test_exit_with_pending_work_finishes_it(run):
    result = run(
        """
        import millpond
        from millpond.memory import DeviceMemory
        queue = millpond.default_device().default_queue
        for _ in range(1000):
            DeviceMemory(1 << 16, queue=queue).fill(1)
        print("end")
        """
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


def test_exit_runs_pending_tasks(run):
    result = run(
        """
        import time, millpond
        queue = millpond.default_device().default_queue
        for number in range(3):
            queue.task(lambda number=number: (time.sleep(0.05), print("task", number, flush=True)))
        print("end", flush=True)
        """
    )
    assert result.returncode == 0
    assert result.stdout.split("\n")[:4] == ["end", "task 0", "task 1", "task 2"]
    assert result.stderr == ""


def test_o10_exit_does_not_hang_on_a_closed_gate(run):
    result = run(
        """
        import millpond
        queue = millpond.default_device().default_queue
        gate = queue.gate()
        queue.task(lambda: None)
        event = queue.record()
        event.on_complete(lambda event: None)
        """
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_exit_with_an_unseen_failure_is_quiet(run):
    result = run("import millpond; millpond.default_device().default_queue.task(lambda: 1 / 0)")
    assert (result.returncode, result.stderr) == (0, "")


def test_exit_lets_threads_finish(run):
    result = run(
        """
        import threading, millpond
        from millpond.memory import DeviceMemory
        def work():
            for _ in range(200):
                DeviceMemory(1000).fill(1)
        for _ in range(4):
            threading.Thread(target=work).start()
        """
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_o10_calls_after_the_end_say_so(run):
    result = run(
        """
        import atexit
        def late():
            import millpond
            try:
                millpond.default_device().default_queue.record().wait()
            except millpond.ShutDownError as error:
                print(error)
        atexit.register(late)
        import millpond
        queue = millpond.default_device().default_queue
        memory = millpond.memory.DeviceMemory(8)
        """
    )
    assert result.returncode == 0
    assert "millpond was shut down" in result.stdout


def test_o10_a_forked_child_is_told_quickly(run):
    result = run(
        """
        import os, time, millpond
        from millpond.memory import DeviceMemory
        queue = millpond.default_device().default_queue
        memory = DeviceMemory(100)
        memory.fill(1)
        queue.task(lambda: None).wait()
        child = os.fork()
        if child == 0:
            begin = time.monotonic()
            calls = {
                "wait": queue.wait,
                "wait for all": millpond.wait,
                "record": lambda: queue.barrier(),
                "task": lambda: queue.task(print),
                "fill": lambda: memory.fill(2),
                "read": memory.tobytes,
                "allocate": lambda: DeviceMemory(8),
                "queue": lambda: millpond.Queue(),
            }
            for name, call in calls.items():
                try:
                    call()
                except millpond.ForkedError as error:
                    assert "fork" in str(error)
                else:
                    print(name, "was allowed", flush=True)
            del memory
            print("told" if time.monotonic() - begin < 1 else "slow", flush=True)
            raise SystemExit
        assert os.waitpid(child, 0)[1] == 0
        assert memory.tobytes() == bytes([1]) * 100
        """
    )
    assert (result.returncode, result.stdout) == (0, "told\n"), result.stderr


def test_a_spawned_child_works(run):
    result = run(
        """
        import multiprocessing, pickle, sys, millpond
        if __name__ == "__main__":
            device = millpond.default_device()
            context = multiprocessing.get_context("spawn")
            with context.Pool(1) as pool:
                print(pool.apply(pickle.loads, (pickle.dumps(device.default_queue),)) == device.default_queue)
        """
    )
    assert (result.returncode, result.stdout) == (0, "True\n"), result.stderr


@contextlib.contextmanager
def started(program):
    """A program that Ctrl-C interrupts, even where this one ignores it, as a job in the background does."""
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heed}\n{textwrap.dedent(program)}"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are not sent there")
@pytest.mark.parametrize(
    "wait",
    [
        "queue.wait()",
        "event.wait()",
        "millpond.wait()",
        "memory.tobytes()",
        "memoryview(memory)",
        "shared.fill(2)",
        "[memory.fill(2) for _ in range(10_000)]",
    ],
)
def test_o9_control_c_interrupts_a_wait(wait):
    program = f"""
    import millpond
    from millpond.memory import SharedMemory
    queue = millpond.default_device().default_queue
    memory, shared = SharedMemory(100), SharedMemory(100)
    view = memoryview(shared)
    gate = queue.gate()
    memory.fill(1)
    event = queue.record()
    print("waiting", flush=True)
    try:
        {wait}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    gate.open()
    queue.wait()
    """
    with started(program) as process:
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert (output, process.returncode) == ("interrupted\n", 0), errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are not sent there")
def test_control_c_ends_an_exit_that_waits_for_a_task():
    program = """
    import time, millpond
    def endless():
        print("running", flush=True)
        time.sleep(1000)
    millpond.default_device().default_queue.task(endless)
    """
    with started(program) as process:
        assert process.stdout.readline() == "running\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors


def test_import_is_light(run):
    result = run(
        """
        import sys
        # What watches the tests may have imported some of it before.
        before = set(sys.modules)
        import millpond
        heavy = {"numpy", "asyncio", "multiprocessing", "millpond.tensor"} & (set(sys.modules) - before)
        print(sorted(heavy))
        """
    )
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_the_report_tells_of_devices_and_settings(run):
    result = run("import runpy; runpy.run_module('millpond', run_name='__main__')", MILLPOND_THREADS="2")
    assert result.returncode == 0, result.stderr
    assert "device cpu" in result.stdout
    assert "MILLPOND_THREADS=2" in result.stdout
    assert "self-test: passed" in result.stdout


@pytest.mark.host
def test_the_report_tests_devices_without_float64(run):
    settings = {
        "MILLPOND_CPU_DEVICES": "0;0",
        "MILLPOND_CPU_FLOAT64": "1;0",
        "MILLPOND_DEFAULT_FLOAT": "float32",
    }
    result = run("import runpy; runpy.run_module('millpond', run_name='__main__')", **settings)
    assert result.returncode == 0, result.stdout
    for name, value in settings.items():
        assert f"{name}={value}" in result.stdout
    assert result.stdout.count("self-test: passed") == 2


def test_the_report_fails_where_a_device_computes_wrongly(run):
    result = run(
        """
        import runpy
        import millpond.tensor as xp
        xp.sum = lambda x: 1
        runpy.run_module("millpond", run_name="__main__")
        """
    )
    assert result.returncode == 1
    assert "self-test: failed: AssertionError: the sum of 1 to 1000 is 500500, but cpu" in result.stdout


def test_the_report_warns_of_settings_that_make_no_sense(run):
    result = run("import runpy; runpy.run_module('millpond', run_name='__main__')", MILLPOND_THREADS="lots")
    assert "MILLPOND_THREADS='lots' is ignored: expected a positive number" in result.stdout


def test_the_report_says_where_cuda_was_looked_for(run):
    report = "import runpy; runpy.run_module('millpond', run_name='__main__')"
    result = run(report, MILLPOND_CUDA="/nowhere/libcuda.so.1")
    assert result.returncode == 0, result.stdout
    assert "MILLPOND_CUDA=/nowhere/libcuda.so.1" in result.stdout
    assert "CUDA:        not found: /nowhere/libcuda.so.1: " in result.stdout
    assert "device cuda" not in result.stdout
    assert "CUDA:" not in run(report, MILLPOND_CUDA="0").stdout


def test_the_environment_names_the_default_device(run):
    program = """
    import millpond
    import millpond.tensor as xp
    print(millpond.default_device(), xp.ones(3).device)
    """
    devices = {"MILLPOND_CPU_DEVICES": "0;0", "MILLPOND_DEVICE": "cpu:1"}
    assert run(program, **devices).stdout.split() == ["cpu:1", "cpu:1"]
    result = run(program, MILLPOND_DEVICE="abacus")
    assert "UnknownDeviceError: unknown device 'abacus'" in result.stderr


def test_versions_are_shown(capsys):
    import millpond

    millpond.show_versions()
    shown = capsys.readouterr().out
    assert millpond.__version__ in shown
    assert "device cpu" in shown


def test_lines_of_commands_are_traced_where_asked(run):
    result = run(
        """
        import millpond
        from millpond.memory import DeviceMemory
        queue = millpond.default_device().default_queue
        queue.task(lambda: 1 / 0)
        try:
            queue.wait()
        except millpond.CommandError as error:
            print(error.origin)
        """,
        MILLPOND_TRACE_LINES="1",
    )
    assert (result.stdout, result.stderr) == ("<string>:5\n", "")


def test_lines_of_a_neighbour_count_as_the_programs(run):
    result = run(
        """
        import millpond, os
        neighbour = os.path.dirname(millpond.__file__) + "_tools/program.py"
        text = "queue = millpond.Queue(); event = queue.task(lambda: 1 / 0)"
        exec(compile(text, neighbour, "exec"), globals())
        try:
            event.wait()
        except millpond.CommandError as error:
            print(error.origin == neighbour + ":1")
        """,
        MILLPOND_TRACE_LINES="1",
    )
    assert (result.stdout, result.stderr) == ("True\n", "")


def test_other_interpreters_of_the_process_are_refused(run):
    """The end of one would be taken for the process's."""
    program = """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters

        import millpond.tensor as xp

        other = interpreters.create()
        try:
            failure = interpreters.run_string(other, "import millpond")
        except Exception as error:
            failure = error
        assert "interpreter" in str(failure), failure
        interpreters.destroy(other)
        print(xp.ones(2))
    """
    ended = run(program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[1. 1.]\n", "")
