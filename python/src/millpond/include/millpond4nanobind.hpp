/* millpond's arrays, memory, queues, events, gates and devices as arguments and results of functions that nanobind
 * binds. Call millpond::import() first in NB_MODULE. */
#ifndef MILLPOND4NANOBIND_HPP
#define MILLPOND4NANOBIND_HPP

#include "millpond_python.h"

#include "millpond.hpp"

#include <nanobind/nanobind.h>

namespace millpond {

/* Finds millpond's functions, and has its errors raised as the exceptions that they are in Python. */
inline void import() {
    if (mp_import() != 0) {
        nanobind::raise_python_error();
    }
    nanobind::register_exception_translator([](const std::exception_ptr &thrown, void *) {
        try {
            std::rethrow_exception(thrown);
        } catch (const error &caught) {
            raise(caught);
        }
    });
}

} // namespace millpond

namespace nanobind {
namespace detail {

#define MILLPOND_CASTER(type, text)                                                                                     \
    template <>                                                                                                        \
    struct type_caster<millpond::type> {                                                                               \
        NB_TYPE_CASTER(millpond::type, const_name(text))                                                               \
        bool from_python(handle source, uint8_t, cleanup_list *) noexcept {                                            \
            if (!millpond::python<millpond::type>::check(source.ptr())) {                                              \
                return false;                                                                                          \
            }                                                                                                          \
            value = millpond::type(millpond::python<millpond::type>::from(source.ptr()));                              \
            if (!value) {                                                                                              \
                PyErr_Clear();                                                                                         \
            }                                                                                                          \
            return static_cast<bool>(value);                                                                           \
        }                                                                                                              \
        static handle from_cpp(const millpond::type &source, rv_policy, cleanup_list *) noexcept {                     \
            return millpond::python<millpond::type>::to(source);                                                       \
        }                                                                                                              \
    }
MILLPOND_CASTER(array, "millpond.tensor.Array");
MILLPOND_CASTER(memory, "millpond.memory.Memory");
MILLPOND_CASTER(queue, "millpond.Queue");
MILLPOND_CASTER(event, "millpond.Event");
MILLPOND_CASTER(gate, "millpond.Gate");
MILLPOND_CASTER(device, "millpond.Device");
#undef MILLPOND_CASTER

} // namespace detail
} // namespace nanobind

#endif
