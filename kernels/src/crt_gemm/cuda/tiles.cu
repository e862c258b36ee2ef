// Products of signed bytes by tensor cores: tiles of A and B are copied to shared memory several stages ahead, and each
// warp multiplies its part of them. Both matrices lie along K, line after line, padded to whole tiles.
//
// The instructions are those of the PTX ISA, sections "cp.async", "ldmatrix" and "mma" (m16n8k32).

__device__ __forceinline__ u32 shared_address(const void *at) { return (u32)__cvta_generic_to_shared(at); }

// Start copying 16 bytes to shared memory.
__device__ __forceinline__ void copy_16(u32 to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// What was started since the last call is a group.
__device__ __forceinline__ void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Wait until all but the last N groups have arrived.
template <int N> __device__ __forceinline__ void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Four matrices of 8 lines of 16 bytes: lane l names line l % 8 of matrix l / 8, and gets 4 bytes of line l / 4 of each.
__device__ __forceinline__ void load_matrices(u32 (&to)[4], u32 at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}

// c += a * b, 16 x 8 x 32. Sums wrap.
__device__ __forceinline__ void multiply(i32 (&c)[4], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// ROWS x COLS elements of a product, DEPTH of K at a time, STAGES of them in shared memory; a warp computes
// WARP_ROWS x WARP_COLS.
template <int ROWS, int COLS, int DEPTH, int STAGES, int WARP_ROWS, int WARP_COLS> struct Tiles {
    static constexpr int THREADS = ROWS / WARP_ROWS * (COLS / WARP_COLS) * 32;
    static constexpr int STAGE_BYTES = (ROWS + COLS) * DEPTH;
    static constexpr int CHUNKS = DEPTH / 16; // Of 16 bytes, in a line.
    static constexpr int HIGH = WARP_ROWS / 16;
    static constexpr int WIDE = WARP_COLS / 8;
    static_assert(DEPTH % 32 == 0 && WARP_ROWS % 16 == 0 && WARP_COLS % 16 == 0 && STAGES >= 2, "whole instructions");

    typedef i32 Sums[HIGH][WIDE][4];

    // Where a chunk of a line is in a stage. Lines that lie in the same 128 bytes are rotated together, so that the
    // eight lines which a matrix is loaded from lie in different banks.
    static __device__ __forceinline__ u32 place(u32 line, u32 chunk)
    {
        constexpr u32 together = 128 / DEPTH;
        return line * DEPTH + (chunk ^ (line / together & (CHUNKS - 1))) * 16;
    }

    template <int LINES> static __device__ __forceinline__ void copy_lines(u32 to, const i8 *from, u32 stride)
    {
#pragma unroll
        for (u32 i = 0; i < (LINES * CHUNKS + THREADS - 1) / THREADS; ++i) {
            const u32 index = i * THREADS + threadIdx.x;
            if (LINES * CHUNKS % THREADS == 0 || index < LINES * CHUNKS) {
                const u32 line = index / CHUNKS, chunk = index % CHUNKS;
                copy_16(to + place(line, chunk), from + (u64)line * stride + chunk * 16);
            }
        }
    }

    // Start copying one stage: the tiles whose first bytes `a` and `b` are, lines `stride` bytes apart.
    static __device__ __forceinline__ void copy(u32 stage, const i8 *a, const i8 *b, u32 stride)
    {
        copy_lines<ROWS>(stage, a, stride);
        copy_lines<COLS>(stage + ROWS * DEPTH, b, stride);
    }

    // First row and column of this thread's warp in the tile.
    static __device__ __forceinline__ u32 warp_row() { return threadIdx.x / 32 / (COLS / WARP_COLS) * WARP_ROWS; }
    static __device__ __forceinline__ u32 warp_col() { return threadIdx.x / 32 % (COLS / WARP_COLS) * WARP_COLS; }

    // Add the product of one stage.
    static __device__ __forceinline__ void add(Sums &sums, u32 stage)
    {
        const u32 lane = threadIdx.x % 32;
        // A: lines 0-7 and 8-15 of the first 16 bytes, then of the second. B: two chunks of lines 0-7, then of 8-15.
        const u32 a_line = warp_row() + lane % 16, a_chunk = lane / 16;
        const u32 b_line = warp_col() + lane % 8 + lane / 16 * 8, b_chunk = lane / 8 % 2;
#pragma unroll
        for (int step = 0; step < DEPTH / 32; ++step) {
            u32 a[HIGH][4], b[WIDE / 2][4];
#pragma unroll
            for (int i = 0; i < HIGH; ++i) load_matrices(a[i], stage + place(a_line + 16 * i, 2 * step + a_chunk));
#pragma unroll
            for (int j = 0; j < WIDE / 2; ++j)
                load_matrices(b[j], stage + ROWS * DEPTH + place(b_line + 16 * j, 2 * step + b_chunk));
#pragma unroll
            for (int i = 0; i < HIGH; ++i) {
#pragma unroll
                for (int j = 0; j < WIDE; ++j) multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
            }
        }
    }

    // The whole product of a tile: the lines whose first bytes `a` and `b` are, `depth_tiles` stages long. The stages in
    // shared memory are free again only after a barrier.
    static __device__ __forceinline__ void product(Sums &sums, u32 stages, const i8 *a, const i8 *b, u32 stride,
                                                   u32 depth_tiles)
    {
        u32 copied = 0;
        auto copy_next = [&](u32 stage) {
            if (copied < depth_tiles) {
                copy(stages + stage * STAGE_BYTES, a, b, stride);
                a += DEPTH;
                b += DEPTH;
                ++copied;
            }
            // Empty groups too: the number of groups says which stage has arrived.
            close_group();
        };
        for (u32 stage = 0; stage < STAGES - 1; ++stage) copy_next(stage);
        clear(sums);
        u32 stage = 0;
        for (u32 k = 0; k < depth_tiles; ++k) {
            wait_for_groups<STAGES - 2>();
            // All warps see the stage that arrived, and are done with the one that is copied into next.
            __syncthreads();
            copy_next(stage == 0 ? STAGES - 1 : stage - 1);
            add(sums, stages + stage * STAGE_BYTES);
            stage = stage == STAGES - 1 ? 0 : stage + 1;
        }
    }

    // Row and column in the tile of value v of Sums[i][j].
    static __device__ __forceinline__ u32 row_of(int i, int v) { return warp_row() + 16 * i + threadIdx.x % 32 / 4 + v / 2 * 8; }
    static __device__ __forceinline__ u32 col_of(int j, int v) { return warp_col() + 8 * j + threadIdx.x % 4 * 2 + v % 2; }

    static __device__ __forceinline__ void clear(Sums &sums)
    {
#pragma unroll
        for (int i = 0; i < HIGH; ++i) {
#pragma unroll
            for (int j = 0; j < WIDE; ++j) {
#pragma unroll
                for (int v = 0; v < 4; ++v) sums[i][j][v] = 0;
            }
        }
    }
};
