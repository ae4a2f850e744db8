// Masks: how many elements each block of one selects, and what becomes of these.
//
// `K` is the kernel: which elements of the mask are true, and where elements of the array and of the packed
// side are. A block of threads takes a block of the mask, and each thread some neighbours.

namespace mp {

typedef scan_sum<u32> numbers;

// The elements of a block of the mask that fall to a thread, a bit for each that is true.
template <class K>
struct selection {
    typedef typename K::Position Index;
    static constexpr int EACH = (K::BLOCK + THREADS - 1) / THREADS;
    static_assert(EACH <= 32, "as many as bits");

    static MP_DEVICE u32 bits(const K& kernel, u64 block) {
        const u64 begin = block * K::BLOCK + threadIdx.x * EACH;
        const u64 end = min(kernel.size(), (block + 1) * K::BLOCK);
        u32 found = 0;
        if constexpr (EACH == 16) {
            const char* from = kernel.follows(begin);
            if (begin + EACH <= end && from != nullptr && reinterpret_cast<u64>(from) % 16 == 0) {
                pack<u8, 16> bytes;
                bytes.load(from);
#pragma unroll
                for (int k = 0; k < EACH; k++) found |= u32(bytes.each[k] != 0) << k;
                return found;
            }
        }
        for (int k = 0; k < EACH && begin + k < end; k++) found |= u32(kernel.is_true(Index(begin + k))) << k;
        return found;
    }
};

// Writes how many elements each block of the mask selects.
template <class K, class A>
MP_DEVICE void count_blocks(const A& a, u32* totals) {
    const K kernel(a);
    for (u64 block = blockIdx.x; block < a.blocks; block += gridDim.x) {
        const u32 own = u32(__popc(selection<K>::bits(kernel, block)));
        const u32 all = among_threads<numbers>(own, totals).all;
        if (threadIdx.x == 0) write(a.counts + block * 8, i64(all));
    }
}

// Turns these numbers into how many come before each block, and writes how many there are in all. There
// is one block of threads.
template <class A>
MP_DEVICE void sum_counts(const A& a, u64* totals) {
    constexpr int EACH = 8;
    u64 before = 0;
    for (u64 begin = 0; begin < a.blocks; begin += THREADS * EACH) {
        u64 up_to[EACH], run = 0;
        const u64 first = begin + threadIdx.x * EACH;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            up_to[k] = run;
            if (first + k < a.blocks) run += u64(read<i64>(a.counts + (first + k) * 8));
        }
        const around<scan_sum<u64>> others = among_threads<scan_sum<u64>>(run, totals);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (first + k < a.blocks) write(a.counts + (first + k) * 8, i64(before + others.before + up_to[k]));
        }
        before += others.all;
    }
    if (threadIdx.x == 0) write(a.counts + a.blocks * 8, i64(before));
}

// What is told of a mask: it doesn't select as many as there are values, or another number than when it was
// counted.
constexpr u64 MISFIT = 0, CHANGED = 1;

// How many elements the packed side has for those that are selected.
enum Supply { EACH_ONE, CYCLE, ONE_FOR_ALL };

// Moves what a mask selects. A block of threads lists what its block of the mask selects, and moves these
// elements, each along the axes that the mask doesn't stand for, or a piece of them.
template <class K, class A>
MP_DEVICE void select_blocks(const A& a, u16* list, u32* totals) {
    typedef typename K::Position Index;
    constexpr int AHEAD = 4;
    const K kernel(a);
    if (K::SUPPLY != ONE_FOR_ALL && K::CHECKS) {
        const u64 selected = u64(read<i64>(a.counts + a.blocks * 8));
        const bool fits = K::SUPPLY == EACH_ONE ? selected == a.given : selected == 0 || a.given > 0;
        if (!fits) {
            if (blockIdx.x == 0 && threadIdx.x == 0) tell(a.report, MISFIT, selected);
            return;
        }
    }
    for (u64 work = blockIdx.x; work < a.blocks * a.pieces; work += gridDim.x) {
        const u64 block = work / a.pieces, first_kept = (work - block * a.pieces) * a.piece;
        const u32 kept = u32(min(u64(a.piece), a.kept - first_kept));
        u32 bits = selection<K>::bits(kernel, block);
        const around<numbers> others = among_threads<numbers>(u32(__popc(bits)), totals);
        u32 at = others.before, found = others.all;
        for (int k = 0; bits != 0; k++, bits >>= 1) {
            if (bits & 1) list[at++] = u16(threadIdx.x * selection<K>::EACH + k);
        }
        u64 first = 0;
        if (K::SUPPLY != ONE_FOR_ALL) {
            first = u64(read<i64>(a.counts + block * 8));
            const u64 counted = u64(read<i64>(a.counts + block * 8 + 8)) - first;
            if (K::SUPPLY == EACH_ONE && counted != found) {
                if (threadIdx.x == 0) tell(a.report, CHANGED, found);
                found = u32(min(u64(found), counted));
            }
        }
        __syncthreads();
        const u32 all = found * kept;
        for (u32 begin = threadIdx.x; begin < all; begin += AHEAD * THREADS) {
            typename K::Element element[AHEAD];
            char* to[AHEAD];
#pragma unroll
            for (int ahead = 0; ahead < AHEAD; ahead++) {
                const u32 number = begin + ahead * THREADS;
                if (number < all) {
                    // Neighbouring threads take what lies closer together.
                    u32 selected = number, other = 0;
                    if (K::KEPT > 0) {
                        const u32 by = K::KEPT_IS_INNER ? kept : found;
                        const u32 quotient = number / by, rest = number - quotient * by;
                        selected = K::KEPT_IS_INNER ? quotient : rest;
                        other = K::KEPT_IS_INNER ? rest : quotient;
                    }
                    const Index place = Index(block * K::BLOCK + list[selected]);
                    u64 packed = K::SUPPLY == ONE_FOR_ALL ? 0 : first + selected;
                    if (K::SUPPLY == CYCLE && packed >= a.given) packed %= a.given;
                    to[ahead] = kernel.move(element[ahead], place, packed, Index(first_kept + other));
                }
            }
#pragma unroll
            for (int ahead = 0; ahead < AHEAD; ahead++) {
                if (begin + ahead * THREADS < all) element[ahead].store(to[ahead]);
            }
        }
        __syncthreads();
    }
}

}  // namespace mp
