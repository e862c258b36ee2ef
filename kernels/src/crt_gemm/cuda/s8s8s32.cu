typedef Tiles<TILE_ROWS, TILE_COLS, TILE_DEPTH, TILE_STAGES, TILE_WARP_ROWS, TILE_WARP_COLS> Tile;
static_assert(Tile::THREADS == BLOCK && Tile::STAGE_BYTES * TILE_STAGES == SHARED_BYTES, "the host launches what this is");

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
s8s8s32(const Product m, const i8 *a, const i8 *b, i32 *c)
{
    extern __shared__ __align__(128) u8 memory[];
    const u32 stages = shared_address(memory);
    const u32 tile_rows = m.a_lines / TILE_ROWS;
    const u32 first_row = blockIdx.x % tile_rows * TILE_ROWS;
    const u32 first_col = blockIdx.x / tile_rows * TILE_COLS;
    const u32 depth_tiles = m.padded_depth / TILE_DEPTH;
    const i8 *next_a = a + (u64)first_row * m.padded_depth;
    const i8 *next_b = b + (u64)first_col * m.padded_depth;
    u32 copied = 0;
    auto copy = [&](u32 stage) {
        if (copied < depth_tiles) {
            Tile::copy(stages + stage * Tile::STAGE_BYTES, next_a, next_b, m.padded_depth);
            next_a += TILE_DEPTH;
            next_b += TILE_DEPTH;
            ++copied;
        }
        // Empty groups too: the number of groups says which stage has arrived.
        close_group();
    };
    for (u32 stage = 0; stage < TILE_STAGES - 1; ++stage) copy(stage);
    Tile::Sums sums;
    Tile::clear(sums);
    u32 stage = 0;
    for (u32 k = 0; k < depth_tiles; ++k) {
        wait_for_groups<TILE_STAGES - 2>();
        // All warps see the stage that arrived, and are done with the one that is copied into next.
        __syncthreads();
        copy(stage == 0 ? TILE_STAGES - 1 : stage - 1);
        Tile::add(sums, stages + stage * Tile::STAGE_BYTES);
        stage = stage == TILE_STAGES - 1 ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < Tile::HIGH; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::WIDE; ++j) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const u32 row = first_row + Tile::row_of(i, v), col = first_col + Tile::col_of(j, v);
                if (row < m.rows && col < m.cols) c[(u64)row * m.c_stride + col] = sums[i][j][v];
            }
        }
    }
}
