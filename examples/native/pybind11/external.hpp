/* Memory that another allocator made, handed over with what frees it.
 *
 * Shows: wrapping an allocation, a smart pointer as its owner, and the owner's end after the last use. */
#ifndef EXTERNAL_HPP
#define EXTERNAL_HPP

#include <millpond4pybind11.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

namespace external {

inline std::atomic<int> live_blocks{0};

/* A block of the program's own allocator. */
inline std::shared_ptr<void> make_block(std::size_t bytes) {
    void *block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    live_blocks++;
    return std::shared_ptr<void>(block, [](void *old) {
        std::free(old);
        live_blocks--;
    });
}

/* An array over a block: the numbers from zero on. Work on it is asynchronous, as on any other. */
inline millpond::array count_up(const millpond::queue &queue, std::size_t size) {
    std::shared_ptr<void> block = make_block(size * sizeof(double));
    auto *numbers = static_cast<double *>(block.get());
    for (std::size_t i = 0; i < size; i++) {
        numbers[i] = static_cast<double>(i);
    }
    const auto memory = millpond::memory::wrap(queue, MP_MEMORY_DEVICE, numbers, size * sizeof(double), std::move(block));
    return millpond::array::of(memory, MP_FLOAT64, {size});
}

/* Whether an array's bytes are of a pool of millpond's. */
inline bool is_managed(const millpond::array &array) { return array.is_managed(); }

} // namespace external

#endif
