// Long rows, sorted by one sweep over all elements for each digit.
//
// All digits are counted beforehand, so that a sweep knows where each digit begins in its row. Blocks take the
// tiles of a row in their order; how many elements of earlier tiles have each digit, a tile learns from those
// before it: each says what it has itself as soon as it knows, and what all up to it have.

namespace mp::ordering {

// What entries take.
struct sweep_arguments {
    u64 rows, length;
    // Tiles of a row, and blocks that count the digits of a row.
    u64 tiles, pieces;
    // Elements, and the positions that they had, null before the first sweep; null if not to be written.
    const char* from;
    char* to;
    const char* from_positions;
    char* to_positions;
    i64* positions;
    // The number of the next tile for each sweep; for each row and sweep how many elements have each digit; for
    // each tile what is said of each digit, in this sweep and in the next; and words of 16 bytes that are zero
    // in the beginning.
    u32* tickets;
    char* digits;
    char* said;
    char* said_next;
    u64 cleared;
    u32 sweep;
    u32 backwards;
};

MP_DEVICE void clear(const sweep_arguments& a) {
    uint4* words = reinterpret_cast<uint4*>(a.tickets);
    const u64 step = u64(gridDim.x) * THREADS;
    for (u64 at = u64(blockIdx.x) * THREADS + threadIdx.x; at < a.cleared; at += step) words[at] = {0, 0, 0, 0};
}

// ---- Counting digits ----

constexpr int COUNTERS = 4096;

// Of a digit there are as many counters as there is room for: elements with few different digits would wait
// for one another.
template <class T, class Count>
MP_DEVICE void count_digits(const sweep_arguments& a, u32* shared) {
    typedef keyed<T> K;
    typedef typename K::bits bits;
    constexpr int DIGITS = K::DIGITS, COPIES = COUNTERS / BINS / DIGITS, UNROLL = 8;
    for (int at = threadIdx.x; at < COUNTERS; at += THREADS) shared[at] = 0;
    __syncthreads();
    const u64 row = blockIdx.x / a.pieces, piece = blockIdx.x - row * a.pieces;
    const bits* from = reinterpret_cast<const bits*>(a.from) + row * a.length;
    const u64 step = a.pieces * THREADS * UNROLL;
    for (u64 first = piece * THREADS * UNROLL + threadIdx.x; first < a.length; first += step) {
        bits elements[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if (first + u * THREADS < a.length) elements[u] = from[first + u * THREADS];
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if (first + u * THREADS >= a.length) continue;
            const typename K::key key = turned(K::of(elements[u]), a.backwards);
#pragma unroll
            for (int digit = 0; digit < DIGITS; digit++) {
                const u32 bin = digit * BINS + byte_of(key, digit);
                fetch_add(&shared[bin * COPIES + threadIdx.x % COPIES], 1u);
            }
        }
    }
    __syncthreads();
    Count* digits = reinterpret_cast<Count*>(a.digits) + row * DIGITS * BINS;
#pragma unroll
    for (int digit = 0; digit < DIGITS; digit++) {
        const u32 bin = digit * BINS + threadIdx.x;
        u32 sum = 0;
        for (int copy = 0; copy < COPIES; copy++) sum += shared[bin * COPIES + copy];
        if (sum > 0) fetch_add(&digits[bin], Count(sum));
    }
}

// ---- Sweeps ----

// What a tile has itself, and what all up to it have: the highest bits tell.
template <class Count>
struct saying {
    static constexpr Count OWN = Count(1) << (8 * sizeof(Count) - 2), ALL = OWN << 1, NUMBER = OWN - 1;
};

// How many elements of earlier tiles of the row have the digit that is the thread's number. Several tiles are
// asked at a time, as each answer is long in coming.
template <class Count>
MP_DEVICE Count earlier(Count* said, u32 tile, u32 own) {
    typedef saying<Count> S;
    constexpr u32 TOGETHER = 4;
    Count sum = 0;
    if (tile == 0) return sum;
    bool is_all = false;
    for (const Count* other = said - BINS; !is_all; other -= TOGETHER * BINS) {
        Count words[TOGETHER];
#pragma unroll
        for (u32 each = 0; each < TOGETHER; each++) {
            words[each] = each < tile ? peek(other - each * BINS) : S::ALL;
        }
#pragma unroll
        for (u32 each = 0; each < TOGETHER; each++) {
            if (is_all) continue;
            while (words[each] == 0) words[each] = peek(other - each * BINS);
            sum += words[each] & S::NUMBER;
            is_all = (words[each] & S::ALL) != 0;
        }
        tile -= tile < TOGETHER ? tile : TOGETHER;
    }
    post(said, Count(S::ALL | (sum + own)));
    return sum;
}

template <class T, int ITEMS, class Count, bool POSITIONS>
struct swept {
    counters digits;
    Count sums[WARPS];
    // What is added to a place in the tile, by digit, for the place in the row.
    Count shifts[BINS];
    u32 ticket;
    union {
        typename keyed<T>::bits elements[ITEMS * THREADS];
        Count positions[POSITIONS ? ITEMS * THREADS : 1];
    };
};

// A tile of a row; the last one may have fewer elements than there is room for.
template <class T, int ITEMS, class Count, bool POSITIONS, bool IS_FULL>
MP_DEVICE void sweep_tile(const sweep_arguments& a, swept<T, ITEMS, Count, POSITIONS>& shared, u64 row, u32 tile) {
    typedef keyed<T> K;
    typedef typename K::bits bits;
    typedef saying<Count> S;
    constexpr u32 TILE = ITEMS * THREADS;
    const u64 begin = row * a.length, first = u64(tile) * TILE;
    const u32 count = IS_FULL ? TILE : u32(a.length - first);
    const u64 words = u64(shared.ticket) * BINS + threadIdx.x;
    Count* said = reinterpret_cast<Count*>(a.said) + words;
    reinterpret_cast<Count*>(a.said_next)[words] = 0;

    bits elements[ITEMS];
    const bits* from = reinterpret_cast<const bits*>(a.from) + begin + first;
#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        const u32 at = turn_of(item, ITEMS);
        elements[item] = K::load(from[IS_FULL || at < count ? at : 0]);
    }
    Count positions[POSITIONS ? ITEMS : 1];
    if constexpr (POSITIONS) {
        const Count* known = reinterpret_cast<const Count*>(a.from_positions);
        const bool is_known = known != nullptr;
        known += begin + first;
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            const u32 at = turn_of(item, ITEMS);
            positions[item] = Count(first + at);
            if (is_known) positions[item] = known[IS_FULL || at < count ? at : 0];
        }
    }
    u32 places[ITEMS];
#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        places[item] = byte_of(turned(K::of(elements[item]), a.backwards), a.sweep);
        // What is behind the end of the row comes last.
        if (!IS_FULL && turn_of(item, ITEMS) >= count) places[item] = BINS - 1;
    }
    u32 lower;
    const u32 own = place_by_digit(places, shared.digits, lower);
    post(said, Count((tile == 0 ? S::ALL : S::OWN) | own));
    const Count* digits = reinterpret_cast<const Count*>(a.digits) + (row * K::DIGITS + a.sweep) * BINS;
    const Count start = sum_before(digits[threadIdx.x], shared.sums);
#pragma unroll
    for (int item = 0; item < ITEMS; item++) shared.elements[places[item]] = elements[item];
    shared.shifts[threadIdx.x] = start + earlier(said, tile, own) - lower;
    __syncthreads();

    // By the order of digits, so that neighbours write to neighbours.
    bits* to = reinterpret_cast<bits*>(a.to) + begin;
    Count targets[POSITIONS ? ITEMS : 1];
#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        const u32 at = item * THREADS + threadIdx.x;
        const bits element = shared.elements[at];
        const u32 digit = byte_of(turned(K::of(element), a.backwards), a.sweep);
        const Count target = shared.shifts[digit] + at;
        if constexpr (POSITIONS) targets[item] = target;
        if (a.to && (IS_FULL || at < count)) to[target] = element;
    }
    if constexpr (POSITIONS) {
        __syncthreads();
#pragma unroll
        for (int item = 0; item < ITEMS; item++) shared.positions[places[item]] = positions[item];
        __syncthreads();
        Count* to_positions = reinterpret_cast<Count*>(a.to_positions) + begin;
        i64* result = a.positions + begin;
        const bool is_last = a.positions != nullptr;
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            const u32 at = item * THREADS + threadIdx.x;
            const Count position = shared.positions[at];
            if (!IS_FULL && at >= count) continue;
            if (is_last) {
                result[targets[item]] = i64(position);
            } else {
                to_positions[targets[item]] = position;
            }
        }
    }
}

template <class T, int ITEMS, class Count, bool POSITIONS>
MP_DEVICE void sweep(const sweep_arguments& a, swept<T, ITEMS, Count, POSITIONS>& shared) {
    if (threadIdx.x == 0) shared.ticket = fetch_add(&a.tickets[a.sweep], 1u);
    __syncthreads();
    const u64 row = shared.ticket / a.tiles;
    const u32 tile = u32(shared.ticket - row * a.tiles);
    if (a.length - u64(tile) * (ITEMS * THREADS) >= ITEMS * THREADS) {
        sweep_tile<T, ITEMS, Count, POSITIONS, true>(a, shared, row, tile);
    } else {
        sweep_tile<T, ITEMS, Count, POSITIONS, false>(a, shared, row, tile);
    }
}

}  // namespace mp::ordering

