# The agent as a child of collectd's exec plugin: PUTVAL on stdout and nothing else, the host and the
# interval that collectd gives it, and values as `tacho stat` counts them; it ends with collectd.
# run: alone slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
. "$SUPPORT/collectd.sh"
find_collectd
need_root	# exec changes to another user
need setcap setpriv
need_counting
mkdir bin && cp "$BUILD/tacho" "$BUILD/tacho-agent" bin
setcap cap_perfmon+ep bin/tacho-agent 2>may || skip "may not give capabilities to files: $(cat may)"
mkdir home && chmod 777 home
setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$PWD/home" STATE_DIRECTORY="$PWD/home/state" RUNTIME_DIRECTORY="$PWD/home/run" bin/tacho agent --check \
	--set agent.store=\"\" >may 2>&1 || skip "may not count CPUs as another user: $(cat may)"
agent_head tacho.toml
sed -i "s|^socket = .*|socket = \"$PWD/home/ctl\"|" tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "pmu"
events = ["context-switches"]
groups = ["0"]
naming = "collectd-2"
interval = "100ms"
[[source]]
name = "fine"
events = ["page-faults", "cpu-clock"]
groups = ["0"]
naming = "collectd-1"
interval = "100ms"
[[export]]
type = "collectd"
exec = true
flush = "200ms"
sources = ["pmu", "fine"]
END
cat >child <<END
#!/bin/sh
export HOME="$PWD/home" STATE_DIRECTORY="$PWD/home/state" RUNTIME_DIRECTORY="$PWD/home/run"
echo \$\$ >"$PWD/home/pid"
env >"$PWD/home/env"
exec "$PWD/bin/tacho" agent -q -c "$PWD/tacho.toml" 2>"$PWD/home/err"
END
chmod 755 child
chmod 644 tacho.toml

# First by hand: nothing but PUTVAL leaves.
# Values are an interval apart; one that comes late does not put off those behind it.
in_rhythm() {	# SECONDS: times on stdin, none before its turn
	awk -v s="$1" 'NR == 1 { t = $1 } $1 - t < (NR - 1.12) * s { exit 1 }'
}
has_lines() {	# N FILE
	[ "$(wc -l <"$2")" -ge "$1" ]
}
: >putval
COLLECTD_HOSTNAME=hand COLLECTD_INTERVAL=0.5 tacho agent -c tacho.toml >putval 2>err &
hand_pid=$!
wait_for 30 has_lines 18 putval
end "$hand_pid"
! grep -v '^PUTVAL "hand/intel_pmu-0\(:software/pmu_counter\|/counter\)-[a-z-]*" interval=[0-9.]* [0-9]*\.[0-9][0-9][0-9]\(:[0-9][0-9]*\)\{1,4\}$' putval ||
	fail "something else is on stdout"
sed -n 's/.*context-switches" interval=[0-9.]* \([0-9.]*\):.*/\1/p' putval >times
[ "$(wc -l <times)" -ge 4 ] || { cat putval err >&2; fail "hardly a value"; }
in_rhythm 0.5 <times || fail "more than one value in half a second"

start_load
sed -i 's/^sources = .*/sources = ["pmu", "fine", "load"]/' tacho.toml
cat load.toml >>tacho.toml
STATE_DIRECTORY=$PWD/home/state	# of the child
start_collectd "LoadPlugin exec" "<Plugin exec>" "Exec \"nobody:nogroup\" \"$PWD/child\"" "</Plugin>"
agent_url=http://127.0.0.1:$agent_port
wait_url 20 "$agent_url/metrics"
grep -qx 'COLLECTD_HOSTNAME=testhost' home/env || fail "collectd gave no host"
last_row() {	# whether the last row of the file is among what the API has of its last minute
	cat "csv/testhost/$1"-20* >rows
	[ "$(wc -l <rows)" -ge 4 ]
}
for pair in pmu:context-switches:intel_pmu-0:software/pmu_counter fine:page-faults:intel_pmu-0/counter; do
	source=${pair%%:*} rest=${pair#*:}
	event=${rest%%:*} type=${rest#*:}
	wait_for 20 last_row "$type-$event"
	got=$(tail -n 1 rows | cut -d, -f2)
	curl -fsS "$agent_url/api/v1/series?source=$source&event=$event" >series.json
	now=$(jq '.series[0].raw' series.json)
	[ "$got" -le "$now" ] && [ "$got" -gt 0 ] || fail "$event: collectd has $got, the agent $now"
	# Rows are a second apart, as collectd asked for.
	grep -v epoch rows | cut -d, -f1 | in_rhythm 1 || { cat rows >&2; fail "$event: too often"; }
done
# CPU time passes as the clock does: the same time, within a percent. The clock is read before the counter,
# and the agent may have to wait in between: of three times, one has to do.
more_rows() {	# N: so many there are of CPU time
	last_row intel_pmu-0/counter-cpu-clock && has_lines "$1" rows
}
for try in 1 2 3; do
	wait_for 30 more_rows $((try * 3 + 1))
	grep -v epoch rows | tail -n 3 | awk -F, 'NR == 1 { t = $1; v = $2 } END { print ($2 - v) / 1e9, $1 - t }' >both
	! (within 1 "$(cut -d' ' -f1 both)" "$(cut -d' ' -f2 both)") >off 2>&1 || break
done
within 1 "$(cut -d' ' -f1 both)" "$(cut -d' ' -f2 both)"
# What a process did, here and by `tacho stat`.
work_load 1 20000
comm=$(cat "/proc/$load_pid/comm")
has_come_to() {	# EVENT VALUE
	cat "csv/testhost/tacho-load-pid$load_pid-$comm/pmu_counter-$1"-20* | grep -v epoch |
		awk -F, -v want="$2" '$2 >= want { found = 1 } END { exit !found }'
}
for event in page-faults task-clock; do
	now=$(curl -fsS "$agent_url/api/v1/series?source=load&event=$event" | jq '.series[0].raw')
	wait_for 20 has_come_to "$event" "$now"
done
end_load
for event in page-faults task-clock; do
	cat "csv/testhost/tacho-load-pid$load_pid-$comm/pmu_counter-$event"-20* | grep -v epoch >rows
	got=$(tail -n 1 rows | cut -d, -f2)
	[ "$event" = page-faults ] || got=$(awk "BEGIN { print $got / 1e6 }")
	within 1 "$got" "$(csv_value "$event" stat.csv)"
done
pid=$(cat home/pid)
end "$collectd_pid"
wait_for 20 sh -c "! kill -0 $pid"
