#!/usr/bin/env python3
# audit-hostile.py DIR - a log that nobody honest wrote: what would steer a
# terminal in every text, the largest numbers, bodies that are no CBOR
# SPDX-License-Identifier: MIT
import hashlib
import os
import struct
import sys

ESC = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r\b"
MOST = 2**64 - 1


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack(">I", crc ^ 0xFFFFFFFF)


def head(major, n):
    if n < 24:
        return bytes([major << 5 | n])
    for info, form, limit in (24, "B", 8), (25, "H", 16), (26, "I", 32), (27, "Q", 64):
        if n < 1 << limit:
            return bytes([major << 5 | info]) + struct.pack(">" + form, n)


def cbor(v):
    if isinstance(v, int):
        return head(0, v) if v >= 0 else head(1, -1 - v)
    if isinstance(v, bytes):
        return head(2, len(v)) + v
    if isinstance(v, str):
        return head(3, len(v.encode())) + v.encode()
    if isinstance(v, list):
        return head(4, len(v)) + b"".join(map(cbor, v))
    pairs = sorted((cbor(k), cbor(x)) for k, x in v.items())
    return head(5, len(v)) + b"".join(k + x for k, x in pairs)


def deep(n):
    return [deep(n - 1)] if n else ESC


texts = [
    {0: 0, 47: 1, 44: b"\2" * 16, 43: b"\4" + b"\1" * 64, 50: ESC, 49: b"\3" * 16},
    {0: 1, 4: b"\7" * 16, 6: 1, 8: [ESC, ESC], 9: ESC, 10: ESC, 11: 1, 12: ESC, 13: ESC, 15: {ESC: ESC}, 28: ESC},
    {0: 1, 4: b"\7" * 16, 6: 1, 8: [ESC], 9: ESC, 11: 0, 13: ESC},
    {0: 2, 5: 2, 20: 1, 21: MOST, 22: ESC.encode(), 23: MOST},
    {0: 2, 5: 2, 20: 5, 21: 3, 22: b"99999999x99999999"},
    {0: 2, 5: 2, 20: 6, 21: 3, 22: ESC.encode()},
    {0: 2, 5: 2, 20: 99, 21: MOST, 22: ESC.encode()},
    {0: 3, 5: 2, 16: -(2**63), 17: MOST, 18: MOST, 19: [MOST] * 12, 24: {1: [MOST, 0, b"x" * 32]}, 25: {ESC: MOST}, 26: MOST, 27: ESC},
    {0: 3, 16: 1, 18: 5},
    {0: 4, 30: ESC, 31: {ESC: ESC}},
    {0: 4, 30: "session.open", 31: {"id": ESC, "workspace": ESC}},
    {0: 6, 45: b"", 46: [MOST, MOST, MOST, MOST, b"", ESC.encode()]},
    {0: 7, 51: [[0, MOST, b"\0" * 32]] * 3},
    {0: 5, 42: b"", 40: b"", 41: b""},
    {0: 99, 57: ESC, 1000: ESC},
    {0: 4, 30: ESC, 31: deep(20)},
]
# Depth without an end, lengths beyond everything, indefinite ones, no UTF-8.
odd = [
    b"\x81" * 5000, b"\x9f" * 200, b"\xc0" * 300, b"\xbf\x00\x01", b"\xff", b"",
    b"\xbb" + b"\xff" * 8, b"\x9b" + b"\xff" * 8, b"\x5b" + b"\xff" * 8 + b"a",
    b"\x7b" + b"\xff" * 8 + b"a", b"\xa1\x00\x5f\x41a\xff",
    b"\xa4\x00\x01\x01\x01\x02\x01\x08\x9b" + b"\xff" * 8, b"\xf9\x00\x00",
    b"\xa4\x00\x04\x01\x01\x02\x01\x18\x1e\x63\xff\xfe\xfd",
    b"\x83\x58\x20" + bytes(32) + b"\x1b" + b"\xff" * 8 + b"\x1b" + b"\xff" * 8,
]
bodies = [cbor({**m, 1: n, 2: 1755000000000000000 + n, 3: 5 + n}) for n, m in enumerate(texts)]
link = bytes(32)
with open(os.open(sys.argv[1] + "/0000000000000000.aud", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
    for body in bodies + odd:
        leaf = hashlib.sha256(b"\0" + body).digest()
        link = hashlib.sha256(b"\1" + link + leaf).digest()
        out.write(b"\x83" + cbor(crc32c(body)) + cbor(body) + cbor(link))
