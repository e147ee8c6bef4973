# Words and unknown options are refused.
. "$SUPPORT/lib.sh"
refused 129 tacho doctor please
grep -q "'please'" err || fail "the word is not named: $(cat err)"
refused 129 tacho doctor --fix-hin-t
refused 129 tacho doctor --jsn
grep -q "'--json'" err || fail "no suggestion: $(cat err)"
