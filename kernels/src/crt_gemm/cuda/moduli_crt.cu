// From a byte an element and modulus to the double: the Chinese remainder theorem in whole numbers, scaled back and rounded
// once. The only floating-point operation is the one that rounds: 64 bits become a double.

// What lies where.
struct Elements {
    u32 rows, cols;
    u32 pitch;    // From one row of remainders to the next, in bytes: a multiple of 16.
    u32 c_stride; // From one row of C to the next, in doubles.
};

// Four moduli share a word: a byte of each remainder, and a byte of each factor.
#define GROUPS ((MOST_MODULI + 3) / 4)
// P is shifted until its leading bit is the last but one of its words: so many bits of the leading column, after so many
// others, give the quotient to so many behind the point, QUOTIENT_SLACK of their units too small at most.
#define COLUMN_TAIL 12
#define QUOTIENT_BITS 17
#define QUOTIENT_SLACK 4

// The theorem for the first `count` moduli: x 2^shift = sum of remainder * factor modulo P 2^shift.
struct Theorem {
    u32 count;
    u32 words;                             // That P 2^shift takes, with a sign.
    u32 shift;
    u32 reciprocal;                        // 2^(32 + QUOTIENT_BITS) / (P's column / 2^COLUMN_TAIL), rounded down.
    u32 factor[GROUPS][4 * SUM_WORDS];     // Byte i of the factors of four moduli: below P 2^shift, zero behind the last one.
    u32 product[SUM_WORDS];                // P 2^shift
    u32 complement[SUM_WORDS][2];          // 2^(32 words) - P 2^shift, 16 bits each.
    u32 half[SUM_WORDS];                   // P / 2, rounded down, times 2^shift.
};

// x - y in place; whether y was larger.
template <int WORDS> __device__ __forceinline__ bool subtract(u32 (&x)[WORDS], const u32 *y)
{
    u32 borrow = 0;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        const u64 difference = (u64)x[i] - y[i] - borrow;
        x[i] = (u32)difference;
        borrow = (u32)(difference >> 32) & 1;
    }
    return borrow != 0;
}

// x where it is negative less 1, bit by bit the other way: its magnitude.
template <int WORDS> __device__ __forceinline__ void negate_if(bool negative, u32 (&x)[WORDS])
{
    const u32 flip = negative ? ~0u : 0;
    u64 carry = negative;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        carry += x[i] ^ flip;
        x[i] = (u32)carry;
        carry >>= 32;
    }
}

// crt: of the sum of remainder * factor, in columns of 16 bits that hold up to 29, the number nearest to zero that it stands for
// modulo P, times 2^shift. Whether it is so near to half of P that it may be P too small or too large.
template <int WORDS>
__device__ __forceinline__ bool folded(const u32 (&column)[WORDS][2], const Theorem &m, u32 (&x)[WORDS])
{
    // sum / P to the nearest, by the leading word, of which all others together are a few units.
    const u32 leading = (column[WORDS - 1][1] << (16 - COLUMN_TAIL)) + (column[WORDS - 1][0] >> COLUMN_TAIL);
    const u32 unit = 1u << QUOTIENT_BITS;
    const u32 estimate = __umulhi(leading, m.reciprocal) + QUOTIENT_SLACK + unit / 2;
    const u32 quotient = estimate / unit;
    // sum - quotient * P
    u32 carry = 0;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        const u32 low = column[w][0] + quotient * m.complement[w][0] + carry;
        const u32 high = column[w][1] + quotient * m.complement[w][1] + (low >> 16);
        x[w] = __byte_perm(low, high, 0x5410);
        carry = high >> 16;
    }
    return estimate % unit < QUOTIENT_SLACK;
}

// What was folded by the quotient beside the right one is folded by that.
template <int WORDS> __device__ __forceinline__ void settle(const Theorem &m, u32 (&x)[WORDS])
{
    const bool negative = (i32)x[WORDS - 1] < 0;
    u32 rest[WORDS], magnitude[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        rest[i] = m.half[i];
        magnitude[i] = x[i];
    }
    negate_if(negative, magnitude);
    if (!subtract(rest, magnitude)) return;
    // P more or less.
    u64 carry = negative ? 0 : 1;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        carry += (u64)x[i] + (negative ? m.product[i] : ~m.product[i]);
        x[i] = (u32)carry;
        carry >>= 32;
    }
}

// The largest exponent of a double's leading bit, and the least of one that has 53 bits.
#define LARGEST 1023
#define SMALLEST (FRACTION + 1 - LOWEST)
// The leading bit of a window with a sign that has no other bit as the sign has them in front of it.
#define LEADING_BIT 62

// About bits * 2^power.
struct Window {
    i64 bits;
    i32 power;
};

// Where the first word has other bits than the sign, and 0 where it has none.
template <int WORDS> __device__ __forceinline__ u32 beside_sign(const u32 (&x)[WORDS])
{
    return x[WORDS - 1] ^ (u32)((i32)x[WORDS - 1] >> 31);
}

// Of x * 2^exponent the sign and 63 bits, the last of which also stands for all that are cut off: a number of 53 bits, or one
// half way between two, ends before it. The first word has bits beside the sign.
template <int WORDS> __device__ __forceinline__ Window window_of(const u32 (&x)[WORDS], i32 exponent)
{
    const u32 high = x[WORDS - 1], middle = WORDS > 1 ? x[WORDS > 1 ? WORDS - 2 : 0] : 0;
    const u32 low = WORDS > 2 ? x[WORDS > 2 ? WORDS - 3 : 0] : 0;
    u32 below = 0;
#pragma unroll
    for (int i = 0; i < WORDS - 3; ++i) below |= x[i];
    const i32 shift = __clz((i32)beside_sign(x)) - 1;
    const u32 first = __funnelshift_l(middle, high, shift);
    u32 second = __funnelshift_l(low, middle, shift);
    if (WORDS > 2 && (low << shift | below) != 0) second |= 1;
    Window window;
    window.bits = (i64)((u64)first << 32 | second);
    window.power = 32 * (WORDS - 2) - shift + exponent;
    return window;
}

// Whether a window's double has 53 bits and an exponent, or becomes infinity when it is rounded.
__device__ __forceinline__ bool ordinary(const Window &window)
{
    return (u32)(window.power + LEADING_BIT - SMALLEST) <= LARGEST - SMALLEST;
}

// scale: the double nearest to an ordinary window. A carry goes into the exponent by itself.
__device__ __forceinline__ double nearest(const Window &window)
{
    return __longlong_as_double((i64)((u64)__double_as_longlong((double)window.bits) + ((u64)window.power << FRACTION)));
}

// scale: infinity, and what has fewer bits.
__device__ __forceinline__ double nearest_out_of_range(const Window &window)
{
    const bool negative = window.bits < 0;
    const u64 magnitude = negative ? 0 - (u64)window.bits : (u64)window.bits;
    u64 bits = 0;
    const i32 dropped = 1 - LOWEST - window.power;
    if (dropped < 0) {
        bits = 0x7ffull << FRACTION;
    } else if (dropped < 64) {
        // From 64 on, 2^63 is at most half of the smallest subnormal.
        const u64 half = 1ull << (dropped - 1);
        const u64 kept = magnitude >> dropped, rest = magnitude & (2 * half - 1);
        bits = kept + (rest > half || (rest == half && (kept & 1)));
    }
    return __longlong_as_double((i64)(negative ? bits | 1ull << 63 : bits));
}

// scale: the double nearest to x * 2^exponent, the even one of two, whatever x is.
template <int WORDS> __device__ __forceinline__ double rounded(u32 (&x)[WORDS], i32 exponent)
{
#pragma unroll 1
    while (beside_sign(x) == 0) {
        u32 any = 0;
#pragma unroll
        for (int i = 0; i < WORDS; ++i) any |= x[i];
        if (any == 0) return 0.0;
        // A word less a bit to the front: the sign stays.
#pragma unroll
        for (int i = WORDS - 1; i >= 0; --i) x[i] = __funnelshift_l(i > 0 ? x[i > 0 ? i - 1 : 0] : 0, x[i], 31);
        exponent -= 31;
    }
    const Window window = window_of(x, exponent);
    return ordinary(window) ? nearest(window) : nearest_out_of_range(window);
}

// crt and scale: the doubles nearest to what COUNT elements' sums stand for, times 2^exponent. They share the branches around
// what is rare. With a trace each number, without the shift, with its sign, in SUM_WORDS words goes where `sums` says.
template <int COUNT, int WORDS>
__device__ __forceinline__ void form(const u32 (&column)[COUNT][WORDS][2], const Theorem &m, const i32 (&exponents)[COUNT],
                                     double (&out)[COUNT], u32 *const (&sums)[COUNT])
{
    u32 x[COUNT][WORDS];
    bool unsure = false;
#pragma unroll
    for (int j = 0; j < COUNT; ++j) unsure |= folded(column[j], m, x[j]);
    if (unsure) {
#pragma unroll
        for (int j = 0; j < COUNT; ++j) settle(m, x[j]);
    }
#ifdef ASSAY_TRACE
#pragma unroll
    for (int j = 0; j < COUNT; ++j) {
        const u32 sign = (u32)((i32)x[j][WORDS - 1] >> 31);
#pragma unroll
        for (int w = 0; w < SUM_WORDS; ++w) {
            const u32 word = w < WORDS ? x[j][w < WORDS ? w : 0] : sign;
            const u32 above = w + 1 < WORDS ? x[j][w + 1 < WORDS ? w + 1 : 0] : sign;
            if (sums[j] != nullptr) sums[j][w] = __funnelshift_r(word, above, m.shift);
        }
    }
#endif
    bool rare = false;
#pragma unroll
    for (int j = 0; j < COUNT; ++j) {
        const Window window = window_of(x[j], exponents[j]);
        rare |= beside_sign(x[j]) == 0 || !ordinary(window);
        out[j] = nearest(window);
    }
    if (rare) {
#pragma unroll
        for (int j = 0; j < COUNT; ++j) out[j] = rounded(x[j], exponents[j]);
    }
}

// What a refused product holds.
__device__ __forceinline__ double refused() { return __longlong_as_double(0x7ff8000000000000ll); }
