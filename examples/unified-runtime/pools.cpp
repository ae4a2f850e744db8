// Pools of a program and of a library that doesn't know of them, by the extension of the Unified Runtime, through its
// loader: the same as pools.c, as C++ programs would have it, with pools of host and shared memory besides.
//
// The header and the loader are those of the Python package intel-sycl-rt:
//
//     c++ -std=c++17 -I$ENV/include/unified-runtime pools.cpp -L$ENV/lib -lur_loader -Wl,-rpath,$ENV/lib -o pools
//     UR_ADAPTERS_FORCE_LOAD=target/release/libur_adapter_millpond.so ./pools

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ur_api.h"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

void check(ur_result_t result, const char *call) {
    if (result != UR_RESULT_SUCCESS) {
        throw std::runtime_error(std::string(call) + " answered " + std::to_string(result));
    }
}
#define CHECK(call) check(call, #call)

// A handle that is given back once.
template <typename Handle, ur_result_t (*release)(Handle)> class Owned {
  public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Owned &operator=(Owned &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned() {
        if (handle_ != nullptr) {
            release(handle_);
        }
    }
    Handle get() const { return handle_; }
    Handle *place() { return &handle_; }

  private:
    Handle handle_ = nullptr;
};

using Event = Owned<ur_event_handle_t, urEventRelease>;
using Queue = Owned<ur_queue_handle_t, urQueueRelease>;
using Context = Owned<ur_context_handle_t, urContextRelease>;
using Pool = Owned<ur_usm_pool_handle_t, urUSMPoolRelease>;

// A device, and a context of it.
struct Place {
    ur_device_handle_t device = nullptr;
    Context context;

    explicit Place(ur_device_handle_t device) : device(device) {
        CHECK(urContextCreate(1, &device, nullptr, context.place()));
    }

    Queue queue(ur_queue_flags_t flags = 0) const {
        ur_queue_properties_t properties{UR_STRUCTURE_TYPE_QUEUE_PROPERTIES, nullptr, flags};
        Queue made;
        CHECK(urQueueCreate(context.get(), device, &properties, made.place()));
        return made;
    }

    // A pool of the device, of which the numbers are the most that it reserves, and what it keeps at a wait.
    Pool device_pool(std::size_t maximum, std::size_t threshold) const {
        ur_usm_pool_limits_desc_t limits{UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC, nullptr, maximum, threshold};
        ur_usm_pool_desc_t desc{UR_STRUCTURE_TYPE_USM_POOL_DESC, &limits,
                                UR_USM_POOL_FLAG_USE_NATIVE_MEMORY_POOL_EXP};
        Pool made;
        CHECK(urUSMPoolCreateExp(context.get(), device, &desc, made.place()));
        return made;
    }

    // A pool of the context, which gives out host memory too.
    Pool context_pool() const {
        ur_usm_pool_desc_t desc{UR_STRUCTURE_TYPE_USM_POOL_DESC, nullptr, UR_USM_POOL_FLAG_ZERO_INITIALIZE_BLOCK};
        Pool made;
        CHECK(urUSMPoolCreate(context.get(), &desc, made.place()));
        return made;
    }

    // A pool over memory of the program.
    Pool pool_over(void *memory, std::size_t size, ur_usm_type_t type) const {
        ur_usm_pool_buffer_desc_t over{UR_STRUCTURE_TYPE_USM_POOL_BUFFER_DESC, nullptr, memory, size, type, device};
        ur_usm_pool_desc_t desc{UR_STRUCTURE_TYPE_USM_POOL_DESC, &over, 0};
        Pool made;
        CHECK(urUSMPoolCreateExp(context.get(), device, &desc, made.place()));
        return made;
    }
};

using Allocate = ur_result_t (*)(ur_queue_handle_t, ur_usm_pool_handle_t, std::size_t,
                                 const ur_exp_async_usm_alloc_properties_t *, std::uint32_t,
                                 const ur_event_handle_t *, void **, ur_event_handle_t *);

// Memory from a pool in the order of a queue, and the event from which on it may be used.
std::pair<std::byte *, Event> allocate(Allocate call, const Queue &queue, ur_usm_pool_handle_t pool,
                                       std::size_t size) {
    void *memory = nullptr;
    Event ready;
    CHECK(call(queue.get(), pool, size, nullptr, 0, nullptr, &memory, ready.place()));
    return {static_cast<std::byte *>(memory), std::move(ready)};
}

Event fill(const Queue &queue, std::byte *memory, unsigned char value, std::size_t size, const Event &after) {
    Event done;
    ur_event_handle_t wait = after.get();
    CHECK(urEnqueueUSMFill(queue.get(), memory, 1, &value, size, 1, &wait, done.place()));
    return done;
}

Event release(const Queue &queue, void *memory, const Event &after) {
    Event done;
    ur_event_handle_t wait = after.get();
    CHECK(urEnqueueUSMFreeExp(queue.get(), nullptr, memory, 1, &wait, done.place()));
    return done;
}

std::size_t ask(const Pool &pool, ur_usm_pool_info_t what) {
    std::size_t value = 0;
    CHECK(urUSMPoolGetInfoExp(pool.get(), what, &value, nullptr));
    return value;
}

void tell(const char *what, bool holds) {
    std::printf("%-64s %s\n", what, holds ? "yes" : "NO");
    if (!holds) {
        throw std::runtime_error(what);
    }
}

// A library that allocates as ever: by no pool's name.
void library(const Queue &queue) {
    auto [scratch, ready] = allocate(urEnqueueUSMDeviceAllocExp, queue, nullptr, MiB);
    release(queue, scratch, fill(queue, scratch, 0, MiB, ready));
}

// What names no pool comes from the one that the program set, until it sets the default pool again.
void the_memory_of_the_library(const Place &place) {
    Queue queue = place.queue();
    Pool pool = place.device_pool(256 * MiB, 64 * MiB);
    ur_usm_pool_handle_t standard = nullptr, current = nullptr;
    CHECK(urUSMPoolGetDefaultDevicePoolExp(place.context.get(), place.device, &standard));
    CHECK(urUSMPoolSetDevicePoolExp(place.context.get(), place.device, pool.get()));
    CHECK(urUSMPoolGetDevicePoolExp(place.context.get(), place.device, &current));
    tell("the program's pool is current", current == pool.get());
    library(queue);
    tell("a library's memory is from it", ask(pool, UR_USM_POOL_INFO_USED_HIGH_EXP) >= MiB);
    CHECK(urUSMPoolSetDevicePoolExp(place.context.get(), place.device, standard));
    CHECK(urUSMPoolGetDevicePoolExp(place.context.get(), place.device, &current));
    tell("and the default pool is, once it is set again", current == standard);
    CHECK(urQueueFinish(queue.get()));
    tell("what the threshold allows is kept at a wait", ask(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP) > 0);
    CHECK(urUSMPoolTrimToExp(place.context.get(), place.device, pool.get(), 0));
    tell("and trimming gives it back", ask(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP) == 0);
}

// One queue makes memory, another works on it, a third gives it back: events say what is when.
void across_queues(const Place &place) {
    Queue maker = place.queue(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    Queue worker = place.queue(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    Queue keeper = place.queue();
    Pool pool = place.context_pool();
    for (Allocate call : {urEnqueueUSMSharedAllocExp, urEnqueueUSMHostAllocExp}) {
        std::vector<unsigned char> seen(MiB);
        auto [memory, ready] = allocate(call, maker, pool.get(), MiB);
        Event filled = fill(worker, memory, 7, MiB, ready), copied;
        ur_event_handle_t wait = filled.get();
        CHECK(urEnqueueUSMMemcpy(worker.get(), false, seen.data(), memory, MiB, 1, &wait, copied.place()));
        Event freed = release(keeper, memory, copied);
        ur_event_handle_t last = freed.get();
        CHECK(urEventWait(1, &last));
        tell(call == urEnqueueUSMSharedAllocExp ? "shared memory went by way of three queues"
                                                : "host memory did",
             seen.front() == 7 && seen.back() == 7);
    }
}

// A pool can be made of memory that is there, and never leaves it.
void over_a_buffer(const Place &place) {
    Queue queue = place.queue();
    void *buffer = nullptr;
    CHECK(urUSMSharedAlloc(place.context.get(), place.device, nullptr, nullptr, MiB, &buffer));
    {
        Pool pool = place.pool_over(buffer, MiB, UR_USM_TYPE_SHARED);
        auto [part, ready] = allocate(urEnqueueUSMSharedAllocExp, queue, pool.get(), MiB / 4);
        std::byte *begin = static_cast<std::byte *>(buffer);
        tell("a pool over a buffer stays in it", part >= begin && part + MiB / 4 <= begin + MiB);
        release(queue, part, ready);
        CHECK(urQueueFinish(queue.get()));
    }
    CHECK(urUSMFree(place.context.get(), buffer));
}

void run() {
    ur_adapter_handle_t adapter = nullptr;
    ur_platform_handle_t platform = nullptr;
    ur_device_handle_t device = nullptr;
    CHECK(urLoaderInit(0, nullptr));
    CHECK(urAdapterGet(1, &adapter, nullptr));
    CHECK(urPlatformGet(adapter, 1, &platform, nullptr));
    CHECK(urDeviceGet(platform, UR_DEVICE_TYPE_ALL, 1, &device, nullptr));
    {
        Place place(device);
        the_memory_of_the_library(place);
        across_queues(place);
        over_a_buffer(place);
    }
    CHECK(urDeviceRelease(device));
    CHECK(urAdapterRelease(adapter));
    CHECK(urLoaderTearDown());
}

} // namespace

int main() {
    try {
        run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
