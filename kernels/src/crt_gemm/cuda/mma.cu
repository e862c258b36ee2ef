// A tile of C a block: for each pass and prime the whole of K by tensor cores, and what follows in registers, up to the
// double. The copies run ahead across primes and passes.

typedef Tiles<TILE_ROWS, TILE_COLS, TILE_DEPTH, TILE_STAGES, TILE_WARP_ROWS, TILE_WARP_COLS> Tile;
static_assert(Tile::THREADS == BLOCK && Tile::STAGE_BYTES * TILE_STAGES == SHARED_BYTES, "the host launches what this is");

// What is copied next: one stage of one prime of one pass.
struct Ahead {
    const i8 *a, *b;
    u64 a_plane, b_plane;
    u32 stride, depth_tiles, product, tile;

    __device__ __forceinline__ void copy(u32 stage)
    {
        if (product < PASSES * PRIMES && depth_tiles > 0) {
            const u32 pass = product / PRIMES, prime = product % PRIMES;
            Tile::copy(stage, a + (slice_of_a(pass) * PRIMES + prime) * a_plane + (u64)tile * TILE_DEPTH,
                       b + (slice_of_b(pass) * PRIMES + prime) * b_plane + (u64)tile * TILE_DEPTH, stride);
            if (++tile == depth_tiles) {
                tile = 0;
                ++product;
            }
        }
        // Empty groups too: the number of groups says which stage has arrived.
        close_group();
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK)
split2_mma(const Product m, const i8 *a, const i8 *b, double *c, const u32 *status, i32 *accumulators, i32 *mods,
           i64 *sums)
{
    extern __shared__ __align__(128) u8 memory[];
    const u32 stages = shared_address(memory);
    const u32 tile_rows = m.a_lines / TILE_ROWS;
    const u32 first_row = blockIdx.x % tile_rows * TILE_ROWS;
    const u32 first_col = blockIdx.x / tile_rows * TILE_COLS;
    const u32 depth_tiles = m.padded_depth / TILE_DEPTH;
    Ahead ahead = {a + (u64)first_row * m.padded_depth, b + (u64)first_col * m.padded_depth,
                   (u64)m.a_lines * m.padded_depth, (u64)m.b_lines * m.padded_depth,
                   m.padded_depth, depth_tiles, 0, 0};
    for (u32 stage = 0; stage < TILE_STAGES - 1; ++stage) ahead.copy(stages + stage * Tile::STAGE_BYTES);

#ifdef ASSAY_TRACE
    const u64 elements = (u64)m.rows * m.cols;
#endif
    u32 stage = 0;
    double total[Tile::HIGH][Tile::WIDE][4] = {};
    for (u32 pass = 0; pass < PASSES; ++pass) {
        u64 combined[Tile::HIGH][Tile::WIDE][4] = {};
        for (u32 prime = 0; prime < PRIMES; ++prime) {
            Tile::Sums tile;
            Tile::clear(tile);
            for (u32 k = 0; k < depth_tiles; ++k) {
                wait_for_groups<TILE_STAGES - 2>();
                // All warps see the stage that arrived, and are done with the one that is copied into next.
                __syncthreads();
                ahead.copy(stages + (stage == 0 ? TILE_STAGES - 1 : stage - 1) * Tile::STAGE_BYTES);
                Tile::add(tile, stages + stage * Tile::STAGE_BYTES);
                stage = stage == TILE_STAGES - 1 ? 0 : stage + 1;
            }
            const u32 p = PRIME(prime), reciprocal = RECIPROCAL(prime);
            const u64 factor = CRT_FACTOR(prime);
#pragma unroll
            for (int i = 0; i < Tile::HIGH; ++i) {
#pragma unroll
                for (int j = 0; j < Tile::WIDE; ++j) {
#pragma unroll
                    for (int v = 0; v < 4; ++v) {
                        // The reciprocal is rounded down, so the quotient is right or one too small.
                        const u32 sum = (u32)tile[i][j][v];
                        const u32 rest = sum - __umulhi(sum, reciprocal) * p;
                        const u32 remainder = min(rest, rest - p);
                        combined[i][j][v] += remainder * factor;
#ifdef ASSAY_TRACE
                        const u32 row = first_row + Tile::row_of(i, v), col = first_col + Tile::col_of(j, v);
                        if (row < m.rows && col < m.cols) {
                            const u64 at = (pass * PRIMES + prime) * elements + (u64)row * m.cols + col;
                            accumulators[at] = (i32)sum;
                            mods[at] = (i32)remainder;
                        }
#endif
                    }
                }
            }
        }
#pragma unroll
        for (int i = 0; i < Tile::HIGH; ++i) {
#pragma unroll
            for (int j = 0; j < Tile::WIDE; ++j) {
#pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const i64 sum = folded(combined[i][j][v]);
                    total[i][j][v] += (double)sum * scale_of(pass);
#ifdef ASSAY_TRACE
                    const u32 row = first_row + Tile::row_of(i, v), col = first_col + Tile::col_of(j, v);
                    if (*status == 0 && row < m.rows && col < m.cols)
                        sums[pass * elements + (u64)row * m.cols + col] = sum;
#endif
                }
            }
        }
    }
    const bool computed = *status == 0;
#pragma unroll
    for (int i = 0; i < Tile::HIGH; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::WIDE; ++j) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const u32 row = first_row + Tile::row_of(i, v), col = first_col + Tile::col_of(j, v);
                // C is written and never read.
                if (row < m.rows && col < m.cols) c[(u64)row * m.c_stride + col] = computed ? total[i][j][v] : refused();
            }
        }
    }
}
