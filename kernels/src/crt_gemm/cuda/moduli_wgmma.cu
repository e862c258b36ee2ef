// A tile of C and one modulus at a time by a warpgroup's matrix instructions, which read both matrices from shared memory. One
// warpgroup copies ahead, two multiply 64 rows each; the remainders are taken from registers.
//
// The instructions are those of the PTX ISA, sections "wgmma.mma_async", "cp.async.bulk", "mbarrier" and "setmaxnreg"; they
// need sm_90a. Bytes lie as the conversions have written them for this kernel: in blocks of 128 of K, a block's lines one after
// the other, each line's 16-byte chunks permuted by the line's number modulo 8: what the instruction calls the swizzle of 128
// bytes. A tile's lines of one block are therefore one piece of memory, and one bulk copy.

#define CONSUMERS 2
#define WARPS_A_GROUP 4
#define GROUP_THREADS 128
static_assert(BLOCK == (1 + CONSUMERS) * GROUP_THREADS, "a warpgroup copies, the others multiply");
static_assert(TILE_ROWS == 64 * CONSUMERS && TILE_COLS == 256 && TILE_DEPTH == 128, "m64n256, a block of 128 of K");
#define A_BYTES (TILE_ROWS * TILE_DEPTH)
#define STAGE_BYTES (A_BYTES + TILE_COLS * TILE_DEPTH)
// A row of remainders in shared memory. 16 bytes more than it has, so that eight rows lie in different banks.
#define STAGED_ROW (TILE_COLS + 16)
#define STAGED_AT (TILE_STAGES * STAGE_BYTES)
#define BARRIERS_AT (STAGED_AT + TILE_ROWS * STAGED_ROW)
// The second consumer starts so many blocks of K behind the first: one writes its remainders while the other multiplies.
// All of them lie in stages that nobody has to give back first.
#define LAG (TILE_STAGES / 2)
static_assert(BARRIERS_AT + TILE_STAGES * 16 <= SHARED_BYTES, "the host gives what this takes");

__device__ __forceinline__ u32 shared_address(const void *at) { return (u32)__cvta_generic_to_shared(at); }

__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrive, and let the phase wait for so many copied bytes too.
__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Wait until the phase of this parity is over.
__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity)
{
    u32 over;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (!over);
}

// Start copying a piece of memory; its bytes count towards the barrier's phase.
__device__ __forceinline__ void bulk_copy(u32 to, const void *from, u32 bytes, u32 barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// What tells the instruction where lines along K lie: 8 of them in 1024 bytes, swizzled by 128.
__device__ __forceinline__ u64 descriptor(u32 at)
{
    return (u64)((at & 0x3ffff) >> 4) | 1ull << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62;
}

#define EIGHT(n) \
    "+r"(d[n]), "+r"(d[n + 1]), "+r"(d[n + 2]), "+r"(d[n + 3]), "+r"(d[n + 4]), "+r"(d[n + 5]), "+r"(d[n + 6]), "+r"(d[n + 7])
#define THIRTY_TWO(n) EIGHT(n), EIGHT(n + 8), EIGHT(n + 16), EIGHT(n + 24)

#if LEAST_RESIDUES
#define BYTES "u8.u8"
#else
#define BYTES "s8.s8"
#endif
// d = a * b, or d += a * b where `add` is not 0: 64 x 256 x 32. Sums wrap.
__device__ __forceinline__ void multiply(i32 (&d)[128], u64 a, u64 b, u32 add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k32.s32." BYTES " {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
                 "}, %128, %129, p; }"
                 : THIRTY_TWO(0), THIRTY_TWO(32), THIRTY_TWO(64), THIRTY_TWO(96)
                 : "l"(a), "l"(b), "r"(add));
}

// Keeps the compiler from moving what reads or writes sums across: what the instructions do to them in the background it
// cannot see.
__device__ __forceinline__ void pin(i32 (&d)[128])
{
    asm volatile("" : THIRTY_TWO(0), THIRTY_TWO(32), THIRTY_TWO(64), THIRTY_TWO(96)::"memory");
}

// Sums may be read from here on, not before.
__device__ __forceinline__ void settle(i32 (&d)[128])
{
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    pin(d);
}

// First row and column of a tile. Rows of tiles that neighbouring numbers share: what is in flight at a time reads few lines.
#define GROUP 16
struct Corner {
    u32 row, col;
};

__device__ __forceinline__ Corner corner_of(u32 tile, const Product &m)
{
    const u32 tile_rows = m.a_lines / TILE_ROWS, tile_cols = m.b_lines / TILE_COLS;
    const u32 first = tile / (GROUP * tile_cols) * GROUP;
    const u32 height = min((u32)GROUP, tile_rows - first);
    const u32 rest = tile - first * tile_cols;
    Corner corner;
    corner.row = (first + rest % height) * TILE_ROWS;
    corner.col = rest / height * TILE_COLS;
    return corner;
}

// Which stage is next, and the parity of its phase.
struct Ring {
    u32 stage, parity;

    __device__ __forceinline__ void advance()
    {
        if (++stage == TILE_STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// Products of `count` planes, tile after tile: `finish` gets a consumer's sums of each, `fold` those of FOLD_DEPTH of K that
// are to be added to.
template <class Fold, class Finish>
__device__ __forceinline__ void products(const Product &m, u32 count, const i8 *a, const i8 *b, u8 *memory, Fold fold,
                                         Finish finish)
{
    const u32 stages = shared_address(memory), barriers = stages + BARRIERS_AT;
    // A stage's two barriers: it has arrived, and all have read it.
    auto full = [&](u32 stage) { return barriers + stage * 16; };
    auto empty = [&](u32 stage) { return barriers + stage * 16 + 8; };
    if (threadIdx.x == 0) {
        for (u32 stage = 0; stage < TILE_STAGES; ++stage) {
            barrier_init(full(stage), 1);
            barrier_init(empty(stage), CONSUMERS * WARPS_A_GROUP);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const u32 tiles = m.a_lines / TILE_ROWS * (m.b_lines / TILE_COLS);
    const u32 blocks = m.padded_depth / TILE_DEPTH;
    Ring ring = {0, 0};
    if (threadIdx.x < GROUP_THREADS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            for (u32 work = blockIdx.x; work < tiles * count; work += gridDim.x) {
                const u32 modulus = work / tiles;
                const Corner corner = corner_of(work % tiles, m);
                const i8 *left = a + (u64)modulus * m.a_lines * m.padded_depth + (u64)corner.row * TILE_DEPTH;
                const i8 *right = b + (u64)modulus * m.b_lines * m.padded_depth + (u64)corner.col * TILE_DEPTH;
                for (u32 k = 0; k < blocks; ++k) {
                    // The first time round nothing is in a stage: the phase before the first counts as over.
                    barrier_wait(empty(ring.stage), ring.parity ^ 1);
                    barrier_expect(full(ring.stage), STAGE_BYTES);
                    const u32 to = stages + ring.stage * STAGE_BYTES;
                    bulk_copy(to, left, A_BYTES, full(ring.stage));
                    bulk_copy(to + A_BYTES, right, STAGE_BYTES - A_BYTES, full(ring.stage));
                    left += (u64)m.a_lines * TILE_DEPTH;
                    right += (u64)m.b_lines * TILE_DEPTH;
                    ring.advance();
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        // The same for all lanes, as the compiler cannot know.
        const u32 consumer = __shfl_sync(0xffffffffu, threadIdx.x / GROUP_THREADS - 1, 0);
        auto give_back = [&](u32 stage) {
            if (threadIdx.x % 32 == 0) barrier_arrive(empty(stage));
        };
        bool started = blocks == 0;
        for (u32 work = blockIdx.x; work < tiles * count; work += gridDim.x) {
            i32 sums[128] = {};
            u32 last = 0;
            if (!started && consumer == 1) {
                asm volatile("bar.sync 3, %0;" ::"n"(CONSUMERS * GROUP_THREADS) : "memory");
                started = true;
            }
            for (u32 first = 0; first < blocks; first += FOLD_DEPTH / TILE_DEPTH) {
                if (first > 0) {
                    fold(sums, work / tiles);
                    // Before the fence that orders it before the next instructions.
                    pin(sums);
                }
                const u32 end = min(first + FOLD_DEPTH / TILE_DEPTH, blocks);
                for (u32 k = first; k < end; ++k) {
                    barrier_wait(full(ring.stage), ring.parity);
                    const u32 at = stages + ring.stage * STAGE_BYTES;
                    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                    for (u32 step = 0; step < TILE_DEPTH / 32; ++step)
                        multiply(sums, descriptor(at + consumer * 64 * TILE_DEPTH + step * 32),
                                 descriptor(at + A_BYTES + step * 32), k | step);
                    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                    // The stage before this one has been read.
                    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
                    if (k > first) give_back(last);
                    if (!started && k == min((u32)LAG, blocks - 1)) {
                        asm volatile("bar.arrive 3, %0;" ::"n"(CONSUMERS * GROUP_THREADS) : "memory");
                        started = true;
                    }
                    last = ring.stage;
                    ring.advance();
                }
                settle(sums);
                give_back(last);
            }
            finish(sums, work / tiles, corner_of(work % tiles, m), consumer);
        }
    }
}

// Row and column in the tile of value v of a consumer's sums.
__device__ __forceinline__ u32 row_of(u32 consumer, u32 v)
{
    return 64 * consumer + threadIdx.x / 32 % WARPS_A_GROUP * 16 + threadIdx.x % 32 / 4 + v / 2 % 2 * 8;
}
__device__ __forceinline__ u32 col_of(u32 v) { return v / 4 * 8 + threadIdx.x % 4 * 2 + v % 2; }

#if BOUND_BY_PRODUCT
// The larger of two lanes' values, whose numbers differ in `bit`.
__device__ __forceinline__ u32 larger(u32 value, u32 bit) { return max(value, __shfl_xor_sync(0xffffffffu, value, bit)); }

// bound: the largest sum of products of magnitudes in each row and in each column. Those of the padding are zero.
extern "C" __global__ void __launch_bounds__(BLOCK, 1)
moduli_bound(const Product m, const i8 *a, const i8 *b, u64 *rows, u64 *cols)
{
    extern __shared__ __align__(1024) u8 memory[];
    auto keep = [](i32 (&)[128], u32) {};
    products(m, 1, a, b, memory, keep, [&](i32 (&sums)[128], u32, const Corner &corner, u32 consumer) {
        const u32 lane = threadIdx.x % 32;
        u32 of_row[2] = {};
#pragma unroll
        for (u32 v = 0; v < 128; v += 4) {
            of_row[0] = max(of_row[0], max((u32)sums[v], (u32)sums[v + 1]));
            of_row[1] = max(of_row[1], max((u32)sums[v + 2], (u32)sums[v + 3]));
#pragma unroll
            for (u32 next = 0; next < 2; ++next) {
                // Eight lanes share a column.
                const u32 most = larger(larger(larger(max((u32)sums[v + next], (u32)sums[v + next + 2]), 4), 8), 16);
                const u32 col = corner.col + col_of(v + next);
                if (lane < 4 && col < m.cols) atomicMax(cols + col, (u64)most);
            }
        }
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            // Four lanes share a row.
            const u32 most = larger(larger(of_row[half], 1), 2);
            const u32 row = corner.row + row_of(consumer, 2 * half);
            if (lane % 4 == 0 && row < m.rows) atomicMax(rows + row, (u64)most);
        }
    });
}
#endif

// accumulator and mod.
extern "C" __global__ void __launch_bounds__(BLOCK, 1)
moduli_product(const Product m, const Moduli moduli, const i8 *a, const i8 *b, u8 *remainders, i32 *accumulators)
{
    extern __shared__ __align__(1024) u8 memory[];
    u8 *const staged = memory + STAGED_AT;
    auto fold = [&](i32 (&sums)[128], u32 modulus) {
#if LEAST_RESIDUES
#pragma unroll
        for (u32 v = 0; v < 128; ++v) sums[v] = (i32)remainder_of(sums[v], moduli, modulus);
#endif
    };
    products(m, moduli.count, a, b, memory, fold, [&](i32 (&sums)[128], u32 modulus, const Corner &corner, u32 consumer) {
#pragma unroll
        for (u32 v = 0; v < 128; v += 2) {
            // Two neighbours in a row.
            const u32 row = row_of(consumer, v), col = col_of(v);
            const u32 pair = remainder_of(sums[v], moduli, modulus) + (remainder_of(sums[v + 1], moduli, modulus) << 8);
            *(unsigned short *)(staged + row * STAGED_ROW + col) = (unsigned short)pair;
#ifdef ASSAY_TRACE
            for (u32 next = 0; next < 2; ++next) {
                if (corner.row + row < m.rows && corner.col + col + next < m.cols)
                    accumulators[((u64)modulus * m.rows + corner.row + row) * m.cols + corner.col + col + next] = sums[v + next];
            }
#endif
        }
        // The consumer's own 64 rows: its threads alone meet. 16 bytes a thread; the pitch is a multiple of 16, so what lies
        // behind a row's end is its own padding.
        asm volatile("bar.sync %0, %1;" ::"r"(1 + consumer), "n"(GROUP_THREADS) : "memory");
        constexpr u32 CHUNKS = TILE_COLS / 16;
        for (u32 index = threadIdx.x % GROUP_THREADS; index < 64 * CHUNKS; index += GROUP_THREADS) {
            const u32 row = 64 * consumer + index / CHUNKS, col = index % CHUNKS * 16;
            if (corner.row + row < m.rows && corner.col + col < m.pitch)
                *(uint4 *)(remainders + ((u64)modulus * m.rows + corner.row + row) * m.pitch + corner.col + col) =
                    *(const uint4 *)(staged + row * STAGED_ROW + col);
        }
        // Before the next tile's remainders take their place.
        asm volatile("bar.sync %0, %1;" ::"r"(1 + consumer), "n"(GROUP_THREADS) : "memory");
    });
}
