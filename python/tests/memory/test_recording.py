"""Recordings of pools: made, kept, replayed, from Python and from the command line."""

import gc
import json
import subprocess
import sys

import pytest

from millpond.memory import DeviceMemory, Pool, Recording, Tag

MIB = 1 << 20


@pytest.fixture
def pool():
    return Pool(name="recorded")


def work(pool, queue):
    """Allocate two of three blocks at a time, each used by a task, and wait in between."""
    held = pool.allocate(4 * MIB, queue=queue)
    for _ in range(3):
        memory = pool.allocate(2 * MIB, queue=queue)
        memory.fill(1)
        del memory
        queue.wait()
    del held


@pytest.fixture
def recording(pool, line):
    with pool.record() as recording:
        work(pool, line)
    return recording


@pytest.fixture
def path(tmp_path, recording):
    path = tmp_path / "pool.txt"
    recording.save(path)
    return path


def steps(recording, kind):
    return [step for step in str(recording).splitlines() if step.startswith(kind)]


def command(*arguments, module="millpond"):
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_recording_has_what_was_asked_for_while_it_ran(pool, line, recording):
    pool.allocate(MIB, queue=line)
    assert len(steps(recording, "allocate")) == len(steps(recording, "free")) == 4
    assert len(recording) == len(str(recording).splitlines()) - 1
    assert repr(recording) == f"<Recording of {len(recording)} steps>"


def test_a_recording_is_of_no_use_before_it_ends(pool):
    recorder = pool.record()
    with recorder as recording:
        assert repr(recording) == "<Recording, not finished>"
        for use in (len, str, Recording.replay):
            with pytest.raises(ValueError, match="not finished"):
                use(recording)
    assert recorder.stop() is recording
    assert recording.replay().requests == 0


def test_a_recorder_can_be_stopped_without_a_with_statement(pool):
    recorder = pool.record()
    pool.allocate(MIB)
    recording = recorder.stop()
    pool.allocate(MIB)
    assert recording.replay().requests == 1


def test_a_recorder_that_is_let_go_or_replaced_ends(pool):
    first = pool.record()
    second = pool.record()
    pool.allocate(MIB)
    assert len(steps(first.stop(), "allocate")) == 0
    assert len(steps(second.stop(), "allocate")) == 1
    third = pool.record()
    del third
    gc.collect()
    pool.allocate(MIB)


def test_a_recording_ends_when_its_block_raises(pool):
    def fail():
        with pool.record() as recording:
            recordings.append(recording)
            raise RuntimeError(pool.allocate(MIB))

    recordings = []
    with pytest.raises(RuntimeError):
        fail()
    [recording] = recordings
    assert len(steps(recording, "allocate")) == 1


def test_a_file_gets_the_same_as_memory(pool, line, tmp_path):
    path = tmp_path / "pool.txt"
    with pool.record(path) as recording:
        work(pool, line)
    assert repr(recording) == f"<Recording in '{path}'>"
    assert str(recording) == path.read_text()
    assert len(Recording.load(str(path))) == len(recording)
    assert recording.replay() == Recording.load(path).replay()


def test_a_recording_that_is_saved_and_loaded_is_the_same(recording, path):
    loaded = Recording.load(path)
    assert str(loaded) == str(recording) == path.read_text()
    assert loaded.replay() == recording.replay()


def test_a_replay_has_numbers_for_other_limits(recording):
    free = recording.replay()
    assert (free.requests, free.allocations, free.refused, free.waited) == (4, 4, 0, 0)
    assert (free.requested_high, free.used_high, free.driver_allocations) == (6 * MIB, 6 * MIB, 1)
    assert free.first_refusal is None
    assert repr(free).startswith("Replay(requests=4, allocations=4, refused=0, ")

    tight = recording.replay(maximum_size=6 * MIB)
    assert (tight.reserved_high, tight.used_at_reserved_high, tight.fragmentation) == (6 * MIB, 6 * MIB, 1.0)

    eager = recording.replay(release_threshold=0, min_driver_alloc=1)
    assert eager.driver_allocations > tight.driver_allocations
    assert recording.replay(max_poolable=MIB).driver_allocations == 4
    assert recording.replay(memory=5 * MIB).refused == 3


def test_a_replay_says_what_was_refused_first(recording):
    replay = recording.replay(maximum_size=5 * MIB)
    assert (replay.requests, replay.allocations, replay.refused) == (4, 1, 3)
    first = replay.first_refusal
    assert first is not None
    assert str(recording).splitlines()[1 + first.step].startswith("allocate")
    assert (first.requested, first.used, first.pending) == (2 * MIB, 4 * MIB, 0)
    assert first.reason == "the pool's maximum size is reached"
    assert str(first).startswith(f"step {first.step}: {2 * MIB} bytes asked for")
    assert replay.as_dict()["first_refusal"] == first.as_dict()


def test_requests_that_were_refused_are_asked_for_again(line, tmp_path):
    path = tmp_path / "pool.txt"
    pool = Pool(name="small", maximum_size=4 * MIB)
    with pool.record(path) as recording:
        held = pool.allocate(4 * MIB, queue=line)
        with pytest.raises(MemoryError):
            pool.allocate(2 * MIB, queue=line)
        del held
        pool.allocate(2 * MIB, queue=line)
    assert [step.split()[2:] for step in steps(recording, "refuse")] == [[str(2 * MIB)]]
    same = recording.replay(maximum_size=4 * MIB)
    assert (same.requests, same.refused, same.refused_before, same.served_now) == (3, 1, 1, 0)
    assert str(recording).splitlines()[1 + same.first_refusal.step].startswith("refuse")
    more = recording.replay(maximum_size=6 * MIB)
    assert (more.requests, more.refused, more.refused_before, more.served_now) == (3, 0, 1, 1)
    assert more.as_dict()["served_now"] == 1

    table = command("replay", path, "--policy", "maximum_size=4MiB", "--policy", "maximum_size=6MiB").stdout
    rows = {line[:21].strip(): line[21:].split() for line in table.splitlines() if line[:2] in ("re", "of")}
    assert rows["refused"] == ["1", "0"]
    assert rows["refused when recorded"] == ["1", "1"]
    assert rows["of these, served now"] == ["0", "1"]
    assert "first refusal ([1]): step" in table


def test_a_recording_says_how_memory_was_used(pool, device):
    one, two = device.create_queue(), device.create_queue()
    target = DeviceMemory(4 * MIB, queue=two)
    with pool.record() as recording:
        memory = pool.allocate(4 * MIB, queue=one)
        memory.fill(1)
        target.copy_from(memory)  # on the target's queue
        del memory
    [free] = steps(recording, "free")
    assert [use.split(":")[1][-1] for use in free.split(" uses ")[1].split(",")] == ["w", "r"]


def test_recordings_of_older_versions_are_replayed(tmp_path):
    path = tmp_path / "old.txt"
    for text, uses in [
        ("millpond pool recording 1\nallocate 10 7 1024\nfree 10\nwait 7\n", "7:1"),
        ("millpond pool recording 2\nallocate 10 7:0 1024\nfree 10 uses 7:1,8:2\n", "7:1,8:2"),
    ]:
        path.write_text(text)
        recording = Recording.load(path)
        assert str(recording).startswith("millpond pool recording 3\n")
        assert f"free 10 uses {uses}\n" in str(recording)
        assert recording.replay().allocations == 1


def test_a_replay_knows_tags(pool):
    with pool.record() as recording, Tag("tenant").child("request"):
        pool.allocate(MIB)
    assert recording.replay().tags == {"tenant/request": MIB}
    assert recording.replay().as_dict()["tags"] == {"tenant/request": MIB}


def test_rules_that_are_off_show_in_a_replay(pool, device):
    one, two = device.create_queue(), device.create_queue()
    with pool.record() as recording:
        for queue in (one, two):
            memory, _ = queue.alloc(4 * MIB, pool=pool)
            queue.free(memory, after=[queue.barrier()])
    with_waits = recording.replay(maximum_size=4 * MIB)
    without = recording.replay(maximum_size=4 * MIB, internal_dependencies=False)
    assert (with_waits.inserted_waits, with_waits.waited) == (1, 0)
    assert (without.inserted_waits, without.waited) == (0, 1)


def test_files_that_are_no_recordings_say_so(pool, tmp_path):
    missing = tmp_path / "missing" / "pool.txt"
    for use in (pool.record, Recording.load):
        with pytest.raises(FileNotFoundError) as caught:
            use(missing)
        assert caught.value.filename == str(missing)
    other = tmp_path / "other.txt"
    other.write_text("something else\n")
    with pytest.raises(ValueError, match=r"other.txt: reading a recording: line 1: 'something else'"):
        Recording.load(other)
    other.write_bytes(b"millpond pool recording 3\nwait \xff\n")
    with pytest.raises(ValueError, match="line 2"):
        Recording.load(other)
    with pytest.raises(TypeError):
        pool.record(3.5)


def test_bad_options_of_a_replay_are_refused(recording):
    with pytest.raises(ValueError, match="expected 0 or more, got -1"):
        recording.replay(maximum_size=-1)
    with pytest.raises(TypeError):
        recording.replay(limit=3)


def test_the_command_line_prints_a_table(path):
    done = command("replay", path, "--maximum-size", "5MiB", "--no-opportunistic")
    assert done.returncode == 0, done.stderr
    assert "maximum_size 5 MiB, no opportunistic" in done.stdout
    rows = dict(line.rsplit("  ", 1) for line in done.stdout.splitlines() if line.startswith("re"))
    assert {name.strip(): value.strip() for name, value in rows.items()} == {
        "requests": "4",
        "refused": "3",
        "refused when recorded": "0",
        "requested, most": "4 MiB",
        "reserved, most": "5 MiB",
        "reserved / used": "1.250",
    }
    assert "first refusal" in done.stdout


def test_the_command_line_compares_policies(path):
    done = command("replay", path, "--policy", "maximum_size=5MiB", "--policy", "", "--memory", "1GiB", "--json")
    assert done.returncode == 0, done.stderr
    small, free = json.loads(done.stdout)
    assert small["policy"] == {"memory": 1 << 30, "maximum_size": 5 * MIB}
    assert free["policy"] == {"memory": 1 << 30}
    assert (small["refused"], free["refused"]) == (3, 0)
    assert small["first_refusal"]["requested"] == 2 * MIB

    table = command("replay", path, "--policy", "maximum_size=5MiB", "--policy", "follow_events=no").stdout
    assert "[1] maximum_size 5 MiB\n[2] no follow_events\n" in table
    refused = [line.split() for line in table.splitlines() if line.startswith("refused")]
    assert refused == [["refused", "3", "0"], ["refused", "when", "recorded", "0", "0"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--maximum-size", "much"], "'much' is not a size such as"),
        (["--policy", "maximum_size=much"], "maximum_size: 'much' is not a size"),
        (["--policy", "opportunistic=perhaps"], "'perhaps' is neither true nor false"),
        (["--policy", "colour=red"], "'colour=red' is not NAME=VALUE with one of maximum_size"),
        (["--memory", "99999999999999TiB"], "does not fit into 64 bits"),
    ],
)
def test_the_command_line_says_what_it_does_not_understand(path, arguments, message):
    done = command("replay", path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_line_says_what_it_cannot_read(tmp_path):
    done = command("replay", tmp_path / "missing.txt")
    assert done.returncode == 2
    assert "No such file or directory" in done.stderr
    assert "missing.txt" in done.stderr
    assert command("repeat").returncode == 2
    assert command("--help").returncode == 0


def test_without_arguments_the_command_line_reports_as_before():
    done = command()
    assert done.returncode == 0
    assert "self-test:" in done.stdout


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("1000", 1000),
        ("64KiB", 65536),
        ("64k", 65536),
        ("1.5 GiB", 3 << 29),
        ("2 MB", 2_000_000),
        ("0", 0),
        ("1T", 1 << 40),
    ],
)
def test_sizes_are_read_as_people_write_them(text, nbytes):
    from millpond._sizes import parse_size

    assert parse_size(text) == nbytes
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(f"-{text}")


@pytest.mark.parametrize(
    "devices",
    [{}, {"MILLPOND_CPU_DEVICES": "1;1", "MILLPOND_DEVICE": "cpu:1"}],
    ids=["first device", "another default device"],
)
def test_the_environment_has_a_process_recorded(run, tmp_path, devices):
    program = """
        import os

        import millpond
        import millpond.tensor as xp

        x = xp.ones(1_000_000) + 1
        del x
        millpond.wait()
        print(os.getpid())
    """
    done = run(program, MILLPOND_RECORD=str(tmp_path / "run"), **devices)
    assert done.returncode == 0, done.stderr
    [path] = tmp_path.iterdir()
    assert path.name == f"run.{done.stdout.strip()}"
    assert Recording.load(path).replay().requested_high >= 8_000_000


def test_a_process_that_cannot_be_recorded_says_so_and_runs(run, tmp_path):
    program = "import millpond; from millpond import _millpond; print(_millpond.problems())"
    done = run(program, MILLPOND_RECORD=str(tmp_path / "missing" / "run"))
    assert done.returncode == 0, done.stderr
    assert "MILLPOND_RECORD: recording to" in done.stdout


def test_memory_that_another_queue_uses_is_busy_until_that_queue_is_done(pool, device):
    one, two = device.create_queue(), device.create_queue()
    target = DeviceMemory(4 * MIB, queue=two)
    with pool.record() as recording:
        memory, _ = one.alloc(4 * MIB, pool=pool)
        target.copy_from(memory)  # on the target's queue
        del memory
        one.wait()
        pool.allocate(4 * MIB, queue=one)
    replay = recording.replay(maximum_size=4 * MIB, internal_dependencies=False)
    assert (replay.refused, replay.waited) == (0, 1)
