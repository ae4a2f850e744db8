/* Three things that native code does with arrays, each in a file of its own, as functions of Python. */
#include "external.hpp"
#include "kernel.hpp"
#include "solver.hpp"

#include <pybind11/stl.h>

namespace py = pybind11;

PYBIND11_MODULE(extension, module) {
    millpond::import();

    module.def("add_scaled", &kernel::add_scaled, py::arg("y"), py::arg("x"), py::arg("factor"),
               py::arg("after") = std::vector<millpond::event>());
    module.def("refuse_negative", &kernel::refuse_negative);

    module.def("count_up", &external::count_up);
    module.def("is_managed", &external::is_managed);
    module.def("live_blocks", [] { return external::live_blocks.load(); });

    module.def("solve", &solver::solve);
    module.def("live_handles", [] {
        std::size_t count = 0;
        millpond::check(mp_handle_count(&count));
        return count;
    });
}
