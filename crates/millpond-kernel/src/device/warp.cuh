// What the threads of a warp tell each other, and words that blocks hand on while they run: the device's own.

namespace mp::ordering {

MP_DEVICE u32 ones(u32 word) { return __popc(word); }

// The number of the highest bit that is set.
MP_DEVICE u32 highest(u32 word) { return 31 - __clz(word); }

// The lanes of which it is true.
MP_DEVICE u32 ballot(bool truth) { return __ballot_sync(0xffffffffu, truth); }

// The lanes whose numbers have the same lowest bits as this one's.
template <int BITS>
MP_DEVICE u32 peers(u32 number) {
    u32 mask = 0xffffffffu;
#pragma unroll
    for (int bit = 0; bit < BITS; bit++) {
        // Four instructions, which the compiler doesn't find.
        u32 with;
        asm volatile("{ .reg .pred is_set;\n"
                     "and.b32 %0, %1, %2;\n"
                     "setp.ne.u32 is_set, %0, 0;\n"
                     "vote.sync.ballot.b32 %0, is_set, 0xffffffff;\n"
                     "@!is_set not.b32 %0, %0; }"
                     : "=r"(with)
                     : "r"(number), "r"(1u << bit));
        mask &= with;
    }
    return mask;
}

// The value of the thread so many lanes before in the warp; without one, its own.
MP_DEVICE u32 shuffled_up(u32 value, int delta) { return __shfl_up_sync(0xffffffffu, value, delta); }
MP_DEVICE u64 shuffled_up(u64 value, int delta) { return __shfl_up_sync(0xffffffffu, value, delta); }

// Adds to a word that others add to as well, and returns what it was.
MP_DEVICE u32 fetch_add(u32* at, u32 value) { return atomicAdd(at, value); }
MP_DEVICE u64 fetch_add(u64* at, u64 value) { return atomicAdd(at, value); }
MP_DEVICE u32 fetch_or(u32* at, u32 bits) { return atomicOr(at, bits); }

// A word that another block writes meanwhile. It stands for itself: nothing else is known to be written.
MP_DEVICE u32 peek(const u32* at) {
    u32 word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}
MP_DEVICE u64 peek(const u64* at) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}
MP_DEVICE void post(u32* at, u32 word) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
MP_DEVICE void post(u64* at, u64 word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}

}  // namespace mp::ordering

