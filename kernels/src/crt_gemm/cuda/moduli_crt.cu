// From a byte an element and modulus to the double: the Chinese remainder theorem in whole numbers, scaled back and rounded
// once. No floating-point operation takes part.

// What lies where.
struct Elements {
    u32 rows, cols;
    u32 pitch;    // From one row of remainders to the next, in bytes: a multiple of 4.
    u32 c_stride; // From one row of C to the next, in doubles.
};

// The theorem for the first `count` moduli: x = sum of remainder * factor modulo P.
struct Theorem {
    u32 count;
    u32 words;                               // That the sum takes.
    u32 down;                                // x / 2^(32 (words - 2) + down): as many leading bits as the quotient needs.
    u32 reciprocal;                          // 2^46 / (P's same leading bits + 1), rounded down.
    u32 factor[MOST_MODULI][SUM_WORDS];
    u32 product[SUM_WORDS];                  // P
    u32 half[SUM_WORDS];                     // P / 2, rounded down.
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

// crt: the number nearest to zero that the sum stands for modulo P, as a magnitude; whether it is negative.
template <int WORDS> __device__ __forceinline__ bool folded(u32 (&x)[WORDS], const Theorem &m)
{
    // Of x / P, at most one too small: 18 bits of P and the 13 above them.
    const u64 leading = WORDS == 1 ? x[0] : (u64)x[WORDS - 1] << 32 | x[WORDS > 1 ? WORDS - 2 : 0];
    const u32 quotient = (u32)(((leading >> m.down) * m.reciprocal) >> 46);
    u64 carry = 0;
    u32 multiple[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        carry += (u64)quotient * m.product[i];
        multiple[i] = (u32)carry;
        carry >>= 32;
    }
    subtract(x, multiple);
    u32 less[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) less[i] = x[i];
    if (!subtract(less, m.product)) {
#pragma unroll
        for (int i = 0; i < WORDS; ++i) x[i] = less[i];
    }
    // The signed fold: above P / 2 it is x - P.
    u32 half[WORDS], rest[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        half[i] = m.half[i];
        rest[i] = m.product[i];
    }
    if (!subtract(half, x)) return false;
    subtract(rest, x);
#pragma unroll
    for (int i = 0; i < WORDS; ++i) x[i] = rest[i];
    return true;
}

// scale: the double nearest to x * 2^exponent, the even one of two.
template <int WORDS> __device__ __forceinline__ double rounded(const u32 (&x)[WORDS], bool negative, i32 exponent)
{
    // The leading word with the two below it, and whether anything is below those.
    u32 high = 0, middle = 0, low = 0, below = 0, passed = 0;
    i32 place = 0;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        if (i > 2) passed |= x[i > 2 ? i - 3 : 0];
        if (x[i] != 0) {
            high = x[i];
            middle = i > 0 ? x[i > 0 ? i - 1 : 0] : 0;
            low = i > 1 ? x[i > 1 ? i - 2 : 0] : 0;
            below = passed;
            place = i;
        }
    }
    if (high == 0) return 0.0;
    const i32 shift = __clz((i32)high);
    // 64 bits, the leading one at the left end.
    const u64 window = ((u64)high << 32 | middle) << shift | (u64)low << shift >> 32;
    const bool inexact = (low << shift | below) != 0;
    const u64 sign = negative ? 1ull << 63 : 0;
    // Power of two of the leading bit.
    const i32 leading = 32 * place + 31 - shift + exponent;
    if (leading > 1023) return __longlong_as_double((i64)(sign | 0x7ffull << FRACTION));
    // Power of two of the last bit that stays: 53 bits, or what a subnormal has.
    const i32 last = max(leading - FRACTION, 1 - LOWEST);
    const i32 dropped = 63 - (leading - last);
    // All 64 bits at most 2^-1 of the smallest subnormal: not even half of it.
    if (dropped > 64) return __longlong_as_double((i64)sign);
    const u64 kept = dropped == 64 ? 0 : window >> dropped;
    const u64 half = 1ull << (dropped - 1);
    const u64 rest = dropped == 64 ? window : window & (2 * half - 1);
    const bool up = rest > half || (rest == half && (inexact || (kept & 1)));
    // A carry goes into the exponent by itself, from the largest double to infinity.
    const u64 bits = ((u64)(last + LOWEST - 1) << FRACTION) + kept + up;
    return __longlong_as_double((i64)(sign | bits));
}

// What a refused product holds.
__device__ __forceinline__ double refused() { return __longlong_as_double(0x7ff8000000000000ll); }

// Four neighbours of a row at a time, so that a thread reads whole words of remainders.
template <int WORDS>
__device__ __forceinline__ void four_elements(const Elements &m, const Theorem &theorem, const u8 *remainders, u32 row, u32 col,
                                              const i32 *row_exponents, const i32 *col_exponents, bool computed,
                                              double (&out)[4], u32 *sums)
{
    u64 sum[4][WORDS] = {};
    const u8 *next = remainders + (u64)row * m.pitch + col;
    for (u32 i = 0; i < theorem.count; ++i) {
        const u32 four = *(const u32 *)next;
        next += (u64)m.rows * m.pitch;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            // Bytes times words: no sum of them leaves 64 bits.
#pragma unroll
            for (int w = 0; w < WORDS; ++w) sum[j][w] += (u64)(four >> 8 * j & 0xff) * theorem.factor[i][w];
        }
    }
    const i32 row_exponent = row_exponents[row];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        if (col + j >= m.cols) break;
        u32 x[WORDS];
        u64 carry = 0;
#pragma unroll
        for (int w = 0; w < WORDS; ++w) {
            carry += sum[j][w];
            x[w] = (u32)carry;
            carry >>= 32;
        }
        const bool negative = folded(x, theorem);
        out[j] = computed ? rounded(x, negative, -(row_exponent + col_exponents[col + j])) : refused();
#ifdef ASSAY_TRACE
        if (computed) {
            // With its sign, in SUM_WORDS words.
            u32 *const at = sums + SUM_WORDS * ((u64)row * m.cols + col + j);
            u32 add = negative;
            for (int w = 0; w < SUM_WORDS; ++w) {
                const u32 magnitude = w < WORDS ? x[w < WORDS ? w : 0] : 0;
                at[w] = negative ? ~magnitude + add : magnitude;
                add = add && magnitude == 0;
            }
        }
#endif
    }
}

extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_crt(const Elements m, const Theorem theorem, const u8 *remainders, const i32 *row_exponents, const i32 *col_exponents,
           const u32 *status, double *c, u32 *sums)
{
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u32 groups = (m.cols + 3) / 4;
    if (index >= (u64)groups * m.rows) return;
    const u32 row = (u32)(index / groups), col = (u32)(index % groups) * 4;
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
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
        if (col + j < m.cols) at[j] = out[j];
    }
}
