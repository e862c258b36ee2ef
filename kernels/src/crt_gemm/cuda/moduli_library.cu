// Around the library's INT8 products: what is made of their 32-bit sums. A row of sums has `pitch` of them, as a row of
// remainders has bytes.

// Neighbours in a row, and rows, that a thread takes for the bound.
#define SIDE 16

// Word i of four.
__device__ __forceinline__ i32 word_of(const uint4 &four, u32 i)
{
    return (i32)(i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w);
}

#if BOUND_BY_PRODUCT
// bound: the largest sum of products of magnitudes in each row and in each column; a square of C a thread.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_bound(const Product m, const i32 *sums, u64 *rows, u64 *cols)
{
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u32 across = m.pitch / SIDE, down = (m.rows + SIDE - 1) / SIDE;
    if (index >= (u64)across * down) return;
    const u32 first_row = (u32)(index / across) * SIDE, first_col = (u32)(index % across) * SIDE;
    i32 of_col[SIDE] = {};
    for (u32 i = 0; i < SIDE; ++i) {
        const u32 row = first_row + i;
        if (row >= m.rows) break;
        i32 of_row = 0;
        const uint4 *const fours = (const uint4 *)(sums + (u64)row * m.pitch + first_col);
#pragma unroll
        for (u32 j = 0; j < SIDE; ++j) {
            // What lies behind a row's end is the product of padding: zero.
            const i32 sum = word_of(fours[j / 4], j % 4);
            of_row = max(of_row, sum);
            of_col[j] = max(of_col[j], sum);
        }
        if (of_row != 0) atomicMax(rows + row, (u64)of_row);
    }
#pragma unroll
    for (u32 j = 0; j < SIDE; ++j) {
        if (first_col + j < m.cols && of_col[j] != 0) atomicMax(cols + first_col + j, (u64)of_col[j]);
    }
}
#endif

// mod: of every modulus's sums; four neighbours in a row a thread, 16 bytes of sums and 4 of remainders.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_product(const Product m, const Moduli moduli, const i32 *sums, u8 *remainders)
{
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 fours = (u64)m.pitch / 4 * m.rows;
    if (index >= fours * moduli.count) return;
    const u32 i = (u32)(index / fours);
    const uint4 four = ((const uint4 *)sums)[index];
    u32 word = 0;
#pragma unroll
    for (u32 j = 0; j < 4; ++j) word |= remainder_of(word_of(four, j), moduli, i) << j * 8;
    ((u32 *)remainders)[index] = word;
}
