# When the browser opens and when there is text: as perf does, by terminal and options.
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
tacho record -q -e cpu-clock:u -F 2000 -g -o hot.data "$TEST_BIN/hot" 2>err || skip "cannot record here: $(head -n 1 err)"
export PAGER=cat

is_text() {	# ARGS, perhaps with a TERM before
	terminal 100 50 "$*"
	shows "status 0"
	screen | grep -q '% .*\[\.\] spin' || { screen >&2; fail "no text: $*"; }
}
is_text "tacho report -i hot.data --stdio -g none"
is_text "tacho report -i hot.data -q -g none"
is_text "tacho report -i hot.data -w 8,8 -g none"
is_text "TERM=dumb tacho report -i hot.data -g none"
is_text "TERM=nothing-like-it tacho report -i hot.data -g none"
is_text "tacho report -i hot.data -g none | cat"
is_text "tacho report -i hot.data --tui -g none | cat"
is_text "tacho report -i hot.data -g none </dev/null"
tacho record -q -e cpu-clock:u -F 2000 -o - "$TEST_BIN/hot" >piped 2>err
is_text "cat piped | tacho report -i - -g none"

terminal 100 20 "TERM=nothing-like-it tacho report -i hot.data --tui"
shows "the terminal type 'nothing-like-it' is unknown"; shows "status 1"

for term in vt100 xterm xterm-256color linux screen; do
	[ -n "$(find /etc/terminfo /lib/terminfo /usr/share/terminfo -name $term 2>/dev/null)" ] || continue
	terminal 100 20 "TERM=$term tacho report -i hot.data"
	shows "Samples: "; press q; shows "status 0"
done

# Shares have colours, unless they are not wanted.
terminal 100 20 "TERM=xterm-256color tacho report -i hot.data"
shows "[.] outer"; screen -e | grep -q '\[31m' || fail "nothing is red"
press q
terminal 100 20 "NO_COLOR=1 tacho report -i hot.data"
shows "[.] outer"; ! screen -e | grep -q '\[3[1-7]m' || fail "colours in spite of NO_COLOR"
press q; shows "status 0"
