# Wherever memory runs out, a command ends with a message and a status, or does all of its work.
# run: plain
. "$SUPPORT/lib.sh"
need python3
library=$BUILD/tests/support/libfail-malloc.so
tacho record -q -g -e cpu-clock -F 2000 -o perf.data "$TEST_BIN/burn" -t 1 -m 30 >out 2>&1 || skip "cannot record here"
tacho stat record -q -e task-clock,context-switches -o stat.data true >out 2>&1 || skip "cannot count here"
python3 "$SUPPORT/untrusted-recording" trace.data $((5000000 + $$))
runs=${RUNS:-12}
failed=0
all() {		# [OPTIONS OF fail-allocations] -- WORDS...
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	"$SUPPORT/fail-allocations" "$library" "$runs" $options -- "${program:-$TACHO}" "$@" || failed=1
}
all -- script
all -- script --json
all -- script -F comm,tid,time,event,ip,sym,symoff,dso,srcline
all -- script -i trace.data
all -- script -i trace.data --show-mmap-events --show-task-events --show-cgroup-events
all -- script -D
all -- report --stdio
all -- report --stdio --json
all -- report --stdio -H -s comm,dso,sym
all -- report --stdio -s comm,srcline,cgroup,trace -i trace.data
all -- report --stats
all -- report --tasks
all -- report --mmaps
all -- report --header-only -I -i trace.data
all -- evlist -v
all -- evlist --trace-fields -i trace.data
all -- buildid-list
all -- buildid-list --with-hits
all --file copy.data -- inject -b -i perf.data -o copy.data
all --file converted.json -- data convert --force --to-json converted.json
all --file traced.json -- data convert --force --to-json traced.json -i trace.data
for format in folded svg html pprof speedscope firefox chrome callgrind d3 json; do
	all --file out.$format -- export -f $format -o out.$format
done
all --file heat.svg -- heatmap -o heat.svg
all --any-output -- archive -o objects.tar
python3 "$SUPPORT/sched-recording" sched.data
all -- sched latency -p --percentiles --json -i sched.data
all -- sched timehist -w -S -i sched.data
all -- sched map -i sched.data
all -- sched export -f perfetto -i sched.data
all -- sched export -f chrome -i sched.data
all -- stat report -i stat.data
all -- stat report -j -i stat.data
all --any-output -- stat -e task-clock,context-switches,page-faults true
all --any-output -- stat -x, -a -e cpu-clock sleep 0.001
all --any-output -- stat record -o new.data true
all --any-output -- record -q -o new.data true
all -- list sw
all --any-output -- doctor --json
all -- help record
all -- version --build-options
cat >tacho.toml <<'END'
[agent]
listen = ["127.0.0.1:9999"]
token = "secret"
[profile]
frequency = 99
[[source]]
name = "all"
events = ["page-faults"]
[[export]]
type = "textfile"
path = "/tmp/tacho.prom"
END
program=$BUILD/tacho-agent
all -- config show -c tacho.toml --set source.all.interval=10ms --set agent.labels.dc=muc --show-origin
all --any-output -- agent --check -c tacho.toml
exit $failed
