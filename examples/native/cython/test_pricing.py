"""The extension does what it says, also where arrays go before the work on them is done."""

import math
import threading

import pricing
import pytest

import millpond
import millpond.tensor as xp


def expected(price: float, strike: float, years: float, rate: float, volatility: float) -> float:
    """The price of a call, one number at a time."""
    deviation = volatility * math.sqrt(years)
    discounted = strike * math.exp(-rate * years)
    above = math.log(price / discounted) / deviation + deviation / 2
    normal = lambda x: 0.5 + 0.5 * math.erf(x / math.sqrt(2))  # noqa: E731
    return price * normal(above) - discounted * normal(above - deviation)


def test_prices_are_those_of_the_formula():
    price, strike, years = xp.linspace(80.0, 120.0, 1000), xp.full(1000, 100.0), xp.full(1000, 0.5)
    call, put = pricing.black_scholes(price, strike, years, 0.05, 0.2)
    assert float(call[0]) == pytest.approx(expected(80.0, 100.0, 0.5, 0.05, 0.2), rel=1e-12)
    parity = call - put - (price - 100.0 * math.exp(-0.05 * 0.5))
    assert float(xp.max(xp.abs(parity))) < 1e-11


def test_arrays_may_go_while_work_is_pending():
    queue = millpond.Queue()
    gate = queue.gate()
    arguments = [xp.full(5000, value, queue=queue) for value in (100.0, 110.0, 2.0)]
    call, _ = pricing.black_scholes(*arguments, 0.03, 0.3)
    del arguments
    # These get the bytes of what went, and are ordered behind its last use.
    others = [xp.zeros(5000, queue=queue) for _ in range(4)]
    gate.open()
    assert (
        float(xp.min(call)) == float(xp.max(call)) == pytest.approx(expected(100.0, 110.0, 2.0, 0.03, 0.3), rel=1e-12)
    )
    assert float(xp.sum(others[0])) == 0.0


def test_a_wait_lets_other_threads_run():
    queue = millpond.Queue()
    gate = queue.gate()
    opener = threading.Timer(0.01, gate.open)
    opener.start()
    # With the lock held, the thread that opens the gate would never run.
    pricing.wait(queue)
    assert gate.is_open
    opener.join()


def test_wrong_arguments_are_refused_and_leave_nothing_behind():
    before = pricing.live_handles()
    good = xp.ones(3)
    for arguments, error in [
        ((good, xp.ones(4), good), ValueError),
        ((good, xp.ones(3, dtype=xp.float32), good), TypeError),
        ((xp.ones((4, 4)).T, good, good), TypeError),
        ((good, [1.0, 2.0, 3.0], good), TypeError),
    ]:
        with pytest.raises(error):
            pricing.black_scholes(*arguments, 0.05, 0.2)
    assert pricing.live_handles() == before
