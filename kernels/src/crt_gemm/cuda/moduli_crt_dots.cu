// The theorem's sums by dot products of four bytes, one thread for four neighbours of a row.

// sum + a * b, byte by byte.
__device__ __forceinline__ u32 dot_bytes(u32 a, u32 b, u32 sum)
{
#ifdef __CUDA_ARCH__
    return __dp4a(a, b, sum);
#else
    for (u32 i = 0; i < 32; i += 8) sum += (a >> i & 0xff) * (b >> i & 0xff);
    return sum;
#endif
}

// crt: the sum of remainder * factor, in columns of 16 bits that hold up to 29. Four elements share what is read.
template <int WORDS>
__device__ __forceinline__ void sum_up(const u32 (&remainders)[WORDS][4], const Theorem &m, u32 (&column)[4][WORDS][2])
{
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
        u32 byte[4][4] = {};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int group = 0; group < WORDS; ++group) {
                const u32 factors = m.factor[group][4 * w + i];
#pragma unroll
                for (int j = 0; j < 4; ++j) byte[j][i] = dot_bytes(remainders[group][j], factors, byte[j][i]);
            }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            column[j][w][0] = byte[j][0] + (byte[j][1] << 8);
            column[j][w][1] = byte[j][2] + (byte[j][3] << 8);
        }
    }
}

// Byte j of four words becomes word j.
__device__ __forceinline__ void transpose(u32 (&four)[4])
{
    const u32 low = __byte_perm(four[0], four[1], 0x5140), high = __byte_perm(four[0], four[1], 0x7362);
    const u32 next_low = __byte_perm(four[2], four[3], 0x5140), next_high = __byte_perm(four[2], four[3], 0x7362);
    four[0] = __byte_perm(low, next_low, 0x5410);
    four[1] = __byte_perm(low, next_low, 0x7632);
    four[2] = __byte_perm(high, next_high, 0x5410);
    four[3] = __byte_perm(high, next_high, 0x7632);
}

// Four neighbours of a row at a time, so that a thread reads whole words of remainders.
template <int WORDS>
__device__ __forceinline__ void four_elements(const Elements &m, const Theorem &theorem, const u8 *remainders, u32 row, u32 col,
                                              const i32 *row_exponents, const i32 *col_exponents, double (&out)[4], u32 *sums)
{
    // P takes as many words as there are groups, or more.
    u32 four[WORDS][4];
    const u8 *next = remainders + (u64)row * m.pitch + col;
#pragma unroll
    for (u32 i = 0; i < 4 * WORDS; ++i) {
        four[i / 4][i % 4] = i < theorem.count ? *(const u32 *)next : 0;
        next += (u64)m.rows * m.pitch;
    }
#pragma unroll
    for (int group = 0; group < WORDS; ++group) transpose(four[group]);
    u32 column[4][WORDS][2];
    sum_up(four, theorem, column);
    i32 exponents[4];
    u32 *sum[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
        // Behind the last column there are bytes of padding, and no exponent.
        const bool exists = col + j < m.cols;
        exponents[j] = -(i32)theorem.shift - row_exponents[row] - (exists ? col_exponents[col + j] : 0);
        sum[j] = exists ? sums + SUM_WORDS * ((u64)row * m.cols + col + j) : nullptr;
    }
    form(column, theorem, exponents, out, sum);
}

extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_crt(const Elements m, const Theorem theorem, const u8 *remainders, const i32 *row_exponents, const i32 *col_exponents,
           const u32 *status, double *c, u32 *sums)
{
    const u32 blocks = (m.cols + 4 * CONVERSION_BLOCK - 1) / (4 * CONVERSION_BLOCK);
    const u32 row = blockIdx.x / blocks, col = (blockIdx.x % blocks * CONVERSION_BLOCK + threadIdx.x) * 4;
    if (col >= m.cols) return;
    double out[4] = {refused(), refused(), refused(), refused()};
#define FOUR_ELEMENTS(n) \
    case n: four_elements<n>(m, theorem, remainders, row, col, row_exponents, col_exponents, out, sums); break;
    switch (*status == 0 ? theorem.words : 0) {
        FOUR_ELEMENTS(1)
        FOUR_ELEMENTS(2)
        FOUR_ELEMENTS(3)
        FOUR_ELEMENTS(4)
        FOUR_ELEMENTS(5)
        FOUR_ELEMENTS(6)
    }
    // C is written and never read: whatever it held, NaN too, is gone.
    double *const at = c + (u64)row * m.c_stride + col;
    if (m.c_stride % 2 == 0 && col + 4 <= m.cols) {
        ((ulonglong2 *)at)[0] = make_ulonglong2((u64)__double_as_longlong(out[0]), (u64)__double_as_longlong(out[1]));
        ((ulonglong2 *)at)[1] = make_ulonglong2((u64)__double_as_longlong(out[2]), (u64)__double_as_longlong(out[3]));
        return;
    }
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
        if (col + j < m.cols) at[j] = out[j];
    }
}
