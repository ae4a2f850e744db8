// Square matrices of which one fits into the memory that a block of threads shares: a block takes one apart
// there, in double precision as on the host. `Element` is what matrices are made of, `Real` the results that are
// real, `Wide` what is calculated with. Matrices lie column by column, `MOST` from one to the next.

enum { AXES = 4, OPERANDS = 3, SIDES = 8 };

enum Task { CHOLESKY, DETERMINANT, INVERSE, SOLVE };

struct Operand {
    word address;
    number steps[2], stack[AXES];
};

struct Small {
    number task, upper, count, size, sides;
    word report, finding, diverged;
    number sizes[AXES];
    // The result, of determinants the sign as well if there are two, and what is given.
    Operand operands[OPERANDS];
    number results;
};

__device__ inline double widened(float x) { return x; }
__device__ inline double widened(double x) { return x; }
template <class R> __device__ Pair<double> widened(Pair<R> x) { return {(double)x.re, (double)x.im}; }

__device__ inline double conjugate(double x) { return x; }
__device__ inline Pair<double> conjugate(Pair<double> x) { return {x.re, -x.im}; }

__device__ inline double less_product(double x, double a, double b) { return x - a * b; }
__device__ inline Pair<double> less_product(Pair<double> x, Pair<double> a, Pair<double> b) {
    return {x.re - (a.re * b.re - a.im * b.im), x.im - (a.re * b.im + a.im * b.re)};
}

__device__ inline double over(double x, double y) { return x / y; }
__device__ inline Pair<double> over(Pair<double> x, double y) { return {x.re / y, x.im / y}; }
// The larger part of the divisor is divided by first, so that its square is never made.
__device__ inline Pair<double> over(Pair<double> x, Pair<double> y) {
    if (fabs(y.re) >= fabs(y.im)) {
        const double ratio = y.im / y.re, divisor = y.re + y.im * ratio;
        return {(x.re + x.im * ratio) / divisor, (x.im - x.re * ratio) / divisor};
    }
    const double ratio = y.re / y.im, divisor = y.im + y.re * ratio;
    return {(x.re * ratio + x.im) / divisor, (x.im * ratio - x.re) / divisor};
}

__device__ inline double modulus(double x) { return fabs(x); }
__device__ inline double modulus(Pair<double> x) { return modulus_of(x.re, x.im); }

// An operand's matrix.
struct Place {
    word address;
    number rows, columns;

    __device__ Place(const Small &it, int operand, number matrix) {
        const Operand &of = it.operands[operand];
        rows = of.steps[0], columns = of.steps[1];
        number elements = 0;
        for (int axis = AXES - 1; axis >= 0; axis--) {
            if (it.sizes[axis] == 1) {
                continue;
            }
            elements += matrix % it.sizes[axis] * of.stack[axis];
            matrix /= it.sizes[axis];
        }
        address = of.address + elements;
    }
    // Steps are in bytes, as results may be of another dtype.
    __device__ Element *at(number row, number column) const {
        return (Element *)(address + row * rows + column * columns);
    }
};

// What a block shares.
template <int MOST> struct Room {
    Wide matrix[MOST * MOST], sides[MOST * SIDES];
    double moduli[MOST];
    int order[MOST];
};

// Takes the matrix apart into triangles in its place, with rows exchanged as `order` says. What is exchanged is
// the first row of those whose numbers are the largest, as on the host.
template <int MOST> __device__ void triangles(Room<MOST> &room, int n, bool &is_odd, bool &is_singular) {
    Wide *a = room.matrix;
    const int me = threadIdx.x;
    for (int pivot = 0; pivot < n; pivot++) {
        if (me >= pivot && me < n) {
            room.moduli[me] = modulus(a[pivot * MOST + me]);
        }
        __syncthreads();
        int largest = pivot;
        for (int row = pivot + 1; row < n; row++) {
            largest = room.moduli[row] > room.moduli[largest] ? row : largest;
        }
        const bool is_zero = room.moduli[largest] == 0;
        if (is_zero) {
            is_singular = true;
            __syncthreads();
            continue;
        }
        if (largest != pivot) {
            is_odd = !is_odd;
            if (me < n) {
                const Wide kept = a[me * MOST + pivot];
                a[me * MOST + pivot] = a[me * MOST + largest];
                a[me * MOST + largest] = kept;
            }
            if (me == 0) {
                const int kept = room.order[pivot];
                room.order[pivot] = room.order[largest];
                room.order[largest] = kept;
            }
        }
        __syncthreads();
        if (me > pivot && me < n) {
            a[pivot * MOST + me] = over(a[pivot * MOST + me], a[pivot * MOST + pivot]);
        }
        __syncthreads();
        const int left = n - pivot - 1;
        for (int element = me; element < left * left; element += blockDim.x) {
            const int row = pivot + 1 + element % left, column = pivot + 1 + element / left;
            Wide &own = a[column * MOST + row];
            own = less_product(own, a[pivot * MOST + row], a[column * MOST + pivot]);
        }
        __syncthreads();
    }
}

// Solves for as many right-hand sides, which lie side by side.
template <int MOST> __device__ void substitute(Room<MOST> &room, int n, int count) {
    const Wide *a = room.matrix;
    Wide *x = room.sides;
    for (int pivot = 0; pivot < n; pivot++) {
        const int left = n - pivot - 1;
        for (int element = threadIdx.x; element < left * count; element += blockDim.x) {
            const int row = pivot + 1 + element % left, side = element / left * MOST;
            x[side + row] = less_product(x[side + row], a[pivot * MOST + row], x[side + pivot]);
        }
        __syncthreads();
    }
    for (int pivot = n - 1; pivot >= 0; pivot--) {
        if (threadIdx.x < count) {
            Wide &own = x[threadIdx.x * MOST + pivot];
            own = over(own, a[pivot * MOST + pivot]);
        }
        __syncthreads();
        for (int element = threadIdx.x; element < pivot * count; element += blockDim.x) {
            const int row = element % pivot, side = element / pivot * MOST;
            x[side + row] = less_product(x[side + row], a[pivot * MOST + row], x[side + pivot]);
        }
        __syncthreads();
    }
}

// The triangle whose product with its adjoint is the matrix, of which only the triangle that counts was loaded;
// whether there is one.
template <int MOST> __device__ bool cholesky(Room<MOST> &room, int n) {
    Wide *a = room.matrix;
    for (int pivot = 0; pivot < n; pivot++) {
        const double square = real_part(a[pivot * MOST + pivot]);
        // Comparisons with NaN hold nothing up.
        if (!(square > 0) || !is_number(square)) {
            return false;
        }
        const double root = sqrt(square);
        __syncthreads();
        for (int row = pivot + threadIdx.x; row < n; row += blockDim.x) {
            Wide &own = a[pivot * MOST + row];
            own = row == pivot ? Of<Wide>::real(root) : over(own, root);
        }
        __syncthreads();
        const int left = n - pivot - 1;
        for (int element = threadIdx.x; element < left * left; element += blockDim.x) {
            const int row = pivot + 1 + element % left, column = pivot + 1 + element / left;
            if (row >= column) {
                Wide &own = a[column * MOST + row];
                own = less_product(own, a[pivot * MOST + row], conjugate(a[pivot * MOST + column]));
            }
        }
        __syncthreads();
    }
    return true;
}

// Each block takes one matrix after the other.
template <int MOST> __device__ void small(const Small &it) {
    __shared__ Room<MOST> room;
    const int n = (int)it.size, me = threadIdx.x;
    for (number matrix = blockIdx.x; matrix < it.count; matrix += gridDim.x) {
        const Place result(it, 0, matrix), given(it, (int)it.results, matrix);
        const bool is_cholesky = it.task == CHOLESKY;
        for (int element = me; element < n * n; element += blockDim.x) {
            const int row = element / n, column = element % n;
            if (!is_cholesky) {
                room.matrix[column * MOST + row] = widened(*given.at(row, column));
            } else if (it.upper ? column >= row : row >= column) {
                const Wide value = widened(*given.at(row, column));
                const int place = it.upper ? row * MOST + column : column * MOST + row;
                room.matrix[place] = it.upper ? conjugate(value) : value;
            }
        }
        for (int row = me; row < n; row += blockDim.x) {
            room.order[row] = row;
        }
        __syncthreads();
        if (is_cholesky) {
            if (!cholesky(room, n)) {
                if (me == 0) {
                    tell(it.report, it.finding);
                }
            } else {
                for (int element = me; element < n * n; element += blockDim.x) {
                    const int row = element / n, column = element % n;
                    Wide value = Of<Wide>::real(0);
                    if (it.upper ? column >= row : row >= column) {
                        value = it.upper ? conjugate(room.matrix[row * MOST + column]) : room.matrix[column * MOST + row];
                    }
                    give(result.at(row, column), real_part(value), imaginary_part(value));
                }
            }
            __syncthreads();
            continue;
        }
        bool is_odd = false, is_singular = false;
        triangles(room, n, is_odd, is_singular);
        if (it.task == DETERMINANT) {
            if (me == 0) {
                const bool apart = it.results == 2;
                Diagonal product = {is_odd ? -1.0 : 1.0, 0, 0};
                for (int pivot = 0; pivot < n; pivot++) {
                    const Wide own = room.matrix[pivot * MOST + pivot];
                    take(product, real_part(own), imaginary_part(own), apart);
                }
                give(result.at(0, 0), product.re, product.im);
                if (apart) {
                    *(Real *)Place(it, 1, matrix).at(0, 0) = (Real)product.logarithm;
                }
            }
        } else if (is_singular) {
            if (me == 0) {
                tell(it.report, it.finding);
            }
        } else {
            const Place sides(it, 2, matrix);
            for (number first = 0; first < it.sides; first += SIDES) {
                const int count = it.sides - first < SIDES ? (int)(it.sides - first) : (int)SIDES;
                for (int element = me; element < n * count; element += blockDim.x) {
                    const int row = element / count, column = element % count, from = room.order[row];
                    const Wide value = it.task == INVERSE ? Of<Wide>::real(from == first + column)
                                                          : widened(*sides.at(from, first + column));
                    room.sides[column * MOST + row] = value;
                }
                __syncthreads();
                substitute(room, n, count);
                for (int element = me; element < n * count; element += blockDim.x) {
                    const int row = element / count, column = element % count;
                    const Wide value = room.sides[column * MOST + row];
                    give(result.at(row, first + column), real_part(value), imaginary_part(value));
                }
                __syncthreads();
            }
        }
        __syncthreads();
    }
}
