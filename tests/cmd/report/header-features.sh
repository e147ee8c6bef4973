# Features that this machine does not write, put into a file: the header's lines are perf's. Cut short
# at each byte they are read as far as they go.
# run: slow
. "$SUPPORT/lib.sh"
need perf python3
tacho record -q -o plain.data -e cpu-clock -F 100 true 2>err || skip "cannot record: $(cat err)"
cat >forge.py <<'END'
import struct, sys

def text(s):
    b = s.encode() + b"\0"
    b += b"\0" * (-len(b) % 64)
    return struct.pack("<I", len(b)) + b

def caps(*pairs):
    return struct.pack("<I", len(pairs)) + b"".join(text(w) for pair in pairs for w in pair)

def program(number, name, functions, btf=0, tags=None):
    data, at = b"", {}
    arrays = (("ksyms", b"".join(struct.pack("<Q", a) for a, _, _ in functions)),
              ("lens", b"".join(struct.pack("<I", n) for _, n, _ in functions)),
              ("funcs", b"".join(struct.pack("<II", i, t) for i, (_, _, t) in enumerate(functions))),
              ("tags", b"".join(bytes([number] * 7 + [i]) for i in range(len(functions)))))
    for key, array in arrays:
        at[key] = len(data)
        data += array + b"\0" * (-len(array) % 8)
    n = len(functions)
    info = bytearray(232)
    struct.pack_into("<II", info, 0, 1, number)
    info[64:64 + len(name)] = name.encode()
    struct.pack_into("<IIQQ", info, 104, n, n, at["ksyms"], at["lens"])
    struct.pack_into("<IIQI", info, 128, btf, 8, at["funcs"], n if btf else 0)
    struct.pack_into("<IQ", info, 180, n if tags is None else tags, at["tags"])
    return struct.pack("<IIQ", len(info), len(data), 0b100111000) + bytes(info) + data

def btf(number):
    names = b"\0int\0first\0second\0a\0"
    # 1: int, 2: a prototype with one parameter, 3: a struct of two, 4 and 5: functions
    types = struct.pack("<IIII", 1, 1 << 24, 4, 32)
    types += struct.pack("<IIIII", 0, 13 << 24 | 1, 1, 18, 1)
    types += struct.pack("<III", 0, 4 << 24 | 2, 8) + struct.pack("<III", 18, 1, 0) * 2
    types += struct.pack("<III", 5, 12 << 24, 2) + struct.pack("<III", 11, 12 << 24, 2)
    raw = struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(names)) + types + names
    return struct.pack("<II", number, len(raw)) + raw

programs = [program(7, "egress", [(0xffffffffc0001000, 64, 0)]), program(8, "", [(0xffffffffc0002000, 20, 0)]),
            program(9, "entry", [(0xffffffffc0003000, 111, 4), (0xffffffffc0004000, 222, 5)], btf=3),
            program(10, "many", [(0xffffffffc0005000, 1, 0), (0xffffffffc0006000, 2, 0)]),
            program(11, "odd", [(0xffffffffc0007000, 1, 0)], tags=2)]
new = {18: b"", 19: b"", 25: struct.pack("<I", len(programs)) + b"".join(programs),
       26: struct.pack("<I", 2) + btf(2) + btf(3), 28: caps(("branches", "32"), ("max_precise", "3")),
       30: struct.pack("<I", 2) + text("cpu_core") + text("0-7") + text("cpu_atom") + text("8-15"),
       31: struct.pack("<I", 2) + caps(("max_precise", "3")) + text("cpu_core") + caps() + text("cpu_atom")}
source, target, which, cut = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
f = bytearray(open(source, "rb").read())
offset, size = struct.unpack_from("<QQ", f, 40)
bits = int.from_bytes(f[72:104], "little")
old = [b for b in range(256) if bits >> b & 1]
features = {b: bytes(f[o:o + n]) for i, b in enumerate(old)
            for o, n in [struct.unpack_from("<QQ", f, offset + size + 16 * i)]}
n_cpus = struct.unpack_from("<I", features[7])[0]	# the last one is off
ids = [(i, 0) for i in range(n_cpus - 1)] + [(-1, -1)]
one = struct.pack("<I", 1) + text("0")
new[13] = one * 2 + b"".join(struct.pack("<ii", *i) for i in ids) + one + b"".join(struct.pack("<i", i[1]) for i in ids)
for b in map(int, which.split(",")):
    features[b] = new[b][:cut] if cut >= 0 else new[b]
del f[offset + size:]
at = len(f) + 16 * len(features)
for b in sorted(features):
    f += struct.pack("<QQ", at, len(features[b]))
    at += len(features[b])
for b in sorted(features):
    f += features[b]
f[72:104] = sum(1 << b for b in features).to_bytes(32, "little")
open(target, "wb").write(f)
print(max(len(new[int(b)]) for b in which.split(",")))
END
for which in 13 18,19 25,26 25 26 28 30 31; do
	for option in "" -I; do
		python3 forge.py plain.data forged.data $which -1 >/dev/null
		perf report -i forged.data --header-only $option 2>/dev/null >perf.txt
		tacho report -i forged.data --header-only $option >tacho.txt
		diff perf.txt tacho.txt || fail "feature $which $option"
	done
done
tacho report -i forged.data --header-only | grep -q '^# cpu_core pmu capabilities: max_precise=3$'
for which in 13 25 26 28 30 31; do
	bytes=$(python3 forge.py plain.data forged.data $which 0)
	for cut in $(seq 0 $((bytes / 12 + 1)) "$bytes"); do
		python3 forge.py plain.data forged.data $which "$cut" >/dev/null
		tacho report -i forged.data --header-only -I >out 2>err || { cat err; fail "feature $which of $cut bytes"; }
		grep -q '^# ========$' out || fail "feature $which of $cut bytes"
	done
done
