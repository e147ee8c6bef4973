# A recording of this machine: the command's task is drawn, and the time it runs is what the kernel accounts.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need python3
tacho timechart record -o rec.data "$TEST_BIN/burn" -t 1 -m 300 >rec 2>&1 || fail "$(cat rec)"
tacho timechart -i rec.data -o rec.svg -T -p burn 2>err || fail "$(cat err)"
ms=$(sed -n 's/.*>burn:[0-9]*<tspan class="small"> \([0-9.]*\) ms.*/\1/p' rec.svg | sort -n | tail -n 1)
python3 -c "import sys; sys.exit(not 200 <= float('${ms:-0}') <= 600)" || fail "burn ran ${ms:-not at all} ms, not 300"
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("rec.svg")'
# The size depends on the width of the picture, not on the number of events.
[ "$(wc -c <rec.svg)" -lt 3000000 ] || fail "the picture is too large"
