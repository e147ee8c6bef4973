# run: plain alone
# Alone: without BPF the kernel loses events of ending tasks, such as the switch to the next one, so that a loaded machine counts less.
# biosnoop and biolat count the blocks that a program writes past the cache; slow-io the reads of a file.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
echo text >file
for way in $ways; do
	view $way slow-io --min 0.000001 -- "$WORK" read file 25
	is reads "$(rows 'comm == "view-work" and kind == "R" and bytes == 1 and file == "file"')" 25
	tacho snoop slow-io ${way#--bpf} -- "$WORK" read file 25 >text
	is "default threshold" "$(grep -c view-work text)" 0
done

for way in $ways; do
	view $way biosnoop -- "$WORK" write blocks 40
	[ "$(rows 'comm == "view-work"')" -gt 0 ] || skip "writing here does not reach a block device: biosnoop and biolat are not tested"
	is "bytes written" "$(rows 'comm == "view-work" and kind == "W"' bytes | awk '{ n += $1 } END { print n }')" $((40 * 65536))
	n=$(rows 'comm == "view-work"')
	is "times" "$(rows 'comm == "view-work" and latency_ns > 0')" "$n"
	is "disk" "$(rows 'comm == "view-work"' disk | sort -u | wc -l)" 1

	view $way biolat -- "$WORK" write blocks 40
	at_least "requests" "$(rows True count)" 40 400
	disk=$(tacho snoop biosnoop --json -- "$WORK" write blocks 1 | sed -n 's/.*"disk": "\([^"]*\)".*/\1/p' | head -n 1)
	view $way biolat --by disk,kind -- "$WORK" write blocks 40
	at_least "rows by disk" "$(rows "disk == '$disk' and kind.startswith('W')")" 1
done
