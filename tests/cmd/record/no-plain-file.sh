# Neither a failed start nor switching files removes or renames an output that is not a regular file.
. "$SUPPORT/lib.sh"
ln -s target link
refused 127 tacho record -e cpu-clock -o link /nonexistent/command
[ -L link ] || fail "a link was removed"
mkdir files
ln -s /dev/null files/sink
tacho record -q -e cpu-clock --switch-output=signal --switch-max-files 1 -o files/sink true
[ "$(ls files)" = sink ] || { ls files; fail "a link was renamed"; }
# A recording is not written to a terminal.
if command -v script >/dev/null 2>&1; then
	script -qec "tacho record -e cpu-clock -o - true" typescript >screen 2>&1 || true
	grep -q 'cannot write a recording to a terminal' screen || { cat screen; fail "written to a terminal"; }
fi
