"""What pickles of devices and queues call."""

from millpond._millpond import Device, Queue


def default_queue(device: Device) -> Queue:
    """Answer the queue that a pickled default queue becomes."""
    return device.default_queue
