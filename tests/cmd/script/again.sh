# Cached lines of a thread's last sample are reused only as long as they are still correct.
# run: slow
. "$SUPPORT/lib.sh"
need python3
for seed in 1 2; do
	"$SUPPORT/make-chains" . $seed
	tacho script -q --kallsyms kallsyms -i chains.data >got
	cmp got want || fail "seed $seed: $(diff want got | head -n 6)"
	tacho script -q --kallsyms kallsyms -i - <chains.data | cmp - want || fail "seed $seed: from a pipe"
	tacho script -q --kallsyms kallsyms -i chains.data --max-stack 1000000 | cmp - want ||
		fail "seed $seed: with a limit"
done
