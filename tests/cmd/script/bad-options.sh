# What cannot be done is refused with a message that says why.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
refused 1 tacho script -i /nonesuch
stored a.data live_perf record -q -e cpu-clock -o a.data -- true
refused 129 tacho script -i a.data -F comm,tdi
grep -q "did you mean 'tid'" err || fail "no hint: $(cat err)"
refused 1 tacho script -i a.data -F addr
grep -q "do not have ADDR attribute set. Cannot print 'addr' field" err || fail "not BOLT's message: $(cat err)"
refused 1 tacho script -i a.data -F ip,symoff
grep -q "'symoff' needs the field 'sym'" err || fail "no message about what is missing: $(cat err)"
refused 1 tacho script -i a.data -F comm,srcline
refused 1 tacho script -i a.data -F trace:
grep -q 'tracepoint events do not exist' err || fail "not perf's message: $(cat err)"
refused 129 tacho script -i a.data --reltime --deltatime
tacho script -i a.data --itrace=i100us >/dev/null 2>err
grep -q 'no hardware trace' err || fail "no reason: $(cat err)"
refused 129 tacho script -i a.data --itrace=ik
grep -q "'k' is not an option of --itrace" err || fail "no reason: $(cat err)"
# Lists are for events that may not be there, and need not be tidy.
perf script -i a.data -F sw:comm,,time, -F trace:comm,trace >theirs
tacho script -i a.data -F sw:comm,,time, -F trace:comm,trace >ours
cmp theirs ours
refused 1 tacho script -i a.data --time 5,3
refused 1 tacho script -i a.data -C x
refused 129 tacho script -i a.data word
# A list of CPUs is of no use for samples that have none.
tacho record -q -e cpu-clock -o no-cpu.data sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'
refused 1 tacho script -i no-cpu.data -C 0
grep -q 'without a CPU' err || fail "samples without a CPU were taken for CPU 0"
refused 129 tacho report --stdio -i no-cpu.data -C 0
