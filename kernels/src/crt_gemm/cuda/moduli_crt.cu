// From a byte an element and modulus to the double: the Chinese remainder theorem in whole numbers, scaled back and rounded
// once. No floating-point operation takes part.

// What lies where.
struct Elements {
    u32 rows, cols;
    u32 pitch;    // From one row of remainders to the next, in bytes: a multiple of 4.
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
    u32 complement[SUM_WORDS];             // 2^(32 words) - P 2^shift
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

// sum + a * b, byte by byte.
__device__ __forceinline__ u32 dot_bytes(u32 a, u32 b, u32 sum)
{
#ifdef __CUDA_ARCH__
    return __dp4a(a, b, sum);
#else
    for (u32 i = 0; i < 32; i += 8) sum += (a >> i & 0xff) * (b >> i & 0xff);
    return sum;
#endif
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

// crt: the sum of remainder * factor, in columns of 32 bits that hold up to 45. Four elements share what is read.
template <int WORDS>
__device__ __forceinline__ void sum_up(const u32 (&remainders)[WORDS][4], const Theorem &m, u64 (&column)[4][WORDS])
{
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        u32 byte[4][4] = {};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int group = 0; group < WORDS; ++group) {
                const u32 factors = m.factor[group][4 * w + i];
#pragma unroll
                for (int j = 0; j < 4; ++j) byte[j][i] = dot_bytes(remainders[group][j], factors, byte[j][i]);
            }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j)
            column[j][w] = (byte[j][0] + (byte[j][1] << 8)) + (u64)(byte[j][2] + (byte[j][3] << 8)) * 65536;
    }
}

// crt: the number nearest to zero that the sum stands for modulo P, times 2^shift, as a magnitude; whether it is negative.
template <int WORDS>
__device__ __forceinline__ bool folded(const u64 (&column)[WORDS], const Theorem &m, u32 (&x)[WORDS])
{
    // sum / P to the nearest, by the leading column, of which all others together are a few units.
    const u32 unit = 1u << QUOTIENT_BITS;
    const u32 estimate = __umulhi((u32)(column[WORDS - 1] >> COLUMN_TAIL), m.reciprocal) + QUOTIENT_SLACK / 2 + unit / 2;
    const u32 quotient = estimate / unit;
    // sum - quotient * P
    u64 carry = 0;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        carry += column[w] + (u64)quotient * m.complement[w];
        x[w] = (u32)carry;
        carry >>= 32;
    }
    bool negative = (i32)x[WORDS - 1] < 0;
    negate_if(negative, x);
    // So near to half of P that the quotient may be the other one.
    if ((estimate + QUOTIENT_SLACK / 2) % unit < QUOTIENT_SLACK) {
        u32 half[WORDS], rest[WORDS];
#pragma unroll
        for (int i = 0; i < WORDS; ++i) {
            half[i] = m.half[i];
            rest[i] = m.product[i];
        }
        if (subtract(half, x)) {
            subtract(rest, x);
#pragma unroll
            for (int i = 0; i < WORDS; ++i) x[i] = rest[i];
            negative = !negative;
        }
    }
    return negative;
}

// The largest exponent of a double's leading bit, and the least of one that has 53 bits.
#define LARGEST 1023
#define SMALLEST (FRACTION + 1 - LOWEST)

// scale: infinity, and what has fewer bits: 64 bits, the first of which has the power of two `leading`.
__device__ __forceinline__ u64 out_of_range(u64 window, i32 leading)
{
    if (leading > LARGEST) return 0x7ffull << FRACTION;
    const i32 dropped = 63 - (leading + LOWEST - 1);
    // All 64 bits are less than half of the smallest subnormal.
    if (dropped > 64) return 0;
    const u64 kept = dropped == 64 ? 0 : window >> dropped;
    const u64 half = 1ull << (dropped - 1);
    const u64 rest = dropped == 64 ? window : window & (2 * half - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

// scale: the double nearest to x * 2^exponent, the even one of two.
template <int WORDS> __device__ __forceinline__ double rounded(u32 (&x)[WORDS], bool negative, i32 exponent)
{
    // The first word that is not zero to the front.
    i32 place = 32 * (WORDS - 1);
#pragma unroll 1
    while (place > 0 && x[WORDS - 1] == 0) {
#pragma unroll
        for (int i = WORDS - 1; i > 0; --i) x[i] = x[i - 1];
        x[0] = 0;
        place -= 32;
    }
    const u32 high = x[WORDS - 1], middle = x[WORDS > 1 ? WORDS - 2 : 0], low = x[WORDS > 2 ? WORDS - 3 : 0];
    if (high == 0) return 0.0;
    u32 below = 0;
#pragma unroll
    for (int i = 0; i < WORDS - 3; ++i) below |= x[i];
    const i32 shift = __clz((i32)high);
    // 64 bits, the leading one at the left end; the last one also stands for all that are cut off.
    const u32 first = __funnelshift_l(WORDS > 1 ? middle : 0, high, shift);
    u32 second = __funnelshift_l(WORDS > 2 ? low : 0, WORDS > 1 ? middle : 0, shift);
    if (WORDS > 2 && (low << shift | below) != 0) second |= 1;
    const u64 window = (u64)first << 32 | second;
    // Power of two of the leading bit.
    const i32 leading = place + 31 - shift + exponent;
    u64 bits;
    if (leading < SMALLEST || leading > LARGEST) {
        bits = out_of_range(window, leading);
    } else {
        // A carry goes into the exponent by itself, from the largest double to infinity.
        const u32 dropped = 63 - FRACTION, half = 1u << (dropped - 1);
        const u64 kept = window >> dropped;
        const u32 rest = second % (2 * half), odd = (u32)kept & 1;
        bits = ((u64)(leading - SMALLEST) << FRACTION) + kept + (rest + odd > half);
    }
    return __longlong_as_double((i64)(negative ? bits | 1ull << 63 : bits));
}

// What a refused product holds.
__device__ __forceinline__ double refused() { return __longlong_as_double(0x7ff8000000000000ll); }

// Byte j of four words becomes word j.
__device__ __forceinline__ void transpose(u32 (&four)[4])
{
    const u32 low = __byte_perm(four[0], four[1], 0x5140), high = __byte_perm(four[0], four[1], 0x7362);
    const u32 next_low = __byte_perm(four[2], four[3], 0x5140), next_high = __byte_perm(four[2], four[3], 0x7362);
    four[0] = __byte_perm(low, next_low, 0x5410);
    four[1] = __byte_perm(low, next_low, 0x7632);
    four[2] = __byte_perm(high, next_high, 0x5410);
    four[3] = __byte_perm(high, next_high, 0x7632);
}

// Four neighbours of a row at a time, so that a thread reads whole words of remainders.
template <int WORDS>
__device__ __forceinline__ void four_elements(const Elements &m, const Theorem &theorem, const u8 *remainders, u32 row, u32 col,
                                              const i32 *row_exponents, const i32 *col_exponents, bool computed,
                                              double (&out)[4], u32 *sums)
{
    // P takes as many words as there are groups, or more.
    u32 four[WORDS][4];
    const u8 *next = remainders + (u64)row * m.pitch + col;
#pragma unroll
    for (u32 i = 0; i < 4 * WORDS; ++i) {
        four[i / 4][i % 4] = i < theorem.count ? *(const u32 *)next : 0;
        next += (u64)m.rows * m.pitch;
    }
#pragma unroll
    for (int group = 0; group < WORDS; ++group) transpose(four[group]);
    u64 column[4][WORDS];
    sum_up(four, theorem, column);
    const i32 row_exponent = row_exponents[row] + (i32)theorem.shift;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        // Behind the last column there are bytes of padding, and no exponent.
        const bool exists = col + j < m.cols;
        const i32 col_exponent = exists ? col_exponents[col + j] : 0;
        u32 x[WORDS];
        const bool negative = folded(column[j], theorem, x);
#ifdef ASSAY_TRACE
        if (computed && exists) {
            // Without the shift, with its sign, in SUM_WORDS words.
            u32 *const at = sums + SUM_WORDS * ((u64)row * m.cols + col + j);
            u32 add = negative;
            for (int w = 0; w < SUM_WORDS; ++w) {
                const u32 word = w < WORDS ? x[w < WORDS ? w : 0] : 0, above = w + 1 < WORDS ? x[w + 1 < WORDS ? w + 1 : 0] : 0;
                const u32 magnitude = __funnelshift_r(word, above, theorem.shift);
                at[w] = negative ? ~magnitude + add : magnitude;
                add = add && magnitude == 0;
            }
        }
#endif
        out[j] = computed ? rounded(x, negative, -(row_exponent + col_exponent)) : refused();
    }
}

extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_crt(const Elements m, const Theorem theorem, const u8 *remainders, const i32 *row_exponents, const i32 *col_exponents,
           const u32 *status, double *c, u32 *sums)
{
    const u32 blocks = (m.cols + 4 * CONVERSION_BLOCK - 1) / (4 * CONVERSION_BLOCK);
    const u32 row = blockIdx.x / blocks, col = (blockIdx.x % blocks * CONVERSION_BLOCK + threadIdx.x) * 4;
    if (col >= m.cols) return;
    const bool computed = *status == 0;
    double out[4];
#define FOUR_ELEMENTS(n) \
    case n: four_elements<n>(m, theorem, remainders, row, col, row_exponents, col_exponents, computed, out, sums); break;
    switch (theorem.words) {
        FOUR_ELEMENTS(1)
        FOUR_ELEMENTS(2)
        FOUR_ELEMENTS(3)
        FOUR_ELEMENTS(4)
        FOUR_ELEMENTS(5)
        FOUR_ELEMENTS(6)
    }
    // C is written and never read: whatever it held, NaN too, is gone.
    double *const at = c + (u64)row * m.c_stride + col;
    if (m.c_stride % 2 == 0 && col + 4 <= m.cols) {
        ((ulonglong2 *)at)[0] = make_ulonglong2((u64)__double_as_longlong(out[0]), (u64)__double_as_longlong(out[1]));
        ((ulonglong2 *)at)[1] = make_ulonglong2((u64)__double_as_longlong(out[2]), (u64)__double_as_longlong(out[3]));
        return;
    }
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
        if (col + j < m.cols) at[j] = out[j];
    }
}
