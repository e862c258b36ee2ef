// N moduli: what all steps from doubles on share, and the exponents. What stands above this text is printed: MOST_MODULI,
// SUM_WORDS, ROUNDED_BITS, BOUND_BY_PRODUCT, CONVERSION_BLOCK, IN_BLOCKS, LEAST_RESIDUES, FOLD_DEPTH.

typedef unsigned char u8;
typedef signed char i8;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// What is multiplied: balanced residues, or the least that are not negative.
#if LEAST_RESIDUES
typedef u8 Residue;
#else
typedef i8 Residue;
#endif

// Bit of the status for a value that is not finite.
#define NOT_FINITE 1u
// A thread takes so many neighbours along K: 16 bytes of residues are one store.
#define RUN 16
// What a block converts: eight threads in a row write 128 bytes of a line.
#define BLOCK_LINES 32
#define BLOCK_DEPTH 128
static_assert(BLOCK_LINES * BLOCK_DEPTH == CONVERSION_BLOCK * RUN, "a run a thread");
// Bits of the mantissa behind its leading one, the power of two of the last bit of field 0, negated, and the largest one.
#define FRACTION 52
#define LOWEST 1075
#define LARGEST_POWER 1023

// A matrix as lines along K: rows of A, columns of B.
struct Lines {
    u32 lines, depth;               // As they are.
    u32 line_stride, depth_stride;  // From one double to the next, in doubles.
    u32 padded_lines, padded_depth; // As bytes have them; the rest is zero.
};

// A product of two such.
struct Product {
    u32 rows, cols;
    u32 a_lines, b_lines, padded_depth; // Padded.
    u32 pitch;                          // From one row of remainders to the next, in bytes.
};

// The moduli, and what divides by them.
struct Moduli {
    u32 count;
    u32 negated[MOST_MODULI];     // -p
    u32 reciprocal[MOST_MODULI];  // 2^32 / p, rounded down.
    u32 positive[MOST_MODULI];    // A multiple of p that makes every sum one without a sign.
    u32 powers[MOST_MODULI][3];   // 2^(29 w) 256^i modulo p, balanced, for byte i of word w, a byte each.
    u32 base[MOST_MODULI];        // A float k p - h whose last bit is 1, and stays so if a sum of digits times powers is added.
    u32 inverse[MOST_MODULI];     // 1 / p, a float.
    u32 offset[MOST_MODULI];      // A float M - k for which M + (y - h) / p has the last bit 1, where M p is k p - h modulo 256.
};

// H, the largest number below P / 2.
struct Half {
    u32 bits;      // Of H.
    u32 low, high; // Its leading 64 bits, the first one at the left end.
};

// Where the byte at k of a line lies in a plane: line after line; or, IN_BLOCKS, in blocks of 128 of K, a block's lines one
// after the other, each line's 16-byte chunks permuted by the line's number modulo 8.
__device__ __forceinline__ u64 place_of(u32 padded_lines, u32 padded_depth, u32 line, u32 k)
{
#if IN_BLOCKS
    return ((u64)(k / 128) * padded_lines + line) * 128 + ((k / 16 ^ line) & 7) * 16 + k % 16;
#else
    return (u64)line * padded_depth + k;
#endif
}

// A double's magnitude: mantissa * 2^exponent; zero for what is not finite.
struct Parts {
    u64 mantissa;
    i32 exponent;
    bool negative, finite;
};

__device__ __forceinline__ Parts parts_of(double v)
{
    const u64 bits = (u64)__double_as_longlong(v);
    const i32 field = (i32)(bits >> FRACTION & 0x7ff);
    const u64 fraction = bits & ((1ull << FRACTION) - 1);
    Parts parts;
    parts.negative = bits >> 63 != 0;
    parts.finite = field != 0x7ff;
    parts.mantissa = !parts.finite ? 0 : field == 0 ? fraction : fraction | 1ull << FRACTION;
    parts.exponent = (field == 0 ? 1 : field) - LOWEST;
    return parts;
}

// Which run of which line a thread takes: blocks that follow each other are neighbours in memory.
struct Run {
    u32 line, k;
    bool exists;
};

__device__ __forceinline__ Run run_of(const Lines &m)
{
    const u32 across = (m.padded_depth + BLOCK_DEPTH - 1) / BLOCK_DEPTH;
    const u32 down = (m.padded_lines + BLOCK_LINES - 1) / BLOCK_LINES;
    const bool along = m.depth_stride == 1;
    const u32 block_line = along ? blockIdx.x / across : blockIdx.x % down;
    const u32 block_k = along ? blockIdx.x % across : blockIdx.x / down;
    Run run;
    run.line = block_line * BLOCK_LINES + threadIdx.x / (BLOCK_DEPTH / RUN);
    run.k = block_k * BLOCK_DEPTH + threadIdx.x % (BLOCK_DEPTH / RUN) * RUN;
    run.exists = run.line < m.padded_lines && run.k < m.padded_depth;
    return run;
}

// Where a block's value lies in shared memory: pairs of neighbours along K permuted within a run. So no bank is met twice by 16
// lanes that write neighbours along K, by 8 that each read a pair of a line's run, or by 16 that write two k of 8 lines.
__device__ __forceinline__ u32 staged_at(u32 line, u32 k)
{
    return line * BLOCK_DEPTH + (k ^ ((k / RUN ^ line) & 7) * 2);
}

#ifdef __CUDA_ARCH__
// Reads a block's values into shared memory. A warp reads what are neighbours in memory: ALONG K, 32 at a time, four of a
// line, of four lines; or across lines, two k at a time of 16 lines, of 32 lines and a run.
template <bool ALONG>
__device__ __forceinline__ void stage(const double *values, const Lines &m, u32 first_line, u32 first_k, double *staged)
{
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const u32 line = ALONG ? warp * 4 : lane % 8 + lane / 16 * 8;
    const u32 k = ALONG ? lane : warp * RUN + lane / 8 % 2;
    // One of the strides is 1.
    const u64 line_stride = ALONG ? m.line_stride : 1, depth_stride = ALONG ? 1 : m.depth_stride;
    const double *const from = values + (first_line + line) * line_stride + (first_k + k) * depth_stride;
    double read[RUN];
    if (first_line + BLOCK_LINES <= m.lines && first_k + BLOCK_DEPTH <= m.depth) {
#pragma unroll
        for (u32 i = 0; i < RUN; ++i)
            read[i] = ALONG ? from[i / 4 * line_stride + i % 4 * 32] : from[i % 2 * 16 + i / 2 * 2 * depth_stride];
    } else {
        // Zero in the padding.
#pragma unroll
        for (u32 i = 0; i < RUN; ++i) {
            const u32 down = ALONG ? i / 4 : i % 2 * 16, right = ALONG ? i % 4 * 32 : i / 2 * 2;
            const bool given = first_line + line + down < m.lines && first_k + k + right < m.depth;
            read[i] = given ? from[down * line_stride + right * depth_stride] : 0.0;
        }
    }
    // staged_at(line + down, k + right), as one of eight and a constant.
    const u32 at = staged_at(line, k);
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) {
        if (ALONG)
            (staged + (at ^ (i / 4 ^ i % 4 * 2) * 2))[i / 4 * BLOCK_DEPTH + i % 4 * 32] = read[i];
        else
            (staged + (at ^ i / 2 * 2))[i % 2 * 16 * BLOCK_DEPTH] = read[i];
    }
}
#endif

// A run's values. All threads of a block take part.
__device__ __forceinline__ void fetch(const double *values, const Lines &m, const Run &run, double (&of_run)[RUN])
{
#ifdef __CUDA_ARCH__
    __shared__ __align__(16) double staged[BLOCK_LINES * BLOCK_DEPTH];
    const u32 line = threadIdx.x / (BLOCK_DEPTH / RUN), k = threadIdx.x % (BLOCK_DEPTH / RUN) * RUN;
    if (m.depth_stride == 1)
        stage<true>(values, m, run.line - line, run.k - k, staged);
    else
        stage<false>(values, m, run.line - line, run.k - k, staged);
    __syncthreads();
    const u32 own = staged_at(line, k);
#pragma unroll
    for (u32 i = 0; i < RUN; i += 2) {
        const double2 pair = *(const double2 *)(staged + (own ^ i));
        of_run[i] = pair.x;
        of_run[i + 1] = pair.y;
    }
#else
    for (u32 i = 0; i < RUN; ++i) {
        const u32 k = run.k + i;
        // Zero in the padding.
        const bool given = run.line < m.lines && k < m.depth;
        of_run[i] = given ? values[(u64)run.line * m.line_stride + (u64)k * m.depth_stride] : 0.0;
    }
#endif
}

// The first word of a magnitude, and that of the least one with a leading one and of infinity.
__device__ __forceinline__ u32 first_word(double magnitude) { return (u32)((u64)__double_as_longlong(magnitude) >> 32); }
#define LEAST_ORDINARY (1u << 20)
#define INFINITE (0x7ffu << 20)

// Makes the values of a run magnitudes: the largest one's first word. What is not finite counts as zero, and is told.
__device__ __forceinline__ u32 make_magnitudes(double (&v)[RUN], bool &finite)
{
    u32 most = 0;
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) {
        // Not fabs, which is an addition of doubles on the card.
        v[i] = __longlong_as_double(__double_as_longlong(v[i]) & ~(1ll << 63));
        most = max(most, first_word(v[i]));
    }
    finite = most < INFINITE;
    if (!finite) {
        most = 0;
#pragma unroll
        for (u32 i = 0; i < RUN; ++i) {
            if (first_word(v[i]) >= INFINITE) v[i] = 0;
            most = max(most, first_word(v[i]));
        }
    }
    return most;
}

// Makes the values of a run magnitudes. Above the largest one: the exponent of the least power of two, LOWEST added so that 0
// stands for zeros alone.
__device__ __forceinline__ u32 stored_top(double (&v)[RUN], bool &finite)
{
    const u32 most = make_magnitudes(v, finite);
    // Bits of the mantissa and its exponent: |v| < 2^(top - LOWEST).
    if (most >= LEAST_ORDINARY) return most / LEAST_ORDINARY + FRACTION + 1;
    // Zeros, and what has no leading one.
    u64 bits = 0;
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) bits = max(bits, (u64)__double_as_longlong(v[i]));
    return bits == 0 ? 0 : 64 - __clzll((i64)bits) + 1;
}

__device__ __forceinline__ i32 top_of(u32 stored) { return stored == 0 ? 0 : (i32)stored - LOWEST; }

// For -LARGEST_POWER < exponent <= LARGEST_POWER.
__device__ __forceinline__ double power_of_two(i32 exponent)
{
    return __longlong_as_double((i64)(LARGEST_POWER + exponent) << FRACTION);
}

// magnitude: a run's magnitudes times 2^(BITS - top), rounded up: at most 2^BITS, and 0 for 0 alone.
template <int BITS>
__device__ __forceinline__ void rounded_up(double (&magnitudes)[RUN], i32 top, u32 (&rounded)[RUN])
{
    // No double is so large a power of two: by another one first.
    if (BITS - top > LARGEST_POWER) {
#pragma unroll
        for (u32 i = 0; i < RUN; ++i) magnitudes[i] *= 0x1p128;
        top += 128;
    }
    const double power = power_of_two(BITS - top);
    // Between 2^52 and 2^53, a double's last bit is 1.
#pragma unroll
    for (u32 i = 0; i < RUN; ++i)
        rounded[i] = (u32)__double2loint(__fma_ru(magnitudes[i], power, 0x1p52));
}

// exponent: s = max { s : 4^s u <= H }, in the units of the line's own values; a thread a line.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_exponents(u32 lines, const Half half, const u32 *tops, const u64 *bounds, i32 *exponents)
{
    const u32 line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    const u64 u = bounds[line];
    const i32 top = top_of(tops[line]);
    // Nothing that this line meets is not zero: what its integers are does not matter, and they are 1 at most.
    i32 exponent = -top;
    if (u != 0) {
        const i32 length = 64 - __clzll((i64)u);
        // H / 4^q has as many bits as u, or one more and then is larger.
        i32 q = ((i32)half.bits - length) >> 1;
        const u64 leading = (u64)half.high << 32 | half.low;
        if ((i32)half.bits - 2 * q == length && u > leading >> (64 - length)) --q;
        exponent = q + ROUNDED_BITS - top;
    }
    exponents[line] = exponent;
}

// mod: of a 32-bit sum, in 0..p. The reciprocal is rounded down, so the quotient is right or one too small.
__device__ __forceinline__ u32 remainder_of(i32 sum, const Moduli &moduli, u32 i)
{
    const u32 x = (u32)sum + moduli.positive[i];
    const u32 rest = x + __umulhi(x, moduli.reciprocal[i]) * moduli.negated[i];
    return min(rest, rest + moduli.negated[i]);
}
