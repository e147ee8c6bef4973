# Arm SPE: packets, written here byte for byte after the architecture's manual, become samples with address, data source, latency,
# task and time; damage is skipped up to the next operation and reported with its offsets.
. "$SUPPORT/lib.sh"
need python3
cat >write.py <<'P'
import struct
import sys

SAMPLE_TYPE = 1 << 16 | 0x87	# IDENTIFIER IP TID TIME CPU
kind, path = sys.argv[1:3]


def record(number, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", number, misc, len(body) + 8) + body


def trailer(tid, time):
    return struct.pack("<IIQIIQ", 100, tid, time, 0, 0, 1)


# A load of thread 101 that hits the first level, a store of 102 that misses it and the TLB, a load from another socket, a
# mispredicted branch. Each ends with a timestamp of 10 ticks per microsecond.
operations = [bytes.fromhex(text) for text in (
    "b0 3412400000000080" "65 65000000" "49 00" "52 1600" "98 0d00" "99 0500" "b2 4000ffff7f000000" "43 00" "71 e803000000000000",
    "b0 3812400000000080" "65 66000000" "49 01" "52 2e00" "98 9001" "b2 8000ffff7f000000" "b3 8000234500000080" "71 4c04000000000000",
    "b0 3c12400000000080" "65 65000000" "49 00" "52 1607" "98 f401" "b2 c000ffff7f0000b4" "43 0d" "71 b004000000000000",
    "b0 4012400000000080" "65 65000000" "4a 01" "42 82" "98 0200" "b1 0010400000000080" "01",
)]
trace = operations[0] + b"\0\0" + operations[1] + operations[2] + operations[3]
if kind == "bad":
    trace = operations[0] + b"\xee" + operations[1] + operations[2]
trace += b"\0" * (-len(trace) % 8)

info = struct.pack("<IIQQ", 4, 0, 8, 1)
if kind == "v2":
    info = struct.pack("<II", 4, 0) + struct.pack("<9Q", 2, 4, 8, 1, 0x1010101010101010, 0, 3, 0x410fd0c0, 8) + struct.pack("<Q", 0)
data = record(70, 0, info)
data += record(79, 0, struct.pack("<QQQ", 0, 100, 1000000))
data += record(3, 2, struct.pack("<II8s", 100, 101, b"reader") + trailer(101, 1000100))
data += record(3, 2, struct.pack("<II8s", 100, 102, b"writer") + trailer(102, 1000200))
data += record(71, 0, struct.pack("<QQQIIII", len(trace), 0, 0, 0, 0xffffffff, 0, 0)) + trace
attr = struct.pack("<IIQQQQQ", 8, 112, 0, 1000, SAMPLE_TYPE, 4, 1 << 18 | 1 << 9 | 1 << 13).ljust(112, b"\0")
features = {4: "6.1.0", 6: "aarch64", 9: "0x00000000410fd0c0"}
payloads = {number: struct.pack("<I", 64) + text.encode().ljust(64, b"\0") for number, text in features.items()}
payloads[12] = struct.pack("<II", 1, 112) + attr + struct.pack("<II", 1, 16) + b"arm_spe_0//".ljust(16, b"\0") + struct.pack("<Q", 1)
payloads[18] = struct.pack("<QQQ", 1, 104 + 8 + 128 + data.index(struct.pack("<IHH", 71, 0, 48)), 48)
bits = sum(1 << number for number in payloads)
at = 104 + 8 + 128
header = struct.pack("<QQQQQQQQQQQQQ", 0x32454c4946524550, 104, 128, 112, 128, at, len(data), 0, 0, bits, 0, 0, 0)
out = header + struct.pack("<Q", 1) + attr + struct.pack("<QQ", 104, 8) + data
table, rest, where = b"", b"", len(out) + 16 * len(payloads)
for number in sorted(payloads):
    table += struct.pack("<QQ", where + len(rest), len(payloads[number]))
    rest += payloads[number]
open(path, "wb").write(out + table + rest)
P
python3 write.py v1 a.data
tacho script -i a.data --itrace=M -F comm,tid,time,event,ip,addr,weight,phys_addr --ns >out 2>err || { cat err; fail "script"; }
[ ! -s err ] || { cat err; fail "a message"; }
# 1000 + 100 * ticks, in nanoseconds.
cat >expected <<'T'
reader 101 0.001100000: memory: 7fffff0040 13 401234 0
writer 102 0.001110000: memory: 7fffff0080 400 401238 45230080
reader 101 0.001120000: memory: 7fffff00c0 500 40123c 0
T
sed 's/  */ /g; s/^ //; s/ $//' out | diff expected - || fail "other samples"
tacho script -i a.data --itrace=M -F ip,data_src | sed 's/  */ /g' >sources
grep -q '401234.*\|OP LOAD|LVL L1 hit' sources && grep -q 'OP STORE|LVL L1 miss' sources || { cat sources; fail "sources"; }
grep '40123c' sources | grep -q 'LVL Remote Cache (1 hop)' || { cat sources; fail "the remote cache"; }
grep '401238' sources | grep -q 'TLB Walker miss' || { cat sources; fail "the TLB"; }

count() { [ "$(tacho script -i a.data --itrace="$1" -F event | sed 's, ,,g' | sort | uniq -c | awk '{ print $2 $1 }' | tr '\n' ' ')" = "$2" ] ||
	{ tacho script -i a.data --itrace="$1" -F event | sort | uniq -c; fail "--itrace=$1"; }; }
count f 'l1d-access:3 l1d-miss:1 '
count m 'llc-access:1 llc-miss:1 '
count t 'tlb-access:2 tlb-miss:1 '
count a 'remote-access:1 '
count b 'branch:1 '
count i1i 'instructions:4 '
tacho script -i a.data --itrace=b -F ip,addr,flags | grep -q 'jcc .* 401000 .* 401240$' || fail "the branch"

# Other recorders: their AUXTRACE_INFO has a version and the CPUs.
python3 write.py v2 b.data
tacho script -i b.data --itrace=M -F ip,data_src | sed 's/  */ /g' | cmp - sources || fail "version 2"

# mem report reads the same samples.
tacho report -i a.data --itrace=M --stdio -s comm 2>/dev/null | grep -q 'reader' || fail "report"

tacho script -D -i a.data >out
for line in 'PC 0x401234 el0 ns=1' 'CONTEXT 0x65 el2' 'LD GP-REG' 'EV RETIRED L1D-ACCESS TLB-ACCESS' 'LAT 13 TOT' 'VA 0x7fffff0040' \
	'DATA-SOURCE 0' 'TS 1000' 'PA 0x45230080 ns=1' 'B COND' 'END'; do
	grep -q " $line\$" out || { grep '^\.  0' out; fail "-D has no $line"; }
done

python3 write.py bad bad.data
tacho script -i bad.data --itrace=Me -F ip,event >out 2>err
grep -q 'code 3: Bad packet, 0x2d to 0x5f' out || { cat out; fail "it does not say where"; }
[ "$(grep -c memory: out)" = 2 ] || { cat out; fail "it does not go on"; }
