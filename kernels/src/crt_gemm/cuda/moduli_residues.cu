// From doubles to balanced residues, a byte for each modulus.

// Bits below a value's mantissa in two words: what is cut without a third word stays below 2^62.
#define ROOM 9

// split: v * 2^exponent cut towards zero, as a magnitude of so many words and a sign.
template <int WORDS> struct Cut {
    u32 word[WORDS];
    bool negative;
};

// How far to the left a value's mantissa goes.
__device__ __forceinline__ i32 shift_of(const Parts &parts, i32 exponent) { return parts.exponent + exponent; }

// One that goes to the left by ROOM at most.
__device__ __forceinline__ void cut(Cut<2> &cut, const Parts &parts, i32 exponent)
{
    const u64 low = (parts.mantissa << ROOM) >> min(ROOM - shift_of(parts, exponent), 63);
    cut.word[0] = (u32)low;
    cut.word[1] = (u32)(low >> 32);
    cut.negative = parts.negative;
}

__device__ __forceinline__ void cut(Cut<3> &cut, const Parts &parts, i32 exponent)
{
    const i32 shift = shift_of(parts, exponent);
    u64 low = parts.mantissa, high = 0;
    if (shift < 0) {
        low = shift > -64 ? low >> -shift : 0;
    } else if (shift >= 64) {
        high = low << (shift - 64);
        low = 0;
    } else if (shift > 0) {
        high = low >> (64 - shift);
        low <<= shift;
    }
    cut.word[0] = (u32)low;
    cut.word[1] = (u32)(low >> 32);
    cut.word[2] = (u32)high;
    cut.negative = parts.negative;
}

// Bytes -128..127 with the sum of byte i times 256^i: that of x + 128 (1 + 256 + ..), each byte less 128.
template <int WORDS> __device__ __forceinline__ void digits_of(const Cut<WORDS> &cut, u32 (&digits)[WORDS])
{
    const u32 flip = cut.negative ? ~0u : 0;
    u64 sum = cut.negative;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        sum += (u64)(cut.word[i] ^ flip) + 0x80808080u;
        digits[i] = (u32)sum ^ 0x80808080u;
        sum >>= 32;
    }
}

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

// residue: the balanced one, -p/2 .. (p-1)/2, in the last byte; modulo 256 that byte is the residue itself.
template <int WORDS> __device__ __forceinline__ u32 residue(const u32 (&digits)[WORDS], const Moduli &moduli, u32 i)
{
    // y, the sum of digits times powers, onto the bits of the float k p: those of k p + y.
    i32 sum = (i32)moduli.base[i];
#pragma unroll
    for (int word = 0; word < WORDS; ++word) sum = dot_digits(digits[word], moduli.powers[i][word], sum);
    // M + y / p, rounded to the nearest whole number: the host has tried every y. The last byte of
    // (k p + y) - (M + quotient) p is that of y - quotient p.
    const float quotient = __fmaf_rn(__uint_as_float((u32)sum), __uint_as_float(moduli.inverse[i]),
                                     __uint_as_float(moduli.offset[i]));
    return (u32)sum + __float_as_uint(quotient) * moduli.negated[i];
}

// The last bytes of four words.
__device__ __forceinline__ u32 last_bytes(u32 a, u32 b, u32 c, u32 d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// residue: those of a run for every modulus.
template <int WORDS>
__device__ __forceinline__ void residues_of(const double (&v)[RUN], i32 exponent, const Lines &m, const Run &run,
                                            const Moduli &moduli, i8 *residues, u32 *cuts)
{
    u32 digits[RUN][WORDS];
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) {
        Cut<WORDS> value;
        cut(value, parts_of(v[i]), exponent);
#ifdef ASSAY_TRACE
        if (run.line < m.lines && run.k + i < m.depth) {
            // With its sign, in four words.
            u32 *const out = cuts + 4 * ((u64)run.line * m.depth + run.k + i);
            u32 carry = value.negative;
            for (u32 word = 0; word < 4; ++word) {
                const u32 magnitude = word < WORDS ? value.word[word < WORDS ? word : 0] : 0;
                out[word] = value.negative ? ~magnitude + carry : magnitude;
                carry = carry && magnitude == 0;
            }
        }
#endif
        digits_of(value, digits[i]);
    }
    const u64 plane = (u64)m.padded_lines * m.padded_depth;
    i8 *out = residues + place_of(m.padded_lines, m.padded_depth, run.line, run.k);
    for (u32 i = 0; i < moduli.count; ++i) {
        u32 word[RUN / 4];
#pragma unroll
        for (u32 j = 0; j < RUN / 4; ++j)
            word[j] = last_bytes(residue(digits[4 * j], moduli, i), residue(digits[4 * j + 1], moduli, i),
                                 residue(digits[4 * j + 2], moduli, i), residue(digits[4 * j + 3], moduli, i));
        *(uint4 *)out = make_uint4(word[0], word[1], word[2], word[3]);
        out += plane;
    }
}

// residue: those of all lines, zero in the padding.
extern "C" __global__ void __launch_bounds__(CONVERSION_BLOCK)
moduli_residues(const double *values, const Lines m, const Moduli moduli, const i32 *exponents, i8 *residues, u32 *cuts)
{
    const Run run = run_of(m);
    double v[RUN];
    fetch(values, m, run, v);
    if (!run.exists) return;
    const i32 exponent = run.line < m.lines ? exponents[run.line] : 0;
    // Few values need a third word: those that stay whole, of lines that meet little.
    i32 most = ROOM;
#pragma unroll
    for (u32 i = 0; i < RUN; ++i) most = max(most, shift_of(parts_of(v[i]), exponent));
    if (most > ROOM) {
        residues_of<3>(v, exponent, m, run, moduli, residues, cuts);
    } else {
        residues_of<2>(v, exponent, m, run, moduli, residues, cuts);
    }
}
