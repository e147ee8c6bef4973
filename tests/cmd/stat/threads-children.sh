# 8 threads and 8 children burn a known CPU time: task-clock agrees with getrusage to 2 %. While the
# hypervisor has descheduled a CPU, only the former advances: hence several tries.
# run: plain alone
. "$SUPPORT/lib.sh"
for try in 1 2 3 4 5 6; do
	tacho stat -x, -e task-clock "$TEST_BIN/burn" -t 8 -p 8 -m 40 -o used 2>rows
	echo "try $try"
	if (within 2 "$(csv_value task-clock rows)" "$(cat used)"); then
		exit 0
	fi
done
exit 1
