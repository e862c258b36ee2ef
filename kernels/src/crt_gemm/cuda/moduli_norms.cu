// Bounds by the inequality of Cauchy and Schwarz in blocks of RUN neighbours along K: what is multiplied to bound the sums is
// a byte a block, its Euclidean norm.

static_assert(RUN == NORM_BLOCK, "a thread takes a block");
// A norm is at most q 2^(e - NORM_BITS), q at most sqrt(RUN) 2^NORM_BITS: a word with e, as tops are stored, in its last bits.
#define STORED_TOP_BITS 12
static_assert(LOWEST + 1024 < 1 << STORED_TOP_BITS, "the top of the largest double");

// magnitude: q = the root of S, rounded up. S is a float exactly, and so near below a whole number's square no root of a float
// is rounded up to it: the host has tried every S.
__device__ __forceinline__ u32 root_rounded_up(u32 sum)
{
    const u32 root = (u32)__fsqrt_rn((float)sum);
    return root + (root * root < sum);
}

// magnitude: each line's top and each block's norm, which is 0 for a block of zeros.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_norms(const double *values, const Lines m, u32 *tops, u32 *norms, u32 *status)
{
    const Run run = run_of(m);
    double v[RUN];
    fetch(values, m, run, v);
    if (run.line >= m.lines || run.k >= m.depth) return;
    bool finite;
    const u32 top = stored_top(v, finite);
    u32 of_run[RUN], sum = 0;
    rounded_up<NORM_BITS>(v, top_of(top), of_run);
    // S, the sum of squares.
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) sum += of_run[i] * of_run[i];
    const u32 blocks = (m.depth + RUN - 1) / RUN;
    norms[(u64)run.line * blocks + run.k / RUN] = root_rounded_up(sum) << STORED_TOP_BITS | top;
    if (!finite) atomicOr(status, NOT_FINITE);
    if (top != 0) atomicMax(tops + run.line, top);
}

// magnitude: q 2^(e - NORM_BITS) 2^(ROUNDED_BITS - top), rounded up: at most 64, and 0 for 0 alone.
__device__ __forceinline__ u32 byte_of(u32 norm, u32 top)
{
    const u32 root = norm >> STORED_TOP_BITS;
    // A block's top is not above its line's.
    const u32 down = min(top - norm % (1u << STORED_TOP_BITS) + NORM_BITS - ROUNDED_BITS, 31u);
    return (root + ((1u << down) - 1)) >> down;
}

// magnitude: those of all blocks, a byte each, zero in the padding. A matrix of norms: `depth` counts blocks. Four neighbours
// a thread, 128 a warp.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_norm_bytes(const u32 *norms, const Lines m, const u32 *tops, u8 *magnitudes)
{
    const u32 across = (m.padded_depth + 127) / 128;
    const u32 line = blockIdx.x / across * (CONVERSION_BLOCK / 32) + threadIdx.x / 32;
    const u32 k = blockIdx.x % across * 128 + threadIdx.x % 32 * 4;
    if (line >= m.padded_lines || k >= m.padded_depth) return;
    u32 word = 0;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        if (line < m.lines && k + i < m.depth)
            word |= byte_of(norms[(u64)line * m.line_stride + k + i], tops[line]) << i * 8;
    }
    *(u32 *)(magnitudes + place_of(m.padded_lines, m.padded_depth, line, k)) = word;
}
