"""Tests of scripts/check_validation.py, on records that are made here by MD5's own steps, forwards."""

import contextlib
import hashlib
import importlib.util
import io
import math
import os
import random
import struct
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check_validation.py")
spec = importlib.util.spec_from_file_location("check_validation", SCRIPT)
check_validation = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_validation)

INITIAL = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
SHIFTS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))


def run(chaining, words):
    """Outputs of all 64 steps, as RFC 1321 writes them."""
    a, b, c, d = chaining
    outputs = []
    for t in range(64):
        function = ((b & c) | (~b & d), (b & d) | (c & ~d), b ^ c ^ d, c ^ (b | (~d & 0xFFFFFFFF)))[t // 16]
        word = words[(t, (5 * t + 1) % 16, (3 * t + 5) % 16, 7 * t % 16)[t // 16]]
        total = (a + function + int(abs(math.sin(t + 1)) * 2**32) + word) & 0xFFFFFFFF
        shift = SHIFTS[t // 16][t % 4]
        a, b, c, d = d, (b + (total << shift | total >> (32 - shift))) & 0xFFFFFFFF, b, c
        outputs.append(b)
    return outputs


def chaining_after(prefix):
    chaining = INITIAL
    for start in range(0, len(prefix), 64):
        q = run(chaining, struct.unpack("<16I", prefix[start:start + 64]))
        chaining = tuple((old + new) & 0xFFFFFFFF for old, new in zip(chaining, (q[60], q[63], q[62], q[61])))
    return chaining


class Record:
    """A record of random messages, one base each."""

    def __init__(self, folder, prefix=b"", rows=5):
        self.folder = folder
        randoms = random.Random(20261130)
        columns = [f"q{n}" for n in range(1, 14) if n != 9]
        bases = [",".join(["base", *columns, "a0", "b0", "c0", "d0", "prefix_blocks", "prefix_file"])]
        self.rows = [["base", "q9", "m8", "m9", "m12", "digest"]]
        chaining = chaining_after(prefix)
        for base in range(rows):
            message = randoms.randbytes(52)
            words = struct.unpack("<13I", message)
            q = run(chaining, (*words, 0, 0, 0))[:13]
            fixed = [f"{word:08x}" for word in (*q[:8], *q[9:], *chaining)]
            kept = "prefix.bin" if prefix else ""
            bases.append(",".join([str(base), *fixed, str(len(prefix) // 64), kept]))
            changing = [f"{word:08x}" for word in (q[8], words[8], words[9], words[12])]
            self.rows.append([str(base), *changing, hashlib.md5(prefix + message).hexdigest()])
        self.write("bases.csv", "\n".join(bases) + "\n")
        if prefix:
            with open(os.path.join(folder, "prefix.bin"), "wb") as file:
                file.write(prefix)
        self.save()

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def save(self):
        self.write("validation.tsv", "".join("\t".join(row) + "\n" for row in self.rows))

    def check(self, *paths):
        """Exit code and everything printed."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = check_validation.main(list(paths) or [self.folder])
        return code, said.getvalue()


class CheckValidation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_right_rows_are_counted(self):
        record = Record(self.folder)
        self.assertEqual(record.check(), (0, "check_validation: 5 rows checked, all right\n"))
        paths = [os.path.join(self.folder, name) for name in ("validation.tsv", "bases.csv")]
        self.assertEqual(record.check(*paths)[0], 0)

    def test_the_record_keeps_the_blocks_in_front(self):
        record = Record(self.folder, prefix=bytes(range(128)))
        self.assertEqual(record.check()[0], 0)
        with open(os.path.join(self.folder, "prefix.bin"), "r+b") as file:
            file.write(b"\xff")
        code, said = record.check()
        self.assertEqual(code, 1)
        self.assertIn("line 2", said)
        os.remove(os.path.join(self.folder, "prefix.bin"))
        self.assertEqual(record.check()[0], 2)

    def test_one_changed_digit_in_any_column_is_named(self):
        record = Record(self.folder)
        for column, name in enumerate(record.rows[0]):
            if name == "base":
                continue
            right = record.rows[3][column]
            record.rows[3][column] = right[:-1] + ("0" if right[-1] != "0" else "1")
            record.save()
            record.rows[3][column] = right
            code, said = record.check()
            self.assertEqual(code, 1, name)
            self.assertIn("line 4, base 2", said)
            if name != "q9":
                self.assertIn(f"{name} is ", said)

    def test_a_row_under_another_base_is_wrong(self):
        record = Record(self.folder)
        record.rows[3][0] = "0"
        record.save()
        self.assertEqual(record.check()[0], 1)

    def test_unusable_input_is_no_verdict(self):
        record = Record(self.folder)
        rows = record.rows
        for damaged, says in [
            (rows[:1], "no rows"),
            (rows[1:], "header"),
            ([rows[0], rows[1][:5]], "line 2"),
            ([rows[0], ["9", *rows[1][1:]]], "base 9"),
            ([rows[0], ["0", "xyz", *rows[1][2:]]], "line 2"),
            ([rows[0], ["é", *rows[1][1:]]], "ASCII"),
        ]:
            record.rows = damaged
            record.save()
            code, said = record.check()
            self.assertEqual(code, 2, says)
            self.assertIn(says, said)
        os.remove(os.path.join(self.folder, "validation.tsv"))
        self.assertEqual(record.check()[0], 2)
        self.assertEqual(record.check("a", "b", "c")[0], 2)


if __name__ == "__main__":
    unittest.main()
