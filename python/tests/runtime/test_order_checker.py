"""The checker of order, which a setting switches on."""

import os
import subprocess
import sys
import textwrap

import millpond


def test_without_the_setting_nothing_is_looked_for():
    assert millpond.take_races() == []


def test_arrays_and_pools_have_no_races_and_tasks_are_seen():
    program = """
        import millpond
        import millpond.tensor as xp
        from millpond import memory

        queues = [millpond.Queue() for _ in range(3)]
        x = xp.ones(100_000, queue=queues[0])
        for turn in range(30):
            y = x + turn
            queues[turn % 3].task(lambda: None, [y])
            x = y * 2
        millpond.wait()
        assert millpond.take_races() == [], millpond.take_races()
        print(dict(millpond._millpond.settings())["MILLPOND_CHECK_ORDER"])
    """
    environment = {"MILLPOND_CHECK_ORDER": "1", "MILLPOND_TRACE_LINES": "1"}
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip() == "1"
