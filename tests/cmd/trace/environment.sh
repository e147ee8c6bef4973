# trace --exec: what a program's environment has that its parent's had not, as arguments of env.
. "$SUPPORT/lib.sh"
need_root
tacho trace --exec true >out 2>&1 || skip "$(head -n 1 out)"
if grep -q 'without BPF\|cannot be loaded' out; then
	skip "$(head -n 1 out)"
fi
cat >change.sh <<'S'
export ADDED="a b" CHANGED=new
unset REMOVED
env -i ONLY='q"$`\' printenv >/dev/null
printenv >/dev/null
S
export REMOVED=1 CHANGED=old
tacho trace --exec -o out sh change.sh
# The command starts with the environment of tacho.
sed -n '/"sh", "change.sh"/p' out | grep -q ' env ' && fail "the first program: $(cat out)"
grep -qE '"env", "-i".* env -u REMOVED CHANGED="new" ADDED="a b"$|"env", "-i".* env -u REMOVED ADDED="a b" CHANGED="new"$' out || fail "env: $(cat out)"
grep '\["printenv"\]' out | grep -v ENOENT | head -n 1 >first
grep -q -- '-u CHANGED' first || fail "env -i: $(cat first)"
grep -qF ' ONLY="q\"\$\`\\"' first || fail "quotes: $(cat first)"
[ "$(grep -c '\["printenv"\].* env -u REMOVED' out)" = 1 ] || fail "two children of one shell: $(cat out)"

# Only the start of a large environment is known.
BIG=$(head -c 30000 /dev/zero | tr '\0' x) tacho trace --exec -o out sh -c 'NEW=1 printenv >/dev/null; true'
grep '\["printenv"\]' out | grep -v ENOENT | grep -q ' \.\.\.$' || fail "large: $(cut -c 1-200 out)"
if grep -q xxxxxxxx out; then
	fail "large: $(cut -c 1-200 out)"
fi
