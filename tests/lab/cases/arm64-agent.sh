# proves: the agent counts cycles and uncore events on another machine; /metrics has their sums, exactly as fed
# guest: arch=arm64 kernel=bookworm cpus=2 memory=768 agent=yes
# modules: uncore_lab

load uncore_lab instances=2 cpus_per_socket=1
cat >tacho.toml <<-X
	[agent]
	listen = ["127.0.0.1:9273"]
	store = ""
	socket = "/tmp/ctl"
	[profile]
	enabled = false
	[[source]]
	name = "hw"
	events = ["cycles", "uncore_lab/reads/", "uncore_lab/writes/"]
	interval = "200ms"
	[[source]]
	name = "apart"
	events = ["uncore_lab/writes/"]
	no_merge = true
	interval = "200ms"
X
tacho agent --check -c tacho.toml | tail -n 1

# Until /metrics says it, at most half a minute.
wait_for() {	# PATTERN
	for i in $(seq 60); do
		if wget -q -O metrics http://127.0.0.1:9273/metrics && grep -q "$1" metrics; then
			return 0
		fi
		sleep 0.5
	done
	echo "waited in vain for $1"
	cat agent.out metrics
}

tacho agent -c tacho.toml >agent.out 2>&1 &
agent=$!
wait_for 'perf_uncore_lab_writes_total{.*source="apart"'
for i in 0 1; do
	echo "0 16384 $((5 + i))" >/sys/bus/event_source/devices/uncore_lab_$i/feed
	echo "1 32768 $((70 + i))" >/sys/bus/event_source/devices/uncore_lab_$i/feed
done
wait_for 'perf_uncore_lab_reads_bytes_total{cpu="1".* 4194304'
wait_for 'perf_uncore_lab_writes_total{cpu="1".*pmu="uncore_lab",.* 141$'
wait_for 'perf_uncore_lab_writes_total{cpu="1".*pmu="uncore_lab_1".* 71$'
grep '^perf_' metrics | sed 's/\(cycles_total{.*\) [1-9][0-9]*$/\1 counts/'
kill $agent
wait $agent && echo "ended"
