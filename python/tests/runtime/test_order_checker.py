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


def test_what_is_fused_is_seen_and_right(run):
    """Chains are joined under the checker as they are elsewhere, on several queues, in place and dropped."""
    answer = run(
        """
        import random

        import millpond
        import millpond.tensor as xp

        queues = [millpond.Queue() for _ in range(2)] + [millpond.Queue(in_order=False)]
        dice = random.Random(11)
        arrays = [xp.full(300_000, number, queue=queues[number % 3], dtype="float32") for number in range(9)]
        operations = 0
        for turn in range(20):
            with millpond.explain(print=False) as explanation:
                gate = queues[turn % 3].gate()
                for step in range(30):
                    x, y = dice.choice(arrays), dice.choice(arrays)
                    match dice.randrange(5):
                        case 0:
                            arrays[dice.randrange(9)] = (x * 0.5 + 1.5) * x - 0.25 * x + y
                        case 1:
                            x += y
                        case 2:
                            x[::2] = y[1::2]
                        case 3:
                            arrays[dice.randrange(9)] = xp.where(x > y, x, 0.25)
                        case 4:
                            dice.choice(queues).wait_for(dice.choice(queues).record())
                gate.open()
            operations = max([operations, *(execution.operations for execution in explanation.executions)])
        assert operations > 3, operations
        assert millpond.take_races() == [], millpond.take_races()
        """,
        MILLPOND_CHECK_ORDER="1",
    )
    assert answer.returncode == 0, answer.stderr
