# Machine formats are the same in every locale; only the text separates thousands as the locale does.
# run: plain
. "$SUPPORT/lib.sh"
need localedef
[ -e /usr/share/i18n/locales/de_DE ] || skip "needs the package locales"
localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8"
export LOCPATH="$PWD"

german() {
	LC_ALL=de_DE.UTF-8 "$@"
}

# The locale is really in effect: it writes 1.234,5 ...
[ "$(german locale decimal_point thousands_sep | tr -d '\n')" = ",." ] || fail "the locale was not found"
german tacho stat -e duration_time true 2>text
grep -qE '^ +[0-9]{1,3}(\.[0-9]{3})+ ns +duration_time$' text || fail "no dots between thousands: $(cat text)"

printf '[stat]\nbig-num = false\n' >config
german env PERF_CONFIG=config tacho stat -e duration_time true 2>text
grep -qE '^ +[0-9]+ ns +duration_time$' text || fail "stat.big-num: $(cat text)"

# ... and tacho does not, in formats that programs read.
german tacho stat -x, -e duration_time,task-clock true 2>rows
german tacho stat -j -e duration_time,task-clock true 2>>rows
sed 's/[0-9][0-9]*/N/g' rows
german tacho stat --json -e task-clock true 2>json
python3 -c 'import json; print(type(json.load(open("json"))["events"][0]["value"]).__name__)'
german tacho stat record -o counts -e duration_time true
german tacho stat report -i counts -x, -o rows
sed 's/[0-9][0-9]*/N/g' rows | tail -n 1
