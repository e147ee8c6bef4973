# The sorted symbols of a large program are cached: the second report reads the cache, unless the program has changed or
# the cache is damaged.
# run: slow
. "$SUPPORT/lib.sh"
need cc python3
export XDG_CACHE_HOME="$PWD/cache"
make_program() {	# NAME-OF-THE-HOT-FUNCTION
	python3 - "$1" >large.c <<-'PY'
		import sys
		for i in range(10000):
		    print(f"int function_{i}(int x) {{ return x + {i}; }}")
		print(f"__attribute__((noinline)) int {sys.argv[1]}(long n) {{ volatile int x = 0; while (n--) x++; return x; }}")
		print(f"int main(void) {{ return {sys.argv[1]}(300000000) == 7; }}")
	PY
	cc -O0 -Wl,--build-id=none -o large large.c
}
report() {
	tacho report --stdio -s sym -i perf.data 2>err | sed '/^#/d;/^$/d' >"$1" || fail "$(tail -n 1 err)"
}
kept() {
	ls cache/tacho/symbols 2>/dev/null | wc -l
}
make_program hot_and_found
tacho record -q -e cpu-clock ./large 2>err || skip "cannot sample: $(tail -n 1 err)"
report early
grep -q hot_and_found early || fail "the function is not found: $(cat early)"
sleep 3			# what was written a moment ago is not kept
report first
[ "$(kept)" -eq 1 ] || fail "$(kept) tables are kept"
cmp early first
file=cache/tacho/symbols/$(ls cache/tacho/symbols)
python3 - "$file" <<-'PY'
	import sys
	data = open(sys.argv[1], "rb").read()
	assert data.count(b"hot_and_found") == 1
	open(sys.argv[1], "wb").write(data.replace(b"hot_and_found", b"HOT_AND_FOUND"))
PY
report second
grep -q HOT_AND_FOUND second || fail "what was kept is not used"
head -c 20000 "$file" >short && cat short >"$file"
report third
cmp first third || fail "half of it was believed"
make_program hot_and_other
report fourth
grep -q hot_and_other fourth || fail "another file has the symbols of the one before"
! grep -q hot_and_found fourth || fail "a name of the file before"
