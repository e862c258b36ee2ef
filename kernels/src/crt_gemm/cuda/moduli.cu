// N moduli: from doubles to balanced residues. What stands above this text is printed: MOST_MODULI, SUM_WORDS,
// ROUNDED_BITS, BOUND_BY_PRODUCT, CONVERSION_BLOCK, IN_BLOCKS.

typedef unsigned char u8;
typedef signed char i8;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// Bit of the status for a value that is not finite.
#define NOT_FINITE 1u
// A thread takes so many neighbours along K: 16 bytes of residues are one store.
#define RUN 16
// Bits of the mantissa behind its leading one, and the power of two of the last bit of field 0, negated.
#define FRACTION 52
#define LOWEST 1075

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
    u32 modulus[MOST_MODULI];
    u32 reciprocal[MOST_MODULI];  // 2^32 / p, rounded down.
    u32 positive[MOST_MODULI];    // The least multiple of p from 2^31 on.
    u32 powers[MOST_MODULI][3];   // 256^i modulo p for i = 0..11, a byte each.
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

// Which run of which line a thread takes. Neighbours in a warp take neighbours in memory.
struct Run {
    u32 line, k;
    bool exists;
};

__device__ __forceinline__ Run run_of(const Lines &m)
{
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u32 runs = m.padded_depth / RUN;
    Run run;
    run.exists = index < (u64)runs * m.padded_lines;
    if (m.depth_stride == 1) {
        run.line = (u32)(index / (runs ? runs : 1));
        run.k = (u32)(index % (runs ? runs : 1)) * RUN;
    } else {
        run.line = (u32)(index % (m.padded_lines ? m.padded_lines : 1));
        run.k = (u32)(index / (m.padded_lines ? m.padded_lines : 1)) * RUN;
    }
    return run;
}

// Value i of a run; zero in the padding.
__device__ __forceinline__ double value_at(const double *values, const Lines &m, const Run &run, u32 i)
{
    const u32 k = run.k + i;
    if (run.line >= m.lines || k >= m.depth) return 0.0;
    return values[(u64)run.line * m.line_stride + (u64)k * m.depth_stride];
}

// magnitude: the exponent above each line's largest value, LOWEST added so that 0 stands for a line of zeros.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_tops(const double *values, const Lines m, u32 *tops, u32 *status)
{
    const Run run = run_of(m);
    if (!run.exists || run.line >= m.lines) return;
    u32 top = 0;
    bool finite = true;
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) {
        const Parts parts = parts_of(value_at(values, m, run, i));
        finite = finite && parts.finite;
        // Bits of the mantissa and its exponent: |v| < 2^(top - LOWEST).
        const i32 length = 64 - __clzll((i64)parts.mantissa);
        if (parts.mantissa != 0) top = max(top, (u32)(parts.exponent + length + LOWEST));
    }
    if (!finite) atomicOr(status, NOT_FINITE);
    if (top != 0) atomicMax(tops + run.line, top);
}

__device__ __forceinline__ i32 top_of(u32 stored) { return stored == 0 ? 0 : (i32)stored - LOWEST; }

// magnitude: |v| 2^(ROUNDED_BITS - top), rounded up: at most 2^ROUNDED_BITS, and 0 for 0 alone.
__device__ __forceinline__ u64 rounded_up(double v, i32 top)
{
    const Parts parts = parts_of(v);
    const i32 shift = parts.exponent + ROUNDED_BITS - top;
    if (shift >= 0) return parts.mantissa << shift;
    const i32 down = min(-shift, 63);
    return (parts.mantissa + ((1ull << down) - 1)) >> down;
}

#if BOUND_BY_PRODUCT
// magnitude: those of a run, a byte each, zero in the padding.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_magnitudes(const double *values, const Lines m, const u32 *tops, u8 *magnitudes)
{
    const Run run = run_of(m);
    if (!run.exists) return;
    const i32 top = run.line < m.lines ? top_of(tops[run.line]) : 0;
    u32 word[RUN / 4] = {};
#pragma unroll
    for (u32 i = 0; i < RUN; ++i)
        word[i / 4] |= (u32)rounded_up(value_at(values, m, run, i), top) << i % 4 * 8;
    *(uint4 *)(magnitudes + place_of(m.padded_lines, m.padded_depth, run.line, run.k)) =
        make_uint4(word[0], word[1], word[2], word[3]);
}
#else
// bound: u(i), the sum of squares of a line's magnitudes.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_squares(const double *values, const Lines m, const u32 *tops, u64 *bounds)
{
    const Run run = run_of(m);
    if (!run.exists || run.line >= m.lines) return;
    const i32 top = top_of(tops[run.line]);
    u64 sum = 0;
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) {
        const u64 magnitude = rounded_up(value_at(values, m, run, i), top);
        sum += magnitude * magnitude;
    }
    if (sum != 0) atomicAdd(bounds + run.line, sum);
}
#endif

// exponent: s = max { s : 4^s u <= H }, in the units of the line's own values; a thread a line.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_exponents(u32 lines, const Half half, const u32 *tops, const u64 *bounds, i32 *exponents)
{
    const u32 line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    const u64 u = bounds[line];
    const i32 top = top_of(tops[line]);
    // Nothing that this line meets is not zero: its integers may all be 0.
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

// split: v * 2^exponent cut towards zero, as a magnitude of three words and a sign.
struct Cut {
    u32 word[3];
    bool negative;
};

__device__ __forceinline__ Cut cut(double v, i32 exponent)
{
    const Parts parts = parts_of(v);
    const i32 shift = parts.exponent + exponent;
    u64 low = parts.mantissa, high = 0;
    if (shift < 0) {
        low = shift > -64 ? low >> -shift : 0;
    } else if (shift >= 64) {
        high = low << (shift - 64);
        low = 0;
    } else if (shift > 0) {
        high = low >> (64 - shift);
        low <<= shift;
    }
    Cut cut;
    cut.word[0] = (u32)low;
    cut.word[1] = (u32)(low >> 32);
    cut.word[2] = (u32)high;
    cut.negative = parts.negative;
    return cut;
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

// residue: the balanced one, -p/2 .. (p-1)/2: (x + p/2) mod p - p/2. The negative of a number has the negative residue,
// of which -(-128) wraps to itself, as it must modulo 256.
__device__ __forceinline__ u32 residue(const Cut &cut, const Moduli &moduli, u32 i)
{
    const u32 p = moduli.modulus[i], half = p / 2;
    // x is the sum of its bytes times 256^i: below 2^20, where the reciprocal rounded up gives the right quotient.
    const u32 *const powers = moduli.powers[i];
    const u32 x = dot_bytes(cut.word[0], powers[0],
                            dot_bytes(cut.word[1], powers[1], dot_bytes(cut.word[2], powers[2], half)));
    const i32 balanced = (i32)(x - __umulhi(x, moduli.reciprocal[i] + 1) * p) - (i32)half;
    return (u32)(cut.negative ? -balanced : balanced) & 0xff;
}

// residue: those of a run for every modulus, zero in the padding.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_residues(const double *values, const Lines m, const Moduli moduli, const i32 *exponents, i8 *residues, u32 *cuts)
{
    const Run run = run_of(m);
    if (!run.exists) return;
    const i32 exponent = run.line < m.lines ? exponents[run.line] : 0;
    Cut run_cuts[RUN];
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) {
        run_cuts[i] = cut(value_at(values, m, run, i), exponent);
#ifdef ASSAY_TRACE
        if (run.line < m.lines && run.k + i < m.depth) {
            // With its sign, in four words.
            u32 *const out = cuts + 4 * ((u64)run.line * m.depth + run.k + i);
            u32 carry = run_cuts[i].negative;
            for (u32 word = 0; word < 4; ++word) {
                const u32 magnitude = word < 3 ? run_cuts[i].word[word] : 0;
                out[word] = run_cuts[i].negative ? ~magnitude + carry : magnitude;
                carry = carry && magnitude == 0;
            }
        }
#endif
    }
    const u64 plane = (u64)m.padded_lines * m.padded_depth;
    i8 *out = residues + place_of(m.padded_lines, m.padded_depth, run.line, run.k);
    for (u32 i = 0; i < moduli.count; ++i) {
        u32 word[RUN / 4];
#pragma unroll
        for (u32 j = 0; j < RUN / 4; ++j) {
            word[j] = 0;
#pragma unroll
            for (u32 byte = 0; byte < 4; ++byte) word[j] |= residue(run_cuts[4 * j + byte], moduli, i) << 8 * byte;
        }
        *(uint4 *)out = make_uint4(word[0], word[1], word[2], word[3]);
        out += plane;
    }
}

// mod: of a 32-bit sum with a sign, in 0..p. The reciprocal is rounded down, so the quotient is right or one too small.
__device__ __forceinline__ u32 remainder_of(i32 sum, const Moduli &moduli, u32 i)
{
    const u32 p = moduli.modulus[i];
    const u32 x = (u32)sum + moduli.positive[i];
    const u32 rest = x - __umulhi(x, moduli.reciprocal[i]) * p;
    return min(rest, rest - p);
}
