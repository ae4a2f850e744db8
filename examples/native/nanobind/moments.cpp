/* Mean and variance of the rows of a matrix, in one pass over it.
 *
 * Shows: arrays of any strides as arguments, an array as result that is computed later, and two queues in order. */
#include <millpond4nanobind.hpp>

#include <stdexcept>

namespace nb = nanobind;

namespace {

/* The mean and the variance of each row, as an array of two columns on a queue: the matrix's own unless named. */
millpond::array moments(const millpond::array &matrix, const millpond::queue &queue) {
    if (matrix.ndim() != 2) {
        throw std::invalid_argument("moments takes a matrix");
    }
    const auto shape = matrix.shape();
    const auto strides = matrix.strides();
    const auto result = millpond::array::allocate(queue, MP_MEMORY_DEVICE, MP_FLOAT64, {shape[0], 2});
    const double *from = matrix.data<const double>();
    double *to = result.data<double>();
    queue.submit("moments", [=] {
        for (std::size_t row = 0; row < shape[0]; row++) {
            double mean = 0.0, squares = 0.0;
            for (std::size_t column = 0; column < shape[1]; column++) {
                const auto at = static_cast<std::ptrdiff_t>(row) * strides[0] + static_cast<std::ptrdiff_t>(column) * strides[1];
                const double difference = from[at] - mean;
                mean += difference / static_cast<double>(column + 1);
                squares += difference * (from[at] - mean);
            }
            to[2 * row] = mean;
            to[2 * row + 1] = squares / static_cast<double>(shape[1]);
        }
    }, {millpond::reads(matrix), millpond::writes(result)});
    return result;
}

} // namespace

NB_MODULE(moments, module) {
    millpond::import();
    module.def("moments", &moments);
    module.def("moments", [](const millpond::array &matrix) { return moments(matrix, matrix.queue()); });
    module.def("wait", [](const millpond::queue &queue) {
        // Without the lock: it may take a while.
        nb::gil_scoped_release unlocked;
        queue.wait();
    });
}
