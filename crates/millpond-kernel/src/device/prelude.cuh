// Types, access to memory, and the vocabularies that bodies are written over.

namespace mp {

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct half {
    u16 bits;
};

struct bfloat {
    u16 bits;
};

template <class R>
struct alignas(2 * sizeof(R)) complex {
    R re, im;
};

// ---- What is known of types ----

template <class A, class B>
struct same {
    static constexpr bool value = false;
};
template <class A>
struct same<A, A> {
    static constexpr bool value = true;
};

template <class T>
constexpr bool is_float = same<T, float>::value || same<T, double>::value;

template <class T>
constexpr bool is_short = same<T, half>::value || same<T, bfloat>::value;

template <class T>
struct complex_of {
    static constexpr bool value = false;
    typedef T real;
};
template <class R>
struct complex_of<complex<R>> {
    static constexpr bool value = true;
    typedef R real;
};

// How a value lies in memory: truth values are any byte, of which zero is false.
template <class T>
struct stored {
    typedef T type;
    static MP_DEVICE T load(T value) { return value; }
    static MP_DEVICE T store(T value) { return value; }
};
template <>
struct stored<bool> {
    typedef u8 type;
    static MP_DEVICE bool load(u8 value) { return value != 0; }
    static MP_DEVICE u8 store(bool value) { return value ? 1 : 0; }
};

// ---- Memory ----

template <int BYTES>
struct word;
template <>
struct word<1> {
    typedef u8 type;
};
template <>
struct word<2> {
    typedef u16 type;
};
template <>
struct word<4> {
    typedef u32 type;
};
template <>
struct word<8> {
    typedef uint2 type;
};
template <>
struct word<16> {
    typedef uint4 type;
};

// Elements lie at any address, as foreign memory may.
template <class T>
MP_DEVICE T read(const char* from) {
    if (reinterpret_cast<unsigned long long>(from) % sizeof(T) == 0) return *reinterpret_cast<const T*>(from);
    T value;
    for (int byte = 0; byte < int(sizeof(T)); byte++) reinterpret_cast<char*>(&value)[byte] = from[byte];
    return value;
}

template <class T>
MP_DEVICE void write(char* to, T value) {
    if (reinterpret_cast<unsigned long long>(to) % sizeof(T) == 0) {
        *reinterpret_cast<T*>(to) = value;
        return;
    }
    for (int byte = 0; byte < int(sizeof(T)); byte++) to[byte] = reinterpret_cast<char*>(&value)[byte];
}

// Neighbours that are moved by one access, where they are aligned for it: several always are.
template <class T, int V>
struct pack {
    typedef typename stored<T>::type element;
    typedef typename word<V * sizeof(element)>::type whole;
    union {
        whole all;
        element each[V];
    };

    MP_DEVICE T get(int index) const { return stored<T>::load(each[index]); }
    MP_DEVICE void set(int index, T value) { each[index] = stored<T>::store(value); }
    MP_DEVICE void load(const char* from) {
        if constexpr (V == 1) {
            all = read<whole>(from);
        } else {
            all = *reinterpret_cast<const whole*>(from);
        }
    }
    MP_DEVICE void store(char* to) const {
        if constexpr (V == 1) {
            write(to, all);
        } else {
            *reinterpret_cast<whole*>(to) = all;
        }
    }
};

template <class T>
MP_DEVICE T load(const char* from) {
    pack<T, 1> one;
    one.load(from);
    return one.get(0);
}

template <class T>
MP_DEVICE void store(char* to, T value) {
    pack<T, 1> one;
    one.set(0, value);
    one.store(to);
}

// Division by a number that is known when a kernel is launched: of 31 bits by a product, of more as
// it is.
struct short_divisor {
    u32 size, factor, shift;
};
struct long_divisor {
    u64 size;
};
MP_DEVICE u32 quotient(u32 value, const short_divisor& by) {
    return (multiply_high(value, by.factor) + value) >> by.shift;
}
MP_DEVICE u64 quotient(u64 value, const long_divisor& by) { return value / by.size; }

// ---- Real numbers ----

MP_DEVICE float negate(float x) { return -x; }
MP_DEVICE double negate(double x) { return -x; }

template <class T>
struct constants;
template <>
struct constants<float> {
    static constexpr float epsilon = 1.1920928955078125e-7f;
    static constexpr float largest = 3.4028234663852886e+38f;
    static constexpr float smallest_normal = 1.1754943508222875e-38f;
};
template <>
struct constants<double> {
    static constexpr double epsilon = 2.220446049250313e-16;
    static constexpr double largest = 1.7976931348623157e+308;
    static constexpr double smallest_normal = 2.2250738585072014e-308;
};

template <class T>
MP_DEVICE bool less(T a, T b) {
    return a < b;
}
template <class T>
MP_DEVICE bool equals(T a, T b) {
    return a == b;
}
template <class T>
MP_DEVICE T select(bool mask, T yes, T no) {
    return mask ? yes : no;
}

template <class T>
MP_DEVICE T min(T a, T b) {
    return a < b || a != a ? a : b;
}
template <class T>
MP_DEVICE T max(T a, T b) {
    return a > b || a != a ? a : b;
}

// A function that the device has for both floats, within the bound of every row.
#define MP_BOTH_1(name, single, wide)                        \
    MP_DEVICE float name(float x) { return ::single(x); } \
    MP_DEVICE double name(double x) { return ::wide(x); }
#define MP_BOTH_2(name, single, wide)                                    \
    MP_DEVICE float name(float x, float y) { return ::single(x, y); } \
    MP_DEVICE double name(double x, double y) { return ::wide(x, y); }
// One whose short version errs by more than two units in the last place, as a run over all floats showed or
// its documentation says.
#define MP_WIDE_1(name, wide)                                       \
    MP_DEVICE float name(float x) { return float(::wide(double(x))); } \
    MP_DEVICE double name(double x) { return ::wide(x); }
#define MP_WIDE_2(name, wide)                                                            \
    MP_DEVICE float name(float x, float y) { return float(::wide(double(x), double(y))); } \
    MP_DEVICE double name(double x, double y) { return ::wide(x, y); }

MP_BOTH_1(fabs, fabsf, fabs)
MP_BOTH_1(exp, expf, exp)
MP_WIDE_1(exp2, exp2)
MP_BOTH_1(expm1, expm1f, expm1)
MP_BOTH_1(log, logf, log)
MP_BOTH_1(log1p, log1pf, log1p)
MP_BOTH_1(log2, log2f, log2)
MP_WIDE_1(log10, log10)
MP_BOTH_1(rsqrt, rsqrtf, rsqrt)
MP_BOTH_1(cbrt, cbrtf, cbrt)
MP_BOTH_1(sin, sinf, sin)
MP_BOTH_1(cos, cosf, cos)
MP_WIDE_1(tan, tan)
MP_BOTH_1(asin, asinf, asin)
MP_BOTH_1(acos, acosf, acos)
MP_BOTH_1(atan, atanf, atan)
MP_WIDE_2(atan2, atan2)
MP_WIDE_1(sinh, sinh)
MP_WIDE_1(cosh, cosh)
MP_BOTH_1(tanh, tanhf, tanh)
MP_WIDE_1(atanh, atanh)
MP_BOTH_1(floor, floorf, floor)
MP_BOTH_1(ceil, ceilf, ceil)
MP_BOTH_1(trunc, truncf, trunc)
MP_BOTH_1(rint, rintf, rint)
MP_BOTH_2(copysign, copysignf, copysign)
MP_BOTH_2(fmod, fmodf, fmod)
MP_BOTH_2(nextafter, nextafterf, nextafter)

MP_DEVICE float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
MP_DEVICE double fma(double x, double y, double z) { return ::fma(x, y, z); }

// By a logarithm of more digits than the result has; the rules of zeros, of what is infinite and of roots of
// negative numbers are the short function's.
MP_DEVICE float pow(float x, float y) {
    const float magnitude = ::fabsf(x), half_y = 0.5f * y;
    const bool is_plain = magnitude > 0 && magnitude <= constants<float>::largest &&
                          ::fabsf(y) <= constants<float>::largest && (x > 0 || ::truncf(y) == y);
    if (!is_plain) return ::powf(x, y);
    const float power = float(::exp2(multiply(double(y), ::log2(double(magnitude)))));
    return x < 0 && ::truncf(half_y) != half_y ? -power : power;
}
MP_DEVICE double pow(double x, double y) { return ::pow(x, y); }

// Squares of floats are exact in the wider format and overflow nowhere there.
MP_DEVICE float hypot(float x, float y) {
    const double a = x, b = y;
    const bool endless = ::fabsf(x) > constants<float>::largest || ::fabsf(y) > constants<float>::largest;
    return endless ? float_of(0x7f800000) : float(sqrt(::fma(a, a, b * b)));
}
// By parts that are scaled, as the square root of what is rounded once errs by less than a unit, and by what its own
// square differs from that.
MP_DEVICE double hypot(double x, double y) {
    const double a = ::fabs(x), b = ::fabs(y);
    if (!(a <= constants<double>::largest && b <= constants<double>::largest)) return ::hypot(x, y);
    const double most = a > b ? a : b, least = a > b ? b : a;
    if (least <= multiply(most, 0x1p-54)) return add(most, least);
    const double scale = most > 0x1p511 ? 0x1p-600 : least < 0x1p-459 ? 0x1p600 : 1.0;
    const double p = multiply(most, scale), q = multiply(least, scale);
    const double squares = ::fma(p, p, multiply(q, q)), root = sqrt(squares);
    const double root_square = multiply(root, root), p_square = multiply(p, p);
    const double excess = add(add(::fma(-q, q, subtract(root_square, p_square)), ::fma(root, root, -root_square)),
                              -::fma(p, p, -p_square));
    return divide(subtract(root, divide(excess, add(root, root))), scale);
}

// ---- Integers and truth values ----

template <int BYTES>
struct unsigned_of;
template <>
struct unsigned_of<1> {
    typedef u32 type;
};
template <>
struct unsigned_of<2> {
    typedef u32 type;
};
template <>
struct unsigned_of<4> {
    typedef u32 type;
};
template <>
struct unsigned_of<8> {
    typedef u64 type;
};

// A type that holds sums and products of two numbers modulo their range.
template <class T>
using modular = typename unsigned_of<sizeof(T)>::type;

template <class T>
constexpr bool is_signed = T(-1) < T(1);
template <class T>
constexpr int bits = 8 * sizeof(T);
template <class T>
constexpr T lowest = is_signed<T> ? T(modular<T>(1) << (bits<T> - 1)) : T(0);
template <class T>
constexpr T highest = T(~lowest<T>);

template <class T>
MP_DEVICE T add(T a, T b) {
    return T(modular<T>(a) + modular<T>(b));
}
template <class T>
MP_DEVICE T subtract(T a, T b) {
    return T(modular<T>(a) - modular<T>(b));
}
template <class T>
MP_DEVICE T multiply(T a, T b) {
    return T(modular<T>(a) * modular<T>(b));
}
template <class T>
MP_DEVICE T negate(T x) {
    return T(modular<T>(0) - modular<T>(x));
}
template <class T>
MP_DEVICE T magnitude(T x) {
    return x < T(0) ? negate(x) : x;
}
template <class T>
MP_DEVICE T sign(T x) {
    return T((x > T(0)) - (x < T(0)));
}

template <class T>
MP_DEVICE T floor_divide(T x, T y) {
    if (y == T(0)) return T(0);
    if (is_signed<T> && y == T(-1)) return negate(x);
    const T whole = T(x / y), rest = T(x % y);
    return rest != T(0) && (rest < T(0)) != (y < T(0)) ? T(whole - 1) : whole;
}
template <class T>
MP_DEVICE T remainder(T x, T y) {
    if (y == T(0) || (is_signed<T> && y == T(-1))) return T(0);
    const T rest = T(x % y);
    return rest != T(0) && (rest < T(0)) != (y < T(0)) ? T(rest + y) : rest;
}
template <class T>
MP_DEVICE T power(T base, T exponent) {
    if (exponent < T(0)) {
        if (magnitude(base) != T(1)) return T(0);
        return (exponent & T(1)) == T(1) ? base : T(1);
    }
    T result = T(1);
    for (u64 rest = u64(exponent); rest != 0; rest >>= 1) {
        if (rest & 1) result = multiply(result, base);
        base = multiply(base, base);
    }
    return result;
}
template <class T>
MP_DEVICE T shift_left(T x, T count) {
    return count < T(0) || count > T(bits<T> - 1) ? T(0) : T(modular<T>(x) << int(count));
}
template <class T>
MP_DEVICE T shift_right(T x, T count) {
    if (count < T(0) || count > T(bits<T> - 1)) return x < T(0) ? T(-1) : T(0);
    return T(x >> int(count));
}

template <class T>
MP_DEVICE T bit_and(T a, T b) {
    return T(a & b);
}
template <class T>
MP_DEVICE T bit_or(T a, T b) {
    return T(a | b);
}
template <class T>
MP_DEVICE T bit_xor(T a, T b) {
    return T(a ^ b);
}
template <class T>
MP_DEVICE T bit_not(T a) {
    return T(~a);
}
MP_DEVICE bool bit_not(bool a) { return !a; }

// ---- Conversions ----

// A float from a double, or one of both beside it whose last bit is set: rounding it once more gives
// what rounding the double would.
MP_DEVICE float to_odd(double x) {
    const float near = float(x);
    if (double(near) == x || near != near || ::fabsf(near) > constants<float>::largest) return near;
    u32 bits = bits_of(near);
    bits -= ::fabs(double(near)) > ::fabs(x) ? 1 : 0;
    return float_of(bits | 1);
}

// The same from an integer, by way of a double.
template <class T>
MP_DEVICE float integer_to_odd(T x) {
    if (sizeof(T) < 8) return to_odd(double(x));
    const u64 size = x < T(0) ? u64(0) - u64(x) : u64(x);
    const u64 kept = (size & ~u64(0xfff)) | ((size & 0xfff) != 0 ? 0x800 : 0);
    const double wide = size >> 53 == 0 ? double(size) : double(kept);
    return to_odd(x < T(0) ? -wide : wide);
}

MP_DEVICE float widen(half x) { return half_to_float(x.bits); }
MP_DEVICE float widen(bfloat x) { return float_of(u32(x.bits) << 16); }

MP_DEVICE void narrow(float x, half& to) { to.bits = float_to_half(x); }
MP_DEVICE void narrow(float x, bfloat& to) {
    const u32 bits = bits_of(x);
    to.bits = u16(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Cuts towards zero and clamps; a NaN becomes zero.
template <class D, class S>
MP_DEVICE D whole(S x) {
    constexpr S limit = S(u64(1) << (bits<D> - 1)) * (is_signed<D> ? S(1) : S(2));
    if (x != x) return D(0);
    if (x >= limit) return highest<D>;
    if (x <= (is_signed<D> ? -limit : S(0))) return lowest<D>;
    return D(x);
}

template <class D, class S>
MP_DEVICE D cast(S x) {
    if constexpr (same<D, S>::value) {
        return x;
    } else if constexpr (is_short<S>) {
        return cast<D>(widen(x));
    } else if constexpr (complex_of<S>::value) {
        if constexpr (complex_of<D>::value) {
            typedef typename complex_of<D>::real R;
            return D{R(x.re), R(x.im)};
        } else if constexpr (same<D, bool>::value) {
            return x.re != 0 || x.im != 0;
        } else {
            return cast<D>(x.re);
        }
    } else if constexpr (complex_of<D>::value) {
        typedef typename complex_of<D>::real R;
        return D{cast<R>(x), R(0)};
    } else if constexpr (same<D, bool>::value) {
        return x != S(0);
    } else if constexpr (is_short<D>) {
        D result;
        if constexpr (same<S, double>::value) {
            narrow(to_odd(x), result);
        } else if constexpr (same<D, bfloat>::value && !is_float<S> && sizeof(S) >= 4) {
            narrow(integer_to_odd(x), result);
        } else {
            narrow(float(x), result);
        }
        return result;
    } else if constexpr (is_float<S> && !is_float<D>) {
        return whole<D>(x);
    } else {
        return D(x);
    }
}

// ---- Neighbours of 16 bits ----

template <class H>
MP_DEVICE H neighbour(H x, H y, int infinity, int nan) {
    const int sign = 0x8000, from = x.bits, to = y.bits;
    const int start = from & sign ? -(from & 0x7fff) : from;
    const int goal = to & sign ? -(to & 0x7fff) : to;
    const int next = start + (goal > start) - (goal < start);
    const bool negative = next < 0 || (next == 0 && (from & sign));
    const int stepped = (next < 0 ? -next : next) | (negative ? sign : 0);
    const bool lost = (from & 0x7fff) > infinity || (to & 0x7fff) > infinity;
    H result;
    result.bits = u16(lost ? nan : start == goal ? to : stepped);
    return result;
}
MP_DEVICE half nextafter(half x, half y) { return neighbour(x, y, 0x7c00, 0x7e00); }
MP_DEVICE bfloat nextafter(bfloat x, bfloat y) { return neighbour(x, y, 0x7f80, 0x7fc0); }

// ---- Indices ----

// Tells the host what was found, if nobody has told it anything yet.
MP_DEVICE void tell(char* report, u64 number, u64 index) {
    u64* words = reinterpret_cast<u64*>(report);
    if (atomicCAS(words, u64(0), u64(1)) == 0) {
        words[1] = number;
        words[2] = index;
    }
}
// From the end if negative. One outside of the axis is told of, and names the first element.
template <class T>
MP_DEVICE i64 checked(T index, i64 size, char* report, u64 number) {
    const i64 turned = i64(index) + (is_signed<T> && index < T(0) ? size : 0);
    if (u64(turned) < u64(size)) return turned;
    tell(report, number, u64(index));
    return 0;
}
template <class T>
MP_DEVICE i64 clipped(T index, i64 size, char*, u64) {
    if (is_signed<T> && index < T(0)) return 0;
    return u64(index) < u64(size) ? i64(index) : size - 1;
}
template <class T>
MP_DEVICE i64 wrapped(T index, i64 size, char*, u64) {
    return is_signed<T> ? remainder(i64(index), size) : i64(u64(index) % u64(size));
}

// ---- Rules of arrays that are made of nothing ----

MP_DEVICE i64 steps(u64 index, i64 start, i64 step) { return i64(u64(start) + u64(step) * index); }
MP_DEVICE double steps(u64 index, double start, double step) {
    return add(start, multiply(double(index), step));
}
// The ends are met to the bit.
MP_DEVICE double interval(u64 index, double start, double stop, double step, u64 intervals) {
    if (index == 0) return start;
    if (index == intervals) return stop;
    if (step == 0 || !(::fabs(step) <= constants<double>::largest)) {
        // The step underflowed or overflowed: weigh the ends instead.
        const double share = divide(double(index), double(intervals));
        return add(multiply(start, subtract(1.0, share)), multiply(stop, share));
    }
    return add(start, multiply(double(index), step));
}
// How far right of the main diagonal an element of a stack of matrices is.
MP_DEVICE i64 beside(u64 index, u64 rows, u64 columns) {
    return i64(index % columns) - i64(index / columns % rows);
}
MP_DEVICE bool on_diagonal(u64 index, u64 rows, u64 columns, i64 diagonal) {
    return beside(index, rows, columns) == diagonal;
}
MP_DEVICE bool in_lower(u64 index, u64 rows, u64 columns, i64 diagonal) {
    return beside(index, rows, columns) <= diagonal;
}
MP_DEVICE bool in_upper(u64 index, u64 rows, u64 columns, i64 diagonal) {
    return beside(index, rows, columns) >= diagonal;
}
MP_DEVICE complex<double> steps(u64 index, complex<double> start, complex<double> step) {
    return {steps(index, start.re, step.re), steps(index, start.im, step.im)};
}
MP_DEVICE complex<double> interval(
    u64 index, complex<double> start, complex<double> stop, complex<double> step, u64 intervals) {
    return {interval(index, start.re, stop.re, step.re, intervals),
            interval(index, start.im, stop.im, step.im, intervals)};
}

}  // namespace mp
