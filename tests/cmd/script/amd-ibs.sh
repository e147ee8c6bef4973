# AMD IBS: the registers in the raw data of samples, written here byte for byte, are shown field by field by -D.
. "$SUPPORT/lib.sh"
need python3
python3 - <<'P'
import struct

SAMPLE_TYPE = 1 << 16 | 1 << 0 | 1 << 1 | 1 << 2 | 1 << 10	# IDENTIFIER IP TID TIME RAW


def sample(number, registers):
    raw = struct.pack("<I", 0x3ff) + b"".join(struct.pack("<Q", value) for value in registers)
    raw += b"\0" * (-(len(raw) + 4) % 8)
    body = struct.pack("<QQIIQI", number, 0x401000, 7, 7, 1000 * number, len(raw)) + raw
    return struct.pack("<IHH", 9, 2, 8 + len(body)) + body


op = sample(1, [0x0000000500061000 | 3 << 20, 0x401000, 0x0000001000640032, 0x31, 0x0078012c_01860085, 0x7fff1234, 0x1234, 0x401080])
fetch = sample(2, [0x00de00200010fff0, 0x401000, 0x5000])
attrs = [struct.pack("<IIQQQQQ", kind, 112, 0, 1000, SAMPLE_TYPE, 4, 1 << 18).ljust(112, b"\0") for kind in (11, 12)]
data = op + fetch
name = lambda text: struct.pack("<I", 64) + text.encode().ljust(64, b"\0")
mappings = struct.pack("<II", 2, 11) + name("ibs_op") + struct.pack("<I", 12) + name("ibs_fetch")
start = 104 + 16 + 2 * 128
header = struct.pack("<13Q", 0x32454c4946524550, 104, 128, 120, 256, start, len(data), 0, 0, 1 << 16, 0, 0, 0)
out = header + struct.pack("<QQ", 1, 2) + attrs[0] + struct.pack("<QQ", 104, 8) + attrs[1] + struct.pack("<QQ", 112, 8) + data
open("a.data", "wb").write(out + struct.pack("<QQ", len(out) + 16, len(mappings)) + mappings)
P
tacho script -D -i a.data >out 2>err || { cat err; fail "-D"; }
grep -E '^(ibs|Ibs)' out >registers || :
cat >expected <<'T'
ibs_op_ctl:	0000000500361000 MaxCnt 3211264 L3MissOnly 0 En 1 Val 1 CntCtl 0 CurCnt 5
IbsOpRip:	0000000000401000
ibs_op_data:	0000001000640032 CompToRetCtr 50 TagToRetCtr 100 BrnTaken 0 BrnMisp 1 BrnRet 0 RipInvalid 0 BrnFuse 0 Microcode 0
ibs_op_data2:	0000000000000031 DataSrc 1 RmtNode 1 CacheHitSt 1 DataSrcHi 0
ibs_op_data3:	0078012c01860085 LdOp 1 StOp 0 DcL1TlbMiss 1 DcL2TlbMiss 0 DcL1TlbHit2M 0 DcL1TlbHit1G 0 DcL2TlbHit2M 0 DcMiss 1 DcMisAcc 0 DcWcMemAcc 0 DcUcMemAcc 0 DcLockedOp 0 DcMissNoMabAlloc 0 DcLinAddrValid 1 DcPhyAddrValid 1 DcL2TlbHit1G 0 L2Miss 0 SwPf 0 OpMemWidth 6 OpDcMissOpenMemReqs 0 DcMissLat 300 TlbRefillLat 120
IbsDCLinAd:	000000007fff1234
IbsDCPhysAd:	0000000000001234
IbsBrTarget:	0000000000401080
ibs_fetch_ctl:	00de00200010fff0 MaxCnt 65520 Cnt 16 Lat 32 En 0 Val 1 Comp 1 IcMiss 1 PhyAddrValid 1 L1TlbPgSz 2 L1TlbMiss 1 L2TlbMiss 0 RandEn 0 L2Miss 0
IbsFetchLinAd:	0000000000401000
IbsFetchPhysAd:	0000000000005000
T
diff expected registers || fail "other fields"
