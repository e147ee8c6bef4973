# stat report prints the values that stat record wrote, aggregated in any way; impossible aggregations
# are refused.
. "$SUPPORT/lib.sh"

# the rows of the run and those of the file are the same in every format
tacho stat -x, record -o a.data -e '{task-clock,page-faults},context-switches' sh -c 'true; true' 2>live
tacho stat report -x, -i a.data 2>kept
cmp live kept || fail "differ: $(diff live kept)"
tacho stat -j report -i a.data 2>kept
[ "$(grep -c '"event" : "task-clock"' kept)" = 1 ] || fail "$(cat kept)"
tacho stat report --json -i a.data 2>kept
grep -q '"schema": "tacho.stat/1".*"event": "page-faults"' kept || fail "$(cat kept)"
tacho stat report -i a.data 2>kept
grep -q "^ Performance counter stats for '.*tacho.* record -o a.data .*':" kept || fail "$(cat kept)"
grep -q 'seconds time elapsed' kept || fail "$(cat kept)"
tacho stat-report -o kept -i a.data
grep -q '^# started on' kept || fail "$(cat kept)"

# intervals
tacho stat -x, -I 20 --interval-count 3 record -e task-clock,page-faults sleep 1 2>live
tacho stat report -x, 2>kept
cmp live kept || fail "intervals differ: $(diff live kept)"
[ "$(wc -l <kept)" = 6 ] || fail "$(cat kept)"
tacho stat report --summary -x, 2>kept
[ "$(grep -c '^summary,' kept)" = 2 ] || fail "$(cat kept)"

# an existing file is renamed
cp perf.data before
tacho stat record -e page-faults true 2>/dev/null
cmp before perf.data.old || fail "the old file is gone"

# a stream
tacho stat -x, record -o - -e page-faults true 2>live | tacho stat report -x, -i - 2>kept
cmp live kept || fail "a stream differs: $(diff live kept)"
tacho stat record -o - -e page-faults true 2>live | tacho stat report -i - 2>kept
grep -q "^ Performance counter stats for 'pipe':" kept || fail "$(cat kept)"

# a truncated file: what it has is shown; the position of damage is reported
size=$(wc -c <a.data)
for cut in 1 3 5 7; do
	head -c $((size * cut / 8)) a.data >cut.data
	status_of tacho stat report -i cut.data >status
	[ "$(cat status)" -le 1 ] || fail "cut $cut: status $(cat status)"
done

# counts without an ID, which perf 7 writes for tool events, are ignored; an unknown ID is an error
count_of() {	# ID: a.data with this one in its last count of page-faults
	python3 - "$1" <<'END'
import struct, sys
data = bytearray(open("a.data", "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)
end, counts = at + size, []
while at < end:
    kind, _, size = struct.unpack_from("<IHH", data, at)
    counts += [at] if kind == 76 else []
    at += size
struct.pack_into("<Q", data, counts[1] + 8, int(sys.argv[1]))
open("id.data", "wb").write(data)
END
}
if command -v python3 >/dev/null; then
	count_of 0
	tacho stat report -x, -i id.data 2>kept
	[ "$(cut -d, -f3 kept | paste -sd,)" = task-clock,page-faults,context-switches ] || fail "$(cat kept)"
	[ "$(grep -c '^<not ' kept)" = 1 ] || fail "$(cat kept)"
	count_of 77777
	refused 1 tacho stat report -i id.data
	grep -q '^tacho stat report: byte 0x[0-9a-f]*: a record (type 76) is truncated, or refers to an unknown event' err || fail "$(cat err)"
fi

# refusals
refused 1 tacho stat report -i a.data -A
refused 1 tacho stat report -i nothing.data
refused 129 tacho stat report -i a.data word
refused 129 tacho stat report -i a.data -A --per-core
refused 129 tacho stat report -x, -j -i a.data
refused 129 tacho stat record -r 3 true
refused 129 tacho stat record -a --per-cluster true
refused 1 tacho stat record -o nowhere/a.data true
tacho record -q -o samples.data -e cpu-clock true 2>/dev/null || exit 0
refused 1 tacho stat report -i samples.data
grep -q "holds no counts" err || fail "$(cat err)"
