# The fields of an event, with a recorded tree; the whole name must match, ignoring case.
export XDG_CACHE_HOME="$PWD/cache" COLUMNS=80
lists="$TEST_DATA/../lists/data"
tacho events show br_misp_retired.all_branches_pebs TEST.UNKNOWN_MSR --event-list "$lists/skx_core.json" \
	--sysfs "$TEST_DATA/sysfs/spr" | sed "s#$lists#LISTS#"
echo --- again, from the cache
ls cache/tacho/lists | wc -l
tacho events show UNC_CHA_TOR_INSERTS.IA_MISS_DRD --json --event-list "$lists/icx_uncore.json" \
	--sysfs "$TEST_DATA/sysfs/spr" | sed "s#$lists#LISTS#"
echo --- unknown
tacho events show BR_MISP --event-list "$lists/skx_core.json" || echo "status $?"
tacho events show X --event-list "$lists/none.json" || echo "status $?"
tacho events frob || echo "status $?"
tacho events show || echo "status $?"
