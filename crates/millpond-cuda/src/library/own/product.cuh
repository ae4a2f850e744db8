// Products of matrices of any numbers that lie in any way, and sums of products along lines. `Element` is what
// matrices are made of and `Total` what is added up: the same numbers, or wider integers.

// Axes of a stack.
enum { AXES = 4 };

struct Product {
    word to, lhs, rhs, states;
    number rows, columns, inner, count;
    // Elements from row to row and from column to column.
    number to_steps[2], lhs_steps[2], rhs_steps[2];
    // The stack, and elements from one of its products to the next.
    number sizes[AXES], to_stack[AXES], lhs_stack[AXES], rhs_stack[AXES];
    word conjugates;
    // Of sums: threads that share one, and products of a piece, of which a sum has so many.
    number lanes, piece, pieces;
};

enum { THREADS = 256, WARP = 32 };

template <class T> __device__ T conjugate(T x) { return x; }
template <class Real> __device__ Pair<Real> conjugate(Pair<Real> x) { return {x.re, -x.im}; }

template <class T, class E> __device__ T plus_product(T sum, E a, E b) { return sum + (T)a * (T)b; }
template <class Real> __device__ Pair<Real> plus_product(Pair<Real> sum, Pair<Real> a, Pair<Real> b) {
    return {sum.re + a.re * b.re - a.im * b.im, sum.im + a.re * b.im + a.im * b.re};
}
template <class T> __device__ T plus(T a, T b) { return a + b; }
template <class Real> __device__ Pair<Real> plus(Pair<Real> a, Pair<Real> b) { return {a.re + b.re, a.im + b.im}; }

struct Places {
    Element *to;
    const Element *lhs, *rhs;

    __device__ Places(const Product &it, number product)
        : to((Element *)it.to), lhs((const Element *)it.lhs), rhs((const Element *)it.rhs) {
        for (int axis = AXES - 1; axis >= 0; axis--) {
            if (it.sizes[axis] == 1) {
                continue;
            }
            const number at = product % it.sizes[axis];
            product /= it.sizes[axis];
            to += at * it.to_stack[axis];
            lhs += at * it.lhs_stack[axis];
            rhs += at * it.rhs_stack[axis];
        }
    }
};

// ---- Matrices ----

// A block takes a tile of a result, and each thread `EACH` times as many elements of it; what it is made of
// passes through shared memory, `DEPTH` at a time.
enum { TILE = 64, DEPTH = 16, EACH = 4, APART = TILE / EACH };

// Where an element of a strip of a factor is: neighbours in memory fall to neighbouring threads.
struct Spot {
    int along, depth;

    __device__ Spot(int element, bool by_depth)
        : along(by_depth ? element / DEPTH : element % TILE), depth(by_depth ? element % DEPTH : element / TILE) {}
};

__device__ inline number size_of(number step) { return step < 0 ? -step : step; }

__device__ void tiles(const Product &it) {
    __shared__ Element lhs[DEPTH][TILE + 1], rhs[DEPTH][TILE + 1];
    const number across = (it.columns + TILE - 1) / TILE, down = (it.rows + TILE - 1) / TILE;
    const bool lhs_by_depth = size_of(it.lhs_steps[1]) <= size_of(it.lhs_steps[0]);
    const bool rhs_by_depth = size_of(it.rhs_steps[0]) <= size_of(it.rhs_steps[1]);
    const int row = threadIdx.x / APART, column = threadIdx.x % APART;
    for (number tile = blockIdx.x; tile < it.count * down * across; tile += gridDim.x) {
        const number strip = tile / across, product = strip / down;
        const number top = (strip - product * down) * TILE, left = (tile - strip * across) * TILE;
        const Places places(it, product);
        Total sums[EACH][EACH] = {};
        for (number begin = 0; begin < it.inner; begin += DEPTH) {
#pragma unroll
            for (int element = threadIdx.x; element < TILE * DEPTH; element += THREADS) {
                const Spot a(element, lhs_by_depth), b(element, rhs_by_depth);
                Element from_lhs = {}, from_rhs = {};
                if (top + a.along < it.rows && begin + a.depth < it.inner) {
                    from_lhs = places.lhs[(top + a.along) * it.lhs_steps[0] + (begin + a.depth) * it.lhs_steps[1]];
                }
                if (left + b.along < it.columns && begin + b.depth < it.inner) {
                    from_rhs = places.rhs[(begin + b.depth) * it.rhs_steps[0] + (left + b.along) * it.rhs_steps[1]];
                }
                lhs[a.depth][a.along] = it.conjugates ? conjugate(from_lhs) : from_lhs;
                rhs[b.depth][b.along] = from_rhs;
            }
            __syncthreads();
#pragma unroll
            for (int depth = 0; depth < DEPTH; depth++) {
                Element a[EACH], b[EACH];
#pragma unroll
                for (int each = 0; each < EACH; each++) {
                    a[each] = lhs[depth][row + each * APART];
                    b[each] = rhs[depth][column + each * APART];
                }
#pragma unroll
                for (int i = 0; i < EACH; i++) {
#pragma unroll
                    for (int j = 0; j < EACH; j++) {
                        sums[i][j] = plus_product(sums[i][j], a[i], b[j]);
                    }
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const number r = top + row + i * APART, c = left + column + j * APART;
                if (r < it.rows && c < it.columns) {
                    places.to[r * it.to_steps[0] + c * it.to_steps[1]] = (Element)sums[i][j];
                }
            }
        }
    }
}

// ---- Sums ----

// Neighbours that one access moves, where they are aligned for it, and accesses that are under way at a time.
enum { PACK = 16 / sizeof(Element), AHEAD = 4 };

struct alignas(16) Pack {
    Element each[PACK];

    __device__ void load(const Element *from, number step, bool whole) {
        if (whole) {
            *this = *(const Pack *)from;
            return;
        }
#pragma unroll
        for (int k = 0; k < PACK; k++) {
            each[k] = from[k * step];
        }
    }
};

// What a lane has of a line: packs in turn with the other lanes, and of what fills none an element each. The
// order of adding is the same wherever the elements lie.
__device__ inline Total share(const Product &it, const Places &places, number begin, number end, number lane) {
    const number lhs_step = it.lhs_steps[1], rhs_step = it.rhs_steps[0], packs = (end - begin) / PACK;
    const Element *lhs = places.lhs + begin * lhs_step, *rhs = places.rhs + begin * rhs_step;
    const bool lhs_whole = lhs_step == 1 && (word)lhs % 16 == 0, rhs_whole = rhs_step == 1 && (word)rhs % 16 == 0;
    Total sums[PACK] = {};
    for (number first = lane; first < packs; first += AHEAD * it.lanes) {
        Pack a[AHEAD], b[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const number at = (first + u * it.lanes) * PACK;
            if (first + u * it.lanes < packs) {
                a[u].load(lhs + at * lhs_step, lhs_step, lhs_whole);
                b[u].load(rhs + at * rhs_step, rhs_step, rhs_whole);
            }
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            if (first + u * it.lanes < packs) {
#pragma unroll
                for (int k = 0; k < PACK; k++) {
                    const Element x = a[u].each[k];
                    sums[k] = plus_product(sums[k], it.conjugates ? conjugate(x) : x, b[u].each[k]);
                }
            }
        }
    }
    Total sum = {};
    for (number at = packs * PACK + lane; at < end - begin; at += it.lanes) {
        const Element x = lhs[at * lhs_step];
        sum = plus_product(sum, it.conjugates ? conjugate(x) : x, rhs[at * rhs_step]);
    }
#pragma unroll
    for (int k = 0; k < PACK; k++) {
        sum = plus(sum, sums[k]);
    }
    return sum;
}

// What groups of as many neighbouring threads have together, in the first of each: of a warp first, which waits
// for nobody else, and then of the warps.
__device__ inline Total together(Total own, Total *totals, number lanes) {
    const int me = threadIdx.x, lane = me % WARP;
    totals[me] = own;
    __syncwarp();
    for (int half = (lanes < WARP ? (int)lanes : WARP) / 2; half > 0; half /= 2) {
        if (lane % lanes < half) {
            totals[me] = plus(totals[me], totals[me + half]);
        }
        __syncwarp();
    }
    own = totals[me];
    if (lanes <= WARP) {
        return own;
    }
    __syncthreads();
    if (me == 0) {
        for (int warp = 1; warp < THREADS / WARP; warp++) {
            own = plus(own, totals[warp * WARP]);
        }
    }
    __syncthreads();
    return own;
}

// Groups of threads take a piece of a sum each.
__device__ void sums(const Product &it) {
    __shared__ Total totals[THREADS];
    const number groups = THREADS / it.lanes, group = threadIdx.x / it.lanes, lane = threadIdx.x % it.lanes;
    for (number first = blockIdx.x * groups; first < it.count * it.pieces; first += gridDim.x * groups) {
        const number piece = first + group, product = piece / it.pieces, number_of = piece - product * it.pieces;
        const bool is_one = piece < it.count * it.pieces;
        const number begin = number_of * it.piece;
        const number end = number_of + 1 == it.pieces ? it.inner : begin + it.piece;
        const Places places(it, is_one ? product : 0);
        Total own = {};
        if (is_one) {
            own = share(it, places, begin, end, lane);
        }
        own = together(own, totals, it.lanes);
        if (is_one && lane == 0) {
            if (it.pieces == 1) {
                *places.to = (Element)own;
            } else {
                ((Total *)it.states)[piece] = own;
            }
        }
    }
}

// Each block adds the pieces of a sum.
__device__ void merge(const Product &it) {
    __shared__ Total totals[THREADS];
    for (number product = blockIdx.x; product < it.count; product += gridDim.x) {
        const Total *pieces = (const Total *)it.states + product * it.pieces;
        Total own = {};
        for (number piece = threadIdx.x; piece < it.pieces; piece += THREADS) {
            own = plus(own, pieces[piece]);
        }
        own = together(own, totals, THREADS);
        if (threadIdx.x == 0) {
            *Places(it, product).to = (Element)own;
        }
    }
}
