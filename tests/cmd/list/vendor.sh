# The fields of a vendor's list: topic, description, PEBS, scale, errata, encoding; and why the events
# cannot be counted on a machine without their PMU. --long-desc has the whole description, JSON both.
[ -e /sys/bus/event_source/devices/cpu ] && { echo "# skip: this machine has a core PMU"; exit 77; }
[ -e /sys/bus/event_source/devices/uncore_imc_0 ] && { echo "# skip: this machine has memory controllers"; exit 77; }
export XDG_CACHE_HOME="$PWD/cache" XDG_DATA_HOME="$PWD/data" COLUMNS=100
list="$TEST_DATA/../lists/data/listed.json"
tacho list vendor --all --event-list "$list"
echo --- details
tacho list LISTED.PRECISE --details --event-list "$list"
echo --- all that is known
tacho list LISTED.PRECISE -v --event-list "$list"
echo --- by its unit
tacho list vendor --all --unit 'uncore_*' --event-list "$list"
echo --- JSON
tacho list vendor -j --event-list "$list" --details
