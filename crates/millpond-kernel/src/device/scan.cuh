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

// What is known of the tiles of some rows, in scratch memory: a flag and a state of 16 bytes for each row of
// each tile, then of each group, then before each clan.
struct chain {
    u32* flags;
    char* states;
    u64 tiles, groups;
    u32 rows;

    template <class T>
    MP_DEVICE u32* place(u64 number, u32 row) const {
        static_assert(sizeof(T) <= 16, "a state's place");
        return reinterpret_cast<u32*>(states + (number * rows + row) * 16);
    }
    // What is told must have been put before by all threads that do.
    MP_DEVICE void tell(u64 number) const { *static_cast<volatile u32*>(flags + number) = 1; }
    MP_DEVICE void wait(u64 number) const {
        while (*static_cast<volatile u32*>(flags + number) == 0) {}
        __threadfence();
    }
    template <class T>
    MP_DEVICE void put(u64 number, u32 row, T state) const {
        union words {
            T state;
            u32 each[(sizeof(T) + 3) / 4];
        } all;
        all.state = state;
        volatile u32* to = place<T>(number, row);
        for (u32 word = 0; word < (sizeof(T) + 3) / 4; word++) to[word] = all.each[word];
        __threadfence();
    }
    template <class T>
    MP_DEVICE T get(u64 number, u32 row) const {
        union words {
            T state;
            u32 each[(sizeof(T) + 3) / 4];
        } all;
        const volatile u32* from = place<T>(number, row);
        for (u32 word = 0; word < (sizeof(T) + 3) / 4; word++) all.each[word] = from[word];
        return all.state;
    }
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

// The total of tiles or groups next to each other, of one row: each lane of a warp waits for one.
template <class S>
MP_DEVICE typename S::state total_of(const chain& of, u64 begin, u32 count) {
    typename S::state own = S::nothing();
    if (threadIdx.x % LANES < count) {
        const u64 number = begin + threadIdx.x % LANES;
        of.wait(number);
        own = of.get<typename S::state>(number, 0);
    }
    return shuffled_from(up_to_lane<S>(own), LANES - 1);
}

// What lies before a tile whose total is `own`, of one row; one warp looks for it.
template <class S, int FAN>
MP_DEVICE typename S::state before_tile(const chain& of, u64 tile, typename S::state own) {
    typedef typename S::state state;
    const kin<FAN> at(tile);
    const u64 clans = of.tiles + of.groups;
    const bool tells = threadIdx.x % LANES == 0;
    auto tell = [&](u64 number, state known) {
        if (tells) {
            of.put(number, 0, known);
            of.tell(number);
        }
    };
    tell(tile, own);
    const state near = total_of<S>(of, at.group * FAN, at.in_group);
    const state group = S::both(near, own);
    if (at.ends_group()) tell(of.tiles + at.group, group);
    const state far = total_of<S>(of, of.tiles + at.clan * FAN, at.in_clan);
    state first = S::nothing();
    if (at.clan > 0) {
        of.wait(clans + at.clan);
        first = of.get<state>(clans + at.clan, 0);
    }
    first = S::both(first, far);
    if (at.ends_clan()) tell(clans + at.clan + 1, S::both(first, group));
    return S::both(first, near);
}

// The same of rows side by side, one for each lane; each warp waits for a share of the others.
template <class S, int FAN>
MP_DEVICE typename S::state total_across(const chain& of, u64 begin, u32 count, typename S::state* totals) {
    constexpr u32 EACH = (FAN + WARPS - 1) / WARPS;
    const u32 lane = threadIdx.x % LANES, first = threadIdx.x / LANES * EACH;
    typename S::state own = S::nothing();
    for (u32 other = first; other < first + EACH && other < count; other++) of.wait(begin + other);
    for (u32 other = first; other < first + EACH && other < count; other++) {
        own = S::both(own, of.get<typename S::state>(begin + other, lane));
    }
    totals[threadIdx.x] = own;
    __syncthreads();
    own = among_warps<S>(totals + lane, LANES, 0).all;
    __syncthreads();
    return own;
}

template <class S, int FAN>
MP_DEVICE typename S::state before_tile_across(const chain& of, u64 tile, typename S::state own,
                                               typename S::state* totals) {
    typedef typename S::state state;
    const kin<FAN> at(tile);
    const u64 clans = of.tiles + of.groups;
    const u32 lane = threadIdx.x % LANES;
    auto tell = [&](u64 number, state known) {
        if (threadIdx.x < LANES) {
            of.put(number, lane, known);
            __syncwarp();
            if (lane == 0) of.tell(number);
        }
    };
    tell(tile, own);
    const state near = total_across<S, FAN>(of, at.group * FAN, at.in_group, totals);
    const state group = S::both(near, own);
    if (at.ends_group()) tell(of.tiles + at.group, group);
    const state far = total_across<S, FAN>(of, of.tiles + at.clan * FAN, at.in_clan, totals);
    state first = S::nothing();
    if (at.clan > 0) {
        of.wait(clans + at.clan);
        first = of.get<state>(clans + at.clan, lane);
    }
    first = S::both(first, far);
    if (at.ends_clan()) tell(clans + at.clan + 1, S::both(first, group));
    return S::both(first, near);
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

// The number of a block's tile. Tiles that wait for others come behind them, whatever order blocks run in.
template <class A>
MP_DEVICE u64 next_tile(const A& a, u32* shared) {
    if (a.tiles == 1) return blockIdx.x;
    if (threadIdx.x == 0) *shared = atomicAdd(reinterpret_cast<u32*>(a.scratch), 1u);
    __syncthreads();
    return *shared;
}

// What is known of the tiles of the rows of a number.
template <class A>
MP_DEVICE chain chain_of(const A& a, u64 number, u32 rows) {
    const u64 each = a.tiles + a.groups + a.clans;
    char* flags = a.scratch + 16;
    return {reinterpret_cast<u32*>(flags) + number * each, a.states + number * each * rows * 16, a.tiles,
            a.groups, rows};
}

// Each block takes a tile of a row.
template <int V, int R, class K, class A>
MP_DEVICE void by_tiles(const A& a, typename K::Scanner::state* totals, u32* shared) {
    typedef typename K::Scanner S;
    typedef typename K::Position Index;
    const u64 number = next_tile(a, shared), row = number / a.tiles, tile = number - row * a.tiles;
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
            const typename S::state before = before_tile<S, K::FAN>(chain_of(a, row, 1), tile, warps.all);
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
MP_DEVICE void by_columns_of_tiles(const A& a, typename K::Scanner::state* totals, u32* shared) {
    typedef typename K::Scanner S;
    typedef typename K::Position Index;
    typedef typename S::state state;
    const u64 number = next_tile(a, shared), sets = (a.rows + LANES - 1) / LANES;
    const u64 tile = number / sets, set = number - tile * sets;
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
        const chain rows = chain_of(a, set, LANES);
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
