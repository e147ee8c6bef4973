# 8 threads and 8 children burn a known CPU time: task-clock agrees with getrusage to 2 %.
. "$SUPPORT/lib.sh"
tacho stat -x, -e task-clock "$TEST_BIN/burn" -t 8 -p 8 -m 60 -o used 2>rows
within 2 "$(csv_value task-clock rows)" "$(cat used)"
