# Scripts written for perf's Python interface: what their functions get, and how they end.
. "$SUPPORT/lib.sh"
need python3
cp "$TEST_BIN/hot" here
tacho record -q -g -e cpu-clock:u -F 2000 -o hot.data ./here 2>err || skip "cannot record here: $(head -n 1 err)"
cat >all.py <<'P'
import os
import sys

sys.path.append(os.environ['PERF_EXEC_PATH'] + '/scripts/python/Perf-Trace-Util/lib/Perf/Trace')
from perf_trace_context import *
from Core import *
from Util import *

state = {'n': 0, 'spin': 0, 'period': 0}


def trace_begin():
    print('begin', sys.argv[1:], __name__)


def process_event(p):
    assert p['ev_name'] == 'cpu-clock:u' and p['comm'] == 'here' and len(p['attr']) >= 64
    sample = p['sample']
    assert sample['pid'] == sample['tid'] > 0 and sample['time'] > 0 and sample['cpumode'] == 2
    assert sample['ip'] == p['callchain'][0]['ip']
    assert sample['datasrc_decode'].startswith('|OP N/A|') and sample['values'] == [(0, 0, 0)]
    assert p['raw_buf'] == b'' and p['brstack'] == [] and p['iregs'] == ''
    state['n'] += 1
    state['period'] += sample['period']
    if p.get('symbol') == 'spin':
        state['spin'] += 1
        frame = p['callchain'][0]
        assert p['dso'] == frame['dso'] and p['dso'].endswith('/here') and len(p['dso_bid']) == 40
        assert frame['sym']['name'] == 'spin' and frame['sym_off'] == p['symoff']
        assert frame['sym']['start'] + p['symoff'] < frame['sym']['end']


def trace_end():
    assert state['spin'] > state['n'] / 2 > 0, state
    print('end', state['n'], state['period'])
P
tacho script -i hot.data -s all.py one -- --two >out
head -n 1 out | grep -qx "begin \['one', '--', '--two'\] __main__" || fail "$(cat out)"
tacho report -i hot.data --stats >stats
n=$(sed -n 's/^end \([0-9]*\) .*/\1/p' out)
[ "${n:-0}" -gt 0 ] && [ "$n" = "$(tacho script -i hot.data -G | wc -l)" ] || fail "$(cat out)"
tacho script -i - -s python:all.py <hot.data >piped	# stdin may be the recording
[ "$(tail -n 1 out)" = "$(tail -n 1 piped)" ] || fail "a pipe gives other samples"
# Filters apply before the script.
tacho script -i hot.data --time 0%-50% -s all.py >half
m=$(sed -n 's/^end \([0-9]*\) .*/\1/p' half)
[ "$m" -gt 0 ] && [ "$m" -lt "$n" ] || fail "$m of $n in half the time"

# Modules come from the script's directory, not from the current one, where anyone may have put them.
mkdir scripts elsewhere
echo 'print("of the current directory")' | tee elsewhere/audit.py >elsewhere/Util.py
echo 'beside = "the script"' >scripts/near.py
printf 'import near\ndef trace_end():\n    print(near.beside)\n' >scripts/uses.py
(cd elsewhere && tacho script -i ../hot.data -s ../scripts/uses.py) >out
[ "$(cat out)" = "the script" ] || fail "$(cat out)"

# How it ends.
echo 'import sys; sys.exit(3)' >exits.py
[ "$(status_of tacho script -i hot.data -s exits.py)" = 3 ] || fail "$(cat err)"
printf 'def process_event(p):\n    raise ValueError("no such thing")\n' >raises.py
[ "$(status_of tacho script -i hot.data -s raises.py)" = 1 ] && grep -q 'ValueError: no such thing' err || fail "$(cat err)"
printf 'from perf_trace_context import *\ndef process_event(p):\n    perf_sample_insn(p)\n' >lacks.py
[ "$(status_of tacho script -i hot.data -s lacks.py)" = 1 ] && grep -q 'perf_sample_insn() is not offered' err || fail "$(cat err)"
[ "$(status_of tacho script -i hot.data -s nosuch.py)" = 1 ] && grep -q "no script 'nosuch.py'" err || fail "$(cat err)"
touch x.pl
[ "$(status_of tacho script -i hot.data -s x.pl)" = 1 ] && grep -q 'Perl scripts are not supported' err || fail "$(cat err)"
[ "$(status_of tacho script -i hot.data -g perl)" = 129 ] && grep -q 'Perl scripts are not supported' err || fail "$(cat err)"
[ "$(status_of tacho script -j -i hot.data -s all.py)" = 129 ]
PATH=/nonexistent "$(command -v tacho)" script -i hot.data -s all.py 2>err && fail "python3 was found"
grep -q 'cannot run python3' err || fail "$(cat err)"
head -c $(($(wc -c <hot.data) * 3 / 4)) hot.data >cut.data
[ "$(status_of tacho script -i cut.data -s all.py)" = 1 ] && grep -q '^end ' out || fail "$(cat out err)"

# A starter runs as it is.
tacho script -i hot.data -g python 2>err
grep -q 'wrote perf-script.py' err && tacho script -i hot.data -s perf-script.py >out
[ "$(grep -c '^cpu-clock:u here ' out)" = "$n" ] || fail "$(head -n 3 out)"
[ "$(status_of tacho script -i hot.data -g python)" = 1 ] && grep -q 'exists' err || fail "$(cat err)"
