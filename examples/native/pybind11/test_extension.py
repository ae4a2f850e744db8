"""The extensions do what they say, also where arrays go before the work on them is done."""

import extension
import pytest

import millpond
import millpond.tensor as xp


def settle(count, goal: int) -> None:
    """Wait until owners that threads of the device let go of are gone."""
    while count() != goal:
        pass


def test_a_kernel_runs_in_order_with_the_functions_of_the_library():
    x, y = xp.arange(10.0), xp.ones(10)
    extension.add_scaled(y, x * 2, 0.5).wait()
    assert (y * 2).tolist() == [2.0 * (1 + i) for i in range(10)]
    extension.add_scaled(y[::-2], x[:5], 1.0)
    assert y.tolist() == [1.0, 2 + 4, 3.0, 4 + 3, 5.0, 6 + 2, 7.0, 8 + 1, 9.0, 10 + 0]


def test_a_kernel_comes_behind_events():
    first, second = millpond.Queue(), millpond.Queue()
    gate = first.gate()
    x, y = xp.ones(4, queue=second), xp.zeros(4, queue=second)
    event = extension.add_scaled(y, x, 3.0, after=[first.record()])
    assert event.status == "pending"
    assert event.queue == second
    gate.open()
    assert y.tolist() == [3.0] * 4


def test_what_a_kernel_throws_is_its_failure():
    x = xp.asarray([1.0, 2.0, -3.0])
    with pytest.raises(millpond.CommandError, match="refuse_negative failed: element 2 is negative"):
        extension.refuse_negative(x).wait()


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError):
        extension.add_scaled([1.0], xp.ones(1), 1.0)
    with pytest.raises(ValueError, match="one length"):
        extension.add_scaled(xp.ones(2), xp.ones(3), 1.0)
    with pytest.raises(ValueError, match="another dtype"):
        extension.add_scaled(xp.ones(2, dtype=xp.float32), xp.ones(2), 1.0)
    read_only = xp.ones(2)
    read_only.flags.writable = False
    with pytest.raises(ValueError, match="read-only"):
        extension.add_scaled(read_only, xp.ones(2), 1.0)


def test_errors_are_the_exceptions_of_python():
    queue = millpond.Queue()
    x, y = xp.ones(2, queue=queue), xp.ones(2, queue=queue)
    queue.close()
    with pytest.raises(millpond.QueueClosedError):
        extension.add_scaled(y, x, 1.0)


def test_an_allocation_is_freed_by_its_own_deleter_after_the_last_use():
    queue = millpond.Queue()
    gate = queue.gate()
    numbers = extension.count_up(queue, 1000)
    assert not extension.is_managed(numbers)
    assert extension.is_managed(xp.ones(3))
    total = xp.sum(numbers * 2, dtype=xp.float64)
    view = numbers[10:20]
    del numbers, view
    assert extension.live_blocks() == 1, "work on it is pending"
    gate.open()
    assert float(total) == 999 * 1000
    settle(extension.live_blocks, 0)


def test_a_solver_keeps_its_workspace_until_it_is_done():
    queue = millpond.Queue()
    before = extension.live_handles()
    half = xp.reshape(xp.sin(xp.arange(40.0 * 40, queue=queue)), (40, 40))
    matrix = half @ half.T + 40 * xp.eye(40, queue=queue)
    wanted = xp.linspace(-1.0, 1.0, 40, queue=queue)
    right = matrix @ wanted
    again = xp.copy(matrix)
    gate = queue.gate()
    solution = extension.solve(matrix, right)
    assert extension.live_handles() > before, "the work owns what it needs"
    del matrix, right
    others = [xp.full((40, 40), 7.0, queue=queue) for _ in range(3)]
    gate.open()
    assert float(xp.max(xp.abs(solution - wanted))) < 1e-9
    assert float(xp.max(xp.abs(again @ solution - again @ wanted))) < 1e-6
    assert float(xp.mean(others[0])) == 7.0
    del solution
    settle(extension.live_handles, before)


def test_a_solver_says_what_it_cant_solve():
    with pytest.raises(millpond.CommandError, match="not positive definite"):
        xp.asnumpy(extension.solve(-xp.eye(3), xp.ones(3)))
