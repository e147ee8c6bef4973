# proves: the agent counts hardware and uncore events on another machine, sums and instances, and /metrics has them
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
	events = ["cycles", "page-faults", "uncore_lab/reads/", "uncore_lab/writes/"]
	interval = "200ms"
X
tacho agent --check -c tacho.toml 2>&1 || true
tacho agent -c tacho.toml >agent.out 2>&1 &
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.5; wget -q -O metrics http://127.0.0.1:9273/metrics && break; done
sleep 1
for i in 0 1; do echo "0 16384 5" > /sys/bus/event_source/devices/uncore_lab_$i/feed;  echo "1 16384 7" > /sys/bus/event_source/devices/uncore_lab_$i/feed; done
sleep 1
wget -q -O metrics http://127.0.0.1:9273/metrics
grep -v '^#' metrics | grep -v tacho_agent
cat agent.out
kill %1 2>/dev/null || kill $!
wait
