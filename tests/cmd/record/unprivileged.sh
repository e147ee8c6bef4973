# A user who may do nothing special records own commands, in user space; smaller buffers are not an error.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need_root
need setpriv
chmod 777 .
unprivileged tacho record -e cpu-clock:u -o file sh -c "$LOOP" 2>err || { cat err; fail "refused"; }
[ "$(said err)" -gt 0 ] || { cat err; fail "nothing recorded"; }
unprivileged tacho record -o file sh -c "$LOOP" 2>err || { cat err; fail "refused by default"; }
[ "$(said err)" -gt 0 ] || { cat err; fail "nothing recorded by default"; }
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ]; then
	refused 1 unprivileged tacho record -a -o all true
fi
# If the kernel may not be sampled, the event's name shows it (:u).
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
	chown 0 file
	tacho evlist -i file | head -n 1 | grep -q '^c.*:P\{0,1\}u$' || fail "named $(tacho evlist -i file)"
fi
# Records that need privileges are left out without losing mappings or the actual error.
unprivileged tacho record --namespaces -e cpu-clock:u -o spaces sh -c "$LOOP" 2>err || { cat err; fail "--namespaces"; }
grep -q '^tacho record: namespaces are not recorded, because ' err || { cat err; fail "no word of namespaces"; }
chown 0 spaces
tacho script -i spaces --show-mmap-events | grep -q PERF_RECORD_MMAP2 || fail "no maps beside --namespaces"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
	refused 1 unprivileged tacho record --phys-data -e cpu-clock:u -o phys true
	grep -q 'hides physical addresses' err || { cat err; fail "no word of physical addresses"; }
fi
