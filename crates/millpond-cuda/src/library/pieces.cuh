// What libraries leave to others: matrices are brought into the form that a library takes and out of it
// again, and what a factorisation says is read. Structures are of words of eight bytes.

// Axes of which the last two are the rows and columns of a matrix.
enum { AXES = 6 };

enum Mode { LOWER = 1, UPPER = 2, IDENTITY = 4, FINITE = 8, POSITIVE = 16, ENDS = 32 };

struct Carry {
    word to, from, report;
    number total;
    // The first axis that has more than one place.
    number first;
    number sizes[AXES], to_steps[AXES], from_steps[AXES];
    number rows, columns, last;
    word mode, not_finite, not_positive;
    double scale;
};

template <class T, class Index> __device__ void carry(const Carry &it) {
    const Index total = (Index)it.total, step = (Index)gridDim.x * blockDim.x;
    for (Index element = (Index)blockIdx.x * blockDim.x + threadIdx.x; element < total; element += step) {
        Index rest = element, row = 0, column = 0;
        number to = 0, from = 0;
        for (int axis = AXES - 1; axis >= (int)it.first; axis--) {
            const Index size = (Index)it.sizes[axis];
            if (size == 1) {
                continue;
            }
            Index at = rest;
            if (axis != (int)it.first) {
                rest /= size;
                at -= rest * size;
            }
            to += (number)at * it.to_steps[axis];
            from += (number)at * it.from_steps[axis];
            if (axis == AXES - 1) {
                column = at;
            } else if (axis == AXES - 2) {
                row = at;
            }
        }
        const bool there = (number)row < it.rows && (number)column < it.columns &&
                           !((it.mode & LOWER) && column > row) && !((it.mode & UPPER) && row > column);
        T value = Of<T>::real(0);
        if (there) {
            value = (it.mode & IDENTITY) ? Of<T>::real(row == column) : ((const T *)it.from)[from];
        }
        if ((it.mode & FINITE) && !is_number(value)) {
            tell(it.report, it.not_finite);
            value = Of<T>::real(0);
        }
        if ((it.mode & POSITIVE) && row == column && !(real_part(value) > 0)) {
            tell(it.report, it.not_positive);
        }
        if ((it.mode & ENDS) && (column == 0 || (number)column == it.last)) {
            value = without_imaginary(value);
        }
        if (it.scale != 1) {
            value = scaled(value, it.scale);
        }
        ((T *)it.to)[to] = value;
    }
}

template <class T> __device__ void carry_any(const Carry &it) {
    if (it.total < (number)1 << 31) {
        carry<T, unsigned int>(it);
    } else {
        carry<T, word>(it);
    }
}

extern "C" __global__ void carry_float32(Carry it) { carry_any<float>(it); }
extern "C" __global__ void carry_float64(Carry it) { carry_any<double>(it); }
extern "C" __global__ void carry_complex64(Carry it) { carry_any<Pair<float>>(it); }
extern "C" __global__ void carry_complex128(Carry it) { carry_any<Pair<double>>(it); }

// Tells a code if the word of a factorisation isn't zero.
struct Judge {
    word found, report, code;
};

extern "C" __global__ void judge(Judge it) {
    if (threadIdx.x == 0 && *(const int *)it.found != 0) {
        tell(it.report, it.code);
    }
}

// The determinant by the diagonal of a triangular factor and the exchanges of rows: its value, or a
// number of modulus one and the logarithm of its modulus. Each thread takes part of the diagonal, and
// the parts are put together in their order.
struct Pivots {
    word factor;
    number size;
    word exchanges, result, logarithm;
};

enum { THREADS = 128 };

template <class T, class Real> __device__ void pivots(const Pivots &it) {
    __shared__ Diagonal parts[THREADS];
    __shared__ int exchanges[THREADS];
    const bool apart = it.logarithm != 0;
    Diagonal product = {1, 0, 0};
    int exchanged = 0;
    for (number at = threadIdx.x; at < it.size; at += THREADS) {
        const T pivot = ((const T *)it.factor)[at * (it.size + 1)];
        take(product, real_part(pivot), imaginary_part(pivot), apart);
        exchanged += ((const number *)it.exchanges)[at] != at + 1;
    }
    parts[threadIdx.x] = product;
    exchanges[threadIdx.x] = exchanged;
    __syncthreads();
    if (threadIdx.x != 0) {
        return;
    }
    for (int part = 1; part < THREADS; part++) {
        take(product, parts[part].re, parts[part].im, false);
        product.logarithm += parts[part].logarithm;
        exchanged += exchanges[part];
    }
    const double sign = exchanged % 2 ? -1 : 1;
    if (apart) {
        if (product.re == 0 && product.im == 0) {
            product.logarithm = log(0.0);
        }
        *(Real *)it.logarithm = (Real)product.logarithm;
    }
    give((T *)it.result, product.re * sign, product.im * sign);
}

extern "C" __global__ void pivots_float32(Pivots it) { pivots<float, float>(it); }
extern "C" __global__ void pivots_float64(Pivots it) { pivots<double, double>(it); }
extern "C" __global__ void pivots_complex64(Pivots it) { pivots<Pair<float>, float>(it); }
extern "C" __global__ void pivots_complex128(Pivots it) { pivots<Pair<double>, double>(it); }
