// The device's own words for a compiler of the host: a grid is a loop, and the threads of a block take
// turns, each up to its next barrier.
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define MP_DEVICE inline
#define MP_APART static
#define MP_CONSTANT
#define MP_ENTRY(name) static void name
#define MP_ENTRY_OF(name, threads, blocks) static void name
#define __device__
#define __shared__ static
#define __restrict__

struct alignas(8) uint2 {
    unsigned int x, y;
};
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
struct Place {
    unsigned int x, y, z;
};
static Place blockIdx, threadIdx, gridDim, blockDim;

static inline float rsqrtf(float x) { return float(1.0 / ::sqrt(double(x))); }
static inline double rsqrt(double x) { return double(1.0L / ::sqrtl((long double)(x))); }

// ---- Threads that take turns ----

enum Wait { RUNS, AT_BLOCK, AT_WARP, ENDED };
static const unsigned MOST = 256, WARP = 32, STACK = 64 << 10;
// A context begins a thread; later turns are jumps, which are much faster.
static ucontext_t scheduler_context, contexts[MOST];
static jmp_buf scheduler, fibers[MOST];
static bool has_begun[MOST];
static Wait waits[MOST];
static char stacks[MOST][STACK];
static unsigned current;
static void (*body)(const void*);
static const void* body_arguments;

static void wait_for(Wait what) {
    const unsigned me = current;
    waits[me] = what;
    if (_setjmp(fibers[me]) == 0) _longjmp(scheduler, 1);
}

static inline void __syncthreads() { wait_for(AT_BLOCK); }
static inline void __syncwarp() { wait_for(AT_WARP); }
static inline void __threadfence() {}
static inline int __popc(unsigned int word) { return __builtin_popcount(word); }

// What threads hand to each other, in turn in two places, so that one is read while the next is written.
static char slots[2][MOST][64];
static unsigned turns[MOST];

template <class T>
static inline T exchange(T value, unsigned from) {
    const unsigned turn = turns[current]++ % 2;
    memcpy(slots[turn][current], &value, sizeof(T));
    wait_for(AT_WARP);
    T result;
    memcpy((void*)&result, slots[turn][from], sizeof(T));
    return result;
}
template <class T>
static inline T atomicCAS(T* at, T expected, T value) {
    const T old = *at;
    if (old == expected) *at = value;
    return old;
}
template <class T>
static inline T atomicAdd(T* at, T value) {
    const T old = *at;
    *at = old + value;
    return old;
}
template <class T>
static inline T atomicMax(T* at, T value) {
    const T old = *at;
    if (old < value) *at = value;
    return old;
}

static void fiber() {
    body(body_arguments);
    waits[current] = ENDED;
    _longjmp(scheduler, 1);
}

// Lets a thread run up to its next barrier, or its end.
static void resume(unsigned me) {
    current = me;
    threadIdx.x = me;
    if (_setjmp(scheduler) != 0) return;
    if (has_begun[me]) _longjmp(fibers[me], 1);
    has_begun[me] = true;
    swapcontext(&scheduler_context, &contexts[me]);
}

// Lets those go on that wait, where all of a group do that have not ended.
static bool release(unsigned begin, unsigned end, Wait what) {
    bool any = false;
    for (unsigned me = begin; me < end; me++) {
        if (waits[me] != what && waits[me] != ENDED) return false;
        any = any || waits[me] == what;
    }
    for (unsigned me = begin; me < end; me++) {
        if (waits[me] == what) waits[me] = RUNS;
    }
    return any;
}

// Whether the entry has barriers: those without run as plain calls.
static int run_block(unsigned threads, bool has_barriers) {
    if (!has_barriers) {
        for (unsigned me = 0; me < threads; me++) {
            threadIdx.x = me;
            body(body_arguments);
        }
        return 0;
    }
    for (unsigned me = 0; me < threads; me++) {
        getcontext(&contexts[me]);
        contexts[me].uc_stack.ss_sp = stacks[me];
        contexts[me].uc_stack.ss_size = STACK;
        contexts[me].uc_link = nullptr;
        makecontext(&contexts[me], fiber, 0);
        has_begun[me] = false;
        turns[me] = 0;
        waits[me] = RUNS;
    }
    for (;;) {
        unsigned ran = 0, ended = 0;
        for (unsigned me = 0; me < threads; me++) {
            if (waits[me] == RUNS) {
                resume(me);
                ran++;
            }
            ended += waits[me] == ENDED;
        }
        if (ended == threads) return 0;
        bool freed = release(0, threads, AT_BLOCK);
        for (unsigned warp = 0; warp < threads; warp += WARP) {
            freed = release(warp, warp + WARP < threads ? warp + WARP : threads, AT_WARP) || freed;
        }
        // Some wait at a barrier that others never come to.
        if (ran == 0 && !freed) return 1;
    }
}

template <class A>
static int run_grid(void (*entry)(const A), const void* arguments, const unsigned* blocks,
                    unsigned threads, bool has_barriers) {
    static void (*target)(const A);
    target = entry;
    body = [](const void* arguments) { target(*static_cast<const A*>(arguments)); };
    body_arguments = arguments;
    gridDim = {blocks[0], blocks[1], blocks[2]};
    blockDim = {threads, 1, 1};
    int failed = 0;
    for (unsigned z = 0; z < blocks[2]; z++) {
        for (unsigned y = 0; y < blocks[1]; y++) {
            for (unsigned x = 0; x < blocks[0]; x++) {
                blockIdx = {x, y, z};
                threadIdx = {0, 0, 0};
                failed |= run_block(threads, has_barriers);
            }
        }
    }
    return failed;
}

namespace mp {

static inline float add(float a, float b) { return a + b; }
static inline double add(double a, double b) { return a + b; }
static inline float subtract(float a, float b) { return a - b; }
static inline double subtract(double a, double b) { return a - b; }
static inline float multiply(float a, float b) { return a * b; }
static inline double multiply(double a, double b) { return a * b; }
static inline float divide(float a, float b) { return a / b; }
static inline double divide(double a, double b) { return a / b; }
static inline float sqrt(float a) { return ::sqrtf(a); }
static inline double sqrt(double a) { return ::sqrt(a); }

static inline unsigned int bits_of(float value) {
    unsigned int bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline float float_of(unsigned int bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline unsigned int multiply_high(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}

static inline float half_to_float(unsigned short bits) {
    const unsigned int sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31) return float_of(sign | 0x7f800000u | fraction << 13);
    const float magnitude = exponent == 0 ? ldexpf(float(fraction), -24)
                                          : ldexpf(float(fraction | 0x400), int(exponent) - 25);
    return sign ? -magnitude : magnitude;
}
static inline unsigned short float_to_half(float value) {
    const unsigned int bits = bits_of(value), sign = bits >> 16 & 0x8000u;
    if (value != value) return (unsigned short)(sign | 0x7e00u);
    const double magnitude = fabs(double(value));
    if (magnitude == 0) return (unsigned short)(sign);
    if (magnitude >= 65520.0) return (unsigned short)(sign | 0x7c00u);
    int exponent = 0;
    frexp(magnitude, &exponent);
    const int unit = (exponent - 11 < -24 ? -24 : exponent - 11);
    const unsigned int steps = (unsigned int)nearbyint(ldexp(magnitude, -unit));
    // A place of the smallest numbers is one, of others as many as their exponents tell.
    const unsigned int number = unit == -24 ? steps : steps + ((unsigned int)(unit + 24) << 10);
    return (unsigned short)(sign | number);
}

template <class T>
static inline T shuffled_down(T value, int delta) {
    return exchange(value, current % WARP + delta < WARP ? current + delta : current);
}
template <class T>
static inline T shuffled_up(T value, int delta) {
    return exchange(value, current % WARP >= unsigned(delta) ? current - delta : current);
}
template <class T>
static inline T shuffled_from(T value, int lane) {
    return exchange(value, current / WARP * WARP + lane);
}

}  // namespace mp
