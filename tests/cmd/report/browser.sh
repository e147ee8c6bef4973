# The browser on a real terminal: the first screen, call chains, zooms, filters, and quitting.
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
tacho record -q -e cpu-clock:u -F 2000 -g -o hot.data "$TEST_BIN/hot" 2>err || skip "cannot record here: $(head -n 1 err)"

terminal 100 20 "tacho report -i hot.data"
shows "[.] outer"
shows "samples in"
screen | head -n 2
screen | grep -cE '^\+ +[0-9]+\.[0-9]{2}% +[0-9]+\.[0-9]{2}%  hot      hot .* \[\.\] (outer|heavy_work|spin|light_work)$'

echo "# a chain"
press /; shows "An empty text shows all functions"
press -l outer; shows "outer_"
press Enter; shows ", Symbol: outer"
press +; shows "-  "; press e; press e
shows "% light_work"
screen | sed -n '/^-/,/light_work/p' | sed 's/ *[0-9][0-9.]*%/ N%/g'
press e; shows_not "% light_work"
press Escape; shows_not ", Symbol: outer"

echo "# zooms"
press t; shows ", Thread: hot"
press d; shows ", DSO: "
press Escape; shows_not ", DSO: "
press Left; shows_not ", Thread:"

echo "# a menu"
press Enter; shows "Zoom into the thread hot"
screen | sed -n '2,6p'
press Down Down Enter; shows ", Thread: hot"
press t; shows_not ", Thread:"

echo "# print"
press P; shows "written to tacho.hist.0"
head -n 1 tacho.hist.0
grep -q '^+.*\[\.\] outer$' tacho.hist.0

# Started as perf, it writes perf's files.
ln -s "$TACHO" perf
terminal 100 20 "./perf report -i hot.data"
shows "[.] outer"
press P; shows "written to perf.hist.0"
press q; shows "status 0"
terminal 100 20 "tacho report -i hot.data"
shows "[.] outer"

echo "# other keys to sort by"
press o; shows "other keys ..."
press Down Down Down Enter; shows "Sorted by comm"
screen | sed -n '2,3p'

echo "# the way out"
press Escape; shows "Leave the browser?"
press n; shows_not "Leave the browser?"
press Escape; shows "Leave the browser?"
press y; shows "status 0"
terminal 100 20 "tacho report -i hot.data"
shows "[.] outer"
press q; shows "status 0"
