/* millpond.h for C++17: handles that count themselves, errors as exceptions, closures as tasks.
 *
 * Programs include it alone; extensions of Python include millpond4pybind11.hpp or millpond4nanobind.hpp. Handles are
 * cheap to copy, may be used by every thread, and may go while work is pending. */
#ifndef MILLPOND_HPP
#define MILLPOND_HPP

#include <chrono>
#include <complex>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "millpond.h"

namespace millpond {

/* What a call answered that failed. */
class error : public std::runtime_error {
public:
    explicit error(mp_status status) : std::runtime_error(mp_error_message()), status_(status) {}
    mp_status status() const noexcept { return status_; }

private:
    mp_status status_;
};

inline void check(mp_status status) {
    if (status != MP_OK) {
        throw error(status);
    }
}

namespace counts {
#define MILLPOND_COUNTED(type)                                                                                          \
    inline void retain(mp_##type *handle) noexcept { mp_##type##_retain(handle); }                                      \
    inline void release(mp_##type *handle) noexcept { mp_##type##_release(handle); }
MILLPOND_COUNTED(device)
MILLPOND_COUNTED(queue)
MILLPOND_COUNTED(event)
MILLPOND_COUNTED(gate)
MILLPOND_COUNTED(memory)
MILLPOND_COUNTED(array)
#undef MILLPOND_COUNTED
} // namespace counts

/* A counted handle: takes the count of the pointer that it is made of. */
template <class T>
class handle {
public:
    using type = T;

    handle() noexcept = default;
    explicit handle(T *given) noexcept : pointer_(given) {}
    handle(const handle &other) noexcept : pointer_(other.pointer_) { counts::retain(pointer_); }
    handle(handle &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    handle &operator=(handle other) noexcept {
        std::swap(pointer_, other.pointer_);
        return *this;
    }
    ~handle() {
        if (pointer_ != nullptr) {
            counts::release(pointer_);
        }
    }

    T *get() const noexcept { return pointer_; }
    explicit operator bool() const noexcept { return pointer_ != nullptr; }
    /* Gives the count away. */
    T *release() noexcept { return std::exchange(pointer_, nullptr); }

protected:
    /* What a function gives by its last argument. */
    template <class Handle, class Function, class... Arguments>
    static Handle given(Function function, Arguments... arguments) {
        typename Handle::type *pointer = nullptr;
        check(function(arguments..., &pointer));
        return Handle(pointer);
    }
    template <class Value, class Function>
    Value told(Function function) const {
        Value value{};
        check(function(pointer_, &value));
        return value;
    }

private:
    T *pointer_ = nullptr;
};

class queue;

class device : public handle<mp_device> {
public:
    using handle::handle;
    static device standard() { return given<device>(mp_device_default); }
    static device named(const char *name) { return given<device>(mp_device_named, name); }

    std::string name() const { return told<const char *>(mp_device_name); }
    bool runs_on_host() const { return told<bool>(mp_device_runs_on_host); }
    /* A stream (CUstream) of the device's own, for others to hold and follow; an error where there are none. */
    void *stream() const { return told<void *>(mp_device_stream); }
    queue default_queue() const;
    queue create_queue(bool out_of_order = false, bool profiling = false) const;
};

class event : public handle<mp_event> {
public:
    using handle::handle;
    /* Both raise the work's failure; the second answers false when the time is over. */
    void wait() const { check(mp_event_wait(get())); }
    bool wait_for(std::chrono::nanoseconds time) const {
        mp_status status = mp_event_wait_for(get(), static_cast<uint64_t>(time.count()));
        if (status != MP_TIMED_OUT) {
            check(status);
        }
        return status == MP_OK;
    }
    mp_event_state state() const { return told<mp_event_state>(mp_event_status); }
};

/* Stands for foreign work: what waits at it goes on when it is opened, by any thread. */
class gate : public handle<mp_gate> {
public:
    using handle::handle;
    static gate closed() { return given<gate>(mp_gate_create, static_cast<const mp_callback *>(nullptr)); }
    void open(const char *failure = nullptr) const { check(mp_gate_open(get(), failure)); }
};

class memory : public handle<mp_memory> {
public:
    using handle::handle;
    static memory allocate(const queue &queue, mp_kind kind, std::size_t bytes);
    /* Memory of the program's own, handed over: the owner goes after the last use. */
    static memory wrap(const queue &queue, mp_kind kind, void *pointer, std::size_t bytes, std::shared_ptr<void> owner);

    void *pointer() const { return told<void *>(mp_memory_pointer); }
    std::size_t size() const { return told<std::size_t>(mp_memory_size); }
    mp_kind kind() const { return told<mp_kind>(mp_memory_kind); }
    millpond::queue queue() const;
    /* Whether the bytes come from a pool of millpond, and not from an owner of their own. */
    bool is_managed() const { return told<bool>(mp_memory_is_managed); }
    /* A stream comes behind what is pending on the memory; what uses the memory later comes behind the stream. */
    void hold_stream(void *stream, mp_access access) const { check(mp_memory_hold_stream(get(), stream, access)); }
    void follow_stream(void *stream) const { check(mp_memory_follow_stream(get(), stream)); }
    /* Something that owns the bytes, for whoever knows smart pointers only. */
    std::shared_ptr<void> get_owner() const {
        return std::shared_ptr<void>(pointer(), [kept = *this](void *) {});
    }
};

template <class T> struct dtype_of;
#define MILLPOND_DTYPE(type, number) template <> struct dtype_of<type> { static constexpr mp_dtype value = number; }
MILLPOND_DTYPE(bool, MP_BOOL);
MILLPOND_DTYPE(std::int8_t, MP_INT8);
MILLPOND_DTYPE(std::int16_t, MP_INT16);
MILLPOND_DTYPE(std::int32_t, MP_INT32);
MILLPOND_DTYPE(std::int64_t, MP_INT64);
MILLPOND_DTYPE(std::uint8_t, MP_UINT8);
MILLPOND_DTYPE(std::uint16_t, MP_UINT16);
MILLPOND_DTYPE(std::uint32_t, MP_UINT32);
MILLPOND_DTYPE(std::uint64_t, MP_UINT64);
MILLPOND_DTYPE(float, MP_FLOAT32);
MILLPOND_DTYPE(double, MP_FLOAT64);
MILLPOND_DTYPE(std::complex<float>, MP_COMPLEX64);
MILLPOND_DTYPE(std::complex<double>, MP_COMPLEX128);
#undef MILLPOND_DTYPE

class array : public handle<mp_array> {
public:
    using handle::handle;
    static array allocate(const queue &queue, mp_kind kind, mp_dtype dtype, const std::vector<std::size_t> &shape);
    /* Elements in memory, row by row. */
    static array of(const memory &memory, mp_dtype dtype, const std::vector<std::size_t> &shape, std::size_t offset = 0) {
        return given<array>(mp_array_of_memory, memory.get(), dtype, shape.size(), shape.data(),
                            static_cast<const std::ptrdiff_t *>(nullptr), offset);
    }

    /* Where the element of index zero on each axis is; for tasks that name the array, and behind a wait. */
    template <class T>
    T *data() const {
        if (dtype() != dtype_of<std::remove_const_t<T>>::value) {
            throw std::invalid_argument("the array has elements of another dtype");
        }
        return static_cast<T *>(told<void *>(mp_array_data));
    }
    mp_dtype dtype() const { return told<mp_dtype>(mp_array_dtype); }
    std::size_t ndim() const { return told<std::size_t>(mp_array_ndim); }
    std::size_t size() const { return told<std::size_t>(mp_array_size); }
    std::vector<std::size_t> shape() const {
        auto sizes = told<const std::size_t *>(mp_array_shape);
        return {sizes, sizes + ndim()};
    }
    /* In elements. */
    std::vector<std::ptrdiff_t> strides() const {
        auto steps = told<const std::ptrdiff_t *>(mp_array_strides);
        return {steps, steps + ndim()};
    }
    bool is_contiguous() const { return told<bool>(mp_array_is_contiguous); }
    millpond::memory memory() const { return given<millpond::memory>(mp_array_memory, get()); }
    millpond::queue queue() const;
    bool is_managed() const { return memory().is_managed(); }
    std::shared_ptr<void> get_owner() const { return memory().get_owner(); }
};

/* What a task does with memory or arrays. */
inline mp_use reads(const memory &memory) { return {memory.get(), nullptr, MP_READ}; }
inline mp_use reads(const array &array) { return {nullptr, array.get(), MP_READ}; }
inline mp_use writes(const memory &memory) { return {memory.get(), nullptr, MP_WRITE}; }
inline mp_use writes(const array &array) { return {nullptr, array.get(), MP_WRITE}; }
inline mp_use updates(const memory &memory) { return {memory.get(), nullptr, MP_UPDATE}; }
inline mp_use updates(const array &array) { return {nullptr, array.get(), MP_UPDATE}; }

class queue : public handle<mp_queue> {
public:
    using handle::handle;
    millpond::device device() const { return given<millpond::device>(mp_queue_device, get()); }
    void wait() const { check(mp_queue_wait(get())); }
    event record() const { return given<event>(mp_queue_record, get()); }
    void follow(const event &event) const { check(mp_queue_follow(get(), event.get())); }
    /* A stream comes behind what was submitted so far; what is submitted later comes behind the stream. */
    void hold_stream(void *stream) const { check(mp_queue_hold_stream(get(), stream)); }
    event follow_stream(void *stream) const { return given<event>(mp_queue_follow_stream, get(), stream); }

    /* Calls `body` on a thread of the host when the queue reaches it, behind whatever else uses the same memory and
     * behind the events. What it throws is the event's failure. It must not touch objects of Python. */
    template <class Body>
    event submit(const char *name, Body body, const std::vector<mp_use> &used, const std::vector<event> &after = {}) const {
        const auto events = pointers(after);
        // From here on the body is the task's.
        const mp_task task = {name, run<Body>, drop<Body>, new Body(std::move(body))};
        return given<event>(mp_queue_submit, get(), &task, used.data(), used.size(), events.data(), events.size());
    }
    /* Holds the queue, and whatever uses the memory, until the gate is opened. */
    event hold(const gate &gate, const std::vector<mp_use> &used = {}, const std::vector<event> &after = {}) const {
        const auto events = pointers(after);
        return given<event>(mp_queue_gate, get(), gate.get(), used.data(), used.size(), events.data(), events.size());
    }

private:
    static std::vector<mp_event *> pointers(const std::vector<event> &events) {
        std::vector<mp_event *> found;
        for (const event &event : events) {
            found.push_back(event.get());
        }
        return found;
    }
    template <class Body>
    static mp_status run(void *body) noexcept {
        try {
            (*static_cast<Body *>(body))();
            return MP_OK;
        } catch (const std::exception &exception) {
            mp_error_set(exception.what());
        } catch (...) {
            mp_error_set("something was thrown that is no std::exception");
        }
        return MP_TASK;
    }
    template <class Body>
    static void drop(void *body) noexcept {
        delete static_cast<Body *>(body);
    }
};

inline queue device::default_queue() const { return given<queue>(mp_device_queue, get()); }
inline queue device::create_queue(bool out_of_order, bool profiling) const {
    return given<queue>(mp_device_create_queue, get(), out_of_order, profiling);
}
inline queue memory::queue() const { return given<millpond::queue>(mp_memory_queue, get()); }
inline queue array::queue() const { return given<millpond::queue>(mp_array_queue, get()); }
inline memory memory::allocate(const millpond::queue &queue, mp_kind kind, std::size_t bytes) {
    return given<memory>(mp_memory_allocate, queue.get(), kind, bytes);
}
inline memory memory::wrap(const millpond::queue &queue, mp_kind kind, void *pointer, std::size_t bytes,
                           std::shared_ptr<void> owner) {
    const auto drop = [](void *kept) { delete static_cast<std::shared_ptr<void> *>(kept); };
    const mp_owner given_owner = {drop, new std::shared_ptr<void>(std::move(owner))};
    return given<memory>(mp_memory_wrap, queue.get(), kind, pointer, bytes, &given_owner);
}
inline array array::allocate(const millpond::queue &queue, mp_kind kind, mp_dtype dtype,
                             const std::vector<std::size_t> &shape) {
    return given<array>(mp_array_allocate, queue.get(), kind, dtype, shape.size(), shape.data());
}

#ifdef MILLPOND_PYTHON_H

/* The functions that convert a type. */
template <class Handle> struct python;
#define MILLPOND_PYTHON(type)                                                                                           \
    template <>                                                                                                        \
    struct python<type> {                                                                                              \
        static bool check(PyObject *object) { return mp_##type##_check(object) != 0; }                                  \
        static mp_##type *from(PyObject *object) { return mp_##type##_from_python(object); }                            \
        static PyObject *to(const type &handle) { return mp_##type##_to_python(handle.get()); }                         \
    }
MILLPOND_PYTHON(array);
MILLPOND_PYTHON(memory);
MILLPOND_PYTHON(queue);
MILLPOND_PYTHON(event);
MILLPOND_PYTHON(gate);
MILLPOND_PYTHON(device);
#undef MILLPOND_PYTHON

/* Raises an error as the exception that it is in Python. */
inline void raise(const error &caught) {
    // The thread's last error has the class and the attributes, if it is still this one.
    if (std::strcmp(caught.what(), mp_error_message()) == 0) {
        mp_error_raise();
    } else {
        PyErr_SetString(PyExc_RuntimeError, caught.what());
    }
}

#endif

} // namespace millpond

#endif
