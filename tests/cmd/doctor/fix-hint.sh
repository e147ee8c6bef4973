# Without --fix-hint the last lines say how many can be fixed; with it each command is shown once, and
# JSON has the same ones.
. "$SUPPORT/lib.sh"
need jq
status_of tacho doctor --json >status
n=$(jq '[.findings[].fix | select(. != null)] | length' out)
jq -r '.findings[].fix | select(. != null)' out | awk '!seen[$0]++' >fixes
status_of tacho doctor >status
! grep -q 'fix: ' out || fail "remedies that nobody asked for"
[ "$n" = 0 ] || grep -q "^$n of these can be fixed; 'tacho doctor --fix-hint' prints the commands, which need root\.$" out ||
	fail "no note about $n remedies"
status_of tacho doctor --fix-hint >status
sed -n 's/^ *fix: //p' out | cmp - fixes || fail "other remedies than in JSON"
! grep -q 'can be fixed' out || fail "a note about fixes that are shown"
