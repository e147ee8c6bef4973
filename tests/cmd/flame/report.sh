# flame says what it wrote, from how many samples and how long; the title names the command; -q is silent.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need cc
record_sample perf.data
tacho flame -F 999 -e cpu-clock -- ./work 2>err || skip "cannot record here"
grep -Eq '^tacho flame: wrote flame.svg: [0-9]+ samples of cpu-clock(:u)? in [0-9.]+ m?s$' err || fail "$(cat err)"
grep -q 'id="title"[^>]*>Flame graph of ./work<' flame.svg || fail "$(grep 'id="title"' flame.svg)"
grep -Eq 'id="summary"[^>]*>[0-9,]+ samples of cpu-clock(:u)? in [0-9.]+ m?s' flame.svg || fail "$(grep 'id="summary"' flame.svg)"
# Weights of clocks are times with a unit, not nanoseconds.
grep -Eq '^[0-9.]+ (m?s|µs), 100.00 %' flame.svg || fail "no weight in a readable unit: $(grep -A2 '<title>all' flame.svg)"
# Of a recording: the command with most samples.
tacho flame -i perf.data -o read.svg 2>err
grep -q 'id="title"[^>]*>Flame graph of work' read.svg || fail "$(grep 'id="title"' read.svg)"
tacho flame -i perf.data -o read.html 2>err
grep -q '<title>Flame graph of work' read.html || fail "$(grep '<title>Flame' read.html)"
tacho flame -q -i perf.data -o quiet.svg 2>err
[ ! -s err ] || fail "-q is not silent: $(cat err)"
tacho flame -i perf.data -o - 2>err >out.svg
! grep wrote err || fail "stdout is not a file"
long=$(printf 'é%.0s' $(seq 80))
tacho flame -q -F 999 -e cpu-clock -- sh -c "$long=1; ./work" 2>err >out || true
python3 - <<'END'
import re
text = open("flame.svg", encoding="utf-8").read()
title = re.search(r'id="title"[^>]*>([^<]*)<', text).group(1)
assert title.endswith("é..."), title
END
