// One kernel for all chains of a number: threads step through instructions, each a load, a store or a function of
// values that lie in slots, several neighbours at a time, so that what an instruction costs is shared.

constexpr int V = 16 / sizeof(Number);
typedef mp::pack<Number, V> Pack;

struct alignas(16) Arguments {
    mp::u64 count, length;
    char* arrays[ARRAYS];
    Number scalars[SCALARS];
    uint2 instructions[LENGTH];
};

// Neighbours, or one element for all of them; of truth values as numbers.
template <class T>
MP_DEVICE void bring(const char* from, mp::u64 first, mp::u64 count, bool is_one, Pack& to) {
    if (is_one) {
        const Number value = Number(mp::load<T>(from));
#pragma unroll
        for (int k = 0; k < V; k++) to.set(k, value);
        return;
    }
    from += first * sizeof(T);
    mp::pack<T, V> found;
    if (first + V <= count && reinterpret_cast<mp::u64>(from) % sizeof(found) == 0) {
        found.load(from);
    } else {
#pragma unroll
        for (int k = 0; k < V; k++) found.set(k, first + k < count ? mp::load<T>(from + k * sizeof(T)) : T(0));
    }
#pragma unroll
    for (int k = 0; k < V; k++) to.set(k, Number(found.get(k)));
}

template <class T>
MP_DEVICE void take(char* to, mp::u64 first, mp::u64 count, const Pack& from) {
    to += first * sizeof(T);
    mp::pack<T, V> found;
#pragma unroll
    for (int k = 0; k < V; k++) found.set(k, T(from.get(k)));
    if (first + V <= count && reinterpret_cast<mp::u64>(to) % sizeof(found) == 0) {
        found.store(to);
        return;
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
        if (first + k < count) mp::store<T>(to + k * sizeof(T), found.get(k));
    }
}

// Where an operand lies, in packs from the first slot: of each thread its own, or one for all.
MP_DEVICE Pack fetch(const Pack* slots, mp::u32 from) {
    const mp::u32 own = from & COMMON ? 0 : threadIdx.x;
    return slots[(from & (COMMON - 1)) + own];
}

MP_ENTRY_OF(tape, 256, 5)(const MP_CONSTANT Arguments a) {
    __shared__ Pack slots[SLOTS * 256 + SCALARS];
    if (threadIdx.x < SCALARS) {
#pragma unroll
        for (int k = 0; k < V; k++) slots[SLOTS * 256 + threadIdx.x].set(k, a.scalars[threadIdx.x]);
    }
    __syncthreads();
    const mp::u64 step = mp::u64(gridDim.x) * 256 * V;
    for (mp::u64 first = (mp::u64(blockIdx.x) * 256 + threadIdx.x) * V; first < a.count; first += step) {
        for (mp::u32 at = 0; at < mp::u32(a.length); at++) {
            const uint2 word = a.instructions[at];
            const mp::u32 what = word.x & 255, to = word.x >> 8 & 255, from = word.x >> 16;
            const Pack x = fetch(slots, from), y = fetch(slots, word.y & 65535);
            Pack made;
            if (what >= FUNCTIONS) {
                const Pack z = what < TERNARY ? x : fetch(slots, word.y >> 16);
                made = carry_out(what, x, y, z);
            } else if (what == TAKE) {
                take<Number>(a.arrays[to], first, a.count, x);
                continue;
            } else if (what == TAKE_TRUTH) {
                take<bool>(a.arrays[to], first, a.count, x);
                continue;
            } else if (what < BRING_TRUTH) {
                bring<Number>(a.arrays[from], first, a.count, what == BRING_ONE, made);
            } else {
                bring<bool>(a.arrays[from], first, a.count, what == BRING_ONE_TRUTH, made);
            }
            slots[to * 256 + threadIdx.x] = made;
        }
    }
}
