#!/usr/bin/env python3
"""Writes vectors of md5-q9 bases whose K + m is zero at seven steps: harness/tests/vectors/md5_q9_zero_orbit.json.

MD5 step by step from RFC 1321, sharing nothing with Assay; every digest is hashlib's.

    scripts/zero-orbit-vectors.py > harness/tests/vectors/md5_q9_zero_orbit.json
"""

import hashlib
import json
import math
import random
import struct

K = [int(abs(math.sin(i + 1)) * 2**32) & 0xFFFFFFFF for i in range(64)]
TURNS = [(7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21)]
WORD = [lambda t: t, lambda t: (5 * t + 1) % 16, lambda t: (3 * t + 5) % 16, lambda t: 7 * t % 16]
INITIAL = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
# Steps that take a word which is free once Q7, Q8, Q10 and Q11 are fixed.
ZERO_STEPS = (32, 34, 36, 37, 41, 42, 47)
MASK = 0xFFFFFFFF


def left(x, n):
    return (x << n | x >> (32 - n)) & MASK


def right(x, n):
    return left(x, 32 - n)


def function(t, b, c, d):
    return ((b & c | ~b & d), (b & d | c & ~d), b ^ c ^ d, c ^ (b | ~d & MASK))[t // 16] & MASK


def turn(t):
    return TURNS[t // 16][t % 4]


def forward(t, window, word):
    q0, q1, q2, q3 = window
    return (q0 + left((function(t, q0, q1, q2) + q3 + K[t] + word) & MASK, turn(t))) & MASK


def backward(t, window, following):
    q0, q1, q2, q3 = window
    return (right((following - q0) & MASK, turn(t)) - function(t, q0, q1, q2) - q3 - K[t]) & MASK


def states(words):
    a, b, c, d = INITIAL
    window, q = (b, c, d, a), {}
    for t in range(64):
        q[t + 1] = forward(t, window, words[WORD[t // 16](t)])
        window = (q[t + 1],) + window[:3]
    return q


def fixed_words(q13):
    wanted = {WORD[t // 16](t): -K[t] & MASK for t in ZERO_STEPS}
    a, b, c, d = INITIAL
    window, q = (b, c, d, a), {}
    for t in range(6):
        q[t + 1] = forward(t, window, wanted[t])
        window = (q[t + 1],) + window[:3]
    q[7], q[8], q[10], q[11], q[13] = 0, MASK, 0, MASK, q13
    q[12] = forward(11, (q[11], q[10], 0x5EED5EED, q[8]), wanted[11])
    return q


def candidate(fixed, q9):
    q = {**fixed, 9: q9}
    a, b, c, d = INITIAL
    window, words = (b, c, d, a), []
    for t in range(13):
        words.append(backward(t, window, q[t + 1]))
        window = (q[t + 1],) + window[:3]
    words += [0x80, 416, 0]
    for t in ZERO_STEPS:
        assert (K[t] + words[WORD[t // 16](t)]) & MASK == 0, t
    message = struct.pack("<13I", *words[:13])
    q = states(words)
    digest = hashlib.md5(message).digest()
    assert struct.unpack("<I", digest[:4])[0] == (INITIAL[0] + q[61]) & MASK
    layers = {"m8": words[8], "m9": words[9], "m12": words[12], "q24": q[24], "q25": q[25], "q27": q[27], "q28": q[28], "q61": q[61]}
    return {
        "q9": f"{q9:08x}",
        **{name: f"{value:08x}" for name, value in layers.items()},
        "message": message.hex(),
        "digest": digest.hex(),
    }


def main():
    draw = random.Random(20261130)
    bases = []
    for q13 in (0, MASK, draw.getrandbits(32)):
        fixed = fixed_words(q13)
        edges = [0, 2, MASK, 0x80000000, 0xF0F0F0F1, 0xF0F0F0F0]
        q9s = edges + [draw.getrandbits(32) for _ in range(10)]
        bases.append(
            {
                "orbit": True,
                "fixed": {str(n): f"{fixed[n]:08x}" for n in sorted(fixed)},
                "candidates": [candidate(fixed, q9) for q9 in q9s],
            }
        )
    print(json.dumps({"note": "bases with K + m = 0 at steps " + ", ".join(map(str, ZERO_STEPS)), "bases": bases}, indent=1))


if __name__ == "__main__":
    main()
