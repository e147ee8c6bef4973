# comm_nodigit: names that differ in numbers only are one. symoff: one entry per address of a symbol,
# with as many samples as `script` has there, and together as many as -s sym.
. "$SUPPORT/lib.sh"
need jq
cp "$TEST_BIN/spin" worker12
cp "$TEST_BIN/spin" worker7
tacho record -q -e cpu-clock -F 2000 -o a.data sh -c './worker12 -c 0.1 -t 0.1; ./worker7 -c 0.1 -t 0.1' 2>err ||
	skip "cannot record: $(cat err)"
rows() {	# KEYS: "KEY,SAMPLES" of each entry of the workers
	tacho report --stdio --no-children -g none -n -s "$1" -t, -q -i a.data 2>err | grep worker |
		awk -F, -v OFS=, '{ gsub(/ /, ""); print $3, $4, $2 }' | sort
}
all=$(tacho script -F comm -i a.data | grep -c worker)
[ "$(tacho report --stdio --no-children -g none -n -s comm_nodigit -t, -q -i a.data | awk -F, '/worker/ { gsub(/ /, ""); print $3, $2 }')" = "worker<N> $all" ] ||
	fail "not one entry of $all samples"
[ "$(rows comm,comm_nodigit | cut -d, -f1,2)" = "worker12,worker<N>
worker7,worker<N>" ] || { rows comm,comm_nodigit; fail "comm and comm_nodigit"; }

tacho script -F comm,ip,sym,symoff --hide-call-graph -i a.data |
	awk '/worker/ && $NF ~ /[+]0x/ { n[$NF]++ } END { for (s in n) print s "," n[s] }' | sort >one-by-one
[ -s one-by-one ] || fail "no symbols"
summed() {	# of one name: a symbol of two files is two entries
	awk -F, '{ n[$1] += $2 } END { for (s in n) print s "," n[s] }' | sort
}
rows comm_nodigit,symoff | awk -F, '$2 ~ /[+]0x/ { sub(/^\[.\]/, "", $2); print $2 "," $3 }' | summed >entries
diff one-by-one entries
rows comm_nodigit,sym | awk -F, '$2 !~ /\]0x/ { sub(/^\[.\]/, "", $2); print $2 "," $3 }' | summed >symbols
sed 's/[+]0x[0-9a-f]*,/,/' entries | summed >sums
diff symbols sums
[ "$(wc -l <entries)" -gt "$(wc -l <sums)" ] || fail "no symbol has two addresses"
tacho report --json -g none -s comm_nodigit,symoff -i a.data | jq -r '.events[0].entries[] |
	select(.comm_nodigit == "worker<N>" and .symoff != null) | [.symbol, .symoff, .samples] | @csv' | tr -d '"' |
	awk -F, '{ printf "%s+0x%x,%d\n", $1, $2, $3 }' | summed >json
diff one-by-one json
