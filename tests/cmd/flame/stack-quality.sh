# Stacks of distribution programs in `tacho flame` are whole, also of programs in other pid and mount namespaces: bench/stack-quality
# exits with 1 if fewer than 97 % of a program's are.
# run: slow plain
. "$SUPPORT/lib.sh"
need python3 gcc
tacho record -q -e cpu-clock:u -o file true 2>err || skip "cannot record here: $(cat err)"
quality() {
	"$SOURCE/bench/stack-quality" --tacho "$TACHO" --seconds 1.5 "$@" >table || { cat table; fail "stacks are not whole: $*"; }
	cat table
}
quality
[ "$(wc -l <table)" -ge 4 ] || fail "only $(wc -l <table) programs"
! unshare --pid --fork --mount --mount-proc true 2>/dev/null || quality --namespace
