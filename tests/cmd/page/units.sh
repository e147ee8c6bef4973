# Unit tests of the page's pure functions (formats, URLs, columns, layouts), with node's test runner.
. "$SUPPORT/lib.sh"
need node
[ -d "$BUILD/web/node_modules/esbuild" ] || skip "this build has the small page"
"$BUILD/web/node_modules/.bin/esbuild" "$SOURCE"/web/test/*.test.ts --bundle --platform=node --format=esm \
	--outdir=units --out-extension:.js=.mjs --log-level=warning
TZ=UTC node --test units/*.mjs >out 2>&1 || { cat out; exit 1; }
grep -qE "^(#|ℹ) pass [1-9]" out || { cat out; fail "no test ran"; }
