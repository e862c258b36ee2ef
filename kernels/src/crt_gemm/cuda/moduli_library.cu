// Around the library's INT8 products: what is made of their 32-bit sums. A row of sums has `pitch` of them, as a row of
// remainders has bytes.

// Neighbours in a row, and rows, that a thread takes for the bound.
#define SIDE 16

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
#pragma unroll
        for (u32 j = 0; j < SIDE; ++j) {
            // What lies behind a row's end is the product of padding: zero.
            const i32 sum = sums[(u64)row * m.pitch + first_col + j];
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

// mod: of every modulus's sums; 16 neighbours in a row a thread.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_product(const Product m, const Moduli moduli, const i32 *sums, u8 *remainders)
{
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 runs = (u64)m.pitch / RUN * m.rows;
    if (index >= runs * moduli.count) return;
    const u32 i = (u32)(index / runs);
    u32 word[RUN / 4] = {};
#pragma unroll
    for (u32 j = 0; j < RUN; ++j) word[j / 4] |= remainder_of(sums[index * RUN + j], moduli, i) << j % 4 * 8;
    *(uint4 *)(remainders + index * RUN) = make_uint4(word[0], word[1], word[2], word[3]);
}
