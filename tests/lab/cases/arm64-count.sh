# proves: cycles and instructions of a loop are the known ones within 1 %, by every name of the event
# proves: a guest that counts time in instructions repeats itself: three runs count the same
# proves: twenty events on seven counters take turns, and each of them ends within 5 %
# proves: a group and pinned events that do not fit are reported, and the others still count
# guest: arch=arm64 kernel=bookworm exact=yes

tacho list pmu | sed 's/  *\[/ [/; s/^ *//'
counts -e cycles:u,instructions:u,armv8_pmuv3/cpu_cycles/u,armv8_pmuv3/event=0x08/u,r11:u work 10000000
near "instructions, 25,000,000" "$(field instructions:u)" 25000000 1
near "instructions by their number" "$(field armv8_pmuv3/event=0x08/u)" 25000000 1
near "cycles, four an instruction" "$(field cycles:u)" 100000000 1
near "cycles by the PMU's name" "$(field armv8_pmuv3/cpu_cycles/u)" 100000000 1
near "cycles by their number" "$(field r11:u)" 100000000 1

for i in 1 2 3; do
	counts -e cycles:u,instructions:u work 1000000
	echo "$(field cycles:u) $(field instructions:u)"
done | sort -u | wc -l

events=cycles:u
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
	events=$events,cycles:u
done
counts -e $events work 100000000
awk -F, '$3 == "cycles:u" { print $1, $5 }' /tmp/counts | while read -r count share; do
	near "one of twenty" "$count" 1000000000 5
	near "its share of the time, 7 of 20" "$share" 35 7
done | uniq -c | sed 's/^ *//' | sort -u >/tmp/turns
sed 's/^[0-9]* //' /tmp/turns | sort -u
awk -F, '$3 == "cycles:u" { n++; sum += $1 } END { print n, sum }' /tmp/counts >/tmp/sum
near "all twenty together" "$(cut -d ' ' -f 2 /tmp/sum)" 20000000000 5

counts -e '{cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles}:u' work 100000 || true
echo "a group of eight: $(grep -c '^<not supported>' /tmp/counts) refused"
counts -e cycles:uD,cycles:uD,cycles:uD,cycles:uD,cycles:uD,cycles:uD,cycles:uD,cycles:uD,cycles:uD work 100000 || true
echo "nine pinned: $(grep -c '^<not counted>' /tmp/counts) not counted, $(grep -c '^1[0-9]*,' /tmp/counts) counted"
