// The theorem's sums by tensor cores: bytes of remainders times bytes of factors. What stands above this text is printed too:
// STRIP_COLS, STRIP_ROWS, STRIP_WARPS.
//
// The instruction is that of the PTX ISA, section "mma" (m16n8k32): lane 4 g + t gives rows g and g + 8 of the left matrix at
// k = 4 t..4 t + 3 and 16 more, and column g of the right one there; it gets columns 2 t and 2 t + 1 of both rows. Four bytes of
// the left matrix are the remainders of four neighbours modulo the same number, as they lie in memory. Columns 2 t and 2 t + 1
// of the right one are two bytes of the factors at the places of neighbour t, and zero at the others: a lane gets the sums of
// its own element, and needs no other lane's.

// A warp takes so many elements of so many rows; of a row's, a lane reads and gets a part of each half.
#define HALF (STRIP_COLS / 2)
#define RUN_BYTES 8
static_assert(HALF == 8 * RUN_BYTES, "a run for each g");

// c += a * b, 16 x 8 x 32.
__device__ __forceinline__ void multiply_bytes(u32 (&c)[4], uint2 low, uint2 high, u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(low.x), "r"(low.y), "r"(high.x), "r"(high.y), "r"(b0), "r"(b1));
}

// The right matrix as the lanes take it: for each column of 16 bits of the sum, a word for each group of four moduli.
typedef uint4 Factors[2 * SUM_WORDS][(GROUPS + 3) / 4][32];

// A warp's strip, whose first row and column these are. All lanes take part to the end.
template <int WORDS>
__device__ __forceinline__ void strip(const Elements &m, const Theorem &theorem, const Factors &factors, u32 row, u32 col,
                                      const u8 *remainders, const i32 *row_exponents, const i32 *col_exponents, double *c,
                                      u32 *sums)
{
    // Halves that are in registers together.
    constexpr u32 TOGETHER = WORDS > 4 ? 1 : 2;
    const u32 lane = threadIdx.x % 32, place = lane % 4;
    const u32 end = min(row + STRIP_ROWS, m.rows);
    const u64 plane = (u64)m.rows * m.pitch;
    // Any bytes do where there is no element, and where there are no factors: behind the last plane, in the last group alone.
    const i64 last = ((i64)min(4 * (WORDS - 1) + place, theorem.count - 1) - place) * (i64)plane;
    const u32 own = col + lane / 4 * RUN_BYTES + place;
    u32 at[2];
    i32 exponent[2][2];
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
        const u32 run = col + half * HALF + lane / 4 * RUN_BYTES;
        at[half] = min(run, m.pitch - RUN_BYTES);
#pragma unroll
        for (u32 j = 0; j < 2; ++j) {
            const u32 element = run + place + 4 * j;
            exponent[half][j] = -(i32)theorem.shift - (element < m.cols ? col_exponents[element] : 0);
        }
    }
    const u8 *from = remainders + place * plane + (u64)row * m.pitch;
    double *to = c + (u64)row * m.c_stride + own;
    for (; row < end; ++row, from += m.pitch, to += m.c_stride) {
        const i32 row_exponent = row_exponents[row];
#pragma unroll
        for (u32 first = 0; first < 2; first += TOGETHER) {
            uint2 left[TOGETHER][WORDS + WORDS % 2] = {};
#pragma unroll
            for (u32 half = 0; half < TOGETHER; ++half) {
#pragma unroll
                for (u32 group = 0; group < WORDS; ++group) {
                    const i64 planes = group < WORDS - 1 ? (i64)(4 * group * plane) : last;
                    left[half][group] = *(const uint2 *)(from + at[first + half] + planes);
                }
            }
            u32 column[2 * TOGETHER][WORDS][2];
#pragma unroll
            for (u32 n = 0; n < 2 * WORDS; ++n) {
                // The leading word first: all others wait for its quotient.
                const u32 i = (n + 2 * WORDS - 2) % (2 * WORDS);
                u32 sum[TOGETHER][4] = {};
#pragma unroll
                for (u32 load = 0; load < (WORDS + 3) / 4; ++load) {
                    const uint4 four = factors[i][load][lane];
                    const u32 right[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
                    for (u32 k = 0; k < 4 && 4 * load + k < WORDS; k += 2) {
#pragma unroll
                        for (u32 half = 0; half < TOGETHER; ++half)
                            multiply_bytes(sum[half], left[half][4 * load + k], left[half][4 * load + k + 1], right[k],
                                           right[k + 1]);
                    }
                }
#pragma unroll
                for (u32 j = 0; j < 2 * TOGETHER; ++j)
                    column[j][i / 2][i % 2] = sum[j / 2][j % 2 * 2] + (sum[j / 2][j % 2 * 2 + 1] << 8);
            }
            i32 exponents[2 * TOGETHER];
            u32 *sum[2 * TOGETHER];
            double out[2 * TOGETHER];
#pragma unroll
            for (u32 j = 0; j < 2 * TOGETHER; ++j) {
                const u32 offset = (first + j / 2) * HALF + j % 2 * 4;
                exponents[j] = exponent[first + j / 2][j % 2] - row_exponent;
                sum[j] = own + offset < m.cols ? sums + SUM_WORDS * ((u64)row * m.cols + own + offset) : nullptr;
            }
            form(column, theorem, exponents, out, sum);
            // C is written and never read: whatever it held, NaN too, is gone.
#pragma unroll
            for (u32 j = 0; j < 2 * TOGETHER; ++j) {
                const u32 offset = (first + j / 2) * HALF + j % 2 * 4;
                if (own + offset < m.cols) to[offset] = out[j];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * STRIP_WARPS)
moduli_crt(const Elements m, const Theorem theorem, const u8 *remainders, const i32 *row_exponents, const i32 *col_exponents,
           const u32 *status, double *c, u32 *sums)
{
    __shared__ Factors factors;
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (u32 i = warp; i < 2 * theorem.words; i += STRIP_WARPS) {
#pragma unroll
        for (u32 group = 0; group < GROUPS; ++group) {
            const u32 byte = theorem.factor[group][2 * i + lane / 4 % 2] >> lane % 4 * 8 & 0xff;
            ((u32 *)&factors[i][group / 4][lane])[group % 4] = byte << lane / 8 * 8;
        }
    }
    __syncthreads();
    const u32 across = (m.cols + STRIP_COLS - 1) / STRIP_COLS, number = blockIdx.x * STRIP_WARPS + warp;
    const u32 row = number / across * STRIP_ROWS, col = number % across * STRIP_COLS;
#define STRIP(n) case n: strip<n>(m, theorem, factors, row, col, remainders, row_exponents, col_exponents, c, sums); return;
    switch (*status == 0 ? theorem.words : 0) {
        STRIP(1)
        STRIP(2)
        STRIP(3)
        STRIP(4)
        STRIP(5)
        STRIP(6)
    }
    for (u32 i = row; i < min(row + STRIP_ROWS, m.rows); ++i) {
        for (u32 j = col + lane; j < min(col + STRIP_COLS, m.cols); j += 32) c[(u64)i * m.c_stride + j] = refused();
    }
}
