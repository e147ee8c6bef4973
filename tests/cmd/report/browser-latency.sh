# Shares of latency are relative to the whole latency, also with a filter, as in the text.
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
need cc python3 readelf nm
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
cat >made.c <<'C'
long data_one[16] = { 1 };
void work_a(long *x) { for (long i = 0; i < 16; i++) *x += data_one[i]; }
void work_b(long *x) { for (long i = 0; i < 16; i++) *x ^= data_one[i]; }
int main(void) { long x = 0; work_a(&x); work_b(&x); return (int)x; }
C
cc -O0 -no-pie -o made made.c
"$SUPPORT/hardware-samples" switch "$PWD/made" switch.data
tacho report --stdio -i switch.data --latency -s parallelism -q | awk 'NF { print $1, $2, $3 }' >text
[ "$(wc -l <text)" = 2 ] || { cat text; fail "not two rows"; }
same() {
	settled
	screen | sed 's/+//' | awk '$1 ~ /%$/ && $2 ~ /%$/ { print $1, $2, $3 }' >ours
	diff text ours || { screen; fail "not the same"; }
}
terminal 100 20 "tacho report -i switch.data --latency -s parallelism"
shows "Parallelism"; same
press q; shows "status 0"
terminal 100 20 "tacho report -i switch.data --latency -s parallelism,comm -H"
shows "Parallelism"; same
press q; shows "status 0"
tacho report --stdio -i switch.data --latency -s parallelism,comm -H -q | awk '$3 ~ /^[0-9]/ { print $1, $2, $3 }' | diff text - ||
	fail "the hierarchy is ordered otherwise"
