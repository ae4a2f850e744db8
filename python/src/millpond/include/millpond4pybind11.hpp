/* millpond's arrays, memory, queues, events, gates and devices as arguments and results of functions that pybind11
 * binds. Call millpond::import() first in PYBIND11_MODULE. */
#ifndef MILLPOND4PYBIND11_HPP
#define MILLPOND4PYBIND11_HPP

#include "millpond_python.h"

#include "millpond.hpp"

#include <pybind11/pybind11.h>

namespace millpond {

/* Finds millpond's functions, and has its errors raised as the exceptions that they are in Python. */
inline void import() {
    if (mp_import() != 0) {
        throw pybind11::error_already_set();
    }
    pybind11::register_local_exception_translator([](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const error &caught) {
            raise(caught);
        }
    });
}

template <class Handle>
struct caster {
    bool load(pybind11::handle source, bool) {
        if (!python<Handle>::check(source.ptr())) {
            return false;
        }
        value = Handle(python<Handle>::from(source.ptr()));
        if (!value) {
            throw pybind11::error_already_set();
        }
        return true;
    }

    static pybind11::handle cast(const Handle &source, pybind11::return_value_policy, pybind11::handle) {
        PyObject *object = python<Handle>::to(source);
        if (object == nullptr) {
            throw pybind11::error_already_set();
        }
        return object;
    }

    template <class>
    using cast_op_type = Handle &;
    operator Handle &() { return value; }

    Handle value;
};

} // namespace millpond

namespace pybind11 {
namespace detail {

#define MILLPOND_CASTER(type, text)                                                                                     \
    template <>                                                                                                        \
    struct type_caster<millpond::type> : millpond::caster<millpond::type> {                                            \
        static constexpr auto name = const_name(text);                                                                 \
    }
MILLPOND_CASTER(array, "millpond.tensor.Array");
MILLPOND_CASTER(memory, "millpond.memory.Memory");
MILLPOND_CASTER(queue, "millpond.Queue");
MILLPOND_CASTER(event, "millpond.Event");
MILLPOND_CASTER(gate, "millpond.Gate");
MILLPOND_CASTER(device, "millpond.Device");
#undef MILLPOND_CASTER

} // namespace detail
} // namespace pybind11

#endif
