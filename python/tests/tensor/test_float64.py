"""Devices without ``float64``, and programs that want ``float32`` unless they say otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import millpond.tensor as xp

pytestmark = pytest.mark.host

#: What every program below begins with: ``narrow`` has no ``float64``, ``wide`` has it.
HEAD = """
import millpond
import millpond.tensor as xp

narrow, wide = millpond.devices()
info = xp.__array_namespace_info__()


def refuses(call):
    try:
        call()
    except TypeError as error:
        return "does not support" in str(error)
    return False
"""
DEVICES = {"MILLPOND_CPU_DEVICES": "0;0", "MILLPOND_CPU_FLOAT64": "0;1"}


@pytest.fixture
def program(run):
    def program(text: str, **environment: str) -> None:
        done: subprocess.CompletedProcess[str] = run(HEAD + text, **{**DEVICES, **environment})
        assert done.returncode == 0, done.stderr

    return program


def test_each_device_says_what_it_computes_with(program):
    program("""
assert info.default_device() == narrow
assert info.default_dtypes() == info.default_dtypes(device=narrow)
for device, real, complexes in ((narrow, "float32", "complex64"), (wide, "float64", "complex128")):
    defaults = info.default_dtypes(device=device)
    assert (defaults["real floating"], defaults["complex floating"]) == (real, complexes)
    assert (defaults["integral"], defaults["indexing"]) == ("int64", "int64")
    assert ("float64" in info.dtypes(device=device)) == (device == wide)
    assert ("complex128" in info.dtypes(device=device, kind="numeric")) == (device == wide)
    assert xp.finfo(xp.ones(1, device=device)).dtype == real
assert len(info.dtypes(device=wide)) == len(info.dtypes(device=narrow)) + 2
assert narrow.has_float64 is False and wide.has_float64 is True
""")


def test_floats_of_a_program_become_what_the_device_has(program):
    program("""
for array in (
    xp.zeros(2), xp.ones(2), xp.empty(2), xp.full(2, 0.5), xp.linspace(0, 1, 3), xp.arange(0.0, 2.0), xp.eye(2),
    xp.asarray(0.5), xp.asarray([0.5, 1]), xp.asarray([]), xp.ones(2, dtype="int64") + 0.5,
    xp.ones(2, dtype="int8") / 3, xp.sin(xp.arange(3)), xp.mean(xp.arange(3)), xp.var(xp.arange(3)),
    xp.std(xp.arange(3)), xp.where(xp.asarray([True, False]), xp.arange(2), 0.5), xp.pow(xp.arange(2), 0.5),
    xp.abs(xp.asarray([1j])), xp.asarray([1j]).real, xp.angle(xp.asarray([1j])), xp.zeros_like(xp.ones(1)),
    xp.full_like(xp.ones(1), 2),
):
    assert array.dtype == "float32", array
for array in (xp.asarray(1j), xp.asarray([1, 1j]), xp.ones(2) * 1j, xp.arange(2) + 1j, xp.full(2, 1j)):
    assert array.dtype == "complex64", array
assert xp.result_type(xp.float32, 1.5) == "float32"
assert xp.result_type(xp.int64, 1.5) == "float32"
assert xp.result_type(xp.ones(1, dtype="int64", device=wide), 1.5) == "float64"
assert xp.ones(1, device=wide).dtype == "float64"
""")


def test_float64_in_so_many_words_is_refused(program):
    program("""
x = xp.ones(2)
for call in (
    lambda: xp.zeros(2, dtype="float64"),
    lambda: xp.zeros(2, dtype=float),
    lambda: xp.ones(2, dtype=xp.complex128),
    lambda: xp.empty((2, 2), dtype="f8", order="F"),
    lambda: xp.asarray([1, 2], dtype="float64"),
    lambda: xp.asarray(1.5, dtype="float64"),
    lambda: xp.asarray(x, dtype="float64"),
    lambda: xp.full(2, 1, dtype="float64"),
    lambda: xp.full_like(x, 1, dtype="float64"),
    lambda: xp.arange(3, dtype="float64"),
    lambda: xp.linspace(0, 1, 3, dtype="float64"),
    lambda: xp.eye(2, dtype="float64"),
    lambda: xp.astype(x, "float64"),
    lambda: xp.astype(xp.ones(2, device=wide), "float64", device=narrow),
    lambda: xp.sum(x, dtype="float64"),
    lambda: xp.prod(x, dtype="float64"),
    lambda: xp.ones(2, device=wide).to_device(narrow),
    lambda: xp.asarray(xp.ones(2, device=wide), device=narrow),
):
    assert refuses(call), call
assert xp.asarray(xp.ones(2, device=wide), device=narrow, dtype="float32").tolist() == [1, 1]
assert xp.ones(2).to_device(wide).dtype == "float32"
assert xp.astype(xp.ones(2), "float64", device=wide).dtype == "float64"
assert xp.astype(xp.ones(2, device=wide), "float32", device=narrow).device == narrow
assert xp.asarray(xp.ones(2), dtype="float64", device=wide).dtype == "float64"
""")


def test_arrays_of_numpy_with_float64_need_a_dtype(program):
    program("""
import numpy as np

a = np.ones(2)
for call in (
    lambda: xp.asarray(a), lambda: xp.from_numpy(a), lambda: xp.from_dlpack(a), lambda: xp.asarray(np.float64(1)),
    lambda: xp.asarray([np.float64(1)]), lambda: xp.ones(2) + np.float64(1),
):
    assert refuses(call), call
assert xp.asarray(a, dtype="float32").tolist() == [1, 1]
assert xp.asarray(a, device=wide).dtype == "float64"
assert xp.asarray(np.float32(1)).dtype == "float32"
""")


def test_every_function_stays_within_the_device(program):
    program("""
import itertools

functions = [value for value in vars(xp).values() if isinstance(value, xp.ElementwiseFunction)]
assert len(functions) > 60
held = {name for name in info.dtypes() if name != "bool"} | {"bool", "float16"}
computed = 0
for function, name in itertools.product(functions, sorted(held)):
    x = xp.ones(3, dtype=name)
    try:
        result = function(*[x] * function.nin)
    except TypeError as error:
        assert "is not defined for" in str(error), (function, name, error)
        continue
    computed += 1
    assert result.dtype.name in held, (function, name, result.dtype)
assert computed > 500
for name in ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax", "count_nonzero", "logsumexp"):
    for dtype in ("int8", "uint64", "float32", "complex64"):
        try:
            result = getattr(xp, name)(xp.ones(3, dtype=dtype))
        except TypeError as error:
            assert "is not defined for" in str(error), (name, dtype, error)
            continue
        assert result.dtype.name in held, (name, dtype, result.dtype)
""")


def test_a_setting_makes_float32_the_default_everywhere(program):
    program(
        """
for device in (narrow, wide):
    assert info.default_dtypes(device=device)["real floating"] == "float32"
    assert info.default_dtypes(device=device)["complex floating"] == "complex64"
    assert xp.zeros(2, device=device).dtype == xp.sin(xp.arange(2, device=device)).dtype == "float32"
    assert xp.asarray([1.5, 1j], device=device).dtype == "complex64"
assert xp.zeros(2, device=wide, dtype="float64").dtype == "float64"
assert (xp.zeros(2, device=wide, dtype="float64") + 1.5).dtype == "float64"
assert "float64" in info.dtypes(device=wide)
assert xp.result_type(xp.int8, 1.5) == "float32"
""",
        MILLPOND_DEFAULT_FLOAT="float32",
    )


def test_without_a_setting_all_devices_have_float64():
    assert xp.zeros(1).dtype == xp.float64


MODES = {
    "devices without float64": {"MILLPOND_CPU_FLOAT64": "0"},
    "float32 by default": {"MILLPOND_DEFAULT_FLOAT": "float32"},
}


@pytest.mark.parametrize("mode", MODES)
def test_every_function_is_what_the_oracles_say_in_other_modes(mode):
    oracles = Path(__file__).with_name("test_oracles.py")
    options = ["--quiet", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=few"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(oracles)],
        cwd=oracles.parents[2],
        env={**os.environ, **MODES[mode]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
