// One thread an element of C, row after row: the reference path, to be read beside the host's oracle.

extern "C" __global__ void __launch_bounds__(BLOCK)
split2_naive(const Product m, const i8 *a, const i8 *b, double *c, const u32 *status, i32 *accumulators, i32 *mods,
             i64 *sums)
{
    const u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 elements = (u64)m.rows * m.cols;
    if (index >= elements) return;
    const u32 row = (u32)(index / m.cols);
    const u32 col = (u32)(index % m.cols);
    const u64 a_plane = (u64)m.a_lines * m.padded_depth;
    const u64 b_plane = (u64)m.b_lines * m.padded_depth;
    double total = 0.0;
    for (int pass = 0; pass < PASSES; ++pass) {
        u64 combined = 0;
#pragma unroll
        for (int i = 0; i < PRIMES; ++i) {
            const i8 *const left = a + (slice_of_a(pass) * PRIMES + i) * a_plane + (u64)row * m.padded_depth;
            const i8 *const right = b + (slice_of_b(pass) * PRIMES + i) * b_plane + (u64)col * B_LINE(m);
            i32 sum = 0;
            // To the padding's end, which is zero: what is not would show here.
            for (u32 k = 0; k < m.padded_depth; ++k) sum += (i32)left[k] * (i32)right[(u64)k * B_STEP(m)];
            const u32 remainder = (u32)sum % PRIME(i);
            combined += remainder * CRT_FACTOR(i);
#ifdef ASSAY_TRACE
            accumulators[(pass * PRIMES + i) * elements + index] = sum;
            mods[(pass * PRIMES + i) * elements + index] = (i32)remainder;
#endif
        }
        const i64 sum = folded(combined);
        total += (double)sum * scale_of(pass);
#ifdef ASSAY_TRACE
        if (*status == 0) sums[pass * elements + index] = sum;
#endif
    }
    // C is written and never read: whatever it held, NaN too, is gone.
    c[(u64)row * m.c_stride + col] = *status == 0 ? total : refused();
}
