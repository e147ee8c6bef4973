# proves: AUX areas of a real kernel: every line that the PMU wrote is in the file, many times around the area
# proves: a snapshot (-S, SIGUSR2) holds the newest of it
# guest: arch=arm64 kernel=bookworm exact=yes
# modules: aux_lab

load aux_lab
pmu=/sys/bus/event_source/devices/arm_spe_lab
cat >switches <<-'X'
	i=0
	while [ $i -lt 40 ]; do
		sleep 0.01
		i=$((i + 1))
	done
X

lines() {	# FILE: numbers of the lines in it, hexadecimal
	grep -a -o 'AUX [0-9a-f]\{11\}' "$1" | cut -d ' ' -f 2
}

# Eight pages of 4 KiB, two thousand lines, and the PMU writes several times that.
tacho record -q -m ,8 -e arm_spe_lab// -o aux.data sh switches
lines aux.data | sort -u >seen
[ "$(cat $pmu/full)" = 0 ] && [ "$(wc -l <seen)" = "$(cat $pmu/written)" ] && echo "all lines are there, none twice as another"
[ "$(lines aux.data | wc -l)" = "$(cat $pmu/written)" ] && echo "and each once"
[ "$(wc -l <seen)" -gt 4096 ] && echo "the area was passed more than twice"
[ $((0x$(tail -n 1 seen) + 1)) = "$(cat $pmu/written)" ] && echo "the last is the last"
tacho script -D -i aux.data | sed -n 's/.*PERF_RECORD_AUX offset: .* size: \([0-9a-fx]*\) .*/\1/p' >sizes
sum=0
while read -r size; do
	sum=$((sum + size))
done <sizes
[ $((sum / 16)) = "$(cat $pmu/written)" ] && echo "their records say the same"

before=$(cat $pmu/written)
tacho record -q -S -m ,8 -e arm_spe_lab// -o snap.data sh -c 'sh switches; kill -USR2 $PPID; sleep 0.5' || true
lines snap.data | sort -u >seen
[ "$(wc -l <seen)" -ge 64 ] && [ $((0x$(head -n 1 seen))) -ge "$before" ] && echo "a snapshot"
