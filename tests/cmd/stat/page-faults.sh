# A program that touches N new pages takes N page faults more than the same program with 0.
# run: both
. "$SUPPORT/lib.sh"
n=10000
tacho stat -x, -e page-faults "$TEST_BIN/touch-pages" 0 2>none
tacho stat -x, -e page-faults "$TEST_BIN/touch-pages" $n 2>many
within 2 $(($(csv_value page-faults many) - $(csv_value page-faults none))) $n
