// Reducers, with the rules of the host's at the edges, and how threads share a reduction.
//
// A reducer folds up to `SHORT_RUN` elements into a partial and partials into a state, which holds what
// rounding would lose; states merge. Nothing depends on the order in which blocks run.

namespace mp {

constexpr int SHORT_RUN = 128;

// ---- Sums ----

// What short runs are added up in, and what sums are.
template <class T>
struct addend {
    typedef T lane;
    typedef T sum;
};
template <>
struct addend<bool> {
    typedef i32 lane;
    typedef i64 sum;
};
template <>
struct addend<i8> : addend<bool> {};
template <>
struct addend<i16> : addend<bool> {};
template <>
struct addend<i32> {
    typedef i64 lane;
    typedef i64 sum;
};
template <>
struct addend<u8> {
    typedef u32 lane;
    typedef u64 sum;
};
template <>
struct addend<u16> : addend<u8> {};
template <>
struct addend<u32> {
    typedef u64 lane;
    typedef u64 sum;
};

template <class R>
MP_DEVICE complex<R> add(complex<R> a, complex<R> b) {
    return {add(a.re, b.re), add(a.im, b.im)};
}
template <class R>
MP_DEVICE complex<R> multiply(complex<R> a, complex<R> b) {
    return {subtract(multiply(a.re, b.re), multiply(a.im, b.im)),
            add(multiply(a.re, b.im), multiply(a.im, b.re))};
}

// A sum in twice the precision of a double: the rounding error of each addition is kept.
struct total {
    double sum, rest;
};
MP_DEVICE total plus(total to, double value) {
    const double sum = add(to.sum, value), part = subtract(sum, to.sum);
    const double error = add(subtract(to.sum, subtract(sum, part)), subtract(value, part));
    // Beyond infinity there is no error to speak of.
    const bool counts = ::fabs(error) <= constants<double>::largest;
    return {sum, add(to.rest, counts ? error : 0.0)};
}
MP_DEVICE total merged(total a, total b) {
    const total joined = plus(a, b.sum);
    return {joined.sum, add(joined.rest, b.rest)};
}

template <class S>
struct accumulator {
    typedef S state;
    static MP_DEVICE S start() { return S(0); }
    static MP_DEVICE S absorb(S state, S value) { return add(state, value); }
    static MP_DEVICE S merge(S a, S b) { return add(a, b); }
    static MP_DEVICE S value(S state) { return state; }
    static MP_DEVICE S mean(S state, u64 elements) { return state / S(elements == 0 ? 1 : elements); }
};
template <class R>
struct float_accumulator {
    typedef total state;
    static MP_DEVICE total start() { return {0.0, 0.0}; }
    static MP_DEVICE total absorb(total state, R value) { return plus(state, double(value)); }
    static MP_DEVICE total merge(total a, total b) { return merged(a, b); }
    static MP_DEVICE R value(total state) { return R(add(state.sum, state.rest)); }
    static MP_DEVICE R mean(total state, u64 elements) {
        return R(divide(add(state.sum, state.rest), double(elements)));
    }
};
template <>
struct accumulator<float> : float_accumulator<float> {};
template <>
struct accumulator<double> : float_accumulator<double> {};
template <class R>
struct accumulator<complex<R>> {
    typedef accumulator<R> part;
    struct state {
        total re, im;
    };
    static MP_DEVICE state start() { return {part::start(), part::start()}; }
    static MP_DEVICE state absorb(state to, complex<R> value) {
        return {part::absorb(to.re, value.re), part::absorb(to.im, value.im)};
    }
    static MP_DEVICE state merge(state a, state b) {
        return {part::merge(a.re, b.re), part::merge(a.im, b.im)};
    }
    static MP_DEVICE complex<R> value(state of) { return {part::value(of.re), part::value(of.im)}; }
    static MP_DEVICE complex<R> mean(state of, u64 elements) {
        return {part::mean(of.re, elements), part::mean(of.im, elements)};
    }
};

template <class T>
struct reduce_sum {
    typedef typename addend<T>::lane partial;
    typedef accumulator<typename addend<T>::sum> sum;
    typedef typename sum::state state;
    static MP_DEVICE partial nothing() { return cast<partial>(0); }
    static MP_DEVICE partial push(partial to, T value, u64) { return add(to, cast<partial>(value)); }
    static MP_DEVICE state start() { return sum::start(); }
    static MP_DEVICE state absorb(state to, partial run) {
        return sum::absorb(to, cast<typename addend<T>::sum>(run));
    }
    static MP_DEVICE state merge(state a, state b) { return sum::merge(a, b); }
    static MP_DEVICE auto finish(state of, u64, double) { return sum::value(of); }
};
template <class T>
using reduce_count_nonzero = reduce_sum<T>;

template <class T>
struct reduce_mean : reduce_sum<T> {
    typedef reduce_sum<T> sums;
    static MP_DEVICE T finish(typename sums::state of, u64 elements, double) {
        return sums::sum::mean(of, elements);
    }
};

template <class T>
struct reduce_prod {
    typedef T partial;
    typedef T state;
    static MP_DEVICE T nothing() { return cast<T>(1); }
    static MP_DEVICE T push(T to, T value, u64) { return multiply(to, value); }
    static MP_DEVICE T start() { return cast<T>(1); }
    static MP_DEVICE T absorb(T to, T run) { return multiply(to, run); }
    static MP_DEVICE T merge(T a, T b) { return multiply(a, b); }
    static MP_DEVICE T finish(T of, u64, double) { return of; }
};

// ---- Extremes ----

template <class T>
MP_DEVICE bool is_nan(T x) {
    return x != x;
}
template <class R>
MP_DEVICE bool is_nan(complex<R> z) {
    return z.re != z.re || z.im != z.im;
}

// Not if either is a NaN.
template <class T>
MP_DEVICE bool below(T a, T b) {
    return a < b;
}
template <class R>
MP_DEVICE bool below(complex<R> a, complex<R> b) {
    return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
}

// The ends of the order.
template <class T>
struct ends {
    static MP_DEVICE T bottom() { return lowest<T>; }
    static MP_DEVICE T top() { return highest<T>; }
};
template <>
struct ends<bool> {
    static MP_DEVICE bool bottom() { return false; }
    static MP_DEVICE bool top() { return true; }
};
template <>
struct ends<float> {
    static MP_DEVICE float bottom() { return float_of(0xff800000u); }
    static MP_DEVICE float top() { return float_of(0x7f800000u); }
};
template <>
struct ends<double> {
    static MP_DEVICE double bottom() { return double(ends<float>::bottom()); }
    static MP_DEVICE double top() { return double(ends<float>::top()); }
};
template <class R>
struct ends<complex<R>> {
    static MP_DEVICE complex<R> bottom() { return {ends<R>::bottom(), ends<R>::bottom()}; }
    static MP_DEVICE complex<R> top() { return {ends<R>::top(), ends<R>::top()}; }
};

template <class T, bool LARGEST>
struct order {
    static MP_DEVICE T worst() { return LARGEST ? ends<T>::bottom() : ends<T>::top(); }
    static MP_DEVICE bool before(T a, T b) { return LARGEST ? below(b, a) : below(a, b); }
};

template <class T, bool LARGEST>
struct reduce_extreme {
    typedef T partial;
    typedef T state;
    typedef order<T, LARGEST> by;
    static MP_DEVICE T choose(T a, T b) { return by::before(b, a) || is_nan(b) ? b : a; }
    static MP_DEVICE T nothing() { return by::worst(); }
    static MP_DEVICE T push(T to, T value, u64) { return choose(to, value); }
    static MP_DEVICE T start() { return by::worst(); }
    static MP_DEVICE T absorb(T to, T run) { return choose(to, run); }
    static MP_DEVICE T merge(T a, T b) { return choose(a, b); }
    static MP_DEVICE T finish(T of, u64, double) { return of; }
};
template <class T>
using reduce_max = reduce_extreme<T, true>;
template <class T>
using reduce_min = reduce_extreme<T, false>;

// An element and its number; no element has the largest number.
template <class T>
struct found {
    T value;
    u64 index;
};

template <class T, bool LARGEST>
struct reduce_position {
    typedef found<T> partial;
    typedef found<T> state;
    typedef order<T, LARGEST> by;
    static MP_DEVICE state choose(state a, state b) {
        const bool nan_a = is_nan(a.value), nan_b = is_nan(b.value), both = !nan_a && !nan_b;
        const bool tie = (nan_a && nan_b) ||
                         (both && !by::before(a.value, b.value) && !by::before(b.value, a.value));
        const bool better = (nan_b && !nan_a) || (both && by::before(b.value, a.value));
        return better || (tie && b.index < a.index) ? b : a;
    }
    static MP_DEVICE state nothing() { return {by::worst(), ~u64(0)}; }
    // The elements of a thread come in their order: of equal ones the first stays.
    static MP_DEVICE state push(state to, T value, u64 index) {
        const bool better = by::before(value, to.value) || (is_nan(value) && !is_nan(to.value)) ||
                            to.index == ~u64(0);
        return better ? state{value, index} : to;
    }
    static MP_DEVICE state start() { return nothing(); }
    static MP_DEVICE state absorb(state to, state run) { return choose(to, run); }
    static MP_DEVICE state merge(state a, state b) { return choose(a, b); }
    static MP_DEVICE i64 finish(state of, u64, double) { return i64(of.index); }
};
template <class T>
using reduce_argmax = reduce_position<T, true>;
template <class T>
using reduce_argmin = reduce_position<T, false>;

// ---- Truth ----

template <class T, bool START>
struct reduce_truth {
    typedef bool partial;
    typedef bool state;
    static MP_DEVICE bool merge(bool a, bool b) { return START ? a && b : a || b; }
    static MP_DEVICE bool nothing() { return START; }
    static MP_DEVICE bool push(bool to, T value, u64) { return merge(to, value); }
    static MP_DEVICE bool start() { return START; }
    static MP_DEVICE bool absorb(bool to, bool run) { return merge(to, run); }
    static MP_DEVICE bool finish(bool of, u64, double) { return of; }
};
template <class T>
using reduce_all = reduce_truth<T, true>;
template <class T>
using reduce_any = reduce_truth<T, false>;

// ---- Moments ----

struct moments {
    double count, mean, squares;
};
// Counts from the first element of its run, so that what lies far from zero doesn't cancel.
struct deviations {
    double count, pivot, sum, squares;
};

template <class T>
struct reduce_var {
    typedef deviations partial;
    typedef moments state;
    static MP_DEVICE partial nothing() { return {0, 0, 0, 0}; }
    static MP_DEVICE partial push(partial to, double value, u64) {
        const double pivot = to.count == 0 ? value : to.pivot, step = subtract(value, pivot);
        return {to.count + 1, pivot, add(to.sum, step), ::fma(step, step, to.squares)};
    }
    static MP_DEVICE state start() { return {0, 0, 0}; }
    static MP_DEVICE state absorb(state to, partial run) {
        if (run.count == 0) return to;
        const double shift = divide(run.sum, run.count);
        return merge(to, {run.count, add(run.pivot, shift), ::fma(-run.sum, shift, run.squares)});
    }
    static MP_DEVICE state merge(state a, state b) {
        if (a.count == 0) return b;
        if (b.count == 0) return a;
        const double count = a.count + b.count, step = subtract(b.mean, a.mean);
        const double share = divide(b.count, count);
        const double between = multiply(multiply(step, step), multiply(a.count, share));
        return {count, ::fma(step, share, a.mean), add(add(a.squares, b.squares), between)};
    }
    static MP_DEVICE double finish(state of, u64, double correction) {
        return divide(of.squares, max(subtract(of.count, correction), 0.0));
    }
};
template <class T>
struct reduce_std : reduce_var<T> {
    static MP_DEVICE double finish(moments of, u64 elements, double correction) {
        return sqrt(reduce_var<T>::finish(of, elements, correction));
    }
};

// ---- Sums relative to the largest element ----

struct scaled {
    double largest, sum;
};

template <class SCALE>
struct reduce_scaled {
    typedef scaled partial;
    typedef scaled state;
    static MP_DEVICE double part(scaled side, double largest) {
        // Equal scales need no factor; that of two infinities would be a NaN.
        return side.largest == largest ? side.sum : multiply(side.sum, SCALE::factor(side.largest, largest));
    }
    static MP_DEVICE scaled merge(scaled a, scaled b) {
        const double largest = max(a.largest, b.largest);
        return {largest, add(part(a, largest), part(b, largest))};
    }
    static MP_DEVICE scaled nothing() { return {SCALE::nothing(), 0.0}; }
    // One factor for each element. What has no scale counts as well: it isn't asked for its sum.
    static MP_DEVICE scaled push(scaled to, double value, u64) {
        const double added = SCALE::magnitude(value);
        const bool is_larger = added > to.largest || added != added;
        const double high = is_larger ? added : to.largest, low = is_larger ? to.largest : added;
        const double factor = low == high ? 1.0 : SCALE::factor(low, high);
        return {high, is_larger ? add(multiply(to.sum, factor), 1.0) : add(to.sum, factor)};
    }
    static MP_DEVICE scaled start() { return nothing(); }
    static MP_DEVICE scaled absorb(scaled to, scaled run) { return merge(to, run); }
    static MP_DEVICE double finish(scaled of, u64, double) {
        return ::fabs(of.largest) <= constants<double>::largest ? SCALE::finish(of) : of.largest;
    }
};

struct exponentials {
    static MP_DEVICE double nothing() { return ends<double>::bottom(); }
    static MP_DEVICE double magnitude(double value) { return value; }
    static MP_DEVICE double factor(double from, double to) { return ::exp(subtract(from, to)); }
    static MP_DEVICE double finish(scaled of) { return add(of.largest, ::log(of.sum)); }
};
template <class T>
using reduce_logsumexp = reduce_scaled<exponentials>;

struct lengths {
    static MP_DEVICE double nothing() { return 0.0; }
    static MP_DEVICE double magnitude(double value) { return ::fabs(value); }
    static MP_DEVICE double factor(double from, double to) {
        const double ratio = divide(from, to);
        return multiply(ratio, ratio);
    }
    static MP_DEVICE double finish(scaled of) { return multiply(of.largest, sqrt(of.sum)); }
};
template <class T>
using reduce_reduce_hypot = reduce_scaled<lengths>;

// ---- Threads that share a reduction ----
//
// `K` is the kernel: its state, how elements of an output are loaded and folded, and what becomes of
// the state in the end.

constexpr int WARP = 32, BLOCK = 256;

// The state of groups of as many neighbouring threads of a warp, in the first of each.
template <class K>
MP_DEVICE typename K::State warp_merge(typename K::State state, int lanes) {
    for (int delta = lanes / 2; delta > 0; delta /= 2) {
        state = K::merge(state, shuffled_down(state, delta));
    }
    return state;
}

// The state of the whole block, in its first thread.
template <class K>
MP_DEVICE typename K::State block_merge(typename K::State state, typename K::State* shared) {
    state = warp_merge<K>(state, WARP);
    if (threadIdx.x % WARP == 0) shared[threadIdx.x / WARP] = state;
    __syncthreads();
    if (threadIdx.x < WARP) {
        state = threadIdx.x < BLOCK / WARP ? shared[threadIdx.x] : K::start();
        state = warp_merge<K>(state, BLOCK / WARP);
    }
    __syncthreads();
    return state;
}

// Folds a thread's share of the elements `begin..end` of an output. Lanes take *units* of `U` neighbours in
// turn, `RUN` of them make a partial, and what fills no unit is a partial for each element. So the order of
// folding follows from `U`, however the elements are loaded: by packs of `V`, of which `begin` is a multiple,
// as many at a time as keep memory busy.
template <int V, int U, class K>
MP_DEVICE typename K::State share(const K& kernel, typename K::Position begin, typename K::Position end,
                                  typename K::Position lane, typename K::Position lanes) {
    typedef typename K::Position Position;
    constexpr int RUN = 8, PACKS = U / V, BYTES = U * sizeof(typename K::template Batch<1>);
    constexpr int AHEAD = BYTES >= 64 ? 1 : BYTES >= 32 ? 2 : BYTES >= 16 ? 4 : 8;
    static_assert(U % V == 0 && RUN % AHEAD == 0 && RUN * U <= SHORT_RUN, "whole packs, and short runs");
    const Position units = end > begin ? (end - begin) / U : 0;
    typename K::State state = K::start();
    for (Position first = lane; first < units; first += RUN * lanes) {
        typename K::Partial partial = K::nothing();
        for (int run = 0; run < RUN; run += AHEAD) {
            const Position unit = first + run * lanes;
            typename K::template Batch<V> batch[AHEAD * PACKS];
            const bool all = unit + (AHEAD - 1) * lanes < units;
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                if (!all && unit + u * lanes >= units) break;
#pragma unroll
                for (int p = 0; p < PACKS; p++) {
                    kernel.load(begin + (unit + u * lanes) * U + p * V, batch[u * PACKS + p]);
                }
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                if (!all && unit + u * lanes >= units) break;
#pragma unroll
                for (int p = 0; p < PACKS; p++) {
                    kernel.push(begin + (unit + u * lanes) * U + p * V, batch[u * PACKS + p], partial);
                }
            }
        }
        state = K::absorb(state, partial);
    }
    if constexpr (U > 1) {
        for (Position at = begin + units * U + lane; at < end; at += lanes) {
            typename K::template Batch<1> batch;
            typename K::Partial partial = K::nothing();
            kernel.load(at, batch);
            kernel.push(at, batch, partial);
            state = K::absorb(state, partial);
        }
    }
    return state;
}

// Each block takes a piece of an output.
template <int V, int U, class K, class A>
MP_DEVICE void by_blocks(const A& a, typename K::State* shared) {
    typedef typename K::Position Index;
    for (u64 piece = blockIdx.x; piece < a.outputs * a.pieces; piece += gridDim.x) {
        const u64 output = piece / a.pieces, number = piece - output * a.pieces;
        const Index begin = Index(number * a.piece);
        const Index end = Index(number + 1 == a.pieces ? a.length : begin + a.piece);
        const K kernel(a, Index(output));
        const typename K::State state =
            block_merge<K>(share<V, U>(kernel, begin, end, Index(threadIdx.x), Index(BLOCK)), shared);
        if (threadIdx.x == 0) {
            if (a.pieces == 1) {
                kernel.finish(state);
            } else {
                reinterpret_cast<typename K::State*>(a.states)[piece] = state;
            }
        }
    }
}

// As many lanes of a warp as `a.lanes` says take an output.
template <int V, int U, class K, class A>
MP_DEVICE void by_lanes(const A& a) {
    typedef typename K::Position Index;
    const u32 lanes = a.lanes, lane = threadIdx.x % lanes;
    const u64 groups = u64(gridDim.x) * (BLOCK / lanes);
    // All threads of a warp go round as often.
    for (u64 first = u64(blockIdx.x) * (BLOCK / lanes); first < a.outputs; first += groups) {
        const u64 output = first + threadIdx.x / lanes;
        const bool is_one = output < a.outputs;
        const K kernel(a, Index(is_one ? output : first));
        const Index end = is_one ? Index(a.length) : Index(0);
        typename K::State state = share<V, U>(kernel, Index(0), end, Index(lane), Index(lanes));
        state = warp_merge<K>(state, lanes);
        if (is_one && lane == 0) kernel.finish(state);
    }
}

// Neighbouring threads take neighbouring outputs, and warps of a block every eighth of their elements.
template <class K, class A>
MP_DEVICE void by_columns(const A& a, typename K::State* shared) {
    typedef typename K::Position Index;
    constexpr u32 ROWS = BLOCK / WARP;
    const u32 column = threadIdx.x % WARP, row = threadIdx.x / WARP;
    const u64 groups = (a.outputs + WARP - 1) / WARP;
    for (u64 work = blockIdx.x; work < groups * a.pieces; work += gridDim.x) {
        const u64 number = work / groups, output = (work - number * groups) * WARP + column;
        const Index begin = Index(number * a.piece);
        const Index end = Index(number + 1 == a.pieces ? a.length : begin + a.piece);
        const bool is_one = output < a.outputs;
        const K kernel(a, Index(is_one ? output : 0));
        shared[threadIdx.x] = share<1, 1>(kernel, begin, is_one ? end : begin, Index(row), Index(ROWS));
        __syncthreads();
        if (row == 0 && is_one) {
            typename K::State state = shared[column];
            for (u32 other = 1; other < ROWS; other++) {
                state = K::merge(state, shared[other * WARP + column]);
            }
            if (a.pieces == 1) {
                kernel.finish(state);
            } else {
                reinterpret_cast<typename K::State*>(a.states)[output * a.pieces + number] = state;
            }
        }
        __syncthreads();
    }
}

// Each block merges the pieces of an output.
template <class K, class A>
MP_DEVICE void merge_pieces(const A& a, typename K::State* shared) {
    for (u64 output = blockIdx.x; output < a.outputs; output += gridDim.x) {
        const typename K::State* states = reinterpret_cast<typename K::State*>(a.states) + output * a.pieces;
        typename K::State state = K::start();
        for (u64 piece = threadIdx.x; piece < a.pieces; piece += BLOCK) {
            state = K::merge(state, states[piece]);
        }
        state = block_merge<K>(state, shared);
        if (threadIdx.x == 0) K(a, typename K::Position(output)).finish(state);
    }
}

}  // namespace mp

