# Samples of one program in two cgroups: -s cgroup names both, with as many samples as there are.
. "$SUPPORT/lib.sh"
need_cgroups
spin="$TEST_BIN/spin -c 0.2 -t 0.2"
tacho record -q -a --all-cgroups -e cpu-clock -F 500 -o a.data sh -c "
	(echo 0 >$mount/$name/cgroup.procs; exec $spin); (echo 0 >$mount/$name/b/cgroup.procs; exec $spin)" \
	2>err || skip "cannot record cgroups: $(cat err)"
# perf 6.1 leaves out one of four cgroups now and then: the samples one by one are the measure.
tacho script -F comm,cgroup -i a.data | awk '$1 == "spin" && $2 ~ name { n[$2]++ } END { for (g in n) print g, n[g] }' \
	name="$name" | sort >one-by-one
tacho report --stdio --no-children -c spin -n -s cgroup -t, -q -i a.data 2>err |
	awk -F, '$3 ~ name { gsub(/ /, ""); print $3, $2 }' name="$name" | sort >rows
[ "$(wc -l <rows)" = 2 ] || fail "not both cgroups: $(cat rows)"
diff one-by-one rows
# Functions apart, and both cgroups still.
tacho report --stdio --no-children -c spin -s cgroup,sym -q -i a.data 2>err | grep -q "$name/b .*[[]" ||
	fail "no function in $name/b"
