"""What is installed, for reports of problems."""

import sys

from millpond import _millpond

#: Packages that exchange arrays with millpond.
_PEERS = ("numpy", "torch", "jax", "cupy", "array-api-compat")


def versions() -> dict[str, str]:
    """Versions of millpond, of Python, and of the packages that are installed beside it."""
    # Slow to import, and of no use to programs that don't ask.
    import platform
    from importlib import metadata

    found = {
        "millpond": _millpond.__version__,
        "python": f"{platform.python_implementation()} {sys.version.split()[0]}",
        "platform": platform.platform(),
    }
    for name in _PEERS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def show_versions() -> None:
    """Print versions and devices, for reports of problems."""
    for name, version in versions().items():
        print(f"{name + ':':18} {version}")
    for device in _millpond.devices():
        print(f"{f'device {device}:':18} {device.model}, {device.cores} cores, {device.simd}")
