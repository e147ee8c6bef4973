# The command lines of BOLT, CPython's tests, cargo-flamegraph, .NET and parallel-perf, started as `perf`:
# the same words as perf's, nothing on stderr.
# run: alone
. "$SUPPORT/lib.sh"
need perf python3
perf --version | grep -q ' 6\.1' || skip "needs perf 6.1 to compare with"
theirs=$(command -v perf)
mkdir bin 'a b'
ln -s "$TACHO" bin/perf
cp "$TEST_BIN/burn" 'a b/burn it'
"$theirs" record -q -e cpu-clock:u -F 1999 -o plain.data "$TEST_BIN/burn" -t 1 -m 100 >/dev/null 2>&1 ||
	skip "perf cannot record here"
"$theirs" record -q -a -e cpu-clock -F 499 -g -o chains.data "$TEST_BIN/burn" -t 1 -m 100 >/dev/null 2>&1 ||
	"$theirs" record -q -e cpu-clock:u -F 499 -g -o chains.data "$TEST_BIN/burn" -t 1 -m 100 >/dev/null 2>&1
"$theirs" record -q -e cpu-clock:u -F 999 -g -o blank.data 'a b/burn it' -t 1 -m 50 >/dev/null 2>&1

words() {	# blanks are for the eye
	sed 's/  */ /g; s/^ //; s/ $//'
}

same() {	# FILE OPTION...
	same_file=$1
	shift
	"$theirs" script -f -i "$same_file" "$@" 2>/dev/null | words >wanted
	bin/perf script --short-names -f -i "$same_file" "$@" 2>messages | words >got
	[ ! -s messages ] || fail "on stderr: $(cat messages)"
	[ -s wanted ] || fail "perf printed nothing: $*"
	"$SUPPORT/compare-script" wanted got >different || fail "$same_file $*: $(cat different)"
}
same plain.data -F pid,event,ip			# BOLT
same plain.data --show-mmap-events --no-itrace
same plain.data --show-task-events --no-itrace
[ "$(bin/perf buildid-list -f -i plain.data | sort)" = "$("$theirs" buildid-list -f -i plain.data | sort)" ] ||
	fail "another list of build ids"
[ "$(status_of bin/perf script -f -i plain.data -F pid,event,addr,ip)" != 0 ] || fail "addresses out of nothing"
grep -q 'do not have ADDR attribute set. Cannot print .addr. field' err || fail "not what BOLT waits for"
same plain.data --no-inline --force
same plain.data -F +pid
same plain.data -F comm,pid,tid,time,event,ip,sym,dso
same chains.data -F comm,tid,time,event,ip,sym,dso --no-inline

# parallel-perf takes the file apart by time: the parts are the whole.
bin/perf script -i chains.data -F comm,tid,time,event >whole
grep -v '^$' whole | sort >whole.sorted
for part in 0%-50% 50%-100%; do
	bin/perf script -i chains.data -F comm,tid,time,event --time $part
done | grep -v '^$' | sort -u >parts.sorted
sort -u whole.sorted | cmp - parts.sorted || fail "parts by time are not the whole"

# Names with blanks: the object is in the last parentheses, as stackcollapse-perf.pl and perf have it.
bin/perf script -i blank.data >text
"$theirs" script --no-inline -i blank.data >wanted
"$SUPPORT/compare-script" wanted text || fail "a name with blanks"
grep -q '^	 *[0-9a-f]* .* (.*/a b/burn it)$' text || fail "no frame in a file with blanks in its name"

# [unknown] in brackets without an offset, the kernel's object by the name that profilers look for.
bin/perf script -i chains.data >text
! grep -q '\[unknown\]+0x' text || fail "an offset into nothing"
if grep -q '^	 *ffffffff' text; then
	grep '^	 *ffffffff' text | grep -v ' \[unknown\] ' | grep -qv '(\[[a-z0-9_.]*\])$' &&
		fail "a kernel frame that is not in brackets: $(grep '^	 *ffffffff' text | grep -v '(\[' | head -n 1)"
	grep -q '(\[kernel.kallsyms\])$' text || fail "no [kernel.kallsyms]"
fi
