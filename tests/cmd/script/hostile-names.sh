# Threads and files may be called anything: lines stay lines, no escape sequence gets to a terminal,
# pictures and exports stay well-formed, and nothing of a name becomes markup.
. "$SUPPORT/lib.sh"
need cc python3 xmllint
cat >work.c <<'C'
#include <sys/prctl.h>
volatile long x;
__attribute__((noinline)) void leaf_function(long n) { while (n--) x += n; }
int main(void) { prctl(PR_SET_NAME, "<b>\"\\\n\033[31m&'"); leaf_function(100000000); return 0; }
C
cc -O1 -fno-omit-frame-pointer -o work work.c
dir=$(printf 'd<i>"\\&\033[1m;x')
mkdir "$dir"
name=$(printf '%s/p<x>&amp;\n]]>' "$dir")
cp work "$name"
tacho record -q -e cpu-clock:u -F 999 -g -o perf.data "./$name" || skip "cannot record here"

tacho script >text
! grep -q "$(printf '\033')" text || fail "an escape sequence in script"
grep -q '^<b>"\\??\[31m&'"'"' ' text || { head -n 2 text; fail "the thread's name"; }
grep -q 'leaf_function.* (.*/p<x>&amp;?\]\]>)$' text || { head -n 3 text; fail "the file was not found under its name"; }
"$SUPPORT/script-shapes" <text || fail "lines are no longer lines"
tacho report --stdio >report 2>/dev/null
! grep -q "$(printf '\033')" report || fail "an escape sequence in report"
grep -q '^ .*<b>"\\??\[31m.*leaf_function' report || fail "no row of the thread"

for format in svg html pprof speedscope firefox chrome callgrind d3 json folded; do
	tacho export -f $format -o out.$format || fail "export -f $format"
done
tacho flame -i perf.data -o flame.svg --title "$(printf '<t>"&\001\033]]>')"
tacho heatmap -o heat.svg --title "$(printf '<t>"&\001\033]]>')"
xmllint --noout out.svg flame.svg heat.svg || fail "a picture is not well-formed"
! grep -q '<x>\|<b>\|<i>' out.svg out.html flame.svg || fail "a name became markup"
for format in speedscope firefox chrome d3 json; do
	python3 - out.$format <<-'PY' || fail "$format is not JSON"
	import gzip, json, sys
	raw = open(sys.argv[1], "rb").read()
	json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
	PY
done
tacho script --json | python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' || fail "script --json"
tacho report --json | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "report --json"
[ "$(wc -l <out.folded)" = "$(grep -c ' [0-9]*$' out.folded)" ] || fail "folded lines"

refused "126 127" tacho record "$dir/nothing"
! grep -q "$(printf '\033')" err || fail "an escape sequence in a message"
