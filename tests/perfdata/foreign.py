#!/usr/bin/python3
"""Hand-made files in the formats of other machines and old versions of perf, and the expected result of reading them.

usage: foreign.py DUMP		DUMP is the perfdata-dump program
"""
import os
import struct
import subprocess
import sys
import tempfile

DUMP = sys.argv[1]
SIZES = (64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 160)
IDENTIFIER, IP, TID, TIME, ID, CPU = 1 << 16, 1, 2, 4, 64, 128
failures = 0


def check(what, got, *wanted):
    global failures
    for line in wanted:
        if line not in got:
            failures += 1
            print(f"FAIL {what}: no line '{line}' in\n" + "\n".join(got))


def dump(data, *args):
    with tempfile.NamedTemporaryFile(suffix=".data") as f:
        f.write(data)
        f.flush()
        out = subprocess.run([DUMP, *args, f.name], stdout=subprocess.PIPE, timeout=60)
    return out.returncode, out.stdout.decode().splitlines()


class Maker:
    """One byte order ('<' or '>') and one size of attrs."""

    def __init__(self, order, attr_bytes, size_field=None):
        self.o, self.n = order, attr_bytes
        self.size_field = attr_bytes if size_field is None else size_field

    def pack(self, fmt, *v):
        return struct.pack(self.o + fmt, *v)

    def flags(self, bits, precise=0):
        """Bit fields start at the low end on little-endian machines, at the high end on others."""
        v = bits | precise << 15
        if self.o == "<":
            return struct.pack("<Q", v)
        out = 0
        for i in range(64):
            if bits >> i & 1:
                out |= 1 << (63 - i)
        out |= (precise & 1) << (63 - 16) | (precise >> 1) << (63 - 15)
        return struct.pack(">Q", out)

    def attr(self, kind, config, sample_type, precise=0):
        a = self.pack("IIQQQQ", kind, self.size_field, config, 4000, sample_type, 4)
        a += self.flags(1 << 18 | 1 << 10, precise) + self.pack("IIQ", 1, 0, 0)
        if self.n >= 72:
            a += self.pack("Q", 0)
        return a + bytes(self.n - len(a))

    def string(self, s):
        b = s.encode() + b"\0"
        b += bytes(-len(b) % 64)
        return self.pack("I", len(b)) + b

    def record(self, kind, body, misc=2):
        return self.pack("IHH", kind, misc, 8 + len(body)) + body

    def sample(self, ident, ip, time):
        return self.record(9, self.pack("QQIIQ", ident, ip, 7, 7, time))

    def comm(self, ident, time):
        name = b"sleep\0\0\0"
        return self.record(3, self.pack("II", 7, 7) + name + self.pack("IIQQ", 7, 7, time, ident))

    def file(self, events, data, features, words=8, data_size=None):
        at, ids = 104, b""
        sections = []
        for _, numbers in events:
            sections.append((at + len(ids), 8 * len(numbers)))
            ids += b"".join(self.pack("Q", i) for i in numbers)
        attrs = b"".join(a + self.pack("QQ", *s) for (a, _), s in zip(events, sections))
        attrs_at = at + len(ids)
        data_at = attrs_at + len(attrs)
        bits = [0] * 256
        for f in features:
            bits[f] = 1
        fmt = {8: "Q", 4: "I"}[words]
        bitmap = b"".join(
            self.pack(fmt, sum(b << k for k, b in enumerate(bits[i:i + 8 * words])))
            for i in range(0, 256, 8 * words))
        size = len(data) if data_size is None else data_size
        magic = b"PERFILE2" if self.o == "<" else b"2ELIFREP"
        head = magic + self.pack("QQQQQQQQ", 104, self.n + 16, attrs_at, len(attrs), data_at, size,
                                 0, 0) + bitmap
        index, payload = b"", b""
        end = data_at + len(data) + 16 * len(features)
        for f in sorted(features):
            index += self.pack("QQ", end + len(payload), len(features[f]))
            payload += features[f]
        return head + ids + attrs + data + index + payload

    def pipe(self, events, data, features):
        out = (b"PERFILE2" if self.o == "<" else b"2ELIFREP") + self.pack("Q", 16)
        for a, numbers in events:
            out += self.record(64, a + b"".join(self.pack("Q", i) for i in numbers), 0)
        for f, payload in features.items():
            out += self.record(80, self.pack("Q", f) + payload, 0)
        return out + self.record(66, self.pack("I", 24), 0) + bytes(24) + data


def content(m):
    kind = IDENTIFIER | IP | TID | TIME
    events = [(m.attr(0, 0, kind, 1), [101, 102]), (m.attr(1, 2, kind, 2), [201])]
    data = m.sample(101, 0x400000, 30) + m.comm(201, 10) + m.sample(201, 0x400010, 20)
    data += m.record(68, b"", 0)
    desc = m.pack("II", 2, m.n)
    for (a, ids), name in zip(events, ("cycles:p", "page-faults:pp")):
        desc += a + m.pack("I", len(ids)) + m.string(name)
        desc += b"".join(m.pack("Q", i) for i in ids)
    features = {3: m.string("big-host"), 6: m.string("ppc64"), 12: desc,
                17: m.pack("I", 1) + m.string("{g}") + m.pack("II", 0, 2)}
    return events, data, features


def each_size():
    for order in "<>":
        for n in SIZES:
            m = Maker(order, n)
            events, data, features = content(m)
            what = f"order {order} attr {n}"
            swapped = int((order == ">") == (sys.byteorder == "little"))
            events_seen = (
                f"event 0 cycles:p attr {n} type 0 config 0 sample_type 0x10007 flags 0x48400 "
                "leader 0 of 2 ids 101 102",
                f"event 1 page-faults:pp attr {n} type 1 config 0x2 sample_type 0x10007 flags "
                "0x50400 leader 0 of 2 ids 201")
            for words in (8, 4):
                rc, got = dump(m.file(events, data, features, words), "-o")
                at = 104 + 24 + 2 * (n + 16)
                check(what, got, *events_seen, "feature 3 68 big-host",
                      f"record 9 size 40 at {at} event 0 time 30",
                      f"record 3 size 48 at {at + 40} event 1 time 10",
                      f"swapped {swapped} pipe 0")
                times = [line.split()[-1] for line in got if "time" in line]
                check(what, [rc, times], 0, ["10", "20", "30"])
            rc, got = dump(m.pipe(events, data, features))
            check(what + " pipe", got, *events_seen, "feature 1 24", f"swapped {swapped} pipe 1")
            check(what + " pipe", [rc, len([x for x in got if "record 9" in x])], 0, 2)


def first_version():
    m = Maker("<", 64, 0)
    rc, got = dump(m.file([(m.attr(0, 0, IP | TID), [])], m.record(9, bytes(16)), {}))
    check("attr size 0", got, "record 9 size 24 at 184 event 0")
    check("attr size 0", [rc], 0)
    rc, got = dump(b"PERFFILE" + bytes(200))
    check("version 1", got,
          "error -95 this is version 1 of the file format, from before Linux 2.6.35")
    check("version 1", [rc], 1)


def names_from_attrs():
    m = Maker("<", 128)
    kinds = ((0, 1, "instructions"), (1, 0, "cpu-clock"), (3, 0x10000, "L1-dcache-load-misses"),
             (4, 0x1a8, "r1a8"), (2, 317, "tracepoint/317/"), (9, 5, "pmu9/0x5/"))
    events = [(m.attr(t, c, IDENTIFIER), [i + 1]) for i, (t, c, _) in enumerate(kinds)]
    _, got = dump(m.file(events, m.record(68, b"", 0), {}))
    names = [line.split()[2] for line in got if line.startswith("event")]
    check("names", [names], [k[2] for k in kinds])


def damaged():
    m = Maker("<", 128)
    events, data, features = content(m)
    start = 104 + 24 + 2 * 144
    good = m.file(events, data, features)
    rc, got = dump(good[:start + 60])
    check("cut", got, f"record 9 size 40 at {start} event 0 time 30",
          f"error -61 byte {start + 40}: the file ends within a record of 48 bytes")
    rc, got = dump(good[:start + len(data) + 20])
    check("cut behind the records", got, f"record 68 size 8 at {start + len(data) - 8} event -1",
          f"error -74 byte {start + len(data)}: the file ends before its list of features")
    check("cut behind the records", [rc], 1)
    rc, got = dump(good[:start + 40])
    check("cut between records", got, f"error -61 byte {start + 40}: the file ends here, "
          f"{len(data) - 40} bytes of its data are missing")
    rc, got = dump(m.file(events, data + b"\x09\0\0\0\0\0\0\1", {}, data_size=0))
    check("died", got, f"warning the recorder did not end properly: everything from byte {start} on "
          f"is read as data; byte {start + len(data)}: the file ends within a record of 256 bytes; "
          "the rest of the file was not read")
    check("died", [rc, sum("record" in x and "at" in x for x in got) >= 4], 0, True)
    rc, got = dump(m.file(events, data[:40] + bytes(8) + data[40:], features))
    check("size 0", got, f"error -74 byte {start + 40}: a record of type 0 has an invalid size of 0 bytes")
    bad = bytearray(good)
    struct.pack_into("<Q", bad, 40, 110)
    rc, got = dump(bytes(bad))
    check("overlap", got, "error -74 byte 24: the attrs section (at 128) overlaps the data section "
          "(at 110)")
    struct.pack_into("<Q", bad, 24, 1 << 62)
    rc, got = dump(bytes(bad))
    check("beyond", got, f"error -74 byte 24: the attrs section (288 bytes at {1 << 62}) is not "
          "within the file")
    rc, got = dump(b"hello, this is text and nothing else")
    check("text", got, "error -22 this is not a perf.data file: it does not start with PERFILE2")
    rc, got = dump(good[:50])
    check("short", got, "error -61 byte 50: the file ends within its header")


each_size()
first_version()
names_from_attrs()
damaged()
sys.exit(1 if failures else 0)
