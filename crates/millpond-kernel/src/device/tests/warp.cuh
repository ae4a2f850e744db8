// What `warp.cuh` of the device defines, for threads that take turns.

namespace mp::ordering {

static inline u32 ones(u32 word) { return __builtin_popcount(word); }

static inline u32 highest(u32 word) { return 31 - __builtin_clz(word); }

// What all lanes of the warp have, each at its place.
template <class T>
static inline void gather(T value, T* all) {
    const unsigned turn = turns[current]++ % 2;
    memcpy(slots[turn][current], &value, sizeof(T));
    wait_for(AT_WARP);
    for (unsigned lane = 0; lane < ::WARP; lane++) {
        memcpy(&all[lane], slots[turn][current / ::WARP * ::WARP + lane], sizeof(T));
    }
}

static inline u32 ballot(bool truth) {
    bool all[::WARP];
    gather(truth, all);
    u32 mask = 0;
    for (unsigned lane = 0; lane < ::WARP; lane++) mask |= u32(all[lane]) << lane;
    return mask;
}

template <int BITS>
static inline u32 peers(u32 number) {
    u32 all[::WARP], mask = 0;
    gather(number, all);
    for (unsigned lane = 0; lane < ::WARP; lane++) {
        mask |= u32((all[lane] ^ number) % (1u << BITS) == 0) << lane;
    }
    return mask;
}

template <class T>
static inline T shuffled_up(T value, int delta) {
    return exchange(value, current % ::WARP >= unsigned(delta) ? current - delta : current);
}

template <class T>
static inline T fetch_add(T* at, T value) {
    const T old = *at;
    *at += value;
    return old;
}
static inline u32 fetch_or(u32* at, u32 bits) {
    const u32 old = *at;
    *at |= bits;
    return old;
}

// Blocks run one after the other: what is waited for is there.
template <class T>
static inline T peek(const T* at) {
    return *at;
}
template <class T>
static inline void post(T* at, T word) {
    *at = word;
}

}  // namespace mp::ordering

