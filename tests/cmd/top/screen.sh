# The screen: keys, a table that follows the samples with open lines and filters, the end by keys and signals.
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
tacho record -q -e cpu-clock:u -o probe.data true 2>err || skip "cannot record here: $(head -n 1 err)"
"$TEST_BIN/busy-threads" 2 120 &
busy=$!
trap 'kill $busy 2>/dev/null || true; tmux_do kill-server 2>/dev/null || true' EXIT

samples() { screen | sed -n 's/.* \([0-9]*\) samples\/s.*/\1/p'; }
top="tacho top -F 500 -d 0.3 -e cpu-clock:u -p $busy"

terminal 100 20 "$top --call-graph fp"
shows "[.] most_work"
shows "samples/s, lost 0/0; own CPU"
shows "broken stacks"
# An entry stays open at the next refreshes.
press e
shows "   - busy"
title=$(screen | sed 1q)
wait_for 20 eval '[ "$(screen | sed 1q)" != "$title" ]'
shows "   - busy"
# Frozen, nothing changes.
press f
shows "FROZEN"
settled
screen >before
sleep 1
screen | diff before - || fail "it changes although it is frozen"
press f
shows_not "FROZEN"
# A filter by a regular expression stays, too.
press -l /; press -l '^(most|least)_'; press Enter
shows ", Symbol: ^(most|least)_"
title=$(screen | sed 1q)
wait_for 20 eval '[ "$(screen | sed 1q)" != "$title" ]'
[ "$(screen | grep -c '\[\.\]')" = 2 ] && screen | grep -q least_work || { screen; fail "the filter"; }
press Left
shows_not "Symbol:"
# The call tree and the flame graph follow the samples, too.
press v; shows "   Total     Self  Function"
shows "- busy"
screen | grep -q '[0-9]% .*    most_work' || { screen; fail "no function in the tree"; }
press Home Down Down Left; shows "busy"
title=$(screen | sed 1q)
wait_for 20 eval '[ "$(screen | sed 1q)" != "$title" ]'
shows "   Total     Self  Function"
press v; shows "|busy"; shows "|most_work"
press Home; shows "all  100.00%"
for i in 1 2 3 4 5 6; do press Down; done
shows "most_work  "
press Enter; shows_not "|busy"; shows "|most_work"
title=$(screen | sed 1q)
wait_for 20 eval '[ "$(screen | sed 1q)" != "$title" ]'
shows_not "|busy"
press a; shows "Percent |"; press q
press Escape; shows "|busy"
press -l /; press -l least_; press Enter; shows_not "|most_work"; shows "|least_work"
press v; shows "Shared Object"; press Left; shows "[.] most_work"
# Groups, and back.
press g; shows "Command"; shows_not "Symbol"
press g; shows "Tgid:Command"
press g; shows " Pid:Command"
press g; shows "[.] most_work"
press z; shows "Samples are forgotten at each refresh"
press z; shows "Older samples decay"
press i; shows "Event: cpu-clock:u"; press q; shows "samples/s"
press -l /; press -l most_; press Enter; shows ", Symbol: most_"
press a; shows "Percent |"; press q; shows "samples/s"
press q; shows "status 0"
# Ctrl-C and signals restore the terminal, also while a dialog is open.
terminal 60 15 "$top"
shows "most_work"; shows "samples/s"
press C-c; shows "status 0"
terminal 60 15 "$top"
shows "most_work"
press h; shows "this help"
pkill -TERM -P "$(tmux_do display-message -p '#{pane_pid}')" tacho
shows "status 0"
# Colours and cursor movements are not needed, and any size will do.
TERM_HERE=vt100
terminal 80 24 "$top"
shows "most_work"
press q; shows "status 0"
unset TERM_HERE
terminal 300 100 "$top"
shows "most_work"
for s in 10x3 2x1 60x15 1x1 100x20; do
	tmux_do resize-window -x "${s%x*}" -y "${s#*x}"
	press Down E C h; press q
	sleep 0.2
done
shows "samples/s"
press q; shows "status 0"
# The process ends: what is shown stays.
"$TEST_BIN/busy-threads" 1 6 &
terminal 100 20 "tacho top -d 0.5 -e cpu-clock:u -p $!"
shows "the processes have ended"
shows "most_work"
press q; shows "status 0"
