# The tables of the slab allocator are those of perf 7, line by line; those of pages except for what perf calls the types, and
# for callers, which perf does not find on every machine.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
stored kmem.data tacho kmem --slab --page record -q -m 16M -o kmem.data true
tacho kmem -i kmem.data stat >all.txt 2>err
[ ! -s err ] || fail "events were lost, so perf counts frees of objects that were allocated in between: $(cat err)"

# perf counts an object that is freed again as freed twice, also as ping-pong.
without_frees() {
	grep -v 'freed:\|^Net' | sed 's/| *[0-9]* | *\([0-9.]*%\)$/| \1/'
}

for options in "" "--caller --raw-ip" "--alloc" "--caller --raw-ip -l 5" "--alloc -l 5 -s bytes" "--caller --raw-ip -s frag,hit" \
	"--caller --raw-ip -s bytes,callsite --alloc -s ptr" "--slab --caller --raw-ip -s hit"; do
	newest_says kmem -i kmem.data $options stat | without_frees >perf.rows
	tacho kmem -i kmem.data $options stat | without_frees >tacho.rows
	grep -q 'Total bytes requested' perf.rows || fail "perf shows nothing: $options"
	diff perf.rows tacho.rows || fail "not the same: $options"
done

# Without the callers, the flags, and the names of types.
plain_pages() {
	sed 's/| [^|]*$//; /^Order/d; /^#/d; s/RECLAIM/MOVABLE/' | sort
}

for options in "--page" "--page --live" "--page --alloc" "--page --alloc --live" "--page --alloc -s order,page -l 50"; do
	newest_says kmem -i kmem.data $options stat | plain_pages >perf.rows
	tacho kmem -i kmem.data $options stat | plain_pages >tacho.rows
	grep -q 'Total alloc+freed' perf.rows || fail "perf shows nothing: $options"
	diff perf.rows tacho.rows || fail "not the same: $options"
done
