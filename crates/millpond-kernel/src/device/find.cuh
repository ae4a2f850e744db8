// Where elements stand in a sorted array, by halving. A block keeps some of the array's keys, so that the
// first steps don't wait for memory.

namespace mp::ordering {

// What entries take.
struct find_arguments {
    u64 sorted, wanted;
    const char* elements;
    const char* looked_for;
    // Where the elements' order is told, if they are in order only through it.
    const i64* sorter;
    char* found;
    // Keys that a block keeps: of each so many elements the last one.
    u64 step, samples;
    char* report;
};

// How many keys, of bytes, a block has room for.
constexpr int SAMPLE_BYTES = 32768;

// What is asked: how many elements are below one that is looked for, how many aren't above it, and whether
// there is an equal one.
constexpr int LEFT = 0, RIGHT = 1, MEMBER = 2, OTHER = 3;

template <class T, class Index, int ASKED>
struct finder {
    typedef keyed<T> K;
    typedef typename K::bits bits;
    typedef typename K::key key;
    static constexpr int SAMPLES = SAMPLE_BYTES / sizeof(key), TOGETHER = 4;

    // Whether an element comes before the place that is looked for.
    static MP_DEVICE bool comes_before(key element, key wanted) {
        return ASKED == RIGHT ? !is_before(wanted, element) : is_before(element, wanted);
    }

    // How many of so many keys come before each of some; `key_at` answers the key of a number, which may be
    // beyond the last one.
    template <class F>
    static MP_DEVICE void halve(Index left, const key (&wanted)[TOGETHER], Index (&places)[TOGETHER], F key_at) {
        while (left > 0) {
            const Index half = left / 2 + left % 2;
#pragma unroll
            for (int each = 0; each < TOGETHER; each++) {
                if (key_at(places[each] + half - 1, wanted[each])) places[each] += half;
            }
            left -= half;
        }
    }

    static MP_DEVICE void run(const find_arguments& a, key* samples) {
        const bits* sorted = reinterpret_cast<const bits*>(a.elements);
        const bits* looked_for = reinterpret_cast<const bits*>(a.looked_for);
        const Index count = Index(a.sorted), step = Index(a.step);
        for (Index at = threadIdx.x; at < Index(a.samples); at += THREADS) {
            samples[at] = K::of(sorted[(at + 1) * step - 1]);
        }
        __syncthreads();
        const u64 stride = u64(gridDim.x) * THREADS * TOGETHER;
        for (u64 first = u64(blockIdx.x) * THREADS * TOGETHER + threadIdx.x; first < a.wanted; first += stride) {
            key wanted[TOGETHER];
            Index places[TOGETHER];
            bool is_nan[TOGETHER];
#pragma unroll
            for (int each = 0; each < TOGETHER; each++) {
                const u64 at = first + each * THREADS;
                const bits element = K::load(looked_for[at < a.wanted ? at : first]);
                wanted[each] = K::of(element);
                is_nan[each] = K::is_nan(element);
                places[each] = 0;
            }
            halve(Index(a.samples), wanted, places, [&](Index place, const key& own) {
                return place < Index(a.samples) && comes_before(samples[place], own);
            });
#pragma unroll
            for (int each = 0; each < TOGETHER; each++) places[each] *= step;
            // Before the next of the samples, or the end.
            halve(a.samples > 0 ? step - 1 : count, wanted, places, [&](Index place, const key& own) {
                return place < count && comes_before(K::of(sorted[place]), own);
            });
#pragma unroll
            for (int each = 0; each < TOGETHER; each++) {
                const u64 at = first + each * THREADS;
                if (at >= a.wanted) continue;
                if constexpr (ASKED >= MEMBER) {
                    const Index place = places[each];
                    const bool is_there = !is_nan[each] && place < count && is_same(K::of(sorted[place]), wanted[each]);
                    a.found[at] = is_there == (ASKED == MEMBER);
                } else {
                    reinterpret_cast<i64*>(a.found)[at] = i64(places[each]);
                }
            }
        }
    }
};

// The same of an array that is in order only through positions, which may be wrong.
template <class T, int ASKED>
MP_DEVICE void find_through(const find_arguments& a) {
    typedef keyed<T> K;
    typedef typename K::bits bits;
    const bits* sorted = reinterpret_cast<const bits*>(a.elements);
    const u64 stride = u64(gridDim.x) * THREADS;
    for (u64 at = u64(blockIdx.x) * THREADS + threadIdx.x; at < a.wanted; at += stride) {
        const typename K::key wanted = K::of(K::load(reinterpret_cast<const bits*>(a.looked_for)[at]));
        u64 low = 0, high = a.sorted;
        while (low < high) {
            const u64 middle = low + (high - low) / 2;
            const i64 index = checked(a.sorter[middle], i64(a.sorted), a.report, u64(0));
            const typename K::key found = K::of(sorted[index]);
            if (ASKED == RIGHT ? !is_before(wanted, found) : is_before(found, wanted)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        reinterpret_cast<i64*>(a.found)[at] = i64(low);
    }
}

}  // namespace mp::ordering

