"""Options for printing arrays, set for a time."""

from millpond._millpond.tensor import get_print_options, set_print_options


class print_options:  # noqa: N801 - used like a function
    """Set options for printing arrays while a ``with`` block runs.

    Parameters
    ----------
    **options
        As for `set_print_options`.

    Examples
    --------
    >>> with print_options(precision=3):
    ...     print(x)
    """

    def __init__(self, **options):
        self._options = options
        self._before = []

    def __enter__(self):
        self._before.append(get_print_options())
        set_print_options(**self._options)
        return get_print_options()

    def __exit__(self, *raised):
        set_print_options(**self._before.pop())
