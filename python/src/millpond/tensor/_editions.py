"""The namespace as earlier versions of the standard have it.

Versions before 2025.12 say *list* where that one says *tuple*. All else that later versions added is there in the
earlier ones as well, as the standard allows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from millpond import tensor


class _Info:
    """The inspection interface, with its devices in a list."""

    _info = tensor.__array_namespace_info__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._info, name)

    def devices(self) -> list[Any]:
        return list(self._info.devices())


def __array_namespace_info__() -> _Info:  # noqa: N807 - the standard's name
    return _Info()


class _Edition(ModuleType):
    """A namespace that has names of its own, and else those of ``millpond.tensor``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(tensor, name)

    def __dir__(self) -> list[str]:
        return dir(tensor)

    def __reduce__(self) -> tuple[Any, ...]:
        return edition, (self.__array_api_version__,)


def _listing(function: Callable[..., tuple[Any, ...]]) -> Callable[..., list[Any]]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> list[Any]:
        return list(function(*args, **kwargs))

    return wrapper


_EDITIONS: dict[str, ModuleType] = {}


def edition(version: str) -> ModuleType:
    """Return the namespace for a version before 2025.12, always the same."""
    found = _EDITIONS.get(version)
    return found or _EDITIONS.setdefault(version, _made(version))


def _made(version: str) -> ModuleType:
    namespace = _Edition(tensor.__name__, tensor.__doc__)
    namespace.__dict__.update(
        __array_api_version__=version,
        __array_namespace_info__=__array_namespace_info__,
        broadcast_arrays=_listing(tensor.broadcast_arrays),
        meshgrid=_listing(tensor.meshgrid),
    )
    return namespace
