# Wrong words are refused before anything is read, and the right one is offered.
. "$SUPPORT/lib.sh"
refused 129 tacho report -s symbl
grep -q "did you mean 'symbol'" err
refused 129 tacho report -F overhead,symbl
refused 129 tacho report -s comm -F overhead,symbl
grep -q '^  -F overhead,symbl$' err || fail "another list is shown: $(cat err)"
refused 129 tacho report -g grph
refused 129 tacho report --percentage half
refused 129 tacho report -t .
refused 129 tacho report --max-stack 0
refused 129 tacho report --no-such-option
