// Threads of a block that put items in order by one digit after the other: a stable sort from the lowest
// digit on. Items of a block come in the order of warps, of the items of a thread, and of lanes.

namespace mp::ordering {

constexpr int LANES = 32, WARPS = 8, THREADS = LANES * WARPS, BINS = 256;

MP_DEVICE u32 lane() { return threadIdx.x % LANES; }
MP_DEVICE u32 warp() { return threadIdx.x / LANES; }

// What threads of the block before this one have, in all; `shared` has a word for each warp. Twice in a row
// it takes a barrier between them.
template <class N>
MP_DEVICE N sum_before(N value, N* shared) {
    N sum = value;
#pragma unroll
    for (int delta = 1; delta < LANES; delta *= 2) {
        const N other = shuffled_up(sum, delta);
        if (lane() >= u32(delta)) sum += other;
    }
    if (lane() == LANES - 1) shared[warp()] = sum;
    __syncthreads();
    N before = sum - value;
#pragma unroll
    for (int other = 0; other < WARPS; other++) {
        if (u32(other) < warp()) before += shared[other];
    }
    return before;
}

// Where an item of a thread comes in the order of the block.
MP_DEVICE u32 turn_of(int item, int items) { return (warp() * items + item) * LANES + lane(); }

// How many items of each warp have each digit, and then where the first of them go.
struct counters {
    u32 counts[WARPS][BINS];
    u32 sums[WARPS];
};

// Takes the digits of a thread's items, and gives their places in the block in return. Answers how many items
// have the digit that is the thread's number, and how many a lower one.
template <int ITEMS>
MP_DEVICE u32 place_by_digit(u32 (&places)[ITEMS], counters& shared, u32& lower) {
    u32* counts = shared.counts[warp()];
    for (int bin = lane(); bin < BINS; bin += LANES) counts[bin] = 0;
    __syncwarp();
    const u32 lanes_before = (1u << lane()) - 1;
#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        const u32 digit = places[item], mask = peers<8>(digit), first = counts[digit];
        const u32 before = ones(mask & lanes_before);
        __syncwarp();
        if (before == 0) counts[digit] = first + ones(mask);
        __syncwarp();
        places[item] = digit << 16 | (first + before);
    }
    __syncthreads();
    u32 each[WARPS], own = 0;
#pragma unroll
    for (int other = 0; other < WARPS; other++) {
        each[other] = shared.counts[other][threadIdx.x];
        own += each[other];
    }
    lower = sum_before(own, shared.sums);
    u32 next = lower;
#pragma unroll
    for (int other = 0; other < WARPS; other++) {
        shared.counts[other][threadIdx.x] = next;
        next += each[other];
    }
    __syncthreads();
#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        places[item] = (places[item] & 0xffff) + counts[places[item] >> 16];
    }
    return own;
}

}  // namespace mp::ordering

