# Whatever the strings of a recording contain, neither a terminal nor a file gets escape sequences, C1 controls, characters
# that change the direction of text, bytes that are not UTF-8, or lines of their own.
. "$SUPPORT/lib.sh"
need python3
pid=$((5000000 + $$))		# no process has this number
map=/tmp/perf-$pid.map
python3 "$SUPPORT/untrusted-recording" perf.data $pid
printf '400000 40 sym\033[31m\302\233\233\342\200\256x\r<b>\n' >"$map"
trap 'rm -f "$map"' EXIT
mkdir home out
export HOME="$PWD/home"
# check.py FILE...: the files are clean
cat >check.py <<'PY'
import re, sys
bad = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|^INJECTED", re.M)
failed = False
for path in sys.argv[1:]:
    raw = open(path, "rb").read()
    try:
        text = raw.decode()
    except UnicodeDecodeError as e:
        sys.exit(f"{path}: not UTF-8: {raw[max(e.start - 60, 0):e.start + 20]!r}")
    found = bad.search(text)
    if found:
        failed = True
        print(f"{path}: {found[0]!r} in {text[max(found.start() - 60, 0):found.end() + 20]!r}")
sys.exit(failed)
PY
n=0
clean() {	# WORDS...: `tacho WORDS...` prints clean text, and prints something
	n=$((n + 1))
	clean_status=0
	tacho "$@" >"out/$n" 2>"out/$n.err" </dev/null || clean_status=$?
	[ $clean_status -lt 2 ] || { cat "out/$n.err"; fail "status $clean_status: $*"; }
	[ -s "out/$n" ] || [ -s "out/$n.err" ] || [ -n "${quiet:-}" ] || fail "no output: $*"
	python3 check.py "out/$n" "out/$n.err" || fail "tacho $*"
}
clean script
grep -q sym "out/$n" || fail "the perf map was not read"
grep -q 'INJECTED' "out/$n" || fail "no untrusted string"
clean script -F comm,tid,event,trace,ip,sym,symoff,dso,dsoff,cgroup,srcline
clean script --show-mmap-events --show-task-events --show-cgroup-events --show-bpf-events --show-namespace-events
clean script --header -I
clean script --json
clean script -D
clean script -D --json
clean script --per-event-dump
python3 check.py ./*.dump && ls | python3 -c 'import re, sys
sys.exit(bool(re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", sys.stdin.read())))' || fail "script --per-event-dump"
clean report --stdio
clean report --stdio -G --header -I
clean report --stdio -H -s comm,dso,sym
for key in comm dso sym srcline cgroup symoff trace trace_fields parent; do
	clean report --stdio -s $key
done
clean report --stdio -t ';'
clean report --stdio --json
clean report --header-only -I
clean report --stats
clean report --tasks
clean report --mmaps
clean evlist -v
clean evlist -F -g
clean evlist --trace-fields
clean buildid-list
quiet=yes clean buildid-list --with-hits
clean buildid-cache -M perf.data
clean archive -o objects.tar
for format in folded svg html speedscope firefox chrome callgrind d3 json heatmap; do
	quiet=yes clean export -f $format -o picture.$format
	case $format in
	firefox) gzip -dc <picture.$format >plain 2>/dev/null || cp picture.$format plain ;;
	*) cp picture.$format plain ;;
	esac
	python3 check.py plain || fail "export -f $format"
done
quiet=yes clean flame -o flame.svg
python3 check.py flame.svg || fail "flame"
quiet=yes clean data convert --to-json converted.json
python3 check.py converted.json || fail "data convert --to-json"
python3 -c 'import json; json.load(open("converted.json"))' || fail "no JSON"
quiet=yes clean data convert --to-ctf ctf
python3 check.py ctf/metadata || fail "data convert --to-ctf"
quiet=yes clean inject -b -v -i perf.data -o copy.data
clean script -i copy.data
# names in messages
clean script -F comm,addr
clean export -e "$(printf 'no\033event')" -f folded -o -
# what a stat recording says of its events
tacho stat record -q -e task-clock,context-switches -o stat.data true 2>err || skip "cannot count here: $(cat err)"
python3 - <<'PY'
b = open("stat.data", "rb").read()
b = b.replace(b"task-clock", b"t\x1b[1m\xc2\x9b\n\xe2\x80")
b = b.replace(b"context-switches", b"\xe2\x80\xaes\r\x9b2J\x7f\xe2\x80\xa8\xc2\x9b<b>"[:16])
open("stat.data", "wb").write(b)
PY
sleep 60 &
tacho stat record -q -e task-clock --per-thread -p $! -o thread.data sleep 0.01 2>err || fail "$(cat err)"
kill $!
python3 - <<'PY'
b = open("thread.data", "rb").read()
assert b"sleep\0\0\0" in b
open("thread.data", "wb").write(b.replace(b"sleep\0\0\0", b"\x1b\xc2\x9b\n\xe2\x80\xae"[:7] + b"\0"))
PY
clean stat report -i thread.data
clean stat report -i stat.data
clean stat report -x, -i stat.data
clean stat report -j -i stat.data
clean evlist -i stat.data
