// Eigenvalues and eigenvectors of small self-adjoint matrices, by Jacobi's method: rotations of two rows and
// columns each, of as many pairs at a time as there are, until nothing beside the diagonal counts.

// Turns until which an iteration comes to an end, if it does.
enum { TURNS = 40 };

// What beside the diagonal doesn't count any more, relative to the whole matrix.
template <class R> __device__ double negligible();
template <> __device__ inline double negligible<float>() { return 1e-10; }
template <> __device__ inline double negligible<double>() { return 1e-17; }

template <int MOST> struct Turning {
    Wide matrix[MOST * MOST], vectors[MOST * MOST];
    // The rotation of each pair, and its two places.
    Wide sines[MOST / 2], cosines[MOST / 2];
    double plain[MOST / 2], share[MOST];
    int first[MOST / 2], second[MOST / 2], turned, is_finite;
};

__device__ inline double times(double a, double b) { return a * b; }
__device__ inline Pair<double> times(Pair<double> a, Pair<double> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ inline Pair<double> times(Pair<double> a, double b) { return {a.re * b, a.im * b}; }
__device__ inline double sum_of(double a, double b) { return a + b; }
__device__ inline Pair<double> sum_of(Pair<double> a, Pair<double> b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline double difference_of(double a, double b) { return a - b; }
__device__ inline Pair<double> difference_of(Pair<double> a, Pair<double> b) { return {a.re - b.re, a.im - b.im}; }

// The power of two that brings numbers near the ends of the range into its middle, in two factors, as that of a
// subnormal number is infinite.
struct Scale {
    double exponent, first, second;

    __device__ Scale(double largest) {
        exponent = largest == 0 ? 0 : rint(log2(largest));
        exponent = fabs(exponent) > 300 ? exponent : 0;
        const double half = rint(exponent / -2);
        first = exp2(half), second = exp2(-exponent - half);
    }
};

// The two places of a pair in a round: all meet all, as in a tournament of `count` of them, an even number.
__device__ inline void pair_of(int pair, int round, int count, int &first, int &second) {
    const int rest = count - 1;
    first = pair == 0 ? rest : (round + pair) % rest;
    second = (round + rest - pair) % rest;
    if (first > second) {
        const int kept = first;
        first = second, second = kept;
    }
}

// Chooses the rotation of a pair that makes the two elements beside the diagonal zero: columns become
// `cosine * p - conj(phase) * sine * q` and `sine * p + conj(phase) * cosine * q`.
template <int MOST> __device__ void choose(Turning<MOST> &it, int n, int count, int round, double least) {
    const int pair = threadIdx.x;
    if (pair >= count / 2) {
        return;
    }
    int p, q;
    pair_of(pair, round, count, p, q);
    it.first[pair] = p, it.second[pair] = q, it.plain[pair] = -1;
    if (q >= n) {
        return;
    }
    const Wide beside = it.matrix[q * MOST + p];
    const double size = modulus(beside);
    if (!(size > least)) {
        return;
    }
    const double a = real_part(it.matrix[p * MOST + p]), b = real_part(it.matrix[q * MOST + q]);
    const double tau = (b - a) / (2 * size);
    const double tangent = (tau < 0 ? -1 : 1) / (fabs(tau) + sqrt(1 + tau * tau));
    const double cosine = 1 / sqrt(1 + tangent * tangent);
    const Wide phase = conjugate(over(beside, size));
    it.plain[pair] = cosine;
    it.share[pair] = tangent * cosine;
    it.sines[pair] = times(phase, tangent * cosine);
    it.cosines[pair] = times(phase, cosine);
    it.turned = 1;
}

// Rotates columns of a matrix.
template <int MOST> __device__ void turn_columns(const Turning<MOST> &it, Wide *matrix, int n, int pairs) {
    for (int element = threadIdx.x; element < pairs * n; element += blockDim.x) {
        const int pair = element / n, row = element % n;
        if (it.plain[pair] >= 0) {
            Wide &p = matrix[it.first[pair] * MOST + row], &q = matrix[it.second[pair] * MOST + row];
            const Wide one = p, other = q;
            p = difference_of(times(one, it.plain[pair]), times(it.sines[pair], other));
            q = sum_of(times(one, it.share[pair]), times(it.cosines[pair], other));
        }
    }
}

// Rotates rows, by the adjoint.
template <int MOST> __device__ void turn_rows(const Turning<MOST> &it, Wide *matrix, int n, int pairs) {
    for (int element = threadIdx.x; element < pairs * n; element += blockDim.x) {
        const int pair = element / n, column = element % n;
        if (it.plain[pair] >= 0) {
            Wide &p = matrix[column * MOST + it.first[pair]], &q = matrix[column * MOST + it.second[pair]];
            const Wide one = p, other = q;
            p = difference_of(times(one, it.plain[pair]), times(conjugate(it.sines[pair]), other));
            q = sum_of(times(one, it.share[pair]), times(conjugate(it.cosines[pair]), other));
        }
    }
}

// Each block takes one matrix after the other, of which the upper triangle doesn't count.
template <int MOST> __device__ void eigen(const Small &it) {
    __shared__ Turning<MOST> turning;
    const int n = (int)it.size, count = n + n % 2, me = threadIdx.x;
    for (number matrix = blockIdx.x; matrix < it.count; matrix += gridDim.x) {
        const Place given(it, (int)it.results, matrix);
        if (me == 0) {
            turning.is_finite = 1;
        }
        __syncthreads();
        for (int element = me; element < n * n; element += blockDim.x) {
            const int row = element / n, column = element % n;
            if (!is_number(modulus(widened(*given.at(row, column))))) {
                turning.is_finite = 0;
            }
            Wide value = widened(*given.at(row > column ? row : column, row > column ? column : row));
            value = row == column ? Of<Wide>::real(real_part(value)) : row < column ? conjugate(value) : value;
            turning.matrix[column * MOST + row] = value;
            turning.vectors[column * MOST + row] = Of<Wide>::real(row == column);
        }
        __syncthreads();
        double largest = 0;
        if (me < n) {
            for (int row = 0; row < n; row++) {
                const double size = modulus(turning.matrix[me * MOST + row]);
                largest = size > largest ? size : largest;
            }
            turning.share[me] = largest;
        }
        __syncthreads();
        largest = 0;
        for (int column = 0; column < n; column++) {
            largest = turning.share[column] > largest ? turning.share[column] : largest;
        }
        const Scale scale(turning.is_finite == 0 ? 0 : largest);
        for (int element = me; scale.exponent != 0 && element < n * n; element += blockDim.x) {
            Wide &own = turning.matrix[element / n * MOST + element % n];
            own = times(times(own, scale.first), scale.second);
        }
        const double least = largest * scale.first * scale.second * n * negligible<Real>();
        bool is_done = turning.is_finite == 0;
        __syncthreads();
        for (int turn = 0; turn < TURNS && !is_done; turn++) {
            if (me == 0) {
                turning.turned = 0;
            }
            __syncthreads();
            for (int round = 0; round < count - 1; round++) {
                choose(turning, n, count, round, least);
                __syncthreads();
                turn_columns(turning, turning.matrix, n, count / 2);
                turn_columns(turning, turning.vectors, n, count / 2);
                __syncthreads();
                turn_rows(turning, turning.matrix, n, count / 2);
                __syncthreads();
                if (me < count / 2 && turning.plain[me] >= 0) {
                    const int p = turning.first[me], q = turning.second[me];
                    turning.matrix[q * MOST + p] = turning.matrix[p * MOST + q] = Of<Wide>::real(0);
                }
                __syncthreads();
            }
            is_done = turning.turned == 0;
            __syncthreads();
        }
        if (me == 0 && (turning.is_finite == 0 || !is_done)) {
            tell(it.report, turning.is_finite == 0 ? it.finding : it.diverged);
        }
        // In ascending order; of equal ones the first stays so.
        for (int own = me; own < n; own += blockDim.x) {
            const double value = real_part(turning.matrix[own * MOST + own]);
            int rank = 0;
            for (int other = 0; other < n; other++) {
                const double beside = real_part(turning.matrix[other * MOST + other]);
                rank += beside < value || (beside == value && other < own);
            }
            *(Real *)Place(it, 0, matrix).at(rank, 0) = (Real)(value / scale.first / scale.second);
            if (it.results == 2) {
                const Place vectors(it, 1, matrix);
                for (int row = 0; row < n; row++) {
                    const Wide part = turning.vectors[own * MOST + row];
                    give(vectors.at(row, rank), real_part(part), imaginary_part(part));
                }
            }
        }
        __syncthreads();
    }
}
