
// The function of three words whose value for the bits (a, b, c) is bit 4 a + 2 b + c of LUT (PTX ISA, lop3).
template <u32 LUT>
static __device__ __forceinline__ u32 lop3(const u32 a, const u32 b, const u32 c)
{
    u32 value = 0u;
#ifdef __CUDA_ARCH__
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(value) : "r"(a), "r"(b), "r"(c), "n"(LUT));
#else
    for (u32 row = 0; row < 8u; ++row)
        if (LUT >> row & 1u) value |= (row & 4u ? a : ~a) & (row & 2u ? b : ~b) & (row & 1u ? c : ~c);
#endif
    return value;
}
