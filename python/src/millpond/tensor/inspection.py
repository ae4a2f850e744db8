"""What the namespace says about itself, by the standard's inspection interface."""

import millpond
from millpond._millpond import tensor as _tensor

_KINDS = ("bool", "signed integer", "unsigned integer", "real floating", "complex floating")


class NamespaceInfo:
    """Capabilities, devices and dtypes of the namespace.

    What holds for a device is asked for that device; the default device is meant where none is named.
    """

    def capabilities(self):
        """Say which optional parts of the standard there are.

        Returns
        -------
        dict
            ``'boolean indexing'``, ``'data-dependent shapes'`` and ``'max dimensions'``, where None is no limit.
        """
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": None}

    def default_device(self):
        """Return the device that arrays go to unless told otherwise."""
        return millpond.default_device()

    def devices(self):
        """Return all devices, as a tuple."""
        return tuple(millpond.devices())

    def default_dtypes(self, *, device=None):
        """Return the dtypes that arrays get unless told otherwise.

        Parameters
        ----------
        device : Device or str, optional
            The device.

        Returns
        -------
        dict
            Dtypes by the names ``'real floating'``, ``'complex floating'``, ``'integral'`` and ``'indexing'``.
        """
        double = self._supports(device, _tensor.float64)
        return {
            "real floating": _tensor.float64 if double else _tensor.float32,
            "complex floating": _tensor.complex128 if double else _tensor.complex64,
            "integral": _tensor.int64,
            "indexing": _tensor.int64,
        }

    def dtypes(self, *, device=None, kind=None):
        """Return the standard's dtypes that a device computes with.

        Parameters
        ----------
        device : Device or str, optional
            The device.
        kind : str or tuple of str, optional
            The kinds to name, as `isdtype` knows them; all of them by default.

        Returns
        -------
        dict
            Dtypes by their names.
        """
        wanted = _KINDS if kind is None else kind
        beyond = ("float16", "bfloat16")
        every = (value for value in vars(_tensor).values() if isinstance(value, _tensor.dtype))
        return {
            dtype.name: dtype
            for dtype in every
            if dtype.name not in beyond and _tensor.isdtype(dtype, wanted) and self._supports(device, dtype)
        }

    @staticmethod
    def _supports(device, dtype):
        if device is None:
            device = millpond.default_device()
        elif isinstance(device, str):
            device = millpond.device(device)
        return device.supports(dtype.name)


def __array_namespace_info__():  # noqa: N807 - the standard's name
    """Return an object that answers questions about the namespace.

    Returns
    -------
    NamespaceInfo
        The object.
    """
    return NamespaceInfo()
