/* The C interface, used as its header says and as it doesn't say: each test ends with the handles it began with. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <millpond.h>

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, mp_error_message());                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define OK(call) EXPECT((call) == MP_OK)
#define REFUSED(call, status, text)                                                                                    \
    do {                                                                                                               \
        EXPECT((call) == (status));                                                                                    \
        EXPECT(strstr(mp_error_message(), text) != NULL);                                                              \
    } while (0)

static mp_device *device;
static mp_queue *queue;

/* What was done with a context. */
typedef struct trace {
    atomic_int runs, drops;
} trace;

static mp_status run(void *context) {
    atomic_fetch_add(&((trace *)context)->runs, 1);
    return MP_OK;
}

static mp_status run_badly(void *context) {
    (void)run(context);
    return MP_OTHER;
}

static void call(void *context, mp_event_state state) {
    atomic_fetch_add(&((trace *)context)->runs, 1 + (int)state);
}

static void drop(void *context) { atomic_fetch_add(&((trace *)context)->drops, 1); }

static mp_task task_of(trace *context) { return (mp_task){"traced", run, drop, context}; }

static void settle(atomic_int *count, int goal) {
    while (atomic_load(count) != goal) {
    }
}

static void null_pointers_are_refused(void) {
    size_t count;
    mp_memory *memory = NULL;
    REFUSED(mp_queue_wait(NULL), MP_INVALID, "mp_queue is null");
    REFUSED(mp_device_count(NULL), MP_INVALID, "the pointer for the result is null");
    REFUSED(mp_memory_allocate(queue, MP_MEMORY_HOST, 8, NULL), MP_INVALID, "the pointer for the result is null");
    REFUSED(mp_memory_allocate(NULL, MP_MEMORY_HOST, 8, &memory), MP_INVALID, "mp_queue is null");
    REFUSED(mp_queue_submit(queue, NULL, NULL, 0, NULL, 0, NULL), MP_INVALID, "mp_task is null");
    REFUSED(mp_queue_barrier(queue, NULL, 1, NULL), MP_INVALID, "a list is null");
    REFUSED(mp_device_named(NULL, NULL), MP_INVALID, "null");
    REFUSED(mp_array_size(NULL, &count), MP_INVALID, "mp_array is null");
    mp_memory_retain(NULL);
    mp_memory_release(NULL);
    EXPECT(memory == NULL);
}

static void numbers_that_name_nothing_are_refused(void) {
    mp_memory *memory;
    size_t size, shape[] = {1};
    mp_array *array;
    REFUSED(mp_memory_allocate(queue, 3, 8, &memory), MP_INVALID, "3 is no mp_kind");
    REFUSED(mp_dtype_size(-1, &size), MP_INVALID, "-1 is no mp_dtype");
    REFUSED(mp_array_allocate(queue, 0, 99, 1, shape, &array), MP_INVALID, "99 is no mp_dtype");
    EXPECT(strcmp(mp_status_name(MP_OUT_OF_MEMORY), "MP_OUT_OF_MEMORY") == 0);
    EXPECT(strcmp(mp_status_name(77), "an unknown status") == 0);
}

static void devices_have_names(void) {
    mp_device *other;
    const char *name;
    bool same;
    size_t count;
    OK(mp_device_name(device, &name));
    OK(mp_device_named(name, &other));
    OK(mp_device_same(device, other, &same));
    EXPECT(same);
    mp_device_release(other);
    OK(mp_device_count(&count));
    REFUSED(mp_device_at(count, &other), MP_INVALID, "none of number");
    REFUSED(mp_device_named("abacus", &other), MP_UNKNOWN_DEVICE, "abacus");
}

static void contexts_are_let_go_of_once(void) {
    trace done = {0}, refused = {0}, failed = {0};
    mp_event *event;
    mp_task task = task_of(&done);
    OK(mp_queue_submit(queue, &task, NULL, 0, NULL, 0, &event));
    OK(mp_event_wait(event));
    EXPECT(done.runs == 1 && done.drops == 1);
    mp_event_release(event);

    mp_queue *closed;
    OK(mp_device_create_queue(device, false, false, &closed));
    OK(mp_queue_close(closed));
    task = task_of(&refused);
    REFUSED(mp_queue_submit(closed, &task, NULL, 0, NULL, 0, NULL), MP_CLOSED, "was closed");
    EXPECT(refused.runs == 0 && refused.drops == 1);
    const mp_use use = {NULL, NULL, MP_READ};
    REFUSED(mp_queue_submit(queue, &task, &use, 1, NULL, 0, NULL), MP_INVALID, "either memory or array");
    task.run = NULL;
    REFUSED(mp_queue_submit(queue, &task, NULL, 0, NULL, 0, NULL), MP_INVALID, "run of mp_task is null");
    EXPECT(refused.runs == 0 && refused.drops == 3);
    mp_queue_release(closed);

    /* What depends on work that failed is never run. */
    mp_memory *memory;
    OK(mp_memory_allocate(queue, MP_MEMORY_SHARED, 64, &memory));
    const mp_use writes = {memory, NULL, MP_WRITE}, reads = {memory, NULL, MP_READ};
    task = (mp_task){"broken", run_badly, drop, &failed};
    OK(mp_queue_submit(queue, &task, &writes, 1, NULL, 0, NULL));
    task = task_of(&failed);
    OK(mp_queue_submit(queue, &task, &reads, 1, NULL, 0, &event));
    REFUSED(mp_event_wait(event), MP_FAILED, "broken failed: it returned MP_OTHER");
    EXPECT(mp_queue_wait(queue) == MP_OK);
    EXPECT(failed.runs == 1);
    settle(&failed.drops, 2);
    mp_event_release(event);
    mp_memory_release(memory);
}

static mp_status wait_for_own_queue(void *context) {
    (void)context;
    REFUSED(mp_queue_wait(queue), MP_INVALID, "cannot wait for it, which waits for the task");
    return MP_OK;
}

static void a_task_does_not_wait_for_its_queue(void) {
    mp_event *event;
    const mp_task task = {"waits", wait_for_own_queue, NULL, NULL};
    OK(mp_queue_submit(queue, &task, NULL, 0, NULL, 0, &event));
    OK(mp_event_wait(event));
    mp_event_release(event);
}

static void events_order_and_call_back(void) {
    trace called = {0}, held = {0};
    mp_queue *other;
    mp_gate *gate;
    mp_event *event, *behind;
    mp_event_state state;
    OK(mp_device_create_queue(device, true, false, &other));
    OK(mp_gate_create(NULL, &gate));
    OK(mp_queue_gate(queue, gate, NULL, 0, NULL, 0, &event));
    const mp_callback callback = {call, drop, &called};
    OK(mp_event_on_complete(event, &callback));
    mp_task task = task_of(&held);
    OK(mp_queue_submit(other, &task, NULL, 0, &event, 1, &behind));
    REFUSED(mp_event_wait_for(behind, 1000000), MP_TIMED_OUT, "timed out");
    OK(mp_event_status(behind, &state));
    EXPECT(state == MP_EVENT_PENDING && held.runs == 0 && called.runs == 0);
    OK(mp_gate_open(gate, NULL));
    OK(mp_event_wait(behind));
    settle(&called.drops, 1);
    EXPECT(called.runs == 1 + MP_EVENT_COMPLETE && held.runs == 1);
    mp_event_release(event);
    mp_event_release(behind);
    mp_gate_release(gate);
    mp_queue_release(other);
}

static void queues_follow_each_other(void) {
    trace before = {0}, behind = {0};
    mp_queue *one, *other, *home;
    mp_gate *gate;
    mp_event *event, *barrier;
    mp_device *same;
    bool in_order, idle, open, runs_on_host, float64, equal;
    uint64_t id, home_id, submitted, started, finished;
    size_t bytes;
    OK(mp_device_create_queue(device, false, true, &one));
    OK(mp_device_create_queue(device, true, false, &other));
    OK(mp_queue_is_in_order(one, &in_order));
    EXPECT(in_order);
    OK(mp_queue_is_in_order(other, &in_order));
    EXPECT(!in_order);
    OK(mp_queue_device(one, &same));
    OK(mp_device_same(device, same, &equal));
    OK(mp_device_runs_on_host(same, &runs_on_host));
    OK(mp_device_supports(same, MP_FLOAT64, &float64));
    OK(mp_device_memory(same, &bytes));
    EXPECT(equal && runs_on_host && float64 && bytes > 0);
    mp_device_release(same);

    OK(mp_gate_create(NULL, &gate));
    OK(mp_queue_gate(one, gate, NULL, 0, NULL, 0, NULL));
    mp_task task = task_of(&before);
    OK(mp_queue_submit(one, &task, NULL, 0, NULL, 0, &event));
    OK(mp_queue_follow(other, event));
    task = task_of(&behind);
    OK(mp_queue_submit(other, &task, NULL, 0, NULL, 0, NULL));
    OK(mp_queue_barrier(other, &event, 1, &barrier));
    REFUSED(mp_queue_wait_for(other, 1000000), MP_TIMED_OUT, "timed out");
    OK(mp_queue_is_idle(other, &idle));
    OK(mp_gate_is_open(gate, &open));
    EXPECT(!idle && !open && before.runs == 0 && behind.runs == 0);
    REFUSED(mp_event_times(event, &submitted, &started, &finished), MP_INVALID, "has not finished");
    OK(mp_gate_open(gate, NULL));
    OK(mp_event_wait(barrier));
    EXPECT(before.runs == 1 && behind.runs == 1);
    OK(mp_event_times(event, &submitted, &started, &finished));
    EXPECT(submitted <= started && started <= finished);
    OK(mp_event_queue(event, &home));
    OK(mp_queue_id(home, &home_id));
    OK(mp_queue_id(one, &id));
    EXPECT(id == home_id);
    mp_event_release(event);
    OK(mp_queue_record(one, &event));
    OK(mp_event_wait(event));
    OK(mp_device_wait(device));
    mp_event_release(event);
    mp_event_release(barrier);
    mp_gate_release(gate);
    mp_queue_release(home);
    mp_queue_release(one);
    mp_queue_release(other);
}

static void *foreign_work(void *context) {
    OK(mp_gate_open(context, "the stream broke"));
    mp_gate_release(context);
    return NULL;
}

static pthread_t worker;

static void begin(void *context, mp_event_state state) {
    EXPECT(state == MP_EVENT_PENDING);
    mp_gate **gate = context;
    EXPECT(pthread_create(&worker, NULL, foreign_work, *gate) == 0);
}

static void foreign_work_has_its_turn_and_fails_what_depends_on_it(void) {
    mp_gate *gate, *kept = NULL;
    mp_event *event;
    mp_memory *memory;
    const mp_callback callback = {begin, NULL, &kept};
    OK(mp_gate_create(&callback, &gate));
    mp_gate_retain(gate);
    kept = gate;
    OK(mp_memory_allocate(queue, MP_MEMORY_SHARED, 64, &memory));
    const mp_use writes = {memory, NULL, MP_WRITE};
    OK(mp_queue_gate(queue, gate, &writes, 1, NULL, 0, &event));
    char byte;
    REFUSED(mp_memory_read(memory, 0, &byte, 1), MP_FAILED, "the stream broke");
    REFUSED(mp_event_wait(event), MP_FAILED, "the stream broke");
    EXPECT(pthread_join(worker, NULL) == 0);
    mp_event_release(event);
    mp_memory_release(memory);
    mp_gate_release(gate);
}

static void memory_keeps_its_bounds(void) {
    mp_memory *memory, *view;
    size_t size;
    mp_kind kind;
    char bytes[8] = "millpond", read[8] = {0};
    OK(mp_memory_allocate(queue, MP_MEMORY_DEVICE, 64, &memory));
    OK(mp_memory_write(memory, 8, bytes, 8));
    OK(mp_memory_view(memory, 8, 16, &view));
    OK(mp_memory_read(view, 0, read, 8));
    EXPECT(memcmp(read, bytes, 8) == 0);
    void *whole, *part;
    OK(mp_memory_pointer(memory, &whole));
    OK(mp_memory_pointer(view, &part));
    OK(mp_memory_size(view, &size));
    OK(mp_memory_kind(view, &kind));
    EXPECT((char *)part == (char *)whole + 8 && size == 16 && kind == MP_MEMORY_DEVICE);
    REFUSED(mp_memory_read(view, 12, read, 8), MP_BOUNDS, "bytes 12..20 reach outside of an allocation of 16 bytes");
    REFUSED(mp_memory_view(view, SIZE_MAX, 2, &memory), MP_BOUNDS, "reach outside");
    REFUSED(mp_queue_fill(queue, view, 0, 16, bytes, 3), MP_INVALID, "a pattern of 3 bytes");
    OK(mp_queue_fill(queue, view, 0, 16, "ab", 2));
    OK(mp_queue_copy(queue, view, 0, memory, 32, 8));
    OK(mp_memory_read(memory, 32, read, 8));
    EXPECT(memcmp(read, "abababab", 8) == 0);
    REFUSED(mp_memory_share_with_host(memory, &whole), MP_HOST_ACCESS, "cannot be accessed by the host");
    /* The view owns the bytes as well. */
    mp_memory_release(memory);
    OK(mp_memory_read(view, 0, read, 8));
    mp_memory_release(view);
}

static void shared_memory_is_for_the_host_at_any_time(void) {
    trace done = {0};
    mp_memory *memory;
    mp_queue *home;
    mp_array *array;
    void *pointer;
    uint64_t id, home_id;
    const size_t shape[] = {8};
    bool managed, same, read_only, column_major;
    OK(mp_memory_allocate(queue, MP_MEMORY_SHARED, 64, &memory));
    OK(mp_memory_queue(memory, &home));
    OK(mp_queue_id(home, &home_id));
    OK(mp_queue_id(queue, &id));
    OK(mp_memory_is_managed(memory, &managed));
    OK(mp_memory_is_read_only(memory, &read_only));
    EXPECT(id == home_id && managed && !read_only);
    mp_queue_release(home);
    OK(mp_memory_share_with_host(memory, &pointer));
    const mp_use updates = {memory, NULL, MP_UPDATE};
    const mp_task task = task_of(&done);
    OK(mp_queue_submit(queue, &task, &updates, 1, NULL, 0, NULL));
    EXPECT(done.runs == 1);
    OK(mp_memory_wait(memory, MP_READ));
    OK(mp_memory_wait(memory, MP_WRITE));
    OK(mp_array_of_memory(memory, MP_FLOAT64, 1, shape, NULL, 0, &array));
    OK(mp_array_is_column_major(array, &column_major));
    OK(mp_array_queue(array, &home));
    mp_memory *within;
    OK(mp_array_memory(array, &within));
    OK(mp_memory_same(memory, within, &same));
    EXPECT(same && column_major);
    mp_memory_release(within);
    mp_queue_release(home);
    mp_array_release(array);
    mp_memory_release(memory);
}

static void memory_is_freed_in_order_by_its_only_handle(void) {
    mp_memory *memory, *view;
    mp_event *event;
    OK(mp_memory_allocate(queue, MP_MEMORY_DEVICE, 64, &memory));
    OK(mp_memory_view(memory, 0, 8, &view));
    REFUSED(mp_memory_free(queue, memory, NULL, 0, NULL), MP_IN_USE, "other handles share the allocation");
    /* It was taken, so that the view is the only one now. */
    OK(mp_memory_free(queue, view, NULL, 0, &event));
    OK(mp_event_wait(event));
    mp_event_release(event);
}

static void owners_are_told_after_the_last_use(void) {
    static double numbers[4] = {1.0, 2.0, 3.0, 4.0};
    trace owner = {0}, task_trace = {0};
    const mp_owner told = {drop, &owner};
    const size_t shape[] = {4};
    mp_gate *gate;
    mp_array *array;
    mp_event *event;
    bool managed;
    mp_memory *memory;
    OK(mp_gate_create(NULL, &gate));
    OK(mp_queue_gate(queue, gate, NULL, 0, NULL, 0, NULL));
    OK(mp_array_wrap(queue, MP_MEMORY_HOST, numbers, MP_FLOAT64, 1, shape, &told, &array));
    OK(mp_array_memory(array, &memory));
    OK(mp_memory_is_managed(memory, &managed));
    EXPECT(!managed);
    mp_memory_release(memory);
    const mp_use reads = {NULL, array, MP_READ};
    const mp_task task = task_of(&task_trace);
    OK(mp_queue_submit(queue, &task, &reads, 1, NULL, 0, &event));
    mp_array_release(array);
    EXPECT(owner.drops == 0);
    OK(mp_gate_open(gate, NULL));
    OK(mp_event_wait(event));
    settle(&owner.drops, 1);
    mp_event_release(event);
    mp_gate_release(gate);

    /* Who can't be taken as an owner is told as well. */
    EXPECT(mp_array_wrap(queue, 9, numbers, MP_FLOAT64, 1, shape, &told, &array) == MP_INVALID);
    EXPECT(mp_memory_wrap(NULL, MP_MEMORY_HOST, numbers, 32, &told, &memory) == MP_INVALID);
    REFUSED(mp_memory_wrap(queue, MP_MEMORY_HOST, NULL, 32, &told, &memory), MP_INVALID, "are not memory");
    EXPECT(owner.drops == 4);
}

static void arrays_are_views_of_memory(void) {
    mp_memory *memory;
    mp_array *array;
    size_t ndim, size, offset;
    const size_t *shape, sizes[] = {2, 3}, none[] = {0, 3};
    const ptrdiff_t *strides, steps[] = {-3, 1};
    bool contiguous, read_only;
    mp_dtype dtype;
    void *data, *pointer;
    OK(mp_memory_allocate(queue, MP_MEMORY_SHARED, 6 * sizeof(float), &memory));
    OK(mp_array_of_memory(memory, MP_FLOAT32, 2, sizes, steps, 3, &array));
    OK(mp_array_ndim(array, &ndim));
    OK(mp_array_size(array, &size));
    OK(mp_array_shape(array, &shape));
    OK(mp_array_strides(array, &strides));
    OK(mp_array_offset(array, &offset));
    OK(mp_array_dtype(array, &dtype));
    OK(mp_array_is_contiguous(array, &contiguous));
    OK(mp_array_is_read_only(array, &read_only));
    OK(mp_array_data(array, &data));
    OK(mp_memory_pointer(memory, &pointer));
    EXPECT(ndim == 2 && size == 6 && offset == 3 && dtype == MP_FLOAT32 && !contiguous && !read_only);
    EXPECT(shape[0] == 2 && shape[1] == 3 && strides[0] == -3 && strides[1] == 1);
    EXPECT((float *)data == (float *)pointer + 3);
    mp_array_release(array);
    REFUSED(mp_array_of_memory(memory, MP_FLOAT32, 2, sizes, steps, 2, &array), MP_INVALID, "");
    REFUSED(mp_array_of_memory(memory, MP_FLOAT64, 2, sizes, NULL, 0, &array), MP_INVALID, "");
    mp_memory *view;
    OK(mp_memory_view(memory, 4, 8, &view));
    REFUSED(mp_array_of_memory(view, MP_FLOAT32, 1, sizes + 1, NULL, 0, &array), MP_INVALID, "elements lie in bytes 4..16");
    REFUSED(mp_array_of_memory(view, MP_FLOAT64, 0, NULL, NULL, 0, &array), MP_INVALID, "between elements of 8 bytes");
    OK(mp_array_of_memory(view, MP_FLOAT32, 1, sizes, NULL, 0, &array));
    mp_array_release(array);
    /* Strides are there where there is nothing to step over, too. */
    OK(mp_array_of_memory(view, MP_FLOAT32, 2, none, NULL, 0, &array));
    OK(mp_array_strides(array, &strides));
    EXPECT(strides != NULL);
    mp_array_release(array);
    mp_memory_release(view);
    mp_memory_release(memory);
}

static void pools_keep_their_limits(void) {
    mp_pool *pool;
    mp_memory *memory, *more;
    mp_pool_options options = MP_POOL_DEFAULTS;
    options.name = "small";
    options.maximum_size = 1 << 20;
    options.min_driver_alloc = 1 << 16;
    options.zeroed = 1;
#if MP_VERSION >= 2
    options.native = 1;
    REFUSED(mp_pool_create(device, MP_MEMORY_HOST, &options, &pool), MP_INVALID, "no `min_driver_alloc`");
    options.min_driver_alloc = 0;
    REFUSED(mp_pool_create(device, MP_MEMORY_HOST, &options, &pool), MP_UNSUPPORTED, "a pool of the driver's own");
    options.native = 0;
    options.min_driver_alloc = 1 << 16;
#endif
    OK(mp_pool_create(device, MP_MEMORY_HOST, &options, &pool));
    OK(mp_memory_allocate_from(pool, queue, 1000, &memory));
    char byte = 1;
    OK(mp_memory_read(memory, 999, &byte, 1));
    EXPECT(byte == 0);
    REFUSED(mp_memory_allocate_from(pool, queue, 2 << 20, &more), MP_OUT_OF_MEMORY, "small");
    mp_statistics statistics = {.size = sizeof statistics};
    OK(mp_pool_statistics(pool, &statistics));
    EXPECT(statistics.live == 1 && statistics.requested == 1000);
    EXPECT(statistics.reserved == statistics.used + statistics.pending + statistics.cached);
    /* As a program of a version that knew two of the numbers. */
    mp_statistics older = {.size = 3 * sizeof(size_t), .pending = 77};
    OK(mp_pool_statistics(pool, &older));
    EXPECT(older.requested == 1000 && older.pending == 77);
    older.size = 0;
    REFUSED(mp_pool_statistics(pool, &older), MP_INVALID, "not sizeof(mp_statistics)");
    /* A pool that is closed has live memory, and nothing more to give. */
    mp_device *same;
    mp_kind kind;
    bool equal;
    OK(mp_pool_device(pool, &same));
    OK(mp_device_same(device, same, &equal));
    OK(mp_pool_kind(pool, &kind));
    EXPECT(equal && kind == MP_MEMORY_HOST);
    mp_device_release(same);
    OK(mp_pool_trim(pool, 0));
    OK(mp_pool_close(pool));
    REFUSED(mp_memory_allocate_from(pool, queue, 8, &more), MP_CLOSED, "was closed");
    mp_pool_release(pool);
    OK(mp_pool_current(device, MP_MEMORY_HOST, &pool));
    REFUSED(mp_pool_close(pool), MP_INVALID, "can't be closed");
    mp_pool_release(pool);
    OK(mp_memory_write(memory, 0, &byte, 1));
    mp_memory_release(memory);
}

static void *other_thread(void *unused) {
    (void)unused;
    EXPECT(strcmp(mp_error_message(), "") == 0);
    OK(mp_error_set("mine"));
    return NULL;
}

static void messages_are_of_the_thread(void) {
    pthread_t thread;
    (void)mp_error_set("of the first thread");
    EXPECT(pthread_create(&thread, NULL, other_thread, NULL) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(strcmp(mp_error_message(), "of the first thread") == 0);
}

static void the_table_has_the_functions(void) {
    const mp_table *table = mp_functions(MP_VERSION);
    EXPECT(table != NULL && table->version >= MP_VERSION && table->bytes >= sizeof(mp_table));
    size_t handles, same;
    OK(mp_handle_count(&handles));
    OK(table->mp_handle_count(&same));
    EXPECT(handles == same);
    REFUSED(table->mp_queue_wait(NULL), MP_INVALID, "mp_queue is null");
    EXPECT(mp_functions(mp_version() + 1) == NULL);
}

#if MP_VERSION >= 2

/* What a stream is given is in the order of a queue, or of memory, where there are streams. */
static void follow_and_hold_stream(mp_queue *other, void *stream) {
    mp_memory *memory;
    mp_event *followed;
    unsigned char bytes[64];
    OK(mp_memory_allocate(other, MP_MEMORY_DEVICE, sizeof bytes, &memory));
    for (unsigned char value = 1; value < 20; value++) {
        OK(mp_memory_hold_stream(memory, stream, MP_UPDATE));
        OK(mp_memory_follow_stream(memory, stream));
        OK(mp_queue_fill(other, memory, 0, sizeof bytes, &value, 1));
        OK(mp_queue_hold_stream(other, stream));
        OK(mp_queue_follow_stream(other, stream, value % 2 ? &followed : NULL));
        if (value % 2) {
            OK(mp_event_wait(followed));
            mp_event_release(followed);
        }
        OK(mp_memory_read(memory, 0, bytes, sizeof bytes));
        EXPECT(bytes[0] == value && bytes[63] == value);
    }
    mp_memory_release(memory);
}

static void streams_are_followed_and_held(void) {
    size_t count;
    OK(mp_device_count(&count));
    for (size_t number = 0; number < count; number++) {
        mp_device *one;
        mp_queue *other;
        mp_memory *memory;
        void *stream = NULL, *same = NULL;
        bool on_host;
        OK(mp_device_at(number, &one));
        OK(mp_device_queue(one, &other));
        OK(mp_device_runs_on_host(one, &on_host));
        if (on_host) {
            OK(mp_memory_allocate(other, MP_MEMORY_DEVICE, 8, &memory));
            REFUSED(mp_device_stream(one, &stream), MP_UNSUPPORTED, "not supported by");
            REFUSED(mp_queue_follow_stream(other, NULL, NULL), MP_UNSUPPORTED, "not supported by");
            REFUSED(mp_queue_hold_stream(other, NULL), MP_UNSUPPORTED, "not supported by");
            REFUSED(mp_memory_follow_stream(memory, NULL), MP_UNSUPPORTED, "not supported by");
            REFUSED(mp_memory_hold_stream(memory, NULL, MP_READ), MP_UNSUPPORTED, "not supported by");
            REFUSED(mp_memory_hold_stream(memory, NULL, 9), MP_INVALID, "9 is no mp_access");
            mp_memory_release(memory);
        } else {
            OK(mp_device_stream(one, &stream));
            OK(mp_device_stream(one, &same));
            EXPECT(stream == same);
            follow_and_hold_stream(other, stream);
            follow_and_hold_stream(other, NULL);
        }
        mp_queue_release(other);
        mp_device_release(one);
    }
}

#endif

/* As where a program that links to the library embeds a Python with its own millpond. */
static void another_library_has_functions_of_its_own(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT(library != NULL);
    const mp_table *(*functions)(uint32_t);
    *(void **)&functions = dlsym(library, "mp_functions");
    EXPECT(functions != NULL && functions(MP_VERSION) != NULL);
    size_t handles;
    OK(functions(MP_VERSION)->mp_handle_count(&handles));
    EXPECT(handles == 0);
}

static void the_end_is_said_of_every_call(void) {
    mp_memory *memory;
    OK(mp_shutdown());
    REFUSED(mp_memory_allocate(queue, MP_MEMORY_HOST, 8, &memory), MP_SHUT_DOWN, "millpond was shut down");
}

int main(int argc, char **argv) {
    EXPECT(argc == 2);
    OK(mp_device_default(&device));
    OK(mp_device_queue(device, &queue));
    size_t before, after;
    OK(mp_handle_count(&before));
    EXPECT(before == 2);
#define TEST(name)                                                                                                     \
    do {                                                                                                               \
        name();                                                                                                        \
        OK(mp_handle_count(&after));                                                                                   \
        if (after != before) {                                                                                         \
            fprintf(stderr, "%s left %zu handles\n", #name, after - before);                                           \
            return 1;                                                                                                  \
        }                                                                                                              \
        printf("%s\n", #name);                                                                                         \
    } while (0)
    messages_are_of_the_thread();
    TEST(null_pointers_are_refused);
    TEST(numbers_that_name_nothing_are_refused);
    TEST(devices_have_names);
    TEST(contexts_are_let_go_of_once);
    TEST(a_task_does_not_wait_for_its_queue);
    TEST(events_order_and_call_back);
    TEST(queues_follow_each_other);
    TEST(foreign_work_has_its_turn_and_fails_what_depends_on_it);
    TEST(memory_keeps_its_bounds);
    TEST(shared_memory_is_for_the_host_at_any_time);
    TEST(memory_is_freed_in_order_by_its_only_handle);
    TEST(owners_are_told_after_the_last_use);
    TEST(arrays_are_views_of_memory);
    TEST(pools_keep_their_limits);
    TEST(the_table_has_the_functions);
#if MP_VERSION >= 2
    TEST(streams_are_followed_and_held);
#endif
    another_library_has_functions_of_its_own(argv[1]);
    TEST(the_end_is_said_of_every_call);
    mp_queue_release(queue);
    mp_device_release(device);
    OK(mp_handle_count(&after));
    EXPECT(after == 0);
    return 0;
}
