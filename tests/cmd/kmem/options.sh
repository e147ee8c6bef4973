# Wrong options, recordings of something else, and damaged ones.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
refused 129 tacho kmem
refused 129 tacho kmem report
refused 129 tacho kmem stat again
refused 129 tacho kmem --caller -s page stat
grep -q 'for pages give --page before -s' err || fail "$(cat err)"
refused 129 tacho kmem --page --caller -s ptr stat
refused 129 tacho kmem -l 0 stat
refused 1 tacho kmem -i no-such-file stat
for option in --json --live --caller --alloc --raw-ip "-i x" "--time 1,"; do
	refused 129 tacho kmem $option record -o ignored.data true
	grep -q "belong to 'kmem stat'" err && [ ! -e ignored.data ] || fail "$option: $(cat err)"
done
tacho record -q -e cpu-clock -o other.data true >/dev/null 2>&1 || skip "cannot record here"
refused 1 tacho kmem -i other.data stat
grep -q 'none of the tracepoints that this needs, such as kmem:kmalloc' err || fail "$(cat err)"
[ "$(id -u)" = 0 ] && [ -e /sys/kernel/tracing/events/kmem/kmalloc ] || skip "cannot record tracepoints"
tacho kmem --slab --page record -o kmem.data true >rec 2>&1 || fail "$(cat rec)"
survives 150 kmem.data kmem --slab --page --caller --alloc stat
# A pipe works as a file does.
tacho kmem --caller -i kmem.data stat >file.txt
tacho kmem --caller -i - stat <kmem.data >pipe.txt
cmp file.txt pipe.txt
