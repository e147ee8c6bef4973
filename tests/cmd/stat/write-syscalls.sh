# A tracepoint counts every write of dd: 100000, and a few more that strace also sees.
# run: both
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need strace dd
few=100 many=100000

strace -f -e trace=write -o calls dd if=/dev/zero of=/dev/null bs=1 count=$few 2>dd.err ||
	skip "strace cannot trace here"
besides=$(($(grep -c 'write(' calls) - few))
[ "$besides" -ge 1 ] || fail "dd wrote no summary? $besides"

tacho stat -x, -o rows -e syscalls:sys_enter_write dd if=/dev/zero of=/dev/null bs=1 \
	count=$many 2>dd.err
within 0.1 "$(csv_value syscalls:sys_enter_write rows)" $((many + besides))
