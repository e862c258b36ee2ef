#!/usr/bin/env python3
"""Re-check validated MD5 candidates with nothing but Python's standard library.

    scripts/check_validation.py RECORD
    scripts/check_validation.py VALIDATION.tsv BASES.csv

Each row of validation.tsv names a base and a Q9. With them all of Q1..Q13 are known; steps 0..12 of MD5, inverted,
give the message words m0..m12. m8, m9 and m12 must be the row's, and hashlib's MD5 of the blocks in front of the
message (the record's prefix.bin, if any) and the 52 bytes must be the row's digest.

Exit code 0: every row is right. 1: one is not; the first is named. 2: the files cannot be used.
"""

import csv
import hashlib
import math
import os
import re
import struct
import sys

MASK = 0xFFFFFFFF
INITIAL = {"a0": 0x67452301, "b0": 0xEFCDAB89, "c0": 0x98BADCFE, "d0": 0x10325476}
K = [int(2**32 * abs(math.sin(t + 1))) for t in range(13)]
ROTATE = [(7, 12, 17, 22)[t % 4] for t in range(13)]
FIXED = ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q10", "q11", "q12", "q13"]
BASE_COLUMNS = ["base", *FIXED, *INITIAL, "prefix_blocks", "prefix_file"]
ROW_COLUMNS = ["base", "q9", "m8", "m9", "m12", "digest"]
WORD = re.compile("[0-9a-f]{8}")
DIGEST = re.compile("[0-9a-f]{32}")


class Unusable(Exception):
    """The files are not what they should be."""


def message_word(t, q0, q1, q2, q3, after):
    """m[t] of step t < 16: `after` = Q[t+1], and q0..q3 = Q[t], Q[t-1], Q[t-2], Q[t-3].

    Q[t+1] = Q[t] + rotl(F(Q[t], Q[t-1], Q[t-2]) + Q[t-3] + K[t] + m[t], s[t])
    """
    turned = (after - q0) & MASK
    sum_ = ((turned >> ROTATE[t]) | (turned << (32 - ROTATE[t]))) & MASK
    return (sum_ - ((q0 & q1) | (~q0 & q2)) - q3 - K[t]) & MASK


class Base:
    """A base's words, and all of the message that does not wait for Q9."""

    def __init__(self, row, folder):
        self.prefix = self.read_prefix(row, folder)
        word = {name: hex_word(row[name], name) for name in [*FIXED, *INITIAL]}
        # Q[-3]..Q[8]: steps 0..7 end in front of Q9.
        q = [word[name] for name in ["a0", "d0", "c0", "b0", *FIXED[:8]]]
        self.head = struct.pack("<8I", *(message_word(t, q[t + 3], q[t + 2], q[t + 1], q[t], q[t + 4]) for t in range(8)))
        self.before = q[-4:]
        self.after = [word[name] for name in FIXED[8:]]

    @staticmethod
    def read_prefix(row, folder):
        blocks, name = row["prefix_blocks"], row["prefix_file"]
        if not blocks.isdecimal():
            raise Unusable(f"prefix_blocks is `{blocks}`, which is no number")
        if int(blocks) == 0:
            return b""
        if not name:
            raise Unusable("it has a prefix that the record does not keep, so its digests cannot be formed")
        if os.path.basename(name) != name:
            raise Unusable(f"prefix_file is `{name}`, which is no file of the record")
        with open(os.path.join(folder, name), "rb") as file:
            prefix = file.read()
        if len(prefix) != 64 * int(blocks):
            raise Unusable(f"{name} has {len(prefix)} bytes, not the {64 * int(blocks)} of {blocks} blocks")
        return prefix

    def words(self, q9):
        """m8..m12."""
        q = [*self.before, q9, *self.after]  # Q5..Q13
        return [message_word(t, q[t - 5], q[t - 6], q[t - 7], q[t - 8], q[t - 4]) for t in range(8, 13)]


def hex_word(text, name):
    if not WORD.fullmatch(text):
        raise Unusable(f"{name} is `{text}`, not eight hex digits")
    return int(text, 16)


def rows_of(path, columns, delimiter):
    """Line number and fields by name of each row."""
    with open(path, newline="", encoding="ascii") as file:
        reader = csv.reader(file, delimiter=delimiter)
        header = next(reader, None)
        if header != columns:
            raise Unusable(f"{path} line 1: the header should be {delimiter.join(columns)!r}")
        for fields in reader:
            if len(fields) != len(columns):
                raise Unusable(f"{path} line {reader.line_num}: {len(fields)} fields instead of {len(columns)}")
            yield reader.line_num, dict(zip(columns, fields))


def read_bases(path):
    bases = {}
    for line, row in rows_of(path, BASE_COLUMNS, ","):
        if row["base"] in bases:
            raise Unusable(f"{path} line {line}: base {row['base']} is given twice")
        try:
            bases[row["base"]] = Base(row, os.path.dirname(path))
        except Unusable as error:
            raise Unusable(f"{path} line {line}: {error}") from None
    return bases


def difference(row, base):
    """What is wrong with a row; None if it is right."""
    words = base.words(int(row["q9"], 16))
    for name, word in (("m8", words[0]), ("m9", words[1]), ("m12", words[4])):
        if row[name] != f"{word:08x}":
            return f"{name} is {row[name]}, but Q9 and the base give {word:08x}"
    message = base.prefix + base.head + struct.pack("<5I", *words)
    digest = hashlib.md5(message, usedforsecurity=False).hexdigest()
    if row["digest"] != digest:
        return f"digest is {row['digest']}, but MD5 gives {digest}"
    return None


def check(validation, bases_path):
    """The number of rows checked, and a sentence about the first wrong one or None."""
    bases = read_bases(bases_path)
    checked = 0
    for line, row in rows_of(validation, ROW_COLUMNS, "\t"):
        where = f"{validation} line {line}"
        if row["base"] not in bases:
            raise Unusable(f"{where}: base {row['base']} is not in {bases_path}")
        fields = [WORD.fullmatch(row[name]) for name in ROW_COLUMNS[1:5]] + [DIGEST.fullmatch(row["digest"])]
        if not all(fields):
            raise Unusable(f"{where}: a field is not lower-case hex of its length")
        wrong = difference(row, bases[row["base"]])
        checked += 1
        if wrong:
            return checked, f"{where}, base {row['base']}, Q9 {row['q9']}: {wrong}"
    if checked == 0:
        raise Unusable(f"{validation} has no rows")
    return checked, None


def main(arguments):
    if len(arguments) == 1 and arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    if len(arguments) == 1:
        paths = [os.path.join(arguments[0], name) for name in ("validation.tsv", "bases.csv")]
    elif len(arguments) == 2:
        paths = arguments
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        checked, wrong = check(*paths)
    except Unusable as error:
        print(f"check_validation: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"check_validation: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except (ValueError, csv.Error) as error:
        print(f"check_validation: {' or '.join(paths)} is not a table in ASCII: {error}", file=sys.stderr)
        return 2
    if wrong:
        print(f"check_validation: WRONG: {wrong} ({checked - 1} rows before it are right)", file=sys.stderr)
        return 1
    print(f"check_validation: {checked} rows checked, all right")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
