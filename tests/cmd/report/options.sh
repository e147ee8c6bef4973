# Wrong words are refused before anything is read, and the right one is offered.
. "$SUPPORT/lib.sh"
refused 129 tacho report -s symbl
grep -q "did you mean 'symbol'" err
refused 129 tacho report -F overhead,symbl
refused 129 tacho report -s comm -F overhead,symbl
grep -q '^  -F overhead,symbl$' err || fail "another list is shown: $(cat err)"
refused 129 tacho report -s a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14,a15,a16,a17
grep -q "more than 16 fields" err || fail "another reason: $(cat err)"
refused 129 tacho report -s ,
refused 129 tacho report -g grph
refused 129 tacho report -p '['
refused 129 tacho report --time-quantum 0ms
refused 129 tacho report --stats --tasks
refused 129 tacho report one.data two.data
refused 129 tacho report -i one.data text two.data
grep -q "'two.data' is not expected" err || fail "another word is refused: $(cat err)"
"$TEST_BIN/make-samples" one one.data
tacho report --stdio -i one.data -s comm, >rows
tacho report --stdio -i one.data -s comm | cmp - rows
tacho report --stdio -i one.data --header --stats | grep -q '^# captured on' || fail "--stats hides --header"
tacho report --stdio -i one.data --symbol-filter nosuch >rows
tacho report --stdio -i one.data nosuch | cmp - rows
! grep -q % rows || fail "there is such a function"
refused 129 tacho report --percentage half
refused 129 tacho report -t .
refused 129 tacho report --max-stack 0
refused 129 tacho report --no-such-option
