# Samples with chains go a short way into a profile. A limit of stacks that cuts nothing takes them the
# long way: both show the same, with programs that come and go, the kernel's part, several events, and events
# that a file tells of only behind the first samples.
. "$SUPPORT/lib.sh"
need python3
need_root
work='for i in 1 2 3 4 5 6; do ls -lR /usr/share/doc >/dev/null & sort /etc/services | md5sum >/dev/null; done; wait'
record() {	# FILE RECORD-OPTION...
	tacho record -q -a -g -F 4000 -o "$@" -- sh -c "$work" 2>err || fail "$1: $(tail -n 1 err)"
}
both() {	# FILE
	for options in "" --no-children "-s pid,sym" "-s dso"; do
		tacho report --stdio $options -i "$1" >short 2>&1 || fail "$1: $(tail -n 1 short)"
		tacho report --stdio $options --max-stack 2000 -i "$1" >long 2>&1
		cmp short long || fail "$1: another text with '$options'"
	done
	tacho report --stdio -s comm -i "$1" 2>&1 | grep -q 'md5sum\|sort' || fail "$1: nothing was sampled"
}
record one.data -e cpu-clock
both one.data
record two.data -e cpu-clock,page-faults
both two.data
record - -e cpu-clock,page-faults >pipe.data
both pipe.data

# All attributes but one behind the first sample; what would leave records unaligned is left out.
python3 - <<'P'
import struct
data = open("pipe.data", "rb").read()
records, at = [], 16
while at + 8 <= len(data):
    kind, _, size = struct.unpack_from("<IHH", data, at)
    end = at + size + (struct.unpack_from("<I", data, at + 8)[0] if kind == 66 else 0)
    records.append((kind, data[at:end]))
    at = end
records = [(kind, record) for kind, record in records if len(record) % 8 == 0 and kind != 66]
attrs = [one for one in records if one[0] == 64]
records = attrs[:1] + [one for one in records if one[0] != 64]
first = next(i for i, one in enumerate(records) if one[0] == 9)
records[first + 1:first + 1] = attrs[1:]
open("late.data", "wb").write(data[:16] + b"".join(record for _, record in records))
P
both late.data
