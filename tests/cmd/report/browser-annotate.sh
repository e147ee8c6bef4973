# A function's instructions with their shares; and where its file is gone or of another build.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
cp "$TEST_BIN/hot" here
tacho record -q -e cpu-clock:u -F 2000 -g -o hot.data ./here 2>err || skip "cannot record here: $(head -n 1 err)"
mv "$HOME/.debug" "$HOME/.debug.gone" 2>/dev/null || true	# what record kept of it

open() { terminal 110 40 "tacho report -i hot.data --no-children"; shows "[.] spin"; press Home; }

open
press a; shows "[Percent: local period]"
shows "Instruction"
screen | sed -n 2p | sed "s|/[^ ]*/|.../|"
# The loop has all of it; the shares add up.
screen | awk -F'|' '/^ *[0-9]+\.[0-9][0-9] \|/ { sum += $1; n++ }
	END { print (n >= 1 && sum > 98 && sum < 102 ? "all samples are on instructions" : "sum " sum " of " n) }'
press t; shows "Period |"
press t; shows "Samples |"
press f; shows "Address"
press -l /; shows "Part of an instruction"
press -l zzz; shows "zzz_"; press Enter; shows "Not found"
press P; shows "spin.annotation written"
grep -c '|' spin.annotation | awk '{ print ($1 > 3 ? "lines" : $1) }'
press h; shows "go to the hottest instruction"
press q; press q; shows "[.] spin"
press q; shows "status 0"

echo "# without capstone's way: objdump's"
if command -v objdump >/dev/null; then
	want=$(objdump -d --no-show-raw-insn here | awk '/<spin>:/ { on = 1; next } /^$/ { on = 0 } on' | wc -l)
	got=$(grep -c '|' spin.annotation)
	[ "$want" = "$got" ] || fail "$got instructions, objdump has $want"
fi

echo "# another build, and no file, since it was read"
open
cp "$(command -v cat)" new && mv new here
press a; shows "of another build than the recorded one"
rm here
press a; shows "does not exist"
press q; shows "status 0"
echo "# before it was read"
terminal 110 40 "tacho report -i hot.data --no-children"
shows "[.] 0x"
press Home a; shows "No function is known at this address: no such file"
press q; shows "status 0"
