# Real files of users, unmodified: an Alumet file and two of collectd's intel_pmu. The agent starts,
# counts what this machine can count, and gives the reason for the rest; the imported file
# does the same.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl jq python3
tacho stat -a -x, -e context-switches sleep 0.01 2>may || skip "may not count CPUs: $(cat may)"
cat >alumet-config.toml <<'END'
[plugins.perf]
poll_interval="1s"
flush_interval="1s"
hardware_events=["REF_CPU_CYCLES","CACHE_MISSES","BRANCH_MISSES"]
software_events=["PAGE_FAULTS","CONTEXT_SWITCHES"]
cache_events=["LL_READ_MISS"]
END
cat >core.conf <<'END'
<LoadPlugin intel_pmu>
	Interval 1
</LoadPlugin>
<Plugin intel_pmu>
	EventList "/var/cache/pmu/GenuineIntel-6-55-core.json"
	HardwareEvents "L2_RQSTS.CODE_RD_HIT,L2_RQSTS.CODE_RD_MISS" "L2_RQSTS.ALL_CODE_RD"
	Cores ""
	HardwareEvents "L2_RQSTS.PF_MISS"
	Cores "1"
	DispatchMultiPmu false
</Plugin>
END
cat >uncore.conf <<'END'
LoadPlugin intel_pmu
<Plugin intel_pmu>
	EventList "/var/cache/pmu/GenuineIntel-6-55-uncore.json"
	HardwareEvents "UNC_CHA_TOR_INSERTS.IA_MISS:config1=0x4043200000000" "UNC_IIO_TXN_REQ_BY_CPU.MEM_WRITE.PART0"
	Cores "0" "18"
	DispatchMultiPmu false
</Plugin>
END

run_file() {	# FILE NAME: what it does is in NAME.events and NAME.series
	port=$(free_port)
	# with the profile: an agent that can do nothing at all would end
	tacho agent -c "$1" --listen "127.0.0.1:$port" --store "" --set agent.socket="\"$PWD/ctl\"" >out 2>"$2.err" &
	pid=$!
	url=http://127.0.0.1:$port
	wait_url 20 "$url/healthz"
	wait_for 20 grep -q 'counting [0-9]* of [0-9]* events' "$2.err"
	wait_for 20 has_read
	curl -fsS "$url/api/v1/events" | jq '[.events[] | del(.share, .counters)]' >"$2.events"
	curl -fsS "$url/api/v1/series" |
		jq '[.series[] | select(.labels.source != "agent") | {event, name, unit, kind, labels}]' >"$2.series"
	curl -fsS "$url/metrics" | grep '^perf_' >"$2.metrics" || true
	end "$pid"
	[ ! -s out ] || fail "words on stdout: $(cat out)"
}
has_read() {	# what counts has been read, if anything does
	curl -fsS "$url/api/v1/series" |
		jq -e '[.series[] | select(.labels.source != "agent" and .reason == null)] | all(.[]; .time > 0) and
			all(.[] | select(.labels.cpu == "0" and (.name | test("PAGE_FAULTS|CONTEXT_SWITCHES"))); .value > 0)' &&
		curl -fsS "$url/api/v1/status" | jq -e '.ticks > 0'
}
check_file() {	# FILE N_EVENTS: runs it, and what it is imported as
	run_file "$1" as-is
	tacho config import "$1" >imported.toml
	run_file imported.toml imported
	cmp as-is.events imported.events >&2 || { diff as-is.events imported.events >&2; fail "$1: imported, events differ"; }
	cmp as-is.series imported.series >&2 || { diff as-is.series imported.series >&2; fail "$1: imported, series differ"; }
	[ "$(jq length as-is.events)" = "$2" ] || { cat as-is.events >&2; fail "$1: not $2 events"; }
	jq -e 'all(.[]; .state == "counting" or .state == "scaled" or .state == "not counted" or (.reason | length > 20))' as-is.events >out ||
		{ cat as-is.events >&2; fail "$1: an event is not counted and does not say why"; }
	jq -r '.[] | select(.reason != null) | .original' as-is.events | while read -r event; do
		grep -F "$event" as-is.err >out || fail "$1: nothing is said of $event"
	done
}

check_file alumet-config.toml 6
jq -e '[.[] | select(.state == "counting") | .original] | contains(["PAGE_FAULTS", "CONTEXT_SWITCHES"])' as-is.events >out ||
	{ cat as-is.events >&2; fail "software events are not counted"; }
jq -e 'all(.[]; .interval_ms == 1000 and .source == "perf")' as-is.events >out || fail "not every second"
grep -q '^perf_software_PAGE_FAULTS_total{.*cpu="0".*} [1-9]' as-is.metrics || fail "no perf_software_PAGE_FAULTS"
grep -q '^perf_software_CONTEXT_SWITCHES_total{.*cpu="0".*} [1-9]' as-is.metrics || fail "no perf_software_CONTEXT_SWITCHES"

check_file core.conf 3
jq -r '.[].source' as-is.events | uniq | paste -sd ' ' | grep -qx 'intel_pmu intel_pmu-2' || fail "not two sets"
jq -e 'all(.[]; .interval_ms == 1000 and .per == "group")' as-is.events >out || fail "not every second and per group"
check_file uncore.conf 2
[ -e /sys/devices/system/cpu/cpu18 ] || grep -q '18' as-is.err || fail "nothing is said of CPU 18"
jq -e 'all(.[]; .interval_ms == 10000)' as-is.events >out || fail "not every ten seconds"

# The events of a collectd.conf that can be counted anywhere go back to collectd under their names.
cat >software.conf <<'END'
Interval 0.5
LoadPlugin intel_pmu
<Plugin intel_pmu>
	ReportSoftwareEvents true
	Cores "0"
</Plugin>
END
tacho config import software.conf >export.toml
cat >>export.toml <<END
[[export]]
type = "collectd"
exec = true
flush = "200ms"
sources = ["intel_pmu"]
END
put_twice() {	# every event that was put at all
	cut -d'"' -f2 putval | sort | uniq -c | awk '$1 < 2 { exit 1 } END { exit !NR }'
}
: >putval
COLLECTD_HOSTNAME=box tacho agent -q -c export.toml --listen "127.0.0.1:$(free_port)" --store "" \
	--set agent.socket="\"$PWD/ctl\"" --set profile.enabled=false >putval 2>err &
pid=$!
wait_for 30 put_twice
end "$pid"
! grep -v '^PUTVAL "box/intel_pmu-0/counter-[a-z-]*" interval=[0-9.]* [0-9.]*:[0-9]*$' putval || fail "another identifier"
grep -q ' interval=0.500 ' putval || fail "another interval"
cut -d'"' -f2 putval | sort -u | sed 's/.*counter-//' | paste -sd ' '
