# The key symbol_size shows the size of each function, as nm does.
. "$SUPPORT/lib.sh"
need nm
tacho record -q -e cpu-clock:u -c 100000 -o file "$TEST_BIN/spin" -c 0.3 -t 0.3
tacho report -i file --stdio --dso spin -s symbol_size,sym >table 2>err || { cat err; fail "no report"; }
nm -S "$TEST_BIN/spin" | awk 'NF == 4 { print $4, $2 }' | while read -r name size; do
	echo "$name $((0x$size))"
done >sizes
awk '!/^#/ && NF >= 4 { print $4, $2 }' table | grep -xFf sizes >same || fail "no function has the size that nm shows: $(cat table)"
awk '!/^#/ && NF >= 4 && $2 != "unknown" { print $4, $2 }' table | grep -vxFf sizes && fail "a size that nm does not show"
tacho report -i file --json -s symbol_size,sym | jq -e '.. | .symbol_size? // empty' >/dev/null || fail "not in JSON"
