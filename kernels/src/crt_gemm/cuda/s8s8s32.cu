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
    Tile::Sums sums;
    Tile::product(sums, stages, a + (u64)first_row * m.padded_depth, b + (u64)first_col * m.padded_depth, m.padded_depth,
                  m.padded_depth / TILE_DEPTH);
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
