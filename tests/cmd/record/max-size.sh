# --max-size: the output never exceeds the size, and what is in it can be read.
# run: both
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
limited() {	# KB ARGS...
	limited_kb=$1
	shift
	tacho record -e cpu-clock:u -F 5000 -g -o size --max-size "${limited_kb}K" "$@" timeout 20 "$TEST_BIN/spin" -c 30 \
		2>err || true
	grep -q "^\[ tacho record: tacho size limit reached ($limited_kb KB), stopping session \]\$" err ||
		{ cat err; fail "$*: no message"; }
	bytes=$(cat $(find size -type f) | wc -c)
	[ "$bytes" -le $((limited_kb * 1024)) ] || fail "$*: $bytes bytes instead of $limited_kb KB"
	[ "$bytes" -ge $((limited_kb * 1024 / 2)) ] || fail "$*: only $bytes bytes of $limited_kb KB are used"
	n=$(tacho script -i size -F comm,time,event 2>err.script | grep -c cpu-clock || true)
	[ "$n" -gt 0 ] && [ "$n" = "$(said err)" ] || { cat err err.script; fail "$*: $n samples instead of $(said err)"; }
	[ ! -s err.script ] || { cat err.script; fail "$*: the file is damaged"; }
	rm -rf size size.old
}
limited 60
limited 40
limited 80 --threads
limited 20 -z -F 20000
# The header alone is larger: nothing is recorded, and the file can be read nevertheless.
tacho record -e cpu-clock:u -o tiny --max-size 1K true 2>err
grep -q 'size limit reached' err || { cat err; fail "no message about 1K"; }
tacho evlist -i tiny >out 2>&1 && grep -q cpu-clock out || { cat out; fail "the file cannot be read"; }
