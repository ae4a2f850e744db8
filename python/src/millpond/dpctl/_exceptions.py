"""What the constructors and functions of the package raise, by the names of dpctl."""


class SyclContextCreationError(Exception):
    """A `SyclContext` can't be made of the arguments."""


class SyclDeviceCreationError(Exception):
    """No device is what the arguments ask for."""


class SyclSubDeviceCreationError(Exception):
    """The device can't be split in this way."""


class SyclQueueCreationError(Exception):
    """A `SyclQueue` can't be made of the arguments."""


class SyclKernelSubmitError(Exception):
    """A kernel can't be submitted."""


class SyclKernelInvalidRangeError(Exception):
    """A kernel can't be submitted for such a range."""
