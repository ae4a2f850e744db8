/* The moving mean of a signal, computed by a task of the program's own on memory of a pool.
 *
 * Shows: arrays and their memory, a task with a context, dropping what it uses while it is pending, a gate that
 * stands for foreign work, and errors of work that is over. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <millpond.h>

enum { LENGTH = 1 << 16, HALF = 2 };

/* Says what went wrong, and ends. */
static void check(mp_status status) {
    if (status != MP_OK) {
        fprintf(stderr, "%s: %s\n", mp_status_name(status), mp_error_message());
        exit(1);
    }
}

/* What the task needs: addresses, which are valid since the task names the arrays. */
typedef struct means {
    const double *signal;
    double *means;
    size_t length;
} means;

static mp_status run(void *context) {
    const means *work = context;
    for (size_t i = 0; i < work->length; i++) {
        size_t begin = i < HALF ? 0 : i - HALF;
        size_t end = i + HALF >= work->length ? work->length : i + HALF + 1;
        double sum = 0.0;
        for (size_t j = begin; j < end; j++) {
            sum += work->signal[j];
        }
        work->means[i] = sum / (double)(end - begin);
    }
    return MP_OK;
}

static mp_status fail(void *context) {
    (void)context;
    mp_error_set("the antenna is gone");
    return MP_TASK;
}

/* Submits the work, and lets go of the signal at once. */
static mp_array *moving_mean(mp_queue *queue, mp_array *signal) {
    size_t length;
    mp_array *result;
    check(mp_array_size(signal, &length));
    check(mp_array_allocate(queue, MP_MEMORY_DEVICE, MP_FLOAT64, 1, &length, &result));

    void *from, *to;
    check(mp_array_data(signal, &from));
    check(mp_array_data(result, &to));
    means *work = malloc(sizeof *work);
    if (work == NULL) {
        exit(1);
    }
    *work = (means){from, to, length};
    const mp_task task = {.name = "moving mean", .run = run, .drop = free, .context = work};
    const mp_use uses[] = {
        {.array = signal, .access = MP_READ},
        {.array = result, .access = MP_WRITE},
    };
    check(mp_queue_submit(queue, &task, uses, 2, NULL, 0, NULL));
    mp_array_release(signal);
    return result;
}

int main(void) {
    mp_device *device;
    mp_queue *queue;
    check(mp_device_default(&device));
    check(mp_device_queue(device, &queue));

    /* The queue is held by work of somebody else's, so that everything below is pending. */
    mp_gate *gate;
    check(mp_gate_create(NULL, &gate));
    check(mp_queue_gate(queue, gate, NULL, 0, NULL, 0, NULL));

    const size_t length = LENGTH;
    mp_array *signal;
    mp_memory *memory;
    check(mp_array_allocate(queue, MP_MEMORY_DEVICE, MP_FLOAT64, 1, &length, &signal));
    check(mp_array_memory(signal, &memory));
    const double three = 3.0;
    check(mp_queue_fill(queue, memory, 0, LENGTH * sizeof(double), &three, sizeof three));
    mp_memory_release(memory);
    mp_array *result = moving_mean(queue, signal);

    /* The signal's bytes are free, and are used again: by work that comes behind. */
    const double nine = 9.0;
    check(mp_memory_allocate(queue, MP_MEMORY_DEVICE, LENGTH * sizeof(double), &memory));
    check(mp_queue_fill(queue, memory, 0, LENGTH * sizeof(double), &nine, sizeof nine));
    mp_memory_release(memory);

    check(mp_gate_open(gate, NULL));
    double *means = malloc(LENGTH * sizeof *means);
    if (means == NULL) {
        return 1;
    }
    check(mp_array_memory(result, &memory));
    check(mp_memory_read(memory, 0, means, LENGTH * sizeof *means));
    double largest = 0.0;
    for (size_t i = 0; i < LENGTH; i++) {
        largest = fmax(largest, fabs(means[i] - 3.0));
    }
    printf("largest difference: %g\n", largest);

    /* What a task says of its failure comes with the next wait, once. */
    const mp_task broken = {.name = "broken", .run = fail};
    mp_event *event;
    check(mp_queue_submit(queue, &broken, NULL, 0, NULL, 0, &event));
    mp_status status = mp_event_wait(event);
    printf("%s: %s\n", mp_status_name(status), mp_error_message());

    free(means);
    mp_event_release(event);
    mp_memory_release(memory);
    mp_array_release(result);
    mp_gate_release(gate);
    mp_queue_release(queue);
    mp_device_release(device);
    size_t handles;
    check(mp_handle_count(&handles));
    printf("handles left: %zu\n", handles);
    check(mp_shutdown());
    return largest > 1e-12 || status != MP_FAILED || handles != 0;
}
