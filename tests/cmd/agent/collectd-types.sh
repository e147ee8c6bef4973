# One collectd.conf for both: with DispatchMultiPmu true and several HardwareEvents, the agent delivers every instance of a PMU to
# that collectd as NAME:type=N with four values. The instances are software events and the msr PMU under other names.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
. "$SUPPORT/collectd.sh"
find_collectd
need_root
need unshare
tacho stat -a -x, -e context-switches,msr/tsc/ sleep 0.01 >may 2>&1 && ! grep -q 'not supported\|not permitted' may ||
	skip "may not count CPUs, or there is no msr PMU: $(cat may)"
devices=/sys/bus/event_source/devices
msr=$(cat $devices/msr/type)
for pmu in software:1 uncore_test_0:1 "uncore_test_1:$msr"; do
	mkdir -p "pmus/${pmu%:*}/format"
	echo "${pmu#*:}" >"pmus/${pmu%:*}/type"
	echo config:0-63 >"pmus/${pmu%:*}/format/event"
	case $pmu in uncore*) echo 0 >"pmus/${pmu%:*}/cpumask" ;; esac
done
unshare -m mount --bind pmus $devices 2>err || skip "may not mount: $(cat err)"
start_collectd "LoadPlugin unixsock" "<Plugin unixsock>" "SocketFile \"$PWD/collectd.sock\"" "SocketGroup \"$(id -gn)\"" \
	"DeleteSocket true" "</Plugin>" \
	"<Plugin intel_pmu>" "HardwareEvents \"uncore_test/event=0x0/\" \"context-switches\"" "Cores \"0\"" \
	"HardwareEvents \"page-faults\"" "Cores \"[0]\"" "DispatchMultiPmu true" "</Plugin>"
wait_for 20 test -S collectd.sock
agent_port=$(free_port)
agent_url=http://127.0.0.1:$agent_port
mkdir state
unshare -m sh -c 'mount --bind pmus "$0" && exec "$@"' $devices "$BUILD/tacho" agent -c collectd.conf --listen "127.0.0.1:$agent_port" \
	--store '' --set agent.socket="$PWD/ctl" --set profile.enabled=false --set export.collectd.flush=500ms >agent.out 2>agent.err &
agent_pid=$!
wait_url 20 "$agent_url/metrics"
same_as_api intel_pmu uncore_test/event=0x0/ '.labels.pmu == "uncore_test_0"' testhost/intel_pmu-0/pmu_counter-uncore_test_event=0x0_:type=1 4
same_as_api intel_pmu uncore_test/event=0x0/ '.labels.pmu == "uncore_test_1"' \
	"testhost/intel_pmu-0/pmu_counter-uncore_test_event=0x0_:type=$msr" 4
same_as_api intel_pmu context-switches true testhost/intel_pmu-0/pmu_counter-context-switches 4
same_as_api intel_pmu-2 page-faults true testhost/intel_pmu-0/pmu_counter-page-faults 4
! grep -q 'collectd refused' agent.err || fail "$(cat agent.err)"
stop_agent
end "$collectd_pid"
