"""The extension does what it says, also where arrays go before the work on them is done."""

import moments
import pytest

import millpond
import millpond.tensor as xp


def matrix(queue: millpond.Queue) -> object:
    """A matrix with known moments, whose rows aren't contiguous."""
    return xp.reshape(xp.arange(12.0, queue=queue), (4, 3)).T


def test_moments_are_those_of_the_library():
    x = matrix(millpond.Queue())
    found = moments.moments(x)
    assert found.queue == x.queue
    assert xp.allclose(found[:, 0], xp.mean(x, axis=1))
    assert xp.allclose(found[:, 1], xp.var(x, axis=1))


def test_a_matrix_may_go_while_another_queue_works_on_it():
    home, other = millpond.Queue(), millpond.Queue()
    gate = other.gate()
    x = matrix(home)
    found = moments.moments(x, other)
    del x
    others = [xp.full((4, 3), 9.0, queue=home) for _ in range(4)]
    gate.open()
    assert found.queue == other
    assert found.tolist() == [[4.5, 11.25], [5.5, 11.25], [6.5, 11.25]]
    assert float(xp.sum(others[0])) == 108.0


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError):
        moments.moments([[1.0]])
    with pytest.raises(ValueError, match="takes a matrix"):
        moments.moments(xp.ones(3))
    with pytest.raises(ValueError, match="another dtype"):
        moments.moments(xp.ones((2, 2), dtype=xp.float32))


def test_errors_are_the_exceptions_of_python():
    queue = millpond.Queue()
    x = matrix(queue)
    queue.close()
    with pytest.raises(millpond.QueueClosedError):
        moments.moments(x)
    moments.wait(queue)
