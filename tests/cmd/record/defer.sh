# --call-graph fp,defer: deferred call chains where the kernel has them (Linux 6.19), else a note and plain ones.
. "$SUPPORT/lib.sh"
tacho record -e cpu-clock --call-graph fp,defer -o file -- "$TEST_BIN/spin" -c 0.2 -t 0 2>err || skip "cannot record here: $(cat err)"
tacho evlist -v -i file >attrs
if awk -v release="$(uname -r)" 'BEGIN { split(release, v, "."); exit !(v[1] > 6 || (v[1] == 6 && v[2] >= 19)) }'; then
	grep -q defer_callchain attrs || grep -q 'without deferred call chains' err || fail "neither deferred nor a note: $(cat err)"
else
	grep -q 'recorded without deferred call chains, which came with Linux 6.19' err || fail "no note: $(cat err)"
	! grep -q defer attrs || fail "a flag that this kernel does not know: $(cat attrs)"
fi
grep -q 'CALLCHAIN' attrs || fail "no call chains: $(cat attrs)"
tacho script -i file -F ip,sym >out
[ "$(grep -c . out)" -gt 20 ] || fail "no samples with call chains"
[ "$(status_of tacho record --call-graph fp,late -o x.data true)" = 129 ]
