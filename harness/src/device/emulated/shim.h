// What CUDA gives a kernel's text, for the host's C++ compiler: compiled in front of the text with -include. It
// includes nothing, so that text which leans on a header fails here as it does on the card. __CUDA_ARCH__ stays
// undefined: it tells the text that it is not compiled for one.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// `constexpr` and not `const`: text may say `const` beside it, and twice `const` is an error.
#define __constant__ constexpr

// A double's bits, and the other way.
static inline long long __double_as_longlong(double a) { long long bits; __builtin_memcpy(&bits, &a, 8); return bits; }
static inline double __longlong_as_double(long long bits) { double a; __builtin_memcpy(&a, &bits, 8); return a; }
static inline int __double2loint(double a) { return (int)__double_as_longlong(a); }
static inline unsigned int __float_as_uint(float a) { unsigned int bits; __builtin_memcpy(&bits, &a, 4); return bits; }
static inline float __uint_as_float(unsigned int bits) { float a; __builtin_memcpy(&a, &bits, 4); return a; }
// One rounding, to the nearest.
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }

// An exact sum of products of finite doubles: a multiple of the least one's last bit, 2^-2148, in two's complement.
struct AssaySum {
    // To beyond 2^2048.
    static constexpr int WORDS = 66;
    unsigned long long words[WORDS] = {};

    void add(double a, double b)
    {
        const long long bits[2] = {__double_as_longlong(a), __double_as_longlong(b)};
        unsigned __int128 product = 1;
        int at = 0;
        for (const long long one : bits) {
            const int field = (int)(one >> 52 & 0x7ff);
            product *= (one & ((1ll << 52) - 1)) | (long long)(field != 0) << 52;
            at += field == 0 ? 0 : field - 1;
        }
        const int shift = at % 64;
        const unsigned long long parts[3] = {(unsigned long long)(product << shift),
                                             (unsigned long long)(product >> (64 - shift)),
                                             (unsigned long long)(product >> 64 >> (64 - shift))};
        const bool negative = (bits[0] ^ bits[1]) < 0;
        unsigned __int128 carry = negative;
        for (int i = 0; i < WORDS; ++i) {
            const int part = i - at / 64;
            const unsigned long long word = part < 0 || part > 2 ? 0 : parts[part];
            carry += (unsigned __int128)words[i] + (negative ? ~word : word);
            words[i] = (unsigned long long)carry;
            carry >>= 64;
        }
    }

    bool is_positive() const
    {
        unsigned long long any = 0;
        for (const unsigned long long word : words) any |= word;
        return any != 0 && words[WORDS - 1] >> 63 == 0;
    }
};
// One rounding, up: the nearest, or where that is below the exact sum the next double.
static inline double __fma_ru(double a, double b, double c)
{
    const double nearest = __builtin_fma(a, b, c);
    if (!__builtin_isfinite(a) || !__builtin_isfinite(b) || !__builtin_isfinite(c) || nearest == __builtin_inf())
        return nearest;
    if (nearest != -__builtin_inf()) {
        AssaySum above;
        above.add(a, b);
        above.add(c, 1);
        above.add(nearest, -1);
        if (!above.is_positive()) return nearest;
    }
    const long long bits = __double_as_longlong(nearest);
    return __longlong_as_double(nearest == 0 ? 1 : nearest > 0 ? bits + 1 : bits - 1);
}
// Halves away from zero.
static inline double round(double a) { return __builtin_round(a); }
static inline double fabs(double a) { return __builtin_fabs(a); }

struct uint2 { unsigned int x, y; } __attribute__((aligned(8)));
struct uint3 { unsigned int x, y, z; };
struct uint4 { unsigned int x, y, z, w; } __attribute__((aligned(16)));
struct ulonglong2 { unsigned long long x, y; } __attribute__((aligned(16)));
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

static inline uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
static inline uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }
static inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }
static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

// Set by the runner below for each thread that it plays. One copy per host thread: blocks run side by side.
static thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

// Relaxed, as on the card. Overloaded on the pointer, so that `atomicAdd(counter, 1)` takes the counter's type.
#define ASSAY_ATOMICS(T)                                                                                             \
    static inline T atomicAdd(T *at, T value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }            \
    static inline T atomicAnd(T *at, T value) { return __atomic_fetch_and(at, value, __ATOMIC_RELAXED); }            \
    static inline T atomicOr(T *at, T value) { return __atomic_fetch_or(at, value, __ATOMIC_RELAXED); }              \
    static inline T atomicXor(T *at, T value) { return __atomic_fetch_xor(at, value, __ATOMIC_RELAXED); }            \
    static inline T atomicExch(T *at, T value) { return __atomic_exchange_n(at, value, __ATOMIC_RELAXED); }          \
    static inline T atomicCAS(T *at, T expected, T value)                                                            \
    {                                                                                                                \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                \
        return expected;                                                                                             \
    }                                                                                                                \
    static inline T atomicMax(T *at, T value)                                                                        \
    {                                                                                                                \
        T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                                               \
        while (old < value                                                                                           \
               && !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}        \
        return old;                                                                                                  \
    }                                                                                                                \
    static inline T atomicMin(T *at, T value)                                                                        \
    {                                                                                                                \
        T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                                               \
        while (value < old                                                                                           \
               && !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}        \
        return old;                                                                                                  \
    }
ASSAY_ATOMICS(int)
ASSAY_ATOMICS(unsigned int)
ASSAY_ATOMICS(unsigned long long)
#undef ASSAY_ATOMICS
static inline int atomicSub(int *at, int value) { return __atomic_fetch_sub(at, value, __ATOMIC_RELAXED); }
static inline unsigned int atomicSub(unsigned int *at, unsigned int value)
{
    return __atomic_fetch_sub(at, value, __ATOMIC_RELAXED);
}

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <class T> static inline T __ldg(const T *at) { return *at; }

// CUDA's overloads; one argument without a sign makes the comparison one without signs.
#define ASSAY_MIN_MAX(R, A, B)                                                                                       \
    static constexpr R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                                           \
    static constexpr R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
ASSAY_MIN_MAX(int, int, int)
ASSAY_MIN_MAX(unsigned int, unsigned int, unsigned int)
ASSAY_MIN_MAX(unsigned int, unsigned int, int)
ASSAY_MIN_MAX(unsigned int, int, unsigned int)
ASSAY_MIN_MAX(long long, long long, long long)
ASSAY_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
ASSAY_MIN_MAX(unsigned long long, unsigned long long, long long)
ASSAY_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef ASSAY_MIN_MAX

// A funnel shift takes its count modulo 32, its clamped form at most 32.
static inline unsigned long long assay_pair(unsigned int low, unsigned int high)
{
    return (unsigned long long)high << 32 | low;
}
static inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(assay_pair(low, high) << (shift & 31) >> 32);
}
static inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(assay_pair(low, high) >> (shift & 31));
}
static inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(assay_pair(low, high) << (shift < 32 ? shift : 32) >> 32);
}
static inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned int)(assay_pair(low, high) >> (shift < 32 ? shift : 32));
}

static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned int __umulhi(unsigned int a, unsigned int b)
{
    return (unsigned int)((unsigned long long)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline int __popc(unsigned int a) { return __builtin_popcount(a); }
static inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
static inline int __clz(int a) { return a ? __builtin_clz((unsigned int)a) : 32; }
static inline int __clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
static inline int __ffs(int a) { return __builtin_ffs(a); }
static inline int __ffsll(long long a) { return __builtin_ffsll(a); }
static inline unsigned int __brev(unsigned int a)
{
    unsigned int reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (a >> bit & 1) << (31 - bit);
    return reversed;
}
// Each of the selector's low four nibbles names a byte of y:x by its low three bits.
static inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector)
{
    unsigned int picked = 0;
    for (int byte = 0; byte < 4; ++byte) {
        const unsigned int from = selector >> 4 * byte & 7;
        picked |= (unsigned int)(assay_pair(x, y) >> 8 * from & 0xff) << 8 * byte;
    }
    return picked;
}

// The runner. It learns the kernel's parameters from its type, and reads the arguments from an array of addresses,
// as cuLaunchKernel does. The program checks count, size and kind against `assay_parameters` first.
namespace assay_shim {

struct Parameter {
    unsigned int bytes;
    unsigned int is_pointer;
};

template <class T> struct Describe { static constexpr Parameter parameter = {sizeof(T), 0}; };
template <class T> struct Describe<T *> { static constexpr Parameter parameter = {sizeof(T *), 1}; };

template <unsigned int... I> struct Indices {};
template <unsigned int N, unsigned int... I> struct CountTo : CountTo<N - 1, N - 1, I...> {};
template <unsigned int... I> struct CountTo<0, I...> { using Type = Indices<I...>; };

// An argument that was copied to where its type may lie.
template <class T> struct Slot {
    static_assert(__is_trivially_copyable(T), "a kernel's parameters are plain values");
    alignas(T) unsigned char bytes[sizeof(T)];
    explicit Slot(const void *from) { __builtin_memcpy(bytes, from, sizeof(T)); }
    const T &value() const { return *reinterpret_cast<const T *>(bytes); }
};

template <class... A> const Parameter *parameters(void (*)(A...), unsigned int *count)
{
    // One too many, since an array may not be empty.
    static constexpr Parameter all[] = {Describe<A>::parameter..., {0, 0}};
    *count = sizeof...(A);
    return all;
}

template <class... A> void run(void (*kernel)(A...), unsigned int first, unsigned int last, const Slot<A> &...slots)
{
    for (unsigned int block = first; block < last; ++block) {
        blockIdx = dim3(block, 0, 0);
        for (unsigned int thread = 0; thread < blockDim.x; ++thread) {
            threadIdx = dim3(thread, 0, 0);
            kernel(slots.value()...);
        }
    }
}

template <class... A, unsigned int... I>
void launch(void (*kernel)(A...), unsigned int first, unsigned int last, void **args, Indices<I...>)
{
    run<A...>(kernel, first, last, Slot<A>(args[I])...);
}

// Blocks first..last of a grid, every thread of each.
template <class... A>
void assay_launch(void (*kernel)(A...), unsigned int first, unsigned int last, unsigned int grid, unsigned int block,
                  void **args)
{
    gridDim = dim3(grid);
    blockDim = dim3(block);
    launch(kernel, first, last, args, typename CountTo<sizeof...(A)>::Type{});
}

} // namespace assay_shim

// The epilogue of a text, one for each of its kernels: what the program looks up in the shared object.
#define ASSAY_BIND(entry)                                                                                            \
    extern "C" __attribute__((visibility("default"))) const assay_shim::Parameter *assay_parameters_##entry(         \
        unsigned int *count)                                                                                         \
    {                                                                                                                \
        return assay_shim::parameters(entry, count);                                                                 \
    }                                                                                                                \
    extern "C" __attribute__((visibility("default"))) void assay_run_##entry(                                         \
        unsigned int first, unsigned int last, unsigned int grid, unsigned int block, void **args)                   \
    {                                                                                                                \
        assay_shim::assay_launch(entry, first, last, grid, block, args);                                             \
    }
