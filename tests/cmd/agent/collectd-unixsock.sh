# collectd takes values over its unixsock plugin, under intel_pmu's identifiers of both generations
# and ours; they are what the API shows and what `tacho stat` counts. It is stopped and started again.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
. "$SUPPORT/collectd.sh"
find_collectd
need_counting
tacho stat -a -x, -e context-switches sleep 0.01 2>may || skip "may not count CPUs: $(cat may)"
start_load
agent_head tacho.toml
cat load.toml - >>tacho.toml <<END
[[source]]
name = "first"
events = ["context-switches", "cpu-clock"]
groups = ["0"]
naming = "collectd-1"
interval = "300ms"
[[source]]
name = "second"
events = ["context-switches"]
groups = [{ label = "a/b \"c\" \\\\", cpus = "0" }]
naming = "collectd-2"
interval = "300ms"
[[source]]
name = "own"
events = ["context-switches"]
per = "machine"
interval = "300ms"
[[export]]
type = "collectd"
socket = "$PWD/collectd.sock"
host = "box"
flush = "300ms"
END
collectd_with_socket() {
	start_collectd "LoadPlugin unixsock" "<Plugin unixsock>" "SocketFile \"$PWD/collectd.sock\"" \
		"SocketGroup \"$(id -gn)\"" "DeleteSocket true" "</Plugin>"
	wait_for 20 test -S collectd.sock
}
is_down() {
	curl -fsS "$agent_url/metrics" | grep -q '^tacho_exporter_up{exporter="collectd".*} 0'
}

collectd_with_socket
start_agent tacho.toml
same_as_api first context-switches true box/intel_pmu-0/counter-context-switches 1
same_as_api first cpu-clock true box/intel_pmu-0/counter-cpu-clock 1
same_as_api second context-switches true 'box/intel_pmu-a_b "c" \:software/pmu_counter-context-switches' 4
same_as_api own context-switches true box/tacho-own/pmu_counter-context-switches 4
work_load 1 20000

# What is not there for a while gets all of it later, in order, and once but for what it was about to answer.
end "$collectd_pid"
rm -f collectd.sock
wait_for 20 is_down
work_load 2 20000
collectd_with_socket
work_load 3 20000
comm=$(cat "/proc/$load_pid/comm")
same_as_api load page-faults true "box/tacho-load-pid$load_pid-$comm/pmu_counter-page-faults" 4
same_as_api load task-clock true "box/tacho-load-pid$load_pid-$comm/pmu_counter-task-clock" 4
end_load
stop_agent
end "$collectd_pid"
# A value that collectd took but did not answer for, for it ended meanwhile, comes again. Each waits for the
# answer to the one before: of all series it can be one.
for file in csv/box/*/*-20*; do
	grep -v epoch "$file" | uniq -d
done >twice
[ "$(wc -l <twice)" -le 1 ] || { cat twice >&2; fail "more than one value came twice"; }
for event in page-faults task-clock; do
	file="csv/box/tacho-load-pid$load_pid-$comm/pmu_counter-$event"
	cat "$file"-20* | grep -v epoch | uniq >rows
	cut -d, -f1 rows | sort -c -n -u || fail "$event: a time twice or out of order"
	cut -d, -f2 rows | sort -c -n || fail "$event: a value falls"
	got=$(tail -n 1 rows | cut -d, -f2)
	[ "$event" = page-faults ] || got=$(awk "BEGIN { print $got / 1e6 }")
	within 1 "$got" "$(csv_value "$event" stat.csv)"
done
grep -q 'gone\|lost\|cannot reach' agent.err || fail "nothing was said about the time without collectd"
