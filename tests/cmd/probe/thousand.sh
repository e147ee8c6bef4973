# A thousand uprobes by one pattern: each counts, and attaching all of them takes less than a second of CPU time.
# run: plain
. "$SUPPORT/lib.sh"
need_root
need cc
[ -e /sys/bus/event_source/devices/uprobe/type ] || skip "this kernel has no uprobe PMU"
{
	for i in $(seq 1000); do
		echo "__attribute__((noinline)) int fn_$i(int a) { __asm__ volatile(\"\"); return a + $i; }"
	done
	echo 'int main(void) { int t = 0;'
	for i in $(seq 1000); do
		echo "t += fn_$i(t);"
	done
	echo 'return t == 1; }'
} >many.c
cc -O1 -o many many.c
before=$(awk '{ print $16 + $17 }' /proc/$$/stat)
tacho stat -x, -o counts -e 'uprobe:./many:fn_*' ./many
after=$(awk '{ print $16 + $17 }' /proc/$$/stat)
[ "$(grep -c '^1,.*uprobe:./many:fn_[0-9]*,' counts)" = 1000 ] || fail "$(grep -cv '^1,' counts) do not count one call"
[ $((after - before)) -lt "$(getconf CLK_TCK)" ] || fail "it took $((after - before)) ticks"
