# Wrong usage gives one message and creates no file.
. "$SUPPORT/lib.sh"
refused 129 tacho export
refused 129 tacho export -f foldde
grep -q "did you mean 'folded'" err
refused 129 tacho export -f folded perf.data
refused 129 tacho export -f folded --weight heavy
refused 1 tacho export -f folded -i /nonexistent
echo 'not a recording' >bad
refused 1 tacho export -f folded -i bad -o bad.folded
[ ! -e bad.folded ] || fail "a file was left"
tacho export --list | grep -c . | grep -qx 12
