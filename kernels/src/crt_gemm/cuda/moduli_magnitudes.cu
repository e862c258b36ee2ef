// Bounds from the values' own magnitudes: by a product of them, or by the sum of their squares.

// magnitude: each line's top, as stored.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_tops(const double *values, const Lines m, u32 *tops, u32 *status)
{
    const Run run = run_of(m);
    double v[RUN];
    fetch(values, m, run, v);
    if (!run.exists || run.line >= m.lines) return;
    bool finite;
    const u32 top = stored_top(v, finite);
    if (!finite) atomicOr(status, NOT_FINITE);
    if (top != 0) atomicMax(tops + run.line, top);
}

#if BOUND_BY_PRODUCT
// magnitude: those of a run, a byte each, zero in the padding.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_magnitudes(const double *values, const Lines m, const u32 *tops, u8 *magnitudes)
{
    const Run run = run_of(m);
    double v[RUN];
    fetch(values, m, run, v);
    if (!run.exists) return;
    const i32 top = run.line < m.lines ? top_of(tops[run.line]) : 0;
    u32 of_run[RUN], word[RUN / 4] = {};
    bool finite;
    make_magnitudes(v, finite);
    rounded_up<ROUNDED_BITS>(v, top, of_run);
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) word[i / 4] += of_run[i] << i % 4 * 8;
    *(uint4 *)(magnitudes + place_of(m.padded_lines, m.padded_depth, run.line, run.k)) =
        make_uint4(word[0], word[1], word[2], word[3]);
}
#else
// bound: u(i), the sum of squares of a line's magnitudes.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_squares(const double *values, const Lines m, const u32 *tops, u64 *bounds)
{
    const Run run = run_of(m);
    double v[RUN];
    fetch(values, m, run, v);
    if (!run.exists || run.line >= m.lines) return;
    const i32 top = top_of(tops[run.line]);
    u32 of_run[RUN];
    bool finite;
    make_magnitudes(v, finite);
    rounded_up<ROUNDED_BITS>(v, top, of_run);
    u64 sum = 0;
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) sum += (u64)of_run[i] * of_run[i];
    if (sum != 0) atomicAdd(bounds + run.line, sum);
}
#endif
