"""What is said where SYCL's own objects are handed in or asked for.

There are none in millpond, and a capsule of them is neither taken nor given: a library of SYCL would take what is in it
for its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class WithoutCapsule:
    """A class of dpctl's that gives no capsule."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say why there is no capsule.

            Raises
            ------
            AttributeError
                Always, so that who asks whether there is one is told that there isn't.
            """
            why = ": no object of SYCL is in it, native code takes it by the C API of millpond"
            name_of_class = type(self).__name__
            raise AttributeError(f"'{name_of_class}' object has no attribute '{name}'" + why * (name == "_get_capsule"))


def described(obj: Any) -> str:
    """Return what an argument is that nothing is made of: its type, and of a capsule why not."""
    name = type(obj).__name__
    return f"{name}, whose object of SYCL is no object of millpond" if name == "PyCapsule" else name
