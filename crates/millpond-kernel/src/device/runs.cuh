// Runs of equal elements in a sorted array, piece by piece. NaNs equal nothing.

namespace mp::ordering {

// What is known of a piece: how many runs begin in it, and where the last one does; then the same of all
// pieces before it.
struct runs_of {
    u64 count, last;
};

// What entries take.
struct runs_arguments {
    u64 size, pieces, runs;
    const char* sorted;
    const i64* positions;
    runs_of* table;
    // How many there are in all.
    i64* count;
    // What is wanted of them, or null: the first element, where it came from, how many there are, and for each
    // position the run that has it.
    char* values;
    i64* indices;
    i64* counts;
    i64* inverse;
    char* report;
};

MP_DEVICE runs_of joined(runs_of a, runs_of b) { return {a.count + b.count, b.count > 0 ? b.last : a.last}; }

// What threads of the block before this one have, in their order, and all together in `all`.
MP_DEVICE runs_of runs_before(runs_of own, runs_of before, runs_of (&shared)[WARPS], runs_of& all) {
    runs_of sum = own;
#pragma unroll
    for (int delta = 1; delta < LANES; delta *= 2) {
        const runs_of other = {shuffled_up(sum.count, delta), shuffled_up(sum.last, delta)};
        if (lane() >= u32(delta)) sum = joined(other, sum);
    }
    __syncthreads();
    if (lane() == LANES - 1) shared[warp()] = sum;
    const runs_of previous = {shuffled_up(sum.count, 1), shuffled_up(sum.last, 1)};
    __syncthreads();
    all = before;
#pragma unroll
    for (int other = 0; other < WARPS; other++) {
        if (u32(other) == warp()) before = all;
        all = joined(all, shared[other]);
    }
    return lane() > 0 ? joined(before, previous) : before;
}

// Elements with those before them, some of a thread's: all are fetched before any is looked at.
template <class T, int ITEMS>
struct neighbours {
    typedef keyed<T> K;
    typename K::bits own[ITEMS], before[ITEMS];

    // Numbers are so many apart.
    MP_DEVICE void load(const char* from, u64 first, u32 step, u64 size) {
        const auto* sorted = reinterpret_cast<const typename K::bits*>(from);
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            const u64 number = first + item * step, at = number < size ? number : size - 1;
            own[item] = sorted[at];
            before[item] = sorted[at == 0 ? 0 : at - 1];
        }
    }
    // Whether a run begins with one of them.
    MP_DEVICE bool begins(int item, u64 number, u64 size) const {
        const bool differs = K::is_nan(own[item]) || !is_same(K::of(own[item]), K::of(before[item]));
        return number < size && (number == 0 || differs);
    }
};

// Elements that a thread looks at together.
constexpr int BATCH = 8;

template <class T, int PIECE>
MP_DEVICE void count_runs(const runs_arguments& a, runs_of (&shared)[WARPS]) {
    for (u64 piece = blockIdx.x; piece < a.pieces; piece += gridDim.x) {
        // Threads take elements in turns: the last run begins where any of them says the latest.
        u64 count = 0, last = 0;
        for (int batch = 0; batch < PIECE / THREADS / BATCH; batch++) {
            const u64 first = piece * PIECE + batch * BATCH * THREADS + threadIdx.x;
            neighbours<T, BATCH> elements;
            elements.load(a.sorted, first, THREADS, a.size);
#pragma unroll
            for (int item = 0; item < BATCH; item++) {
                const u64 number = first + item * THREADS;
                if (elements.begins(item, number, a.size)) {
                    count += 1;
                    last = number;
                }
            }
        }
#pragma unroll
        for (int delta = 1; delta < LANES; delta *= 2) {
            const u64 other = shuffled_up(count, delta), later = shuffled_up(last, delta);
            if (lane() >= u32(delta)) {
                count += other;
                last = later > last ? later : last;
            }
        }
        if (lane() == LANES - 1) shared[warp()] = {count, last};
        __syncthreads();
        if (threadIdx.x == 0) {
            runs_of all = shared[0];
            for (int other = 1; other < WARPS; other++) {
                const runs_of more = shared[other];
                all = {all.count + more.count, more.last > all.last ? more.last : all.last};
            }
            a.table[piece] = all;
        }
        __syncthreads();
    }
}

// Of each piece what those before it have, by one block.
MP_DEVICE void add_up_runs(const runs_arguments& a, runs_of (&shared)[WARPS]) {
    constexpr int EACH = 8;
    runs_of before = {0, 0};
    for (u64 first = 0; first < a.pieces; first += THREADS * EACH) {
        runs_of* own = a.table + first + threadIdx.x * EACH;
        const u64 left = a.pieces - first, skipped = threadIdx.x * EACH;
        const int count = left <= skipped ? 0 : left - skipped < EACH ? int(left - skipped) : EACH;
        runs_of each[EACH], sum = {0, 0}, all;
#pragma unroll
        for (int at = 0; at < EACH; at++) {
            each[at] = runs_of{0, 0};
            if (at < count) each[at] = own[at];
            sum = joined(sum, each[at]);
        }
        runs_of next = runs_before(sum, before, shared, all);
#pragma unroll
        for (int at = 0; at < EACH; at++) {
            if (at < count) own[at] = next;
            next = joined(next, each[at]);
        }
        before = all;
    }
    if (threadIdx.x == 0) *a.count = i64(before.count);
}

template <class T, int PIECE>
MP_DEVICE void write_runs(const runs_arguments& a, runs_of (&shared)[WARPS]) {
    typedef keyed<T> K;
    typedef typename K::bits bits;
    constexpr int ITEMS = PIECE / THREADS;
    const bits* sorted = reinterpret_cast<const bits*>(a.sorted);
    for (u64 piece = blockIdx.x; piece < a.pieces; piece += gridDim.x) {
        const u64 first = piece * PIECE + warp() * ITEMS * LANES;
        // Which lanes' elements begin a run, for each item of the warp.
        u32 beginnings[ITEMS];
        runs_of own = {0, 0};
#pragma unroll
        for (int batch = 0; batch < ITEMS; batch += BATCH) {
            neighbours<T, BATCH> elements;
            elements.load(a.sorted, first + batch * LANES + lane(), LANES, a.size);
#pragma unroll
            for (int item = 0; item < BATCH; item++) {
                const u64 begin = first + (batch + item) * LANES;
                const u32 all = ballot(elements.begins(item, begin + lane(), a.size));
                beginnings[batch + item] = all;
                if (all != 0) own = {own.count + ones(all), begin + highest(all)};
            }
        }
        __syncthreads();
        if (lane() == 0) shared[warp()] = own;
        __syncthreads();
        runs_of before = a.table[piece];
        for (u32 other = 0; other < warp(); other++) before = joined(before, shared[other]);
        const u32 lanes_before = (1u << lane()) - 1;
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            const u64 number = first + item * LANES + lane();
            const u32 all = beginnings[item], earlier = all & lanes_before;
            const bool is_first = all >> lane() & 1;
            // The run that the element before this one is of, counted from one, and where it begins.
            const u64 run = before.count + ones(earlier);
            const u64 begin = earlier ? first + item * LANES + highest(earlier) : before.last;
            if (number < a.size) {
                if (run + is_first > a.runs) {
                    tell(a.report, run, number);
                } else {
                    if (is_first) {
                        reinterpret_cast<bits*>(a.values)[run] = sorted[number];
                        if (a.indices) a.indices[run] = a.positions[number];
                        if (a.counts && run > 0) a.counts[run - 1] = i64(number - begin);
                    }
                    if (a.counts && number + 1 == a.size) {
                        a.counts[run + is_first - 1] = i64(a.size - (is_first ? number : begin));
                    }
                    if (a.inverse) {
                        const u64 position = u64(a.positions[number]);
                        if (position < a.size) a.inverse[position] = i64(run + is_first - 1);
                    }
                }
            }
            if (all != 0) before = {before.count + ones(all), first + item * LANES + highest(all)};
        }
    }
}

}  // namespace mp::ordering

