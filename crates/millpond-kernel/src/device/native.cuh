// What only the device's compiler has: rounding that nobody fuses, and conversions of 16 bits.

// Templates serve unsigned numbers too, and coordinates aren't needed by each array.
#pragma nv_diag_suppress 177, 186

#define MP_DEVICE __device__ __forceinline__
// A function that is called rather than put in place, and an argument that is read where it lies.
#define MP_APART static __device__ __noinline__
#define MP_CONSTANT __grid_constant__
#define MP_ENTRY(name) extern "C" __global__ void __launch_bounds__(256) name
// One whose blocks have so many threads, and so many of which fit a processor.
#define MP_ENTRY_OF(name, threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks) name

namespace mp {

// These intrinsics are never contracted to a fused multiply-add, so that results are those of the
// host to the bit.
MP_DEVICE float add(float a, float b) { return __fadd_rn(a, b); }
MP_DEVICE double add(double a, double b) { return __dadd_rn(a, b); }
MP_DEVICE float subtract(float a, float b) { return __fadd_rn(a, -b); }
MP_DEVICE double subtract(double a, double b) { return __dadd_rn(a, -b); }
MP_DEVICE float multiply(float a, float b) { return __fmul_rn(a, b); }
MP_DEVICE double multiply(double a, double b) { return __dmul_rn(a, b); }
MP_DEVICE float divide(float a, float b) { return __fdiv_rn(a, b); }
MP_DEVICE double divide(double a, double b) { return __ddiv_rn(a, b); }
MP_DEVICE float sqrt(float a) { return __fsqrt_rn(a); }
MP_DEVICE double sqrt(double a) { return __dsqrt_rn(a); }

MP_DEVICE float half_to_float(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

MP_DEVICE unsigned short float_to_half(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

MP_DEVICE unsigned int bits_of(float value) { return __float_as_uint(value); }
MP_DEVICE float float_of(unsigned int bits) { return __uint_as_float(bits); }
MP_DEVICE unsigned int multiply_high(unsigned int a, unsigned int b) { return __umulhi(a, b); }

// Hands words to other threads of the warp, by one of the device's shuffles.
template <class T, class F>
MP_DEVICE T shuffled(T value, F shuffle) {
    union words {
        T value;
        unsigned int each[(sizeof(T) + 3) / 4];
    } all;
    all.value = value;
#pragma unroll
    for (unsigned int word = 0; word < (sizeof(T) + 3) / 4; word++) all.each[word] = shuffle(all.each[word]);
    return all.value;
}

// The value of the thread so many lanes further on in the warp, or back, or of a lane.
template <class T>
MP_DEVICE T shuffled_down(T value, int delta) {
    return shuffled(value, [=](unsigned int word) { return __shfl_down_sync(0xffffffffu, word, delta); });
}
template <class T>
MP_DEVICE T shuffled_up(T value, int delta) {
    return shuffled(value, [=](unsigned int word) { return __shfl_up_sync(0xffffffffu, word, delta); });
}
template <class T>
MP_DEVICE T shuffled_from(T value, int lane) {
    return shuffled(value, [=](unsigned int word) { return __shfl_sync(0xffffffffu, word, lane); });
}

}  // namespace mp
