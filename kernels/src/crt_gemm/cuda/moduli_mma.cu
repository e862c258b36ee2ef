// A tile of C and one modulus a block: the whole of K by tensor cores, and the remainders from registers, so that a byte an
// element and modulus leaves the block instead of a 32-bit sum.

typedef Tiles<TILE_ROWS, TILE_COLS, TILE_DEPTH, TILE_STAGES, TILE_WARP_ROWS, TILE_WARP_COLS> Tile;
static_assert(Tile::THREADS == BLOCK && Tile::STAGE_BYTES * TILE_STAGES == SHARED_BYTES, "the host launches what this is");

// Rows of tiles that blocks of neighbouring indices share: what is in flight at a time reads few lines of both matrices.
#define GROUP 16
// A row of remainders in shared memory. 16 bytes more than it has, so that eight rows lie in different banks.
#define STAGED_ROW (TILE_COLS + 16)
static_assert(TILE_ROWS * STAGED_ROW <= SHARED_BYTES, "the remainders take the place of the stages");

// First row and column of a block's tile.
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

#if BOUND_BY_PRODUCT
// The larger of two lanes' values, whose numbers differ in `bit`.
__device__ __forceinline__ u32 larger(u32 value, u32 bit) { return max(value, __shfl_xor_sync(0xffffffffu, value, bit)); }

// bound: the largest sum of products of magnitudes in each row and in each column. Those of the padding are zero.
extern "C" __global__ void __launch_bounds__(BLOCK, 1)
moduli_bound(const Product m, const i8 *a, const i8 *b, u64 *rows, u64 *cols)
{
    extern __shared__ __align__(128) u8 memory[];
    const Corner corner = corner_of(blockIdx.x, m);
    Tile::Sums sums;
    Tile::product(sums, shared_address(memory), a + (u64)corner.row * m.padded_depth, b + (u64)corner.col * m.padded_depth,
                  m.padded_depth, m.padded_depth / TILE_DEPTH);
    const u32 lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < Tile::HIGH; ++i) {
#pragma unroll
        for (int v = 0; v < 4; v += 2) {
            u32 most = 0;
#pragma unroll
            for (int j = 0; j < Tile::WIDE; ++j) most = max(most, max((u32)sums[i][j][v], (u32)sums[i][j][v + 1]));
            // Four lanes share a row.
            most = larger(larger(most, 1), 2);
            const u32 row = corner.row + Tile::row_of(i, v);
            if (lane % 4 == 0 && row < m.rows) atomicMax(rows + row, (u64)most);
        }
    }
#pragma unroll
    for (int j = 0; j < Tile::WIDE; ++j) {
#pragma unroll
        for (int v = 0; v < 2; ++v) {
            u32 most = 0;
#pragma unroll
            for (int i = 0; i < Tile::HIGH; ++i) most = max(most, max((u32)sums[i][j][v], (u32)sums[i][j][v + 2]));
            // Eight lanes share a column.
            most = larger(larger(larger(most, 4), 8), 16);
            const u32 col = corner.col + Tile::col_of(j, v);
            if (lane < 4 && col < m.cols) atomicMax(cols + col, (u64)most);
        }
    }
}
#endif

// accumulator and mod.
extern "C" __global__ void __launch_bounds__(BLOCK, 1)
moduli_product(const Product m, const Moduli moduli, const i8 *a, const i8 *b, u8 *remainders, i32 *accumulators)
{
    extern __shared__ __align__(128) u8 memory[];
    const u32 tiles = m.a_lines / TILE_ROWS * (m.b_lines / TILE_COLS);
    const u32 modulus = blockIdx.x / tiles;
    const Corner corner = corner_of(blockIdx.x % tiles, m);
    const i8 *const left = a + ((u64)modulus * m.a_lines + corner.row) * m.padded_depth;
    const i8 *const right = b + ((u64)modulus * m.b_lines + corner.col) * m.padded_depth;
    Tile::Sums sums;
    Tile::product(sums, shared_address(memory), left, right, m.padded_depth, m.padded_depth / TILE_DEPTH);
    // All warps are done with the stages.
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile::HIGH; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::WIDE; ++j) {
#pragma unroll
            for (int v = 0; v < 4; v += 2) {
                // Two neighbours in a row.
                const u32 row = Tile::row_of(i, v), col = Tile::col_of(j, v);
                const u32 pair = remainder_of(sums[i][j][v], moduli, modulus)
                    + (remainder_of(sums[i][j][v + 1], moduli, modulus) << 8);
                *(unsigned short *)(memory + row * STAGED_ROW + col) = (unsigned short)pair;
#ifdef ASSAY_TRACE
                for (int next = 0; next < 2; ++next) {
                    if (corner.row + row < m.rows && corner.col + col + next < m.cols)
                        accumulators[((u64)modulus * m.rows + corner.row + row) * m.cols + corner.col + col + next] =
                            sums[i][j][v + next];
                }
#endif
            }
        }
    }
    __syncthreads();
    // 16 bytes a thread; the pitch is a multiple of 16, so what lies behind a row's end is its own padding.
    constexpr u32 CHUNKS = TILE_COLS / 16;
    for (u32 index = threadIdx.x; index < TILE_ROWS * CHUNKS; index += BLOCK) {
        const u32 row = index / CHUNKS, col = index % CHUNKS * 16;
        if (corner.row + row < m.rows && corner.col + col < m.pitch)
            *(uint4 *)(remainders + ((u64)modulus * m.rows + corner.row + row) * m.pitch + corner.col + col) =
                *(const uint4 *)(memory + row * STAGED_ROW + col);
    }
}
