// What every md5-q9 kernel begins with. Compiled by NVRTC for a card, and by the host's compiler behind a shim.

typedef unsigned int u32;
typedef unsigned long long u64;

// A row of a trace: how often it was written, Q9, then the layers.
#define ROW_HEAD 2
#define LAYERS 44
#define ROW (ROW_HEAD + LAYERS)

// The hit buffer: a count, then records of Q9 and the digest's words A, B, C, D.
#define HIT_HEAD 1
#define HIT_WORDS 5

// What stays the same for the whole launch, beside the base.
struct Run {
    u32 target;            // Q61 of a hit
    u32 one;               // 1, but the compiler does not know
    u32 uniform_one;       // the same, in a uniform register
    u32 uniform_minus_one; // -1, likewise
    u32 uniform_64;        // 64, likewise
    u32 slack;             // 63 - target
    u32 *hits;
    u32 capacity;          // records that fit in `hits`
};

// A launch's parameters. The compiler reads a parameter anew from constant memory, into an ordinary register, wherever
// it is used inside a divergent loop; a value that it has to compute from uniform operands it keeps in a uniform
// register. `nought` is such a value, and 0.
static __device__ __forceinline__ Run launched(const u32 nought, const u32 target, const u32 one, u32 *const hits,
                                               const u32 capacity)
{
    const u32 uniform_one = one | nought;
    const Run run = {target | nought, one, uniform_one, nought - uniform_one, uniform_one << 6,
                     63u - (target | nought), hits, capacity};
    return run;
}

// a * one + c = a + c, on the FMA pipe.
static __device__ __forceinline__ u32 mad1(const u32 a, const u32 one, const u32 c)
{
#ifdef __CUDA_ARCH__
    u32 sum;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(one), "r"(c));
    return sum;
#else
    return a * one + c;
#endif
}

// Counts a hit and keeps it while there is room: the host rejects a count above the capacity.
static __device__ __forceinline__ void report(const Run &run, const u32 q9, const u32 a, const u32 b, const u32 c,
                                              const u32 d)
{
    const u32 place = atomicAdd(run.hits, 1u);
    if (place < run.capacity) {
        u32 *const record = run.hits + HIT_HEAD + HIT_WORDS * place;
        record[0] = q9;
        record[1] = a;
        record[2] = b;
        record[3] = c;
        record[4] = d;
    }
}

// The test of Q61. A trace passes everything, so that steps 61..63 are traced too; ASSAY_TEST_BITS narrows the
// test to the low bits, so that hit sets are large enough to compare.
#if defined(ASSAY_TRACE)
#define PASSES(q61) true
#elif defined(ASSAY_TEST_BITS)
#define PASSES(q61) ((((q61) ^ run.target) << (32 - ASSAY_TEST_BITS)) == 0u)
#else
#define PASSES(q61) ((q61) == run.target)
#endif

// A test that everything with Q61 = target passes, and one in 2^26 of the rest, for x with Q61 = Q60 + rotl(x, 6): that is
// x * 64 + (x >> 26) + Q60, so x * 64 + Q60 + 63 - target = 63 - (x >> 26), which is at most 63.
#if defined(ASSAY_TRACE)
#define MAY_PASS(q60, x) true
#elif defined(ASSAY_TEST_BITS)
#define MAY_PASS(q60, x) PASSES((q60) + ((x) << 6 | (x) >> 26))
#else
#define MAY_PASS(q60, x) (mad1(x, run.uniform_64, q60) + run.slack <= 63u)
#endif

// A trace writes a row per candidate, at `row` and after; production code has none of this.
#define UNFORMED 0xdeadbeefu
#ifdef ASSAY_TRACE
#define ROW_PARAMETER(i) , u32 *const row_##i
#define ROW_ARGUMENT(i) , row + ROW * (i)
#define FIRST_ROW(index) u32 *row = trace + (u64)ROW * (index)
#define ADVANCE_ROW(count) row += ROW * (count)
#define LAYER(i, n, value) (row_##i[ROW_HEAD + (n)] = (value))
#define REPORT(i, q9, a, b, c, d) (atomicAdd(row_##i, 1u), row_##i[1] = (q9))
#define COPY_GROUP_ROW(i) \
    for (u32 n = ROW_HEAD; n < ROW; ++n) \
        if (group.row[n] != UNFORMED) row_##i[n] = group.row[n]
#define CLEAR_GROUP_ROW() \
    for (u32 n = 0; n < ROW; ++n) group.row[n] = UNFORMED
#else
#define ROW_PARAMETER(i)
#define ROW_ARGUMENT(i)
#define FIRST_ROW(index)
#define ADVANCE_ROW(count)
#define LAYER(i, n, value)
#define REPORT(i, q9, a, b, c, d) report(run, q9, a, b, c, d)
#define COPY_GROUP_ROW(i)
#define CLEAR_GROUP_ROW()
#endif
