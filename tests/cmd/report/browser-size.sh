# Any size of terminal, and changes of it.
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
tacho record -q -e cpu-clock:u,page-faults:u -F 2000 -g -o hot.data "$TEST_BIN/hot" 2>err || skip "cannot record here: $(head -n 1 err)"

size() {	# COLUMNS ROWS
	tmux_do resize-window -x "$1" -y "$2"
}

terminal 100 20 "tacho report -i hot.data"
shows "cpu-clock:u"
press Enter; shows "[.] outer"
for s in 10x3 2x1 1x1 3x2 200x50 10x3 40x5; do
	size "${s%x*}" "${s#*x}"
	# Every kind of screen is opened and left again.
	press Down + h; press q; press a; press Left; press i; press q; press m; press Escape
	press -l /; press x Escape; press o; press Escape; press E C e e H H PPage NPage End Home
	press Escape; press Enter
done
size 100 20
shows "[.] outer"
shows "Samples: "
press Tab; shows "page-faults:u"
press q; shows "status 0"
