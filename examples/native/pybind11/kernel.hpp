/* A kernel of one's own on the queue of its arrays, with events.
 *
 * Shows: arrays as arguments, reading any strides, a task as a closure, events in and out. */
#ifndef KERNEL_HPP
#define KERNEL_HPP

#include <millpond4pybind11.hpp>

#include <stdexcept>
#include <vector>

namespace kernel {

/* y += factor * x, behind the events; returns at once. */
inline millpond::event add_scaled(const millpond::array &y, const millpond::array &x, double factor,
                           const std::vector<millpond::event> &after) {
    if (x.ndim() != 1 || y.ndim() != 1 || x.size() != y.size()) {
        throw std::invalid_argument("add_scaled takes two arrays of one axis and one length");
    }
    const double *from = x.data<const double>();
    double *to = y.data<double>();
    const std::ptrdiff_t from_step = x.strides()[0], to_step = y.strides()[0];
    const auto size = static_cast<std::ptrdiff_t>(x.size());
    const auto body = [=] {
        for (std::ptrdiff_t i = 0; i < size; i++) {
            to[i * to_step] += factor * from[i * from_step];
        }
    };
    return y.queue().submit("add_scaled", body, {millpond::updates(y), millpond::reads(x)}, after);
}

/* The index of the first negative element, found when the queue gets there. */
inline millpond::event refuse_negative(const millpond::array &x) {
    const double *elements = x.data<const double>();
    const std::size_t size = x.is_contiguous() ? x.size() : throw std::invalid_argument("the array has gaps");
    return x.queue().submit("refuse_negative", [=] {
        for (std::size_t i = 0; i < size; i++) {
            if (elements[i] < 0.0) {
                throw std::domain_error("element " + std::to_string(i) + " is negative");
            }
        }
    }, {millpond::reads(x)});
}

} // namespace kernel

#endif
