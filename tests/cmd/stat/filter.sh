# --filter counts only matching tracepoints; if the kernel refuses a filter, the message explains it.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
tacho stat -x, -e syscalls:sys_enter_write --filter 'count == 7' \
	sh -c 'i=0; while [ $i -lt 50 ]; do printf 1234567; printf 123; i=$((i+1)); done' 2>rows >/dev/null
csv_value syscalls:sys_enter_write rows
refused "1 129" tacho stat -e syscalls:sys_enter_write --filter 'no_such_field == 7' true
grep -q no_such_field err || fail "$(cat err)"
refused "1 129" tacho stat -e cs --filter 'x == 7' true
