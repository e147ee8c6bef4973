# Output to a device, which must not be kept as .old, removed or renamed. The test creates its own devices.
. "$SUPPORT/lib.sh"
need_root
mknod null c 1 3 2>err || skip "may not make a device: $(cat err)"
echo x >null 2>err || skip "devices do not work here: $(cat err)"
tacho record -q -e cpu-clock -o null -- true || skip "cannot record here"
[ "$(status_of tacho record -q -e cpu-clock -o null -- ./no-such-program)" = 127 ] || fail "no such program"
tacho record -q -e cpu-clock --switch-output=1M -o null -- true 2>err || cat err
tacho record -q -e cpu-clock -o perf.data -- true
tacho export -f folded -q -i perf.data -o null || fail "export to a device"
head -c 300 perf.data >cut.data
status_of tacho export -f folded -q -i cut.data -o null >status
ls null*
[ -c null ] || fail "null is not a device any more"
