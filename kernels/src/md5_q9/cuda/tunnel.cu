// Q9 tunnel: slot s of a base is the candidate Q9 = s. A thread takes `inner` consecutive slots, INTERLEAVE at a
// time; what is left over runs one by one.
extern "C" __global__ void __launch_bounds__(BLOCK)
md5_q9(const Base given, const u64 first, const u64 slots, const u32 inner, const u32 target, const u32 one,
       u32 *const hits, const u32 capacity, u32 *const trace)
{
    const u32 nought = gridDim.x >> 31; // a grid is narrower than 2^31
#ifdef HELD
    const Base base = held(given, nought);
#else
    const Base &base = given;
#endif
    const Run run = launched(nought, target, one, hits, capacity);
    const u64 begin = (u64)(blockIdx.x * blockDim.x + threadIdx.x) * inner;
    if (begin >= slots) return;
    u32 left = slots - begin < inner ? (u32)(slots - begin) : inner;
    u32 q9 = (u32)(first + begin);
    FIRST_ROW(begin);
#if INTERLEAVE > 1
    for (; left >= INTERLEAVE; left -= INTERLEAVE) {
        INTERLEAVED_CANDIDATES;
        q9 += INTERLEAVE;
        ADVANCE_ROW(INTERLEAVE);
    }
#endif
    for (; left > 0; --left) {
        candidates_1(base, run, q9 ROW_ARGUMENT(0));
        ++q9;
        ADVANCE_ROW(1);
    }
}
