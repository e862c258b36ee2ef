// Orbits of 17 members y_k = y0 + k * ORBIT_STEP, Q9 = -y. Slot s of a base is the orbit with the low 12 bits
// s / ORBIT_ROW and the high bits s % ORBIT_ROW of y0: neighbouring threads share the low bits and with them k*,
// the last member of the first group. A thread takes `inner` consecutive slots, the members of a group INTERLEAVE
// at a time, or MERGED at a time behind one test; what is left over runs one by one.
#define ORBITS 0x0f0f0f0fu
#define ORBIT_ROW 61681u
#define MEMBERS 17u

// Where a thread is in the order of orbits.
struct Place {
    u32 low;  // the low 12 bits of y0
    u32 high; // the other 20
    u32 y0;
    u32 sum; // R0 + y0, with R0 = rotr(y0, 12)
    u32 last; // k*, which is R0 / ORBITS: members up to it have R0 + y0 in m9, the others that minus one
};

static __device__ __forceinline__ Place place_of(const u32 low, const u32 high)
{
    const u32 y0 = high << 12 | low;
    const u32 r0 = low << 20 | high;
    const Place place = {low, high, y0, r0 + y0, r0 / ORBITS};
    return place;
}

// The next orbit of the row has 1 more in the high bits, or it is the first of the next row.
static __device__ __forceinline__ void advance(Place &place)
{
    ++place.high;
    place.y0 += 1u << 12;
    place.sum += (1u << 12) + 1u;
    if (place.high == ORBIT_ROW) place = place_of(place.low + 1u, 0u);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
md5_q9(const Base given, const u64 first, const u64 slots, const u32 inner, const u32 target, const u32 one,
       u32 *const hits, const u32 capacity, u32 *const trace)
{
    // Grids are below 2^31 by 2^16 and blocks below 2^11 by 2^11 by 2^7, so this is 0; it takes so much to compute that
    // the compiler does not do it again, into an ordinary register, wherever it is used.
    const u32 nought = ((gridDim.x >> 31) + (gridDim.y >> 30)) * blockDim.x + ((blockDim.y >> 29) ^ (blockDim.z >> 28));
#ifdef HELD
    const Base base = held(given, nought);
#else
    const Base &base = given;
#endif
    const Run run = launched(nought, target, one, hits, capacity);
    const u64 begin = (u64)(blockIdx.x * blockDim.x + threadIdx.x) * inner;
    if (begin >= slots) return;
    const u32 mine = slots - begin < inner ? (u32)(slots - begin) : inner;
    const u32 slot = (u32)(first + begin);
#ifdef CARRIED
    Place place = place_of(slot / ORBIT_ROW, slot % ORBIT_ROW);
    for (u32 i = 0; i < mine; ++i, advance(place)) {
#else
    for (u32 i = 0; i < mine; ++i) {
        const Place place = place_of((slot + i) / ORBIT_ROW, (slot + i) % ORBIT_ROW);
#endif
        if (place.y0 >= ORBITS) continue; // the last place of a short row
        u32 z = 1u - place.y0;
        FIRST_ROW((begin + i) * MEMBERS);
        for (u32 g = 0; g < 2; ++g) {
            u32 left = g == 0 ? place.last + 1 : MEMBERS - 1 - place.last;
            if (left == 0) continue;
            Group group;
            CLEAR_GROUP_ROW();
            form_group(base, run, place.sum - g, group);
#ifdef MERGED
            // Counted by z alone. What a test passes is computed again, and tested exactly.
            const u32 end = z - left * ORBIT_STEP;
            const u32 merged_end = z - left / MERGED * (MERGED * ORBIT_STEP);
            while (z != merged_end) {
                if (ANY_PASSES) MERGED_CANDIDATES;
                z -= MERGED * ORBIT_STEP;
                ADVANCE_ROW(MERGED);
            }
            while (z != end) {
                if (passes(base, run, group, z)) candidates_1(base, run, group, z ROW_ARGUMENT(0));
                z -= ORBIT_STEP;
                ADVANCE_ROW(1);
            }
#else
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
#endif
        }
    }
}
