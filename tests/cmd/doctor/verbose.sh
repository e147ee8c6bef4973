# -v also shows the kernel options that are set, and the commands that a finding affects.
. "$SUPPORT/lib.sh"
status_of tacho doctor >status
folded=$(sed -n 's/.* \([0-9]*\) further options are set.*/\1/p' out)
[ -n "$folded" ] || skip "the kernel does not tell its configuration"
status_of tacho doctor -v >status
! grep -q 'further options' out || fail "folded with -v"
[ "$(grep -c '^  ok  *\(CONFIG_\|kernel unwinder\)' out)" = "$folded" ] || fail "not $folded options"
grep -q '^ *for: stat, record' out || fail "no commands named"
