// Accumulating along an axis: what is accumulated, and how threads share it.
//
// Nothing depends on which block runs when: what lies before a tile is always joined in one order. Tiles
// come in groups and these in clans. A tile waits for the totals of those before it in its group, of the
// groups before its own in the clan, and for what lies before the clan; each of these is told of by the
// last tile that it needs. So hardly anything waits for more than a few others, however long an axis is.

namespace mp {

constexpr int LANES = 32, THREADS = 256, WARPS = THREADS / LANES;

// ---- What is accumulated ----

// A sum begins with the zero that leaves every number what it is, its sign included.
template <class T>
struct scan_sum {
    typedef T state;
    static MP_DEVICE T nothing() {
        if constexpr (complex_of<T>::value) {
            typedef typename complex_of<T>::real R;
            return {R(-0.0), R(-0.0)};
        } else {
            return is_float<T> ? T(-0.0) : T(0);
        }
    }
    static MP_DEVICE T lift(T value) { return value; }
    static MP_DEVICE T both(T a, T b) { return add(a, b); }
    static MP_DEVICE T emit(T state) { return state; }
};

template <class T>
struct scan_prod {
    typedef T state;
    static MP_DEVICE T nothing() { return cast<T>(1); }
    static MP_DEVICE T lift(T value) { return value; }
    static MP_DEVICE T both(T a, T b) { return multiply(a, b); }
    static MP_DEVICE T emit(T state) { return state; }
};

// The largest element, and a sum relative to it.
template <class T>
struct scan_logsumexp {
    typedef scaled state;
    static MP_DEVICE scaled nothing() { return {ends<double>::bottom(), 0.0}; }
    static MP_DEVICE scaled lift(double value) { return {value, value == ends<double>::bottom() ? 0.0 : 1.0}; }
    static MP_DEVICE scaled both(scaled a, scaled b) {
        // Equal scales, infinite ones among them, need no factor.
        const double distance = subtract(a.largest, b.largest);
        const double factor = a.largest == b.largest ? 1.0 : ::exp(-::fabs(distance));
        const double sum = b.largest <= a.largest ? add(a.sum, multiply(b.sum, factor))
                                                  : add(multiply(a.sum, factor), b.sum);
        return {max(a.largest, b.largest), sum};
    }
    static MP_DEVICE double emit(scaled of) {
        const bool endless = ::fabs(of.largest) > constants<double>::largest;
        return endless ? of.largest : add(of.largest, ::log(of.sum));
    }
};

// ---- Threads of a warp, and of a block ----

// What the threads of the warp up to each have.
template <class S>
MP_DEVICE typename S::state up_to_lane(typename S::state own) {
    const int lane = threadIdx.x % LANES;
#pragma unroll
    for (int delta = 1; delta < LANES; delta *= 2) {
        const typename S::state before = shuffled_up(own, delta);
        if (lane >= delta) own = S::both(before, own);
    }
    return own;
}

template <class S>
struct around {
    typename S::state before, all;
};

// What the warps before a thread's have, and all together.
template <class S>
MP_DEVICE around<S> among_warps(const typename S::state* totals, int stride, int warp) {
    around<S> result = {S::nothing(), S::nothing()};
#pragma unroll
    for (int other = 0; other < WARPS; other++) {
        if (other == warp) result.before = result.all;
        result.all = S::both(result.all, totals[other * stride]);
    }
    return result;
}

// What the threads before each in the block have, and all together; `totals` is shared.
template <class S>
MP_DEVICE around<S> among_threads(typename S::state own, typename S::state* totals) {
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const typename S::state up_to = up_to_lane<S>(own);
    if (lane == LANES - 1) totals[warp] = up_to;
    __syncthreads();
    around<S> result = among_warps<S>(totals, 1, warp);
    typename S::state before = shuffled_up(up_to, 1);
    if (lane == 0) before = S::nothing();
    result.before = S::both(result.before, before);
    __syncthreads();
    return result;
}

// ---- Tiles that wait for others ----

// A state that one block tells others: words of which each holds a half and says that it is there, so that
// nothing else has to be in order. All begin as zeros.
template <class T>
struct told_state {
    static constexpr int WORDS = (sizeof(T) + 3) / 4;
    u64 words[WORDS];
    union halves {
        T state;
        u32 each[WORDS];
    };

    static MP_DEVICE void tell(told_state* to, T state) {
        halves all;
        all.state = state;
        volatile u64* words = to->words;
#pragma unroll
        for (int word = 0; word < WORDS; word++) words[word] = u64(all.each[word]) << 32 | 1;
    }
};

// A state that is waited for: it is looked for first, and seen where all words have come.
template <class T>
struct awaited {
    typedef told_state<T> told;
    const told* from;
    u64 words[told::WORDS];
    bool is_there;
    T state;

    // One from nowhere is there.
    MP_DEVICE awaited(const told* from, T start) : from(from), is_there(from == nullptr), state(start) {}
    MP_DEVICE void look() {
        if (is_there) return;
        const volatile u64* at = from->words;
#pragma unroll
        for (int word = 0; word < told::WORDS; word++) words[word] = at[word];
    }
    MP_DEVICE void see() {
        if (is_there) return;
        typename told::halves all;
        bool all_there = true;
#pragma unroll
        for (int word = 0; word < told::WORDS; word++) {
            all_there = all_there && (words[word] & 1) != 0;
            all.each[word] = u32(words[word] >> 32);
        }
        if (all_there) state = all.state;
        is_there = all_there;
    }
    MP_DEVICE void wait() {
        for (see(); !is_there; see()) look();
    }
};

// What tiles of rows tell of themselves: their totals, those of groups, and what lies before clans, each for
// rows side by side.
template <class T>
struct chain {
    typedef told_state<T> told;
    told* first;
    u64 tiles, groups;
    u32 rows;
    MP_DEVICE told* tile(u64 number, u32 row) const { return first + number * rows + row; }
    MP_DEVICE told* group(u64 number, u32 row) const { return tile(tiles + number, row); }
    MP_DEVICE told* clan(u64 number, u32 row) const { return group(groups + number, row); }
};

// Where a tile is among its group and its clan.
template <int FAN>
struct kin {
    u64 group, clan;
    u32 in_group, in_clan;
    MP_DEVICE kin(u64 tile)
        : group(tile / FAN), clan(group / FAN), in_group(u32(tile % FAN)), in_clan(u32(group % FAN)) {}
    MP_DEVICE bool ends_group() const { return in_group == FAN - 1; }
    MP_DEVICE bool ends_clan() const { return ends_group() && in_clan == FAN - 1; }
};

// What lies before a tile whose total is `own`, of one row. One warp looks for it: each lane waits for one
// tile, and for one group.
template <class S, int FAN>
MP_DEVICE typename S::state before_tile(const chain<typename S::state>& of, u64 tile, typename S::state own) {
    typedef typename S::state state;
    const kin<FAN> at(tile);
    const u32 lane = threadIdx.x % LANES;
    if (lane == 0) told_state<state>::tell(of.tile(tile, 0), own);
    awaited<state> near(lane < at.in_group ? of.tile(at.group * FAN + lane, 0) : nullptr, S::nothing());
    awaited<state> far(lane < at.in_clan ? of.group(at.clan * FAN + lane, 0) : nullptr, S::nothing());
    awaited<state> first(at.clan > 0 ? of.clan(at.clan, 0) : nullptr, S::nothing());
    near.look();
    far.look();
    first.look();
    near.wait();
    const state left = shuffled_from(up_to_lane<S>(near.state), LANES - 1), group = S::both(left, own);
    if (at.ends_group() && lane == 0) told_state<state>::tell(of.group(at.group, 0), group);
    far.wait();
    first.wait();
    const state before = S::both(first.state, shuffled_from(up_to_lane<S>(far.state), LANES - 1));
    if (at.ends_clan() && lane == 0) told_state<state>::tell(of.clan(at.clan + 1, 0), S::both(before, group));
    return S::both(before, left);
}

// The total of tiles or groups next to each other, of rows side by side, one for each lane; each warp waits
// for a share of them. `totals` is shared.
template <class S, int FAN>
MP_DEVICE typename S::state total_across(const told_state<typename S::state>* from, u32 count, u32 rows,
                                         typename S::state* totals) {
    typedef typename S::state state;
    constexpr u32 EACH = (FAN + WARPS - 1) / WARPS;
    const u32 begin = threadIdx.x / LANES * EACH;
    state own = S::nothing();
    for (u32 other = begin; other < begin + EACH && other < count; other++) {
        awaited<state> one(from + other * rows, S::nothing());
        one.look();
        one.wait();
        own = S::both(own, one.state);
    }
    totals[threadIdx.x] = own;
    __syncthreads();
    own = among_warps<S>(totals + threadIdx.x % LANES, LANES, 0).all;
    __syncthreads();
    return own;
}

// What lies before a tile of rows side by side, in which each has its total.
template <class S, int FAN>
MP_DEVICE typename S::state before_tile_across(const chain<typename S::state>& of, u64 tile,
                                               typename S::state own, typename S::state* totals) {
    typedef typename S::state state;
    const kin<FAN> at(tile);
    const u32 lane = threadIdx.x % LANES;
    const bool tells = threadIdx.x < LANES;
    if (tells) told_state<state>::tell(of.tile(tile, lane), own);
    const state left = total_across<S, FAN>(of.tile(at.group * FAN, lane), at.in_group, of.rows, totals);
    const state group = S::both(left, own);
    if (at.ends_group() && tells) told_state<state>::tell(of.group(at.group, lane), group);
    const state far = total_across<S, FAN>(of.group(at.clan * FAN, lane), at.in_clan, of.rows, totals);
    awaited<state> first(at.clan > 0 ? of.clan(at.clan, lane) : nullptr, S::nothing());
    first.look();
    first.wait();
    const state before = S::both(first.state, far);
    if (at.ends_clan() && tells) told_state<state>::tell(of.clan(at.clan + 1, lane), S::both(before, group));
    return S::both(before, left);
}

// ---- Threads that share rows ----
//
// `K` is the kernel: its scanner, and how elements of a row are loaded and stored.

// The elements of a warp's stretch of a row: `R` times a pack for each lane.
template <int V, int R, class K>
struct stretch {
    typedef typename K::Scanner S;
    typedef typename S::state state;
    typedef typename K::Position Index;
    static constexpr int ELEMENTS = R * LANES * V;
    // What the elements of a pack up to each come to, and what lies before the pack.
    state up_to[R][V], before[R];

    static MP_DEVICE Index place(Index begin, int r) {
        return begin + Index((r * LANES + int(threadIdx.x % LANES)) * V);
    }

    // Loads what lies from `begin` on; what it comes to.
    MP_DEVICE state load(const K& kernel, Index begin, Index end) {
        pack<typename K::In, V> in[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            const Index at = place(begin, r);
            if (V == 1 ? at < end : at + V <= end) {
                kernel.load(at, in[r]);
            } else {
                for (int k = 0; k < V && at + k < end; k++) {
                    pack<typename K::In, 1> one;
                    kernel.load(at + k, one);
                    in[r].each[k] = one.each[0];
                }
            }
        }
        state all = S::nothing();
#pragma unroll
        for (int r = 0; r < R; r++) {
            const Index at = place(begin, r);
            state run = S::nothing();
#pragma unroll
            for (int k = 0; k < V; k++) {
                if (at + k < end) run = S::both(run, S::lift(cast<typename K::Compute>(in[r].get(k))));
                up_to[r][k] = run;
            }
            const state lanes = up_to_lane<S>(run);
            const state left = shuffled_up(lanes, 1);
            before[r] = threadIdx.x % LANES == 0 ? all : S::both(all, left);
            all = S::both(all, shuffled_from(lanes, LANES - 1));
        }
        return all;
    }

    // Stores the results, behind what they begin with.
    MP_DEVICE void store(const K& kernel, Index begin, Index end, state first) const {
#pragma unroll
        for (int r = 0; r < R; r++) {
            const Index at = place(begin, r);
            const state left = S::both(first, before[r]);
            pack<typename K::Out, V> out;
#pragma unroll
            for (int k = 0; k < V; k++) out.set(k, cast<typename K::Out>(S::emit(S::both(left, up_to[r][k]))));
            if (V == 1 ? at < end : at + V <= end) {
                kernel.store(at, out);
            } else {
                for (int k = 0; k < V && at + k < end; k++) {
                    pack<typename K::Out, 1> one;
                    one.each[0] = out.each[k];
                    kernel.store(at + k, one);
                }
            }
        }
    }
};

// What the tiles of the rows of a number tell.
template <class S, class A>
MP_DEVICE chain<typename S::state> chain_of(const A& a, u64 number, u32 rows) {
    const u64 each = a.tiles + a.groups + a.clans;
    told_state<typename S::state>* first = reinterpret_cast<told_state<typename S::state>*>(a.scratch);
    return {first + number * each * rows, a.tiles, a.groups, rows};
}

// Each block takes a tile of a row. Tiles wait for those before them: blocks begin in the order of their
// numbers.
template <int V, int R, class K, class A>
MP_DEVICE void by_tiles(const A& a, typename K::Scanner::state* totals) {
    typedef typename K::Scanner S;
    typedef typename K::Position Index;
    const u64 row = blockIdx.x / a.tiles, tile = blockIdx.x - row * a.tiles;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const K kernel(a, Index(row));
    stretch<V, R, K> own;
    const Index begin = Index((tile * WARPS + warp) * own.ELEMENTS), end = Index(a.length);
    const typename S::state total = own.load(kernel, begin, end);
    if (lane == 0) totals[warp] = total;
    __syncthreads();
    around<S> warps = among_warps<S>(totals, 1, warp);
    if (a.tiles > 1) {
        if (warp == 0) {
            const typename S::state before = before_tile<S, K::FAN>(chain_of<S>(a, row, 1), tile, warps.all);
            if (lane == 0) totals[WARPS] = before;
        }
        __syncthreads();
        warps.before = S::both(totals[WARPS], warps.before);
    }
    own.store(kernel, begin, end, warps.before);
}

// Each warp takes a row.
template <int V, int R, class K, class A>
MP_DEVICE void by_warps(const A& a) {
    typedef typename K::Scanner S;
    typedef typename K::Position Index;
    for (u64 row = u64(blockIdx.x) * WARPS + threadIdx.x / LANES; row < a.rows; row += u64(gridDim.x) * WARPS) {
        const K kernel(a, Index(row));
        typename S::state before = S::nothing();
        stretch<V, R, K> own;
        for (Index begin = 0; begin < Index(a.length); begin += own.ELEMENTS) {
            const typename S::state total = own.load(kernel, begin, Index(a.length));
            own.store(kernel, begin, Index(a.length), before);
            before = S::both(before, total);
        }
    }
}

// Each thread takes a row.
template <int R, class K, class A>
MP_DEVICE void by_threads(const A& a) {
    typedef typename K::Scanner S;
    typedef typename K::Position Index;
    const u64 step = u64(gridDim.x) * THREADS;
    for (u64 row = u64(blockIdx.x) * THREADS + threadIdx.x; row < a.rows; row += step) {
        const K kernel(a, Index(row));
        const Index end = Index(a.length);
        typename S::state state = S::nothing();
        for (Index begin = 0; begin < end; begin += R) {
            pack<typename K::In, 1> in[R];
#pragma unroll
            for (int r = 0; r < R; r++) {
                if (begin + r < end) kernel.load(begin + r, in[r]);
            }
#pragma unroll
            for (int r = 0; r < R; r++) {
                if (begin + r < end) {
                    state = S::both(state, S::lift(cast<typename K::Compute>(in[r].get(0))));
                    pack<typename K::Out, 1> out;
                    out.set(0, cast<typename K::Out>(S::emit(state)));
                    kernel.store(begin + r, out);
                }
            }
        }
    }
}

// Each block takes a tile of rows side by side, and each warp `R` elements of each of them.
template <int R, class K, class A>
MP_DEVICE void by_columns_of_tiles(const A& a, typename K::Scanner::state* totals) {
    typedef typename K::Scanner S;
    typedef typename K::Position Index;
    typedef typename S::state state;
    const u64 sets = (a.rows + LANES - 1) / LANES, tile = blockIdx.x / sets, set = blockIdx.x - tile * sets;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const u64 row = set * LANES + lane;
    const bool is_one = row < a.rows;
    const K kernel(a, Index(is_one ? row : 0));
    const Index begin = Index((tile * WARPS + warp) * R), end = is_one ? Index(a.length) : Index(0);
    pack<typename K::In, 1> in[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (begin + r < end) kernel.load(begin + r, in[r]);
    }
    state up_to[R], run = S::nothing();
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (begin + r < end) run = S::both(run, S::lift(cast<typename K::Compute>(in[r].get(0))));
        up_to[r] = run;
    }
    totals[threadIdx.x] = run;
    __syncthreads();
    const around<S> warps = among_warps<S>(totals + lane, LANES, warp);
    __syncthreads();
    state first = warps.before;
    if (a.tiles > 1) {
        const chain<state> rows = chain_of<S>(a, set, LANES);
        first = S::both(before_tile_across<S, K::FAN>(rows, tile, warps.all, totals), first);
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (begin + r < end) {
            pack<typename K::Out, 1> out;
            out.set(0, cast<typename K::Out>(S::emit(S::both(first, up_to[r]))));
            kernel.store(begin + r, out);
        }
    }
}

}  // namespace mp
