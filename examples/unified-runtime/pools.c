/* Memory in the order of queues, by the extension of the Unified Runtime, through its loader.
 *
 * The header and the loader are those of the Python package intel-sycl-rt:
 *
 *     cc -I$ENV/include/unified-runtime pools.c -L$ENV/lib -lur_loader -Wl,-rpath,$ENV/lib -o pools
 *     UR_ADAPTERS_FORCE_LOAD=target/release/libur_adapter_millpond.so ./pools
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ur_api.h"

enum { BYTES = 1 << 20 };

static void check(ur_result_t result, const char *call) {
    if (result != UR_RESULT_SUCCESS) {
        fprintf(stderr, "%s answered %d\n", call, (int)result);
        exit(1);
    }
}
#define CHECK(call) check(call, #call)

static ur_device_handle_t device;
static ur_context_handle_t context;

static size_t ask(ur_usm_pool_handle_t pool, ur_usm_pool_info_t what) {
    size_t value = 0;
    CHECK(urUSMPoolGetInfoExp(pool, what, &value, NULL));
    return value;
}

static void tell(const char *when, ur_usm_pool_handle_t pool) {
    printf("%-40s %8zu KiB used, %8zu KiB reserved\n", when, ask(pool, UR_USM_POOL_INFO_USED_CURRENT_EXP) >> 10,
           ask(pool, UR_USM_POOL_INFO_RESERVED_CURRENT_EXP) >> 10);
}

/* A pool that may reserve so much, and keeps so much of what is free at a wait. */
static ur_usm_pool_handle_t make_pool(size_t maximum, size_t threshold) {
    ur_usm_pool_limits_desc_t limits = {UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC, NULL, maximum, threshold};
    ur_usm_pool_desc_t desc = {UR_STRUCTURE_TYPE_USM_POOL_DESC, &limits, UR_USM_POOL_FLAG_USE_NATIVE_MEMORY_POOL_EXP};
    ur_usm_pool_handle_t pool;
    CHECK(urUSMPoolCreateExp(context, device, &desc, &pool));
    return pool;
}

/* A library that doesn't know of the program's pools. */
static void call_library(ur_queue_handle_t queue) {
    void *scratch;
    unsigned char zero = 0;
    CHECK(urEnqueueUSMDeviceAllocExp(queue, NULL, BYTES, NULL, 0, NULL, &scratch, NULL));
    CHECK(urEnqueueUSMFill(queue, scratch, 1, &zero, BYTES, 0, NULL, NULL));
    CHECK(urEnqueueUSMFreeExp(queue, NULL, scratch, 0, NULL, NULL));
}

/* On an in-order queue memory may be used by what comes next, and is had again at once. */
static void in_order(ur_queue_handle_t queue, ur_usm_pool_handle_t pool) {
    void *first, *second;
    CHECK(urEnqueueUSMDeviceAllocExp(queue, pool, BYTES, NULL, 0, NULL, &first, NULL));
    tell("an allocation from a pool", pool);
    CHECK(urEnqueueUSMFreeExp(queue, pool, first, 0, NULL, NULL));
    CHECK(urEnqueueUSMDeviceAllocExp(queue, pool, BYTES, NULL, 0, NULL, &second, NULL));
    printf("freed and allocated again: %s address\n", first == second ? "the same" : "another");
    CHECK(urEnqueueUSMFreeExp(queue, pool, second, 0, NULL, NULL));
}

/* Between queues events say what comes after what: the allocation, the work, the free. */
static void across_queues(ur_usm_pool_handle_t pool) {
    ur_queue_properties_t out_of_order = {UR_STRUCTURE_TYPE_QUEUE_PROPERTIES, NULL,
                                          UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    ur_queue_handle_t maker, worker;
    CHECK(urQueueCreate(context, device, &out_of_order, &maker));
    CHECK(urQueueCreate(context, device, &out_of_order, &worker));
    void *memory;
    ur_event_handle_t ready, filled, copied, freed;
    unsigned char seven = 7, *seen = malloc(BYTES);
    CHECK(urEnqueueUSMSharedAllocExp(maker, pool, BYTES, NULL, 0, NULL, &memory, &ready));
    CHECK(urEnqueueUSMFill(worker, memory, 1, &seven, BYTES, 1, &ready, &filled));
    CHECK(urEnqueueUSMMemcpy(worker, false, seen, memory, BYTES, 1, &filled, &copied));
    CHECK(urEnqueueUSMFreeExp(maker, pool, memory, 1, &copied, &freed));
    CHECK(urEventWait(1, &freed));
    printf("by way of two queues: %d at both ends\n", seen[0] == 7 && seen[BYTES - 1] == 7 ? 7 : -1);
    ur_event_handle_t events[] = {ready, filled, copied, freed};
    for (size_t event = 0; event < sizeof events / sizeof *events; event++) {
        CHECK(urEventRelease(events[event]));
    }
    CHECK(urQueueRelease(maker));
    CHECK(urQueueRelease(worker));
    free(seen);
}

/* A pool can be made of memory that is there already. */
static void over_a_buffer(ur_queue_handle_t queue) {
    void *buffer, *part;
    CHECK(urUSMHostAlloc(context, NULL, NULL, BYTES, &buffer));
    ur_usm_pool_buffer_desc_t over = {UR_STRUCTURE_TYPE_USM_POOL_BUFFER_DESC, NULL, buffer, BYTES, UR_USM_TYPE_HOST,
                                      NULL};
    ur_usm_pool_desc_t desc = {UR_STRUCTURE_TYPE_USM_POOL_DESC, &over, 0};
    ur_usm_pool_handle_t pool;
    CHECK(urUSMPoolCreateExp(context, device, &desc, &pool));
    CHECK(urEnqueueUSMHostAllocExp(queue, pool, BYTES / 4, NULL, 0, NULL, &part, NULL));
    tell("a pool over a buffer", pool);
    CHECK(urEnqueueUSMFreeExp(queue, pool, part, 0, NULL, NULL));
    CHECK(urQueueFinish(queue));
    CHECK(urUSMPoolDestroyExp(context, device, pool));
    CHECK(urUSMFree(context, buffer));
}

int main(void) {
    ur_adapter_handle_t adapter;
    ur_platform_handle_t platform;
    ur_queue_handle_t queue;
    CHECK(urLoaderInit(0, NULL));
    CHECK(urAdapterGet(1, &adapter, NULL));
    CHECK(urPlatformGet(adapter, 1, &platform, NULL));
    CHECK(urDeviceGet(platform, UR_DEVICE_TYPE_ALL, 1, &device, NULL));
    CHECK(urContextCreate(1, &device, NULL, &context));
    CHECK(urQueueCreate(context, device, NULL, &queue));

    ur_usm_pool_handle_t pool = make_pool(256 * (size_t)BYTES, 64 * (size_t)BYTES);
    in_order(queue, pool);
    across_queues(pool);

    /* What names no pool comes from the device's current one. */
    ur_usm_pool_handle_t standard, current;
    CHECK(urUSMPoolGetDefaultDevicePoolExp(context, device, &standard));
    CHECK(urUSMPoolSetDevicePoolExp(context, device, pool));
    CHECK(urUSMPoolGetDevicePoolExp(context, device, &current));
    printf("the program's pool is current: %s\n", current == pool ? "yes" : "no");
    call_library(queue);
    CHECK(urUSMPoolSetDevicePoolExp(context, device, standard));

    over_a_buffer(queue);

    CHECK(urQueueFinish(queue));
    tell("what a threshold keeps at a wait", pool);
    CHECK(urUSMPoolTrimToExp(context, device, pool, 0));
    tell("after trimming", pool);

    CHECK(urUSMPoolDestroyExp(context, device, pool));
    CHECK(urQueueRelease(queue));
    CHECK(urContextRelease(context));
    CHECK(urDeviceRelease(device));
    CHECK(urAdapterRelease(adapter));
    CHECK(urLoaderTearDown());
    return 0;
}
