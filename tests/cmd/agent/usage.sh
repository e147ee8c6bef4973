# CPU utilisation without counters: the machine's CPUs, the busiest processes and their user, control group and command
# line agree with what the process itself and `tacho stat` count; a quiet machine's list has no series for idle processes.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl jq python3
agent_head tacho.toml
cat >>tacho.toml <<END
[usage]
processes = 5
[[source]]
name = "me"
events = ["page-faults"]
pids = [$$]
END
start_agent tacho.toml
api() {	# PATH
	curl -fsS -m 10 "$agent_url/api/v1/$1"
}
series_of() {	# EVENT FILTER: the value of the one series that the jq filter selects
	api "series?event=$1&source=usage" | jq -e "[.series[] | select($2)] | if length == 1 then .[0].value else error(\"\(length) series\") end"
}

# Two CPUs are busy, or as many as there are: a process with a secret-looking argument.
python3 -c 'import sys
while True:
    pass' load-argument &
load=$!
before=$(used_ms $load)
wait_for 30 series_of process-cpu ".labels.pid == \"$load\""
api processes >list
jq -e --argjson pid $load '.schema == "tacho.processes.v1" and .total > 3 and
	(.processes[] | select(.pid == $pid) | .cpu > 0.005 and .user_cpu <= .cpu + 0.05 and .threads == 1 and
	 .resident_bytes > 1000000 and .series > 0 and (.command_line | endswith("load-argument")) and .user != "")' list >/dev/null ||
	fail "$(jq -c --argjson pid $load '.processes[] | select(.pid == $pid)' list)"
[ "$(jq '[.processes[].recent_cpu] | . == (sort | reverse)' list)" = true ] || fail "not sorted by CPU time"

# The counter is the time that the kernel accounts for the process, within two ticks and a reading.
value=$(series_of process-cpu ".labels.pid == \"$load\"")
now=$(used_ms $load)
awk -v v="$value" -v a="$before" -v b="$now" 'BEGIN { exit !(v * 1000 >= a - 20 && v * 1000 <= b + 20) }' ||
	fail "CPU time $value s is not between $before and $now ms"
tacho stat -x, -e task-clock -p $load -o stat.csv -- sleep 0.1 || fail "stat"

# The CPUs: busy time is at least that of the process, and at most the time that has passed on all CPUs.
busy() {
	api "series?event=cpu-busy" | jq -e '[.series[].value] | add'
}
sample() {
	printf '%s %s %s\n' "$(date +%s%N)" "$(busy)" "$(used_ms $load)"
}
sample >a
sleep 4
sample >b
cpus=$(getconf _NPROCESSORS_ONLN)
[ "$(api 'series?event=cpu-busy' | jq '.series | length')" = "$cpus" ] || fail "not one series per CPU"
paste -d' ' a b | awk -v cpus="$cpus" '{ wall = ($4 - $1) / 1e9; busy = $5 - $2; load = ($6 - $3) / 1000
	print "wall " wall " busy " busy " load " load
	exit !(busy <= (wall + 1.2) * cpus && busy >= load - 1.2) }' || fail "$(paste -d' ' a b)"

# It is exported under one name, and its parts add up to no more than the machine.
curl -fsS "$agent_url/metrics" >page
grep -q "^tacho_cpu_user_seconds_total{.*cpu=\"0\"" page || fail "no user time"
grep -q "^tacho_cpu_steal_seconds_total{.*cpu=\"0\"" page || fail "no steal time"
grep -q "^tacho_process_cpu_seconds_total{comm=\"other\"" page || fail "nothing about the other processes"
api 'series?event=process-cpu' | jq -e '[.series[] | select(.labels.pid and (.ended | not))] | length <= 5' >/dev/null ||
	fail "more than five processes"
! grep -q load-argument page || fail "a command line is exported"

# An ended process: its series ends. Off by a reload: all of them end.
kill $load
wait $load || true
ended() {
	api "series?event=process-cpu" | jq -e --arg pid $load '[.series[] | select(.labels.pid == $pid and (.ended | not))] | length == 0'
}
wait_for 10 ended
sed -i 's/^processes = .*/enabled = false/' tacho.toml
kill -HUP "$agent_pid"
off() {
	api "series?source=usage" | jq -e '[.series[] | select(.ended | not)] | length == 0'
}
wait_for 10 off
api processes | jq -e '.reason != null and .processes == []' >/dev/null || fail "the list does not say that it is off"
stop_agent
