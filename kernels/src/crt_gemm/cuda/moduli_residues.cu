// From doubles to residues, a byte for each modulus.

// An integer is a sum of words with signs, each so many bits above the one before.
#define WORD_BITS 29
// An integer of so many bits fits two words, the second of which has 30 bits at most.
#define TWO_WORDS 59
// A double that leaves of what is added to it the nearest multiple of 2^n, the even one of two, in its last bits.
#define NEAREST(n) (1.5 * (double)(1ull << FRACTION) * (double)(1ull << (n)))

template <int WORDS> struct Integer {
    i32 word[WORDS];
};

// split: v * 2^exponent to the nearest, the even one of two, where it is at most 2^TWO_WORDS. No sum here is rounded but those
// that are to be: what is left of a value is a multiple of its last bit, and has no more bits than it.
__device__ __forceinline__ void split(double v, i32 exponent, Integer<2> &integer)
{
    const double scale = power_of_two(exponent);
    const double high = __fma_rn(v, scale, NEAREST(WORD_BITS));
    const double rest = __fma_rn(v, scale, NEAREST(WORD_BITS) - high);
    integer.word[0] = __double2loint(rest + NEAREST(0));
    integer.word[1] = __double2loint(high);
}

// split: the same whatever the exponent.
__device__ __forceinline__ void split(double v, i32 exponent, Integer<3> &integer)
{
    const Parts parts = parts_of(v);
    const i32 shift = parts.exponent + exponent;
    u64 low = parts.mantissa, high = 0;
    if (shift < 0) {
        const i32 down = min(-shift, 63);
        const u64 half = 1ull << (down - 1), left = low & (2 * half - 1);
        low >>= down;
        low += left > half || (left == half && (low & 1));
    } else if (shift >= 64) {
        high = low << (shift - 64);
        low = 0;
    } else if (shift > 0) {
        high = low >> (64 - shift);
        low <<= shift;
    }
    const u64 mask = (1ull << WORD_BITS) - 1;
    integer.word[0] = (i32)(low & mask);
    integer.word[1] = (i32)(low >> WORD_BITS & mask);
    integer.word[2] = (i32)(low >> 2 * WORD_BITS | high << (64 - 2 * WORD_BITS));
#pragma unroll
    for (int i = 0; i < 3; ++i) integer.word[i] = parts.negative ? -integer.word[i] : integer.word[i];
}

// Bytes -128..127 with the sum of byte i times 256^i: that of x + 128 (1 + 256 + ..), each byte less 128.
__device__ __forceinline__ u32 digits_of(i32 word) { return ((u32)word + 0x80808080u) ^ 0x80808080u; }

// sum + a * b, byte by byte, each with its sign.
__device__ __forceinline__ i32 dot_digits(u32 a, u32 b, i32 sum)
{
#ifdef __CUDA_ARCH__
    return __dp4a((i32)a, (i32)b, sum);
#else
    for (u32 i = 0; i < 32; i += 8) sum += (i32)(i8)(a >> i) * (i32)(i8)(b >> i);
    return sum;
#endif
}

// residue: in the last byte, the balanced one or the least that is not negative.
template <int WORDS> __device__ __forceinline__ u32 residue(const u32 (&digits)[WORDS], const Moduli &moduli, u32 i)
{
    // y, the sum of digits times powers, onto the bits of the float k p - h: those of k p + y - h.
    i32 sum = (i32)moduli.base[i];
#pragma unroll
    for (int word = 0; word < WORDS; ++word) sum = dot_digits(digits[word], moduli.powers[i][word], sum);
    // M + (y - h) / p, rounded to the nearest whole number: the host has tried every y. The last byte of
    // (k p + y - h) - (M + quotient) p is that of y - quotient p.
    const float quotient = __fmaf_rn(__uint_as_float((u32)sum), __uint_as_float(moduli.inverse[i]),
                                     __uint_as_float(moduli.offset[i]));
    return (u32)sum + __float_as_uint(quotient) * moduli.negated[i];
}

// The last bytes of four words.
__device__ __forceinline__ u32 last_bytes(u32 a, u32 b, u32 c, u32 d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// Residues of 16 or 8 values: one store.
__device__ __forceinline__ void store(Residue *out, const u32 (&word)[4]) { *(uint4 *)out = make_uint4(word[0], word[1], word[2], word[3]); }
__device__ __forceinline__ void store(Residue *out, const u32 (&word)[2]) { *(uint2 *)out = make_uint2(word[0], word[1]); }

// residue: those of `COUNT` values of a run, from `first` on, for every modulus.
template <int WORDS, int COUNT>
__device__ __forceinline__ void residues_of(const double (&v)[RUN], u32 first, i32 exponent, const Lines &m, const Run &run,
                                            const Moduli &moduli, Residue *residues, u32 *integers)
{
    u32 digits[COUNT][WORDS];
#pragma unroll
    for (u32 i = 0; i < COUNT; ++i) {
        Integer<WORDS> integer;
        split(v[first + i], exponent, integer);
#ifdef ASSAY_TRACE
        const u32 k = run.k + first + i;
        if (run.line < m.lines && k < m.depth) {
            // In four words: the first two, and the third at its place.
            const i64 two = (i64)integer.word[0] + (i64)integer.word[1] * (1ll << WORD_BITS);
            const i64 third = WORDS > 2 ? integer.word[WORDS > 2 ? 2 : 0] : 0;
            const u64 low = (u64)two + ((u64)third << 2 * WORD_BITS);
            const u64 high = (u64)(two >> 63) + (u64)(third >> (64 - 2 * WORD_BITS)) + (low < (u64)two);
            u32 *const out = integers + 4 * ((u64)run.line * m.depth + k);
            out[0] = (u32)low;
            out[1] = (u32)(low >> 32);
            out[2] = (u32)high;
            out[3] = (u32)(high >> 32);
        }
#endif
#pragma unroll
        for (int word = 0; word < WORDS; ++word) digits[i][word] = digits_of(integer.word[word]);
    }
    const u64 plane = (u64)m.padded_lines * m.padded_depth;
    Residue *out = residues + place_of(m.padded_lines, m.padded_depth, run.line, run.k + first);
    for (u32 i = 0; i < moduli.count; ++i) {
        u32 word[COUNT / 4];
#pragma unroll
        for (u32 j = 0; j < COUNT / 4; ++j)
            word[j] = last_bytes(residue(digits[4 * j], moduli, i), residue(digits[4 * j + 1], moduli, i),
                                 residue(digits[4 * j + 2], moduli, i), residue(digits[4 * j + 3], moduli, i));
        store(out, word);
        out += plane;
    }
}

// residue: those of all lines, zero in the padding.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_residues(const double *values, const Lines m, const Moduli moduli, const u32 *tops, const i32 *exponents,
                const u32 *status, Residue *residues, u32 *integers)
{
    const Run run = run_of(m);
    double v[RUN];
    fetch(values, m, run, v);
    if (!run.exists) return;
    const bool given = run.line < m.lines;
    const i32 exponent = given ? exponents[run.line] : 0, top = given ? top_of(tops[run.line]) : 0;
    // Few lines need a third word, those that stay whole since they meet little; few have a power of two that is no double; few
    // products have values that are not finite.
    if (*status == 0 && exponent + top <= TWO_WORDS && exponent > -LARGEST_POWER && exponent <= LARGEST_POWER) {
        residues_of<2, RUN>(v, 0, exponent, m, run, moduli, residues, integers);
    } else {
        // Fewer at a time, for the registers.
#pragma unroll
        for (u32 first = 0; first < RUN; first += RUN / 2)
            residues_of<3, RUN / 2>(v, first, exponent, m, run, moduli, residues, integers);
    }
}
