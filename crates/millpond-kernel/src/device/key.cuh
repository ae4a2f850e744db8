// Elements as their bits, and keys: unsigned integers in the order of the elements that they stand for, by
// the host's rules. NaNs are the largest and equal one another, zeros of either sign are equal; complex
// numbers with a NaN are behind all others.

namespace mp::ordering {

template <int BYTES>
struct plain;
template <>
struct plain<1> {
    typedef u8 type;
};
template <>
struct plain<2> {
    typedef u16 type;
};
template <>
struct plain<4> {
    typedef u32 type;
};
template <>
struct plain<8> {
    typedef u64 type;
};

// The bits of a complex number, which lies at any address that suits its parts.
template <class P>
struct parts {
    P re, im;
};

// A key of 128 bits.
struct long_key {
    u64 high, low;
};

template <class T>
struct keyed {
    typedef typename plain<sizeof(T)>::type bits;
    typedef modular<T> key;
    static constexpr int DIGITS = sizeof(T);
    static MP_DEVICE bits load(bits element) { return element; }
    static MP_DEVICE key of(bits element) { return key(bits(element ^ bits(lowest<T>))); }
    static MP_DEVICE bool is_nan(bits) { return false; }
};

// Any byte but zero is true.
template <>
struct keyed<bool> : keyed<u8> {
    static MP_DEVICE u8 load(u8 element) { return element != 0; }
    static MP_DEVICE u32 of(u8 element) { return element != 0; }
};

template <class B, B INFINITE>
struct keyed_float {
    typedef B bits;
    typedef modular<B> key;
    static constexpr int DIGITS = sizeof(B);
    static constexpr B SIGN = B(B(1) << (8 * sizeof(B) - 1));
    static MP_DEVICE bits load(bits element) { return element; }
    static MP_DEVICE bool is_nan(bits element) { return B(element & B(~SIGN)) > INFINITE; }
    static MP_DEVICE key of(bits element) {
        // A negative zero isn't below the other one.
        const B place = element > SIGN ? B(~element) : B(element | SIGN);
        return is_nan(element) ? B(~B(0)) : place;
    }
    // The first of the keys that no number has.
    static MP_DEVICE B behind() { return B((INFINITE | SIGN) + 1); }
};
template <>
struct keyed<half> : keyed_float<u16, 0x7c00> {};
template <>
struct keyed<bfloat> : keyed_float<u16, 0x7f80> {};
template <>
struct keyed<float> : keyed_float<u32, 0x7f800000> {};
template <>
struct keyed<double> : keyed_float<u64, 0x7ff0000000000000> {};

MP_DEVICE u64 joined(u32 high, u32 low) { return u64(high) << 32 | low; }
MP_DEVICE long_key joined(u64 high, u64 low) { return {high, low}; }

template <class R>
struct keyed<complex<R>> {
    typedef keyed<R> part;
    typedef typename part::bits piece;
    typedef parts<piece> bits;
    typedef decltype(joined(piece(0), piece(0))) key;
    static constexpr int DIGITS = 2 * sizeof(R);
    static MP_DEVICE bits load(bits element) { return element; }
    static MP_DEVICE bool is_nan(bits z) { return part::is_nan(z.re) || part::is_nan(z.im); }
    static MP_DEVICE key of(bits z) {
        const bool no_re = part::is_nan(z.re), no_im = part::is_nan(z.im);
        const piece re = part::of(z.re), im = part::of(z.im), behind = part::behind();
        if (!no_re && !no_im) return joined(re, im);
        if (!no_re) return joined(behind, re);
        return no_im ? joined(piece(behind + 2), piece(0)) : joined(piece(behind + 1), im);
    }
};

// All bits turned: the order backwards.
template <class K>
MP_DEVICE K turned(K key, bool backwards) {
    return key ^ (K(0) - K(backwards));
}
MP_DEVICE long_key turned(long_key key, bool backwards) {
    return {turned(key.high, backwards), turned(key.low, backwards)};
}

template <class K>
MP_DEVICE bool is_before(K a, K b) {
    return a < b;
}
MP_DEVICE bool is_before(long_key a, long_key b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

template <class K>
MP_DEVICE bool is_same(K a, K b) {
    return a == b;
}
MP_DEVICE bool is_same(long_key a, long_key b) { return a.high == b.high && a.low == b.low; }

// The byte of a number, from the lowest on.
template <class K>
MP_DEVICE u32 byte_of(K key, u32 number) {
    return u32(key >> 8 * number) & 0xff;
}
MP_DEVICE u32 byte_of(long_key key, u32 number) {
    return number < 8 ? byte_of(key.low, number) : byte_of(key.high, number - 8);
}

}  // namespace mp::ordering

