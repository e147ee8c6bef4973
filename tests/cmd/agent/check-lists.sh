# collectd's example with its event lists installed: the names resolve, and without a PMU the check says why they do not count.
. "$SUPPORT/lib.sh"
[ -e /sys/bus/event_source/devices/cpu ] && skip "this machine has a core PMU"
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
export XDG_CACHE_HOME="$PWD/cache"
for n in 1 2; do
	sed "s#/var/cache/pmu/GenuineIntel-6-55-core.json#$TEST_DATA/../lists/data/skx_core.json#
		s#/var/cache/pmu/GenuineIntel-6-55-uncore.json#$TEST_DATA/../lists/data/skx_uncore.json#" \
		"$TEST_DATA/config/collectd-$n.conf" >"$n.conf"
	tacho agent --check -c "$n.conf" | sed "s#$TEST_DATA#DATA#" | grep -E '^  [A-Z{]|events can'
done
cat >all.conf <<EOF
LoadPlugin intel_pmu
<Plugin intel_pmu>
    EventList "$TEST_DATA/../lists/data/skx_core.json"
    HardwareEvents "All"
</Plugin>
EOF
tacho agent --check -c all.conf | grep -E '^  [Aa]ll|events can'
