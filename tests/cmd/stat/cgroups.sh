# -G names a cgroup per event, --for-each-cgroup repeats the events; paths are relative to the
# hierarchy that perf events use.
. "$SUPPORT/lib.sh"
need_cgroups
tacho stat -a -x, -e task-clock,task-clock -G "$name,$name/b" \
	sh -c "echo \$\$ >$mount/$name/cgroup.procs; exec $TEST_BIN/spin -c 0.2 -t 0.2" 2>rows
sed "s/$name/NAME/; s/^[0-9.]*,/VALUE,/; s/,[0-9]*,100.00/,RUN,100.00/" rows
tacho stat -a -j -e cs,page-faults --for-each-cgroup "$name,$name/b" sleep 0.01 2>rows
sed "s/$name/NAME/" rows | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(row["event"], row["cgroup"])'
tacho stat -a -x, -e cs --for-each-cgroup "^$name.*" sleep 0.01 2>rows
[ "$(wc -l <rows)" = 2 ] || fail "regular expression: $(cat rows)"
refused "1 129" tacho stat -a -e cs -G no-such-cgroup true
refused 129 tacho stat -e cs -G "$name" true
refused 129 tacho stat -a -G "$name" -e cs true
# --metric-only: a line for each cgroup, with its name.
tacho stat -a -j --metric-only -M cs_per_second --for-each-cgroup "$name,$name/b" sleep 0.01 2>rows
sed "s/$name/NAME/" rows | python3 -c '
import json, sys
for line in sys.stdin:
    print(*json.loads(line, object_pairs_hook=lambda pairs: [pairs[0][1]] + [k for k, v in pairs]))'
tacho stat -a -x, --metric-only -M cs_per_second --for-each-cgroup "$name,$name/b" sleep 0.01 2>rows
cut -d, -f1 rows | sed "s/$name/NAME/"
refused 129 tacho stat -a -e cs -G "$name" --for-each-cgroup "$name" true
