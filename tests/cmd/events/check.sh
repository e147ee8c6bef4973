# Every event of a list with its terms or the reason why it is refused, and the totals.
export XDG_CACHE_HOME="$PWD/cache"
lists="$TEST_DATA/../lists/data"
tacho events check --sysfs "$TEST_DATA/sysfs/spr" "$lists/icx_uncore.json" "$lists/spr_uncore.json"
tacho events check --json --sysfs "$TEST_DATA/sysfs/spr" "$lists/icx_uncore.json"
echo --- a list for this CPU is looked for where EVENTMAP says
EVENTMAP="$lists/icx_uncore.json" tacho events check --sysfs "$TEST_DATA/sysfs/spr" | tail -1
echo '{"Events": [' >broken.json
tacho events check broken.json || echo "status $?"
