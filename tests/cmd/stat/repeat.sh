# -r: the command really runs again, values are means with their standard error.
. "$SUPPORT/lib.sh"
tacho stat -r 4 -e page-faults,cpu-migrations -x, sh -c 'echo x >>ran' 2>rows
[ "$(wc -l <ran)" = 4 ] || fail "ran $(wc -l <ran) times"
awk -F, 'NF != 8 || $4 !~ /^[0-9]+\.[0-9][0-9]%$/ { print; bad = 1 } END { exit bad }' rows || fail "bad row"
tacho stat -r 3 --table -e page-faults sh -c 'echo y >>ran' 2>text
grep -q "^ Performance counter stats for 'sh -c echo y >>ran' (3 runs):" text || fail "$(cat text)"
grep -Eq '^ +[0-9]+\.[0-9]{9} \+- [0-9]+\.[0-9]{9} seconds time elapsed  \( \+- +[0-9.]+% \)$' text || fail "$(cat text)"
[ "$(grep -Ec '^ +[0-9]+\.[0-9]{9} \([+-][0-9]+\.[0-9]{9}\) #+$' text)" = 3 ] || fail "no table: $(cat text)"
tacho stat -r 2 -j -e page-faults true 2>rows
python3 -c 'import json; r = json.loads(open("rows").read()); assert list(r)[3] == "variance", r'
# A command that fails ends neither the runs nor the status.
status=$(status_of tacho stat -r 2 -x, -e page-faults sh -c 'exit 3')
[ "$status" = 3 ] || fail "status $status"
# --pre and --post surround each run.
rm ran
tacho stat -r 2 -q -e page-faults --pre 'echo pre >>ran' --post 'echo post >>ran' sh -c 'echo run >>ran' 2>err
[ ! -s err ] || fail "-q is not quiet: $(cat err)"
tr '\n' ' ' <ran
