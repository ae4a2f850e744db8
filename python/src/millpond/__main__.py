"""`python -m millpond`: what there is, what is set, and whether it works; `replay` looks at a recording instead.

Options say where compilers find what native extensions and programs in C need.
"""

import sys
from collections.abc import Iterator, Sequence

import millpond
from millpond import _millpond, _native
from millpond._replay import main as replay
from millpond._sizes import size_text
from millpond._versions import versions

_USAGE = """usage: python -m millpond [replay FILE [OPTIONS]]
       python -m millpond [--includes] [--libs] [--cmakedir] [--pkgconfig]"""


def _facts(device: millpond.Device) -> Iterator[tuple[str, str]]:
    yield "model", f"{device.model} ({device.vendor})"
    yield "driver", f"{device.backend} {device.driver_version}"
    yield "cores", f"{device.cores}, worker threads: {device.threads}, vectors: {device.simd}"
    caches = (f"L{cache.level} {size_text(cache.nbytes)} for {cache.shared_by}" for cache in device.caches)
    yield "caches", ", ".join(caches) or "unknown"
    yield "memory", f"{size_text(device.memory)}, at most {size_text(device.max_allocation)} at once"
    yield "float64", "yes" if device.has_float64 else "no"
    yield "float16", "yes" if device.has_float16 else "no"


def _check(device: millpond.Device) -> str:
    """Move an array there and back, and add two; what to say of it."""
    import millpond.tensor as xp

    there = xp.asarray([1, 2, 3], device=device)
    if there.tolist() != [1, 2, 3]:
        raise AssertionError(f"1, 2 and 3 come back from {device} as {there.tolist()}")
    x = xp.arange(1000, device=device)
    y = xp.ones(1000, dtype=x.dtype, device=device)
    total = int(xp.sum(x + y))
    if total != 500_500:
        raise AssertionError(f"the sum of 1 to 1000 is 500500, but {device} says {total}")
    return "passed"


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say, without any print the report; the answer is the exit code."""
    match arguments:
        case []:
            return _report()
        case ["replay", *options]:
            return replay(options)
        case options if all(option in _native.OPTIONS for option in options):
            return _native.main(options)
        case ["-h" | "--help", *_]:
            print(_USAGE)
            return 0
        case _:
            print(_USAGE, file=sys.stderr)
            return 2


def _report() -> int:
    for name, version in versions().items():
        print(f"{name + ':':12} {version}")
    settings = _millpond.settings()
    print("settings:   ", ", ".join(f"{name}={value}" for name, value in settings) or "none")
    for problem in _millpond.problems():
        print("warning:    ", problem)
    report = _millpond.cuda_report()
    if report is not None:
        print("CUDA:       ", report)
    report = _millpond.cuda_compiler_report()
    if report is not None:
        print("NVRTC:      ", report)
    for name, report in _millpond.cuda_library_reports():
        print(f"{name + ':':12} {report}")
    failed = False
    for device in millpond.devices():
        print(f"\ndevice {device}")
        for name, fact in _facts(device):
            print(f"  {name + ':':10} {fact}")
        try:
            verdict = _check(device)
        except Exception as error:
            failed = True
            print(f"  {'self-test:':10} failed: {type(error).__name__}: {error}")
        else:
            print(f"  {'self-test:':10} {verdict}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
