// Two slices, seven primes: from doubles to residues, and the steps from a sum of products to a double. What stands
// above this text is printed: PRIME, the primes in order; CRT_FACTOR, the factor of each remainder; MODULUS.

typedef unsigned char u8;
typedef signed char i8;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

#define PRIMES 7
#define SLICES 2
#define PASSES 4
// Why a product is refused: a bit each.
#define ABOVE_ONE 1u
#define NOT_FINITE 2u

// A matrix as lines along K: rows of A, columns of B.
struct Lines {
    u32 lines, depth;               // As they are.
    u32 line_stride, depth_stride;  // From one double to the next, in doubles.
    u32 padded_lines, padded_depth; // As the residues have them; the rest is zero.
    u32 out_line, out_depth;        // From one residue to the next, in bytes.
};

// A product of two such.
struct Product {
    u32 rows, cols, depth;
    u32 c_stride;                 // From one row of C to the next, in doubles.
    u32 a_lines, b_lines;         // Padded.
    u32 padded_depth;
};

__device__ __forceinline__ u32 remainder_of(i64 value, u32 prime)
{
    const i32 remainder = (i32)(value % (i64)prime);
    return (u32)(remainder < 0 ? remainder + (i32)prime : remainder);
}

// One thread an element of the padded matrix, along K first.
extern "C" __global__ void __launch_bounds__(256)
split2_residues(const double *values, const Lines m, i8 *residues, u32 *status, i64 *slices)
{
    const u64 plane = (u64)m.padded_lines * m.padded_depth;
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= plane) return;
    const u32 line = (u32)(index / m.padded_depth);
    const u32 k = (u32)(index % m.padded_depth);
    i64 hi = 0, lo = 0;
    if (line < m.lines && k < m.depth) {
        const double v = values[(u64)line * m.line_stride + (u64)k * m.depth_stride];
        // Comparisons with NaN are false. Every operation up to the last rounding is exact.
        if (fabs(v) < 0x1p45) {
            const double high = round(v * 0x1p17);
            hi = (i64)high;
            lo = (i64)round((v - high * 0x1p-17) * 0x1p34);
#ifdef ASSAY_TRACE
            i64 *const pair = slices + 2 * ((u64)line * m.depth + k);
            pair[0] = hi;
            pair[1] = lo;
#endif
        }
        if (!(fabs(v) <= 1.0)) atomicOr(status, fabs(v) <= 0x1.fffffffffffffp1023 ? ABOVE_ONE : NOT_FINITE);
    }
    i8 *const out = residues + (u64)line * m.out_line + (u64)k * m.out_depth;
#pragma unroll
    for (int i = 0; i < PRIMES; ++i) {
        out[i * plane] = (i8)remainder_of(hi, PRIME(i));
        out[(PRIMES + i) * plane] = (i8)remainder_of(lo, PRIME(i));
    }
}

// Which slice of A and of B a pass multiplies: 0 is the high one.
__device__ __forceinline__ int slice_of_a(int pass) { return pass >> 1; }
__device__ __forceinline__ int slice_of_b(int pass) { return pass & 1; }

// The power of two in which a pass counts.
__device__ __forceinline__ double scale_of(int pass)
{
    return pass == 0 ? 0x1p-34 : pass == 3 ? 0x1p-68 : 0x1p-51;
}

// The sum that the remainders, each already times its factor, stand for: the representative nearest to zero.
__device__ __forceinline__ i64 folded(u64 combined)
{
    const u64 x = combined % MODULUS;
    return x > MODULUS / 2 ? (i64)(x - MODULUS) : (i64)x;
}

// What a refused product holds.
__device__ __forceinline__ double refused() { return __longlong_as_double(0x7ff8000000000000ll); }
