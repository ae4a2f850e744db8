// Rows that are sorted within a block, several of them at a time where they are short. Elements stay where
// they are; what is put in order are their numbers.

namespace mp::ordering {

// What entries take.
struct rows_arguments {
    u64 rows, length;
    const char* from;
    // Null if they aren't wanted.
    char* values;
    i64* positions;
    // Rows of a block.
    u32 group;
    u32 backwards;
};

// Loads rows from a number on, and returns how many elements that are.
template <class T>
MP_DEVICE u32 load_rows(const rows_arguments& a, u64 first, typename keyed<T>::bits* elements) {
    typedef typename keyed<T>::bits bits;
    const u64 rows = a.rows - first < a.group ? a.rows - first : a.group;
    const u32 count = u32(rows * a.length);
    const bits* from = reinterpret_cast<const bits*>(a.from) + first * a.length;
    for (u32 at = threadIdx.x; at < count; at += THREADS) elements[at] = keyed<T>::load(from[at]);
    __syncthreads();
    return count;
}

// Writes them in order.
template <class B>
MP_DEVICE void store_rows(const rows_arguments& a, u64 first, u32 count, const B* elements, const u16* order) {
    const u64 begin = first * a.length;
    const u32 length = u32(a.length);
    __syncthreads();
    for (u32 at = threadIdx.x; at < count; at += THREADS) {
        const u32 number = order[at];
        if (a.values) reinterpret_cast<B*>(a.values)[begin + at] = elements[number];
        if (a.positions) a.positions[begin + at] = number - at / length * length;
    }
    __syncthreads();
}

// Short rows: an element's place is the number of those that come before it.
template <class T, int TILE>
struct counted_rows {
    typedef keyed<T> K;
    typename K::bits elements[TILE];
    typename K::key keys[TILE];
    u16 order[TILE];
};

template <class T, int TILE>
MP_DEVICE void count_rows(const rows_arguments& a, counted_rows<T, TILE>& shared) {
    typedef keyed<T> K;
    const u32 length = u32(a.length);
    for (u64 first = u64(blockIdx.x) * a.group; first < a.rows; first += u64(gridDim.x) * a.group) {
        const u32 count = load_rows<T>(a, first, shared.elements);
        for (u32 at = threadIdx.x; at < count; at += THREADS) {
            shared.keys[at] = turned(K::of(shared.elements[at]), a.backwards);
        }
        __syncthreads();
        for (u32 at = threadIdx.x; at < count; at += THREADS) {
            const u32 begin = at / length * length;
            const typename K::key key = shared.keys[at];
            u32 place = begin;
            for (u32 other = begin; other < at; other++) place += !is_before(key, shared.keys[other]);
            for (u32 other = at + 1; other < begin + length; other++) place += is_before(shared.keys[other], key);
            shared.order[place] = u16(at);
        }
        store_rows(a, first, count, shared.elements, shared.order);
    }
}

// Longer ones: digit by digit, and in the end by their rows.
template <class T, int ITEMS>
struct sorted_rows {
    counters digits;
    typename keyed<T>::bits elements[ITEMS * THREADS];
    u16 order[ITEMS * THREADS];
    // Which bytes of keys differ.
    u32 differing;
};

template <class T, int ITEMS>
MP_DEVICE void sort_rows(const rows_arguments& a, sorted_rows<T, ITEMS>& shared) {
    typedef keyed<T> K;
    for (u64 first = u64(blockIdx.x) * a.group; first < a.rows; first += u64(gridDim.x) * a.group) {
        if (threadIdx.x == 0) shared.differing = a.group > 1 ? 1u << K::DIGITS : 0;
        const u32 count = load_rows<T>(a, first, shared.elements);
        const typename K::key one = K::of(shared.elements[0]);
        u32 differing = 0;
        for (u32 at = threadIdx.x; at < count; at += THREADS) {
            const typename K::key key = K::of(shared.elements[at]);
#pragma unroll
            for (int byte = 0; byte < K::DIGITS; byte++) {
                differing |= u32(byte_of(key, byte) != byte_of(one, byte)) << byte;
            }
        }
        if (differing) fetch_or(&shared.differing, differing);
        u32 order[ITEMS];
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            order[item] = turn_of(item, ITEMS);
            shared.order[order[item]] = u16(order[item]);
        }
        __syncthreads();
        differing = shared.differing;
        for (int pass = 0; pass <= K::DIGITS; pass++) {
            if ((differing >> pass & 1) == 0) continue;
            u32 places[ITEMS];
#pragma unroll
            for (int item = 0; item < ITEMS; item++) {
                const u32 number = order[item];
                // What no row has comes last.
                places[item] = BINS - 1;
                if (number < count) {
                    places[item] = pass == K::DIGITS
                                       ? number / u32(a.length)
                                       : byte_of(turned(K::of(shared.elements[number]), a.backwards), pass);
                }
            }
            u32 lower;
            place_by_digit(places, shared.digits, lower);
#pragma unroll
            for (int item = 0; item < ITEMS; item++) shared.order[places[item]] = u16(order[item]);
            __syncthreads();
#pragma unroll
            for (int item = 0; item < ITEMS; item++) order[item] = shared.order[turn_of(item, ITEMS)];
        }
        store_rows(a, first, count, shared.elements, shared.order);
    }
}

}  // namespace mp::ordering

