# cython: language_level=3
"""Prices of options by Black and Scholes, computed by a task on the queue of the arrays.

Shows: handles of arrays, a task of C that never needs the interpreter lock, a wait without the lock.
"""

from libc.math cimport erf, exp, log, sqrt
from libc.stdlib cimport free, malloc

from millpond cimport capi

import millpond.tensor as xp

capi.mp_import()


cdef struct Work:
    const double *price
    const double *strike
    const double *years
    double *call
    double *put
    size_t count
    double rate
    double volatility


cdef double normal(double x) noexcept nogil:
    """The standard normal distribution."""
    return 0.5 + 0.5 * erf(x / sqrt(2.0))


cdef capi.mp_status run(void *context) noexcept nogil:
    cdef Work *work = <Work *>context
    cdef double above, below, discounted, deviation
    cdef size_t i
    for i in range(work.count):
        deviation = work.volatility * sqrt(work.years[i])
        discounted = work.strike[i] * exp(-work.rate * work.years[i])
        above = log(work.price[i] / discounted) / deviation + 0.5 * deviation
        below = above - deviation
        work.call[i] = work.price[i] * normal(above) - discounted * normal(below)
        work.put[i] = discounted * normal(-below) - work.price[i] * normal(-above)
    return capi.MP_OK


cdef class Handle:
    """An array, and what is asked of it here."""

    cdef capi.mp_array *array
    cdef double *data
    cdef size_t count

    def __cinit__(self, array):
        cdef capi.mp_dtype dtype
        cdef capi.bool contiguous
        cdef void *data
        self.array = capi.mp_array_from_python(array)
        capi.mp_check(capi.mp_array_dtype(self.array, &dtype))
        capi.mp_check(capi.mp_array_is_contiguous(self.array, &contiguous))
        if dtype != capi.MP_FLOAT64 or not contiguous:
            raise TypeError("arrays of float64 without gaps are priced")
        capi.mp_check(capi.mp_array_data(self.array, &data))
        capi.mp_check(capi.mp_array_size(self.array, &self.count))
        self.data = <double *>data

    def __dealloc__(self):
        capi.mp_array_release(self.array)


def black_scholes(price, strike, years, double rate, double volatility):
    """Call and put prices of European options; returns before they are computed."""
    call, put = xp.empty_like(price), xp.empty_like(price)
    cdef Handle s = Handle(price), k = Handle(strike), t = Handle(years), c = Handle(call), p = Handle(put)
    if k.count != s.count or t.count != s.count:
        raise ValueError(f"{s.count} prices, {k.count} strikes and {t.count} times")

    cdef Work *work = <Work *>malloc(sizeof(Work))
    if work == NULL:
        raise MemoryError
    work[0] = Work(s.data, k.data, t.data, c.data, p.data, s.count, rate, volatility)

    cdef capi.mp_task task = capi.mp_task(b"black_scholes", run, free, work)
    cdef capi.mp_use[5] uses
    uses[0] = capi.mp_use(NULL, s.array, capi.MP_READ)
    uses[1] = capi.mp_use(NULL, k.array, capi.MP_READ)
    uses[2] = capi.mp_use(NULL, t.array, capi.MP_READ)
    uses[3] = capi.mp_use(NULL, c.array, capi.MP_WRITE)
    uses[4] = capi.mp_use(NULL, p.array, capi.MP_WRITE)
    cdef capi.mp_queue *queue
    capi.mp_check(capi.mp_array_queue(s.array, &queue))
    cdef capi.mp_status status
    with nogil:
        status = capi.mp_queue_submit(queue, &task, uses, 5, NULL, 0, NULL)
        capi.mp_queue_release(queue)
    capi.mp_check(status)
    return call, put


def wait(queue):
    """Wait for a queue without the interpreter lock."""
    cdef capi.mp_queue *handle = capi.mp_queue_from_python(queue)
    cdef capi.mp_status status
    with nogil:
        status = capi.mp_queue_wait(handle)
        capi.mp_queue_release(handle)
    capi.mp_check(status)


def live_handles():
    """The number of handles that extensions have."""
    cdef size_t count
    capi.mp_check(capi.mp_handle_count(&count))
    return count
