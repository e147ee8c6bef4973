# run: plain alone
# Alone: without BPF the kernel loses events of ending tasks, such as the switch to the next one, so that a loaded machine counts less.
# runqlat and wakeup agree with the context switches of two processes that send each other bytes; irqlat with /proc/softirqs.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
N=2000
for way in $ways; do
	view $way runqlat -P -- "$WORK" pingpong $N
	switches=$(cat out)
	counted=$(rows 'comm == "view-work"' count | awk '{ n += $1 } END { print n }')
	at_least "waits for a CPU" "$counted" $((switches - 5)) $((switches + 10))
	is histogram "$(rows 'comm == "view-work"' 'sum(h["count"] for h in histogram) - count' | sort -u)" 0

	view $way wakeup -- "$WORK" pingpong $N
	woken=$(rows 'target == "view-work" and waker == "view-work" and any("pipe" in f for f in kernel_stack)' count |
		awk '{ n += $1 } END { print n }')
	at_least "wakeups through pipes" "$woken" $((N - 5)) $((2 * N + 10))

	cat /proc/softirqs >before
	view $way irqlat -d 1 --by irq
	cat /proc/softirqs >after
	for name in TIMER SCHED RCU; do
		most=$(cat before after | awk -v name="$name:" '$1 == name { n = 0; for (i = 2; i <= NF; i++) n += $i; d = n - last; last = n } END { print d }')
		counted=$(rows "irq == 'softirq:$(echo $name | tr A-Z a-z)'" count)
		at_least "softirqs $name" "${counted:-0}" 0 "$((most + 1))"
	done
	at_least "softirqs" "$(rows 'irq.startswith("softirq:")')" 2
done

tacho snoop runqlat -- "$WORK" pingpong 100 >text
grep -q '     usecs               : count     distribution$' text || fail "$(cat text)"
grep -qE '^ +[0-9]+ -> [0-9]+ +: [0-9]+ +\|[* ]{40}\|$' text || fail "$(cat text)"
tacho snoop runqlat --svg -o chart.svg -- "$WORK" pingpong 100 >text
python3 -c '
import xml.dom.minidom
bars = xml.dom.minidom.parse("chart.svg").getElementsByTagName("rect")
assert len(bars) > 1, len(bars)
'
tacho snoop runqlat --totals -- "$WORK" pingpong 100 >text
grep -qE '^ +COUNT  TOTAL\(us\)$' text && grep -qE '^ +[0-9]+  [0-9.]+$' text || fail "$(cat text)"
