# flame --jit: names of JavaScript functions in one command; without it, a hint.
. "$SUPPORT/lib.sh"
need node
cat >app.js <<'END'
function innerFunction(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i); return s }
function outerFunction(n) { return innerFunction(n) + innerFunction(n + 1) }
const end = Date.now() + 700
let sum = 0
while (Date.now() < end) sum += outerFunction(1000)
END
unset NODE_OPTIONS
tacho flame -e cpu-clock --jit -o node.folded -- node app.js 2>err
grep -q 'innerFunction' node.folded || fail "no name: $(cat err) $(tail -n 3 node.folded)"
! grep -q -- --jit err || fail "the hint is printed although there is a map: $(cat err)"
tacho flame -e cpu-clock -o node.folded -- node app.js 2>err
! grep -q 'innerFunction' node.folded || fail "names without a map"
[ "$(grep -c -- --jit err)" = 1 ] || fail "no hint at --jit: $(cat err)"
