# Each command that reads recordings tells damage once, with its offset, fails, and shows what came
# before it. Cut in the header, the records and the facts behind them; changed; and of a dead recorder.
# run: slow
. "$SUPPORT/lib.sh"
need python3
tacho record -q -e cpu-clock -F 2000 -g -o whole.data "$TEST_BIN/burn" -t 1 -m 150 >burnt 2>&1 ||
	skip "cannot record here"
tacho script -F comm,tid,time,event,ip -i whole.data | grep -v '^$' | sort >whole.lines
size=$(wc -c <whole.data)
python3 - >places <<'PY'
import struct
whole = open("whole.data", "rb").read()
attrs, attrs_size, data, data_size = struct.unpack_from("<4Q", whole, 24)
end = data + data_size
print(0, 7, 50, attrs + 3, "header")
print(data + data_size // 3, data + data_size // 2, end - 3, "records")
print(end, end + 30, (end + len(whole)) // 2, len(whole) - 1, "facts")
bad = bytearray(whole)		# a record of no size, in the middle of the data
at = data
while at < data + data_size // 2:
    at += struct.unpack_from("<H", whole, at + 6)[0]
struct.pack_into("<H", bad, at + 6, 0)
open("zero.data", "wb").write(bad)
PY

tells() {	# FILE COMMAND...: status 1, one message, with an offset unless there is nothing at all
	tells_file=$1
	shift
	rm -f copy.data picture.svg
	tells_status=$(status_of tacho "$@" -i "$tells_file")
	[ "$tells_status" = 1 ] || { cat err; fail "status $tells_status: $* of $tells_file"; }
	[ "$(wc -l <err)" = 1 ] || { cat err; fail "not one message: $* of $tells_file"; }
	[ "$(wc -c <"$tells_file")" -lt 8 ] || grep -q 'byte [0-9]' err ||
		{ cat err; fail "no offset: $* of $tells_file"; }
}

all() {		# FILE
	tells "$1" script -F comm,tid,time,event,ip
	grep -v '^$' out | sort >lines || true
	[ "$(comm -23 lines whole.lines | wc -l)" = 0 ] || fail "$1 has samples that were not recorded"
	for command in "script -D" "report --stdio" "report --stats" "report --mmaps" \
		"inject -o copy.data" "export -f folded -o -" "flame -q -o picture.svg"; do
		tells "$1" $command
	done
}

kept() {	# FILE: something of the records is left
	grep -q cpu-clock lines || fail "$1: nothing was kept"
}

while read -r line; do
	for at in ${line% *}; do
		head -c "$at" whole.data >cut-$at.data
		all cut-$at.data
		case $line in
		*records) kept cut-$at.data ;;
		*facts)
			cmp lines whole.lines || fail "samples before the cut were lost"
			tells cut-$at.data evlist
			tells cut-$at.data buildid-list
			tells cut-$at.data script --header-only
			tells cut-$at.data report --header-only ;;
		esac
	done
done <places
all zero.data
kept zero.data

# A recorder that died wrote no facts at all: that is told, and no failure.
python3 - <<'PY'
import struct
whole = bytearray(open("whole.data", "rb").read())
data, size = struct.unpack_from("<2Q", whole, 40)
struct.pack_into("<Q", whole, 48, 0)
whole[72:104] = bytes(32)
open("dead.data", "wb").write(whole[:data + size])
PY
for command in "script -F comm,tid,time,event,ip" "report --stdio" "export -f folded -o -"; do
	status=$(status_of tacho $command -i dead.data)
	[ "$status" = 0 ] || { cat err; fail "$command of a dead recorder's file fails"; }
	grep -q 'the recorder did not end properly: everything from byte [0-9]' err || { cat err; fail "there is no message"; }
done
