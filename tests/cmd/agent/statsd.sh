# StatsD: what comes by UDP adds up to the counter, packets are small, gauges are values. An export that
# a reload begins anew does not tell once more what the one before it has told. The receiver is stopped
# and started again: nothing is lost, nothing comes twice.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
need_counting
start_load
cat >listen.py <<'END'
import os, select, signal, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", int(sys.argv[1])))
open("port.new", "w").write(str(s.getsockname()[1]))
os.rename("port.new", "port")
out = open("packets", "a", buffering=1)
over = []
signal.signal(signal.SIGTERM, lambda *_: over.append(1))
while True:
    if select.select([s], [], [], 0.02)[0]:
        data = s.recv(70000).decode()
        assert len(data) <= 500, len(data)
        out.write(data + "\n")
    elif over:		# not before: what the kernel took was delivered
        s.close()
        sys.exit(0)
END
start_listener() {	# PORT
	rm -f port
	python3 listen.py "$1" 2>>listen.err &
	listen_pid=$!
	wait_for 10 test -s port
}
start_listener "$(free_port)"
agent_head tacho.toml
cat load.toml - >>tacho.toml <<END
[[export]]
type = "statsd"
address = "127.0.0.1:$(cat port)"
packet = 500
flush = "200ms"
[[export]]
name = "dog"
type = "statsd"
address = "127.0.0.1:$(cat port)"
style = "datadog"
prefix = "dog"
packet = 500
flush = "200ms"
[[export]]
name = "nobody"
type = "statsd"
address = "127.0.0.1:$(free_port)"
flush = "200ms"
END
start_agent tacho.toml
work_load 1 20000
sleep 1		# the last of it is read and taken
sed 's/^prefix = "dog"$/&\ntimeout = "9s"/' tacho.toml >changed.toml
mv changed.toml tacho.toml
kill -HUP "$agent_pid"
wait_for 20 grep -q reloaded agent.err
sleep 1		# and read by the one that is new
port=$(cat port)
end "$listen_pid"
work_load 2 10000
wait_for 20 metric_is 'tacho_exporter_up{exporter="statsd"' 0
start_listener "$port"
work_load 3 10000
for name in statsd dog; do
	wait_for 60 metric_is "tacho_exporter_up{exporter=\"$name\"" 1
	wait_for 20 metric_is "tacho_exporter_queued_points{exporter=\"$name\"" 0
	none_dropped "$name"
done
wait_for 20 metric_is 'tacho_exporter_retries_total{exporter="nobody"' '[1-9]'
stop_agent
[ "$(grep -c "export 'nobody'" agent.err)" = 1 ] || fail "says it again and again: $(cat agent.err)"
end_load
end "$listen_pid"
[ ! -s listen.err ] || { cat listen.err >&2; fail "the listener"; }
for name in '^tacho[.].*[.]perf_page_faults[.]comm_python3[.].*pid_[0-9]*[.]rack_r_1[.].*source_load:[0-9]*[|]c$' \
	'^dog[.]perf_page_faults:[0-9]*[|]c[|]#comm:python3,host:.*,pid:[0-9]*,rack:r_1,source:load$'; do
	grep "$name" packets >lines || { head packets >&2; fail "no $name"; }
	sum=$(sed 's/|#.*//; s/.*:\([0-9]*\)|c$/\1/' lines | awk '{ n += $1 } END { printf "%d", n }')
	within 1 "$sum" "$(csv_value page-faults stat.csv)"
	grep "$(echo "$name" | sed 's/page_faults/task_clock_seconds/; s/:\[0-9\]\*/:[0-9.e-]*/')" packets >lines ||
		fail "no CPU time"
	sum=$(sed 's/|#.*//; s/.*:\([0-9.e-]*\)|c$/\1/' lines | awk '{ n += $1 } END { printf "%f", n }')
	within 1 "$sum" "$(awk -F, '$3 == "task-clock" { print $1 / 1000 }' stat.csv)"
done
grep -q '[.]tacho_resident_bytes[.].*:[0-9]*|g$' packets || fail "no gauge"
