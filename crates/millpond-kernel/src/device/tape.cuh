// One kernel for all chains of a number: threads step through instructions, each a load, a store or a function of
// values that lie in slots, four of a float at a time, so that what an instruction costs is shared.

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

MP_DEVICE Pack fetch(const Arguments& a, const Pack (*slots)[256], const Pack& last, mp::u32 from) {
    if (from == LAST) return last;
    if (from < SLOTS) return slots[from][threadIdx.x];
    Pack all;
#pragma unroll
    for (int k = 0; k < V; k++) all.set(k, a.scalars[from - SLOTS]);
    return all;
}

MP_ENTRY(tape)(const MP_CONSTANT Arguments a) {
    __shared__ Pack slots[SLOTS][256];
    const mp::u64 step = mp::u64(gridDim.x) * 256 * V;
    for (mp::u64 first = (mp::u64(blockIdx.x) * 256 + threadIdx.x) * V; first < a.count; first += step) {
        Pack last;
        for (mp::u32 at = 0; at < a.length; at++) {
            const uint2 word = a.instructions[at];
            const mp::u32 what = word.x & 255, to = word.x >> 8 & 255, from = word.x >> 16 & 255, other = word.x >> 24;
            if (what < TAKE) {
                const bool is_one = what == BRING_ONE || what == BRING_ONE_TRUTH;
                if (what < BRING_TRUTH) bring<Number>(a.arrays[from], first, a.count, is_one, last);
                else bring<bool>(a.arrays[from], first, a.count, is_one, last);
            } else {
                const Pack x = fetch(a, slots, last, from);
                if (what == TAKE) {
                    take<Number>(a.arrays[other], first, a.count, x);
                    continue;
                }
                if (what == TAKE_TRUTH) {
                    take<bool>(a.arrays[other], first, a.count, x);
                    continue;
                }
                const Pack y = what < BINARY ? x : fetch(a, slots, last, other);
                const Pack z = what < TERNARY ? x : fetch(a, slots, last, word.y & 255);
                last = carry_out(what, x, y, z);
            }
            if (to != NOWHERE) slots[to][threadIdx.x] = last;
        }
    }
}
