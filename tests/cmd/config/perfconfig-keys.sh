# The keys of perf's configuration have the effect of their options, which override them.
. "$SUPPORT/lib.sh"
set_keys() {
	printf '%b' "$1" >"$HOME/.perfconfig"
}
tacho record -q -N -o data -g -e cpu-clock -F 2000 "$TEST_BIN/hot" >/dev/null
set_keys '[report]\nchildren=false\nsort_order=comm\npercent-limit=1\n'
tacho report -i data --stdio >text 2>&1
grep -Eq '^# Overhead +Command *$' text || fail "report.*: $(cat text)"
tacho report -i data --stdio --children -s sym >text 2>&1
grep -Eq '^# Children +Self +Symbol' text || fail "the command line does not override: $(cat text)"
set_keys '[call-graph]\nprint-type=folded\norder=caller\nthreshold=2\nprint-limit=2\n'
tacho report -i data --stdio >text 2>&1
grep -Eq '^[0-9.]+% .*;main' text || fail "call-graph.*: $(cat text)"
# How -g records; nothing is recorded without it, and --call-graph overrides it.
dumps_stack() {	# BYTES OPTION...
	want=$1
	shift
	tacho record -e cpu-clock --dump-attr "$@" true >attr
	[ "$(sed -n 's/^sample_stack_user: //p' attr | head -n 1)" = "$want" ] || fail "$*: $(cat attr)"
}
set_keys '[call-graph]\nrecord-mode=dwarf\ndump-size=4096\n'
dumps_stack 4096 -g
dumps_stack '' --call-graph fp
dumps_stack ''
set_keys '[call-graph]\nrecord-mode=dwarf\n[record]\ncall-graph=fp\n'
dumps_stack '' -g
set_keys '[buildid]\ndir=ids\n'
tacho buildid-cache -a "$TEST_BIN/hot"
[ -d ids ] && [ ! -e "$HOME/.debug" ] || fail "buildid.dir"
# A bad value is reported with its line and ignored, and so is the file of another user.
set_keys '[report]\nchildren=maybe\n\n[hist]\npercentage=some\n[report]\npercent-limit=x\n'
tacho report -i data --stdio >text 2>err || fail "$(cat err)"
cut -d: -f2- err
if [ "$(id -u)" = 0 ]; then
	chown 65534 "$HOME/.perfconfig"
	[ "$(status_of tacho config -l)" = 0 ] && [ ! -s out ] && grep -q 'another user' err || fail "$(cat out err)"
fi
