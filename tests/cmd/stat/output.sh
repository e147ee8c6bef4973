# -o, --append and --log-fd: where the result goes; nothing else goes to stderr.
. "$SUPPORT/lib.sh"
tacho stat -o file -e cs true 2>err
head -n 1 file | sed 's/started on .*/started on DATE/'
sed -n '4p' file
tacho stat -o file --append -x, -e cs true 2>>err
grep -c 'started on' file
tacho stat -o file -x, -e cs true 2>>err
grep -c 'started on' file
tacho stat --log-fd 7 -x, -e cs true 7>seven 2>>err
cut -d, -f3 seven
tacho stat -q -e cs true 2>>err
[ ! -s err ] || fail "on stderr: $(cat err)"
tacho stat -B -e duration_time sleep 0.01 2>text
grep -Eq '^ +[0-9,]*[0-9]+,[0-9]{3},[0-9]{3} ns +duration_time' text || fail "$(cat text)"
tacho stat --no-big-num -e duration_time sleep 0.01 2>text
grep -Eq '^ +[0-9]{8,} ns +duration_time' text || fail "$(cat text)"
tacho stat -n true 2>text
grep -q 'seconds time elapsed' text || fail "$(cat text)"
refused 129 tacho stat --append -e cs true
[ "$(status_of tacho stat -o /dev/full -e cs true)" = 1 ] || fail "a full disk is not a failure"
