// Numbers as the kernels beside libraries know them: real ones, and complex ones as pairs.

typedef unsigned long long word;
typedef long long number;

template <class Real> struct alignas(2 * sizeof(Real)) Pair {
    Real re, im;
};

__device__ inline bool is_number(double x) { return x - x == 0; }
__device__ inline bool is_number(float x) { return x - x == 0; }
template <class Real> __device__ bool is_number(Pair<Real> x) { return is_number(x.re) && is_number(x.im); }

__device__ inline double real_part(double x) { return x; }
__device__ inline double real_part(float x) { return x; }
template <class Real> __device__ double real_part(Pair<Real> x) { return x.re; }

__device__ inline double without_imaginary(double x) { return x; }
__device__ inline float without_imaginary(float x) { return x; }
template <class Real> __device__ Pair<Real> without_imaginary(Pair<Real> x) { return {x.re, 0}; }

__device__ inline double scaled(double x, double factor) { return x * factor; }
__device__ inline float scaled(float x, double factor) { return x * (float)factor; }
template <class Real> __device__ Pair<Real> scaled(Pair<Real> x, double factor) {
    return {x.re * (Real)factor, x.im * (Real)factor};
}

template <class T> struct Of {
    static __device__ T real(double x) { return (T)x; }
};
template <class Real> struct Of<Pair<Real>> {
    static __device__ Pair<Real> real(double x) { return {(Real)x, 0}; }
};

// Tells what was found, unless something was told before.
__device__ inline void tell(word report, word code) {
    word *first = (word *)report;
    if (*(volatile word *)first == 0) {
        atomicCAS(first, (word)0, code);
    }
}

// A product of many numbers, and the logarithm of the moduli that are kept apart.
struct Diagonal {
    double re, im, logarithm;
};

__device__ inline double modulus_of(double re, double im) {
    re = re < 0 ? -re : re;
    im = im < 0 ? -im : im;
    const double large = re > im ? re : im, small = re > im ? im : re;
    if (small == 0 || !is_number(large)) {
        return large + small;
    }
    const double ratio = small / large;
    return large * sqrt(1 + ratio * ratio);
}

// Multiplies by a number; of one that is kept apart, by its direction.
__device__ inline void take(Diagonal &product, double re, double im, bool apart) {
    if (apart) {
        const double modulus = modulus_of(re, im);
        product.logarithm += log(modulus);
        re = modulus == 0 ? 0 : re / modulus;
        im = modulus == 0 ? 0 : im / modulus;
    }
    const double before = product.re;
    product.re = before * re - product.im * im;
    product.im = before * im + product.im * re;
}

__device__ inline double imaginary_part(double) { return 0; }
__device__ inline double imaginary_part(float) { return 0; }
template <class Real> __device__ double imaginary_part(Pair<Real> x) { return x.im; }

__device__ inline void give(float *to, double re, double) { *to = (float)re; }
__device__ inline void give(double *to, double re, double) { *to = re; }
template <class Real> __device__ void give(Pair<Real> *to, double re, double im) { *to = {(Real)re, (Real)im}; }
