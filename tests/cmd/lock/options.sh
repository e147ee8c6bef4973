# Wrong options, recordings of something else, and damaged ones.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
refused 129 tacho lock
refused 129 tacho lock held
refused 129 tacho lock contention more
refused 129 tacho lock contention -k acquire
refused 129 tacho lock contention -F contended,size
refused 129 tacho lock contention -Y spinlock,lock
grep -q "'lock' is not a kind of lock" err || fail "$(cat err)"
refused 129 tacho lock contention -t -l
refused 129 tacho lock contention -x ''
refused 129 tacho lock contention -o
refused 129 tacho lock contention -a
refused 129 tacho lock contention -b -o -l
refused 129 tacho lock contention -b -i lock.data
refused 129 tacho lock contention --max-stack=0
refused 129 tacho lock report -k name
refused 1 tacho lock report -i no-such-file
tacho record -q -e cpu-clock -o other.data true >/dev/null 2>&1 || skip "cannot record here"
refused 129 tacho lock contention -b -C x
refused 129 tacho lock contention -b -G no-such-cgroup
refused 1 tacho lock contention -i other.data
grep -q 'none of the tracepoints that this needs, such as lock:contention_begin' err || fail "$(cat err)"
need xz
xz -dc "$TEST_DATA/recordings/lock/contention/lock.data.xz" >lock.data
xz -dc "$TEST_DATA/recordings/lock/lockdep/lockdep.data.xz" >lockdep.data
survives 80 lock.data lock contention -q --output out
survives 40 lock.data lock contention -l --json
survives 80 lockdep.data lock report -c --json
survives 40 lockdep.data lock info --json
tacho lock contention -l -i - <lock.data 2>pipe.txt
tacho lock contention -l -i lock.data 2>file.txt
cmp file.txt pipe.txt
