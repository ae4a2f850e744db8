"""`millpond.explain`: what ran together, what it moved, and what is printed of it."""

import io
import threading

import pytest

import millpond
import millpond.tensor as xp

N = 1 << 18
QUEUE = millpond.default_device().default_queue


@pytest.fixture
def x():
    x = xp.linspace(0.0, 1.0, N)
    millpond.wait()
    return x


def polynomial(x):
    return 3 * x * x + 2 * x + 1


def explain_held(body, *arguments):
    """Explain what runs behind a gate: however slow the test is, all of it is asked for before any begins."""
    with millpond.explain(print=False) as explanation:
        gate = QUEUE.gate()
        kept = body(*arguments)
        gate.open()
    return explanation.executions, kept


def test_operations_that_run_together_are_one_execution(x):
    executions, y = explain_held(polynomial, x)
    (execution,) = executions
    assert execution.name == f"fused(multiply, multiply, multiply, add, add) of shape ({N},)"
    assert execution.operations == 5
    assert (execution.read, execution.written) == (x.nbytes, y.nbytes)
    # Alone, three of five operations read two arrays, the others one, and each writes one.
    assert execution.moved + execution.spared == (2 + 3 + 2 + 3 + 2) * x.nbytes
    assert execution.queue == QUEUE.id
    assert execution.time > 0
    assert not execution.inline
    assert not execution.failed


def test_what_is_kept_is_written(x):
    def body(x):
        squares = x * x
        return squares, squares + 1

    executions, _ = explain_held(body, x)
    assert [execution.written for execution in executions] == [2 * x.nbytes]


def test_without_fusion_each_operation_is_an_execution(x):
    queue = millpond.Queue(profiling=True)
    x = xp.asarray(x, device=queue, copy=True)
    with millpond.explain(print=False) as explanation:
        polynomial(x)
    names = [execution.name.split(" ")[0].split("(")[0] for execution in explanation.executions]
    assert names == ["multiply", "multiply", "multiply", "add", "add"]
    assert all(execution.spared == 0 for execution in explanation.executions)


def test_the_reason_is_told_why_no_more_was_joined(x):
    def transposed(x):
        y = x + 1
        return y, xp.sort(y)

    executions, _ = explain_held(transposed, x)
    assert executions[0].closed == "what followed could not be joined"

    def observed(x):
        y = x + 1
        QUEUE.record()
        return y

    executions, _ = explain_held(observed, x)
    assert executions[0].closed == "the host waited"


def test_lines_are_those_of_the_program(x):
    executions, _ = explain_held(polynomial, x)
    (line,) = executions[0].lines
    file, _, number = line.rpartition(":")
    assert file == __file__
    assert int(number) == polynomial.__code__.co_firstlineno + 1


@pytest.mark.host
def test_small_operations_run_at_once():
    a = xp.asarray([1.0, 2.0])
    millpond.wait()
    with millpond.explain(print=False) as explanation:
        a + a
    (execution,) = explanation.executions
    assert execution.inline
    assert (execution.read, execution.written) == (2 * a.nbytes, a.nbytes)


def test_blocks_nest_and_can_be_entered_again(x):
    inner = millpond.explain(print=False)
    with millpond.explain(print=False) as outer:
        with inner as first:
            xp.sort(x)
        with inner as second:
            xp.sort(x)
            xp.sort(x)
    one = len(first.executions)
    assert one > 0
    assert (len(second.executions), len(outer.executions)) == (2 * one, 3 * one)


def test_other_threads_are_not_explained(x):
    with millpond.explain(print=False) as explanation:
        thread = threading.Thread(target=xp.sort, args=(x,))
        thread.start()
        thread.join()
    assert explanation.executions == ()


def test_a_block_ends_where_it_began():
    block = millpond.explain(print=False)
    thread = threading.Thread(target=block.__enter__)
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="thread"):
        block.__exit__(None, None, None)


def test_failures_are_told_and_still_raised(x):
    with millpond.explain(print=False) as explanation:
        failing = xp.take(x, xp.asarray([N + 5, *range(10_000)]))
    assert any(execution.failed for execution in explanation.executions)
    with pytest.raises(IndexError):
        failing[0].item()


def test_a_table_is_printed(x, capsys):
    with millpond.explain():
        polynomial(x)
        xp.sort(x)
    printed = capsys.readouterr().out.splitlines()
    assert "operations in" in printed[0]
    assert printed[1].split() == ["time", "rate", "moved", "spared", "what"]
    assert "test_explain.py:" in printed[2]
    assert printed[-1].lstrip().split("  ")[0].endswith(("us", "ms", "s"))

    into = io.StringIO()
    with millpond.explain(file=into):
        pass
    assert into.getvalue().startswith("0 operations in 0 executions")


def test_an_exception_passes_through_the_block():
    with pytest.raises(ValueError, match="mine"), millpond.explain(print=False):
        raise ValueError("mine")
    with millpond.explain(print=False) as explanation:
        pass
    assert explanation.executions == ()
