// The INT8 product alone: C = A * B with 32-bit sums, which wrap. What the schemes spend their time in, and so the floor of
// what they can reach.

typedef signed char i8;
typedef unsigned char u8;
typedef int i32;
typedef unsigned int u32;
typedef unsigned long long u64;

// Both matrices along K, padded with zeros to whole tiles.
struct Product {
    u32 rows, cols;
    u32 c_stride; // From one row of C to the next, in sums.
    u32 a_lines, b_lines, padded_depth;
};
