// One thread an element of C and modulus: the reference path, to be read beside the host's oracle.

#if BOUND_BY_PRODUCT
// bound: the largest sum of products of magnitudes in each row and in each column.
extern "C" __global__ void __launch_bounds__(BLOCK)
moduli_bound(const Product m, const i8 *a, const i8 *b, u64 *rows, u64 *cols)
{
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= (u64)m.rows * m.cols) return;
    const u32 row = (u32)(index / m.cols), col = (u32)(index % m.cols);
    i32 sum = 0;
    for (u32 k = 0; k < m.padded_depth; ++k)
        sum += (i32)a[place_of(m.a_lines, m.padded_depth, row, k)] * (i32)b[place_of(m.b_lines, m.padded_depth, col, k)];
    atomicMax(rows + row, (u64)sum);
    atomicMax(cols + col, (u64)sum);
}
#endif

// accumulator and mod.
extern "C" __global__ void __launch_bounds__(BLOCK)
moduli_product(const Product m, const Moduli moduli, const Residue *a, const Residue *b, u8 *remainders, i32 *accumulators)
{
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 elements = (u64)m.rows * m.cols;
    if (index >= elements * moduli.count) return;
    const u32 i = (u32)(index / elements);
    const u32 row = (u32)(index % elements / m.cols), col = (u32)(index % elements % m.cols);
    const Residue *const left = a + (u64)i * m.a_lines * m.padded_depth;
    const Residue *const right = b + (u64)i * m.b_lines * m.padded_depth;
    u32 sum = 0;
    // To the padding's end, which is zero: what is not would show here. Modulo 256 the sum may wrap.
    for (u32 k = 0; k < m.padded_depth; ++k) {
#if LEAST_RESIDUES
        if (k % FOLD_DEPTH == 0) sum = remainder_of((i32)sum, moduli, i);
#endif
        sum += (u32)((i32)left[place_of(m.a_lines, m.padded_depth, row, k)]
                     * (i32)right[place_of(m.b_lines, m.padded_depth, col, k)]);
    }
#ifdef ASSAY_TRACE
    accumulators[index] = (i32)sum;
#endif
    remainders[((u64)i * m.rows + row) * m.pitch + col] = (u8)remainder_of((i32)sum, moduli, i);
}
