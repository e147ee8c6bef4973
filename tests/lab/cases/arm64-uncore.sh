# proves: one name expands to all instances of a PMU of a real kernel; sums equal the module's own counters exactly
# proves: rows per instance, per CPU and per socket, scale and unit, groups, more events than counters
# proves: a socket's CPU goes offline and comes back while its counters run, and nothing is lost
# guest: arch=arm64 kernel=bookworm cpus=4,sockets=2,cores=2,threads=1
# modules: uncore_lab

load uncore_lab instances=3 cpus_per_socket=2
devices=/sys/bus/event_source/devices
cpus=/sys/devices/system/cpu
echo "speakers: $(cat $devices/uncore_lab_0/cpumask)"
tacho list | awk '/uncore_lab/ { print $1 }'

# What one pass feeds: reads 16384 * (instance + 1) into socket 0 and twice that into socket 1.
cat >/tmp/feed <<-'X'
	for i in 0 1 2; do
		feed=/sys/bus/event_source/devices/uncore_lab_$i/feed
		echo "0 $((16384 * (i + 1))) $((100 + i))" >$feed
		echo "1 $((32768 * (i + 1))) $((1000 + i))" >$feed
	done
X

# The module's own counters, all of them or those of one socket, before and after.
total() {	# FIELD
	cat $devices/uncore_lab_*/totals | awk -v n="$1" '{ sum += $n } END { print sum }'
}

rows() {	# the rows without times; $1: how many fields are the place's
	grep -v -e '^#' -e '^$' /tmp/counts | cut -d , -f "1-$((3 + ${1:-0}))" | sort
}

reads=$(total 2) writes=$(total 3)
counts -a -e uncore_lab/event=2/,uncore_lab/writes/ sh /tmp/feed
[ "$(field uncore_lab/event=2/)" = $(($(total 2) - reads)) ] && echo "reads are what was fed: $(field uncore_lab/event=2/)"
[ "$(field uncore_lab/writes/)" = $(($(total 3) - writes)) ] && echo "writes are what was fed: $(field uncore_lab/writes/)"
# Without -a as well: these PMUs count no tasks, and they say so in their cpumask.
counts -e uncore_lab/reads/,uncore_lab_1/writes/,lab/writes/ sh /tmp/feed
rows
echo "each instance:"
counts -a --no-merge -e uncore_lab/reads/,uncore_lab/writes/ sh /tmp/feed
rows
echo "each CPU:"
counts -a -A -e uncore_lab/reads/ sh /tmp/feed
rows 1
echo "each socket:"
counts -a --per-socket -e uncore_lab/reads/,uncore_lab/writes/ sh /tmp/feed
rows 2
echo "a group:"
counts -a -e '{uncore_lab/reads/,uncore_lab/writes/}' sh /tmp/feed
rows
tacho stat -a -e uncore_lab/reads/ sh /tmp/feed 2>&1 | sed -n '/MiB/s/  */ /gp'

# Six on four counters. ticks are (1 + 2 + 3) per microsecond and socket.
ticks=uncore_lab/ticks/
turns() {
	counts -a -e duration_time,$ticks,$ticks,$ticks,$ticks,$ticks,$ticks sleep 1
	elapsed=$(field duration_time)
	awk -F, -v n=$ticks '$3 == n { print $1 }' /tmp/counts | while read -r count; do
		near "six on four counters" "$count" $((elapsed / 1000 * 12)) 5
	done | uniq -c | sed 's/^ *//'
}
steadily turns

tacho record -q -a -e uncore_lab/reads/ -o /tmp/data true 2>&1 || echo "exit status $?"

echo "CPU 0 goes and comes back:"
reads=$(total 2)
counts -a -e uncore_lab/event=2/ sh -c "sh /tmp/feed; echo 0 >$cpus/cpu0/online; cat $devices/uncore_lab_0/cpumask
	sh /tmp/feed; echo 1 >$cpus/cpu0/online; sh /tmp/feed"
[ "$(field uncore_lab/event=2/)" = $(($(total 2) - reads)) ] && echo "nothing was lost: $(field uncore_lab/event=2/)"
echo "CPU 0 is off from the start:"
echo 0 >$cpus/cpu0/online
counts -a -A -e uncore_lab/writes/ sh /tmp/feed
rows 1
counts -a -A -e cpu-clock true
rows 1 | cut -d , -f 1
rmmod uncore_lab
tacho stat -a -e uncore_lab/reads/ true 2>&1 | head -n 1
