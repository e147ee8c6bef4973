# A line per finding below its topic, then what can be fixed and the verdict; plain when it does
# not go to a terminal. The status is 0 exactly when counting and sampling work.
. "$SUPPORT/lib.sh"
status=$(status_of tacho doctor)
[ ! -s err ] || fail "noise on stderr: $(cat err)"
for topic in kernel cpu permissions limits tracing config live; do
	grep -qx "$topic" out || fail "no topic $topic"
done
! grep -q "$(printf '\033')" out || fail "colours without a terminal"
bad=$(grep '^  ' out | grep -Ev '^  (ok      |limited |no      |info    ) [^ ].*  [^ ]' | grep -v 'further options are set' || true)
[ -z "$bad" ] || fail "not mark, title, value, meaning: $bad"
tail -n 1 out | grep -Eq '^Counting (works|does not work).*; sampling (works|does not work).*; .*hardware counters.*\.$' ||
	fail "no verdict: $(tail -n 1 out)"
case $(tail -n 1 out) in
*"does not work"*) [ "$status" = 1 ] || fail "status $status" ;;
*) [ "$status" = 0 ] || fail "status $status" ;;
esac
