# Exported profiles name the service, container and pod of each process, also of processes that ended within the second:
# labels of pprof for Pyroscope, attributes of the resource in OpenTelemetry profiles. Sources of processes have them as labels.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
top=$(awk '($3 == "cgroup" && $4 ~ /name=systemd/) || ($3 == "cgroup2" && !found) { found = $2; if ($3 == "cgroup") exit } END { print found }' /proc/mounts)
id=$(printf '%064d' 7)
uid=01234567-89ab-cdef-0123-456789abcdef
service=tacho-test-$$.slice/shop-$$.service
container=tacho-test-$$.slice/pod$uid/docker-$id.scope
mkdir -p "$top/$service" "$top/$container" 2>err || skip "may not make cgroups: $(cat err)"
loads=
cleanup() {
	for load in $loads; do
		end "$load"
	done
	sleep 0.2
	for group in "$service" "$container" "${container%/*}" "${service%/*}"; do
		rmdir "$top/$group" 2>/dev/null || true
	done
}
trap cleanup EXIT
run_in() {	# CGROUP COMMAND
	group=$1
	shift
	sh -c 'echo $$ >"$0" && exec "$@"' "$top/$group/cgroup.procs" "$@" 2>run.err &
	loads="$loads $!"
}
run_in "$service" sh -c 'while :; do sh -c "i=0; while [ \$i -lt 30000 ]; do i=\$((i + 1)); done"; done'
run_in "$container" sh -c 'while :; do :; done'
port=$(free_port) port2=$(free_port)
agent_head head.toml
sed '/^\[profile\]/,$d' head.toml >tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "mine"
pids = [${loads##* }]
events = ["task-clock", "page-faults"]
[profile]
event = "cpu-clock"
frequency = 197
window = "2s"
[[export]]
type = "pyroscope"
url = "http://127.0.0.1:$port"
[[export]]
type = "otlp_profiles"
url = "http://127.0.0.1:$port2"
END
mkdir state
start_receiver "$port" pprof
start_receiver "$port2" otlp
start_agent tacho.toml
[ ! -s run.err ] || skip "may not move processes: $(cat run.err)"
curl -fsS "$agent_url/api/v1/status" | jq -e .profiler.running >/dev/null || skip "this machine cannot be sampled"
jq_series='[.series[] | select(.labels.source == "mine") | .labels] | length >= 2 and all(.[]; .pod == $pod and .container == $id and .service == null)'
curl -fsS "$agent_url/api/v1/series?event=task-clock" | jq .series >series
curl -fsS "$agent_url/api/v1/series?source=mine" | jq -e --arg pod $uid --arg id "$id" "$jq_series" >/dev/null || fail "labels: $(cat series)"
wait_for 60 test -s pprof/3.body
wait_for 60 test -s otlp/3.body
stop_agent

python3 "$SUPPORT/check-otlp" otlp/2.body >found || { cat found; fail "the OpenTelemetry message is wrong"; }
grep -qx "resource service.name: shop-$$.service" found && grep -qx "resource systemd.unit: shop-$$.service" found &&
	grep -qx "resource container.id: $id" found && grep -qx "resource k8s.pod.uid: $uid" found &&
	grep -qx "resource host.name: $(uname -n)" found && grep -qx "resource rack: r 1" found || { grep ^resource found; fail "resources"; }
grep -q "^second: $(($(date +%s) / 1000))" found || fail "no times of samples: $(grep -m3 second found)"

python3 - "shop-$$.service" "$id" "$uid" <<'END'
import collections, gzip, sys
service, container, pod = sys.argv[1:]
def varint(b, at):
    value = shift = 0
    while True:
        byte = b[at]
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if not byte & 128:
            return value, at
def fields(b):
    out, at = collections.defaultdict(list), 0
    while at < len(b):
        key, at = varint(b, at)
        value, at = varint(b, at)
        if key & 7 == 2:
            value, at = b[at:at + value], at + value
        out[key >> 3].append(value)
    return out
by, unnamed = collections.Counter(), 0
for i in (2, 3):
    p = fields(gzip.decompress(open(f"pprof/{i}.body", "rb").read()))
    text = [s.decode() for s in p[6]]
    for s in map(fields, p[2]):
        labels = {text[l[1][0]]: text[l[2][0]] if 2 in l else l[3][0] for l in map(fields, s[3])}
        assert not {"pid", "tid", "cpu", "thread_comm"} & set(labels), labels
        count = varint(s[2][0], 0)[0]
        by[labels.get("service"), labels.get("container"), labels.get("pod")] += count
print(by)
assert by[service, None, None] > 20 and by[None, container, pod] > 20, by
END
