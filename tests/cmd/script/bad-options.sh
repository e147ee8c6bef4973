# What cannot be done is refused with a message that says why.
. "$SUPPORT/lib.sh"
refused 1 tacho script -i /nonesuch
need perf
perf record -q -e cpu-clock -o a.data -- true >/dev/null 2>&1 || skip "perf cannot record here"
refused 129 tacho script -i a.data -F comm,tdi
grep -q "did you mean 'tid'" err || fail "no hint: $(cat err)"
refused 1 tacho script -i a.data -F addr
grep -q "do not have ADDR attribute set. Cannot print 'addr' field" err || fail "not BOLT's message: $(cat err)"
refused 1 tacho script -i a.data --time 5,3
refused 1 tacho script -i a.data -C x
refused 129 tacho script -i a.data word
# A list of CPUs is of no use for samples that have none.
tacho record -q -e cpu-clock -o no-cpu.data sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done'
refused 1 tacho script -i no-cpu.data -C 0
grep -q 'on which CPU' err || fail "samples without a CPU were taken for CPU 0"
refused 129 tacho report --stdio -i no-cpu.data -C 0
