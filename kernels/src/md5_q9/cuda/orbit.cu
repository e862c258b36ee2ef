// Orbits of 17 members y_k = y0 + k * ORBIT_STEP, Q9 = -y. Slot s of a base is the orbit with the low 12 bits
// s / ORBIT_ROW and the high bits s % ORBIT_ROW of y0: neighbouring threads share the low bits and with them k*,
// the last member of the first group. A thread takes `inner` consecutive slots, the members of a group INTERLEAVE
// at a time; what is left over runs one by one.
#define ORBITS 0x0f0f0f0fu
#define ORBIT_ROW 61681u
#define MEMBERS 17u

extern "C" __global__ void __launch_bounds__(BLOCK)
md5_q9(const Base base, const u64 first, const u64 slots, const u32 inner, const u32 target, const u32 one,
       u32 *const hits, const u32 capacity, u32 *const trace)
{
    const Run run = launched(target, one, hits, capacity);
    const u64 begin = (u64)(blockIdx.x * blockDim.x + threadIdx.x) * inner;
    if (begin >= slots) return;
    const u32 mine = slots - begin < inner ? (u32)(slots - begin) : inner;
    for (u32 i = 0; i < mine; ++i) {
        const u32 slot = (u32)(first + begin) + i;
        const u32 low = slot / ORBIT_ROW;
        const u32 high = slot % ORBIT_ROW;
        const u32 y0 = high << 12 | low;
        if (y0 >= ORBITS) continue; // the last place of a short row
        // m9 = rotr(y, 12) + y - Q6 - K9: members up to k* share R0 + y0, the others that minus one
        const u32 r0 = low << 20 | high;
        const u32 last = r0 / ORBITS;
        u32 z = 1u - y0;
        FIRST_ROW((begin + i) * MEMBERS);
        for (u32 g = 0; g < 2; ++g) {
            u32 left = g == 0 ? last + 1 : MEMBERS - 1 - last;
            if (left == 0) continue;
            Group group;
            CLEAR_GROUP_ROW();
            form_group(base, run, r0 + y0 - g, group);
#if INTERLEAVE > 1
            for (; left >= INTERLEAVE; left -= INTERLEAVE) {
                INTERLEAVED_CANDIDATES;
                z -= INTERLEAVE * ORBIT_STEP;
                ADVANCE_ROW(INTERLEAVE);
            }
#endif
            for (; left > 0; --left) {
                candidates_1(base, run, group, z ROW_ARGUMENT(0));
                z -= ORBIT_STEP;
                ADVANCE_ROW(1);
            }
        }
    }
}
