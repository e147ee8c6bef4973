# The page passes TypeScript's type check.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need node
[ -d "$BUILD/web/node_modules/preact" ] || skip "this build has the small page"
npm_packages typescript@7.0.2
cp -r "$SOURCE/web/src" "$SOURCE/web/tsconfig.json" .
cp -r "$BUILD/web/node_modules/preact" "$BUILD/web/node_modules/@preact" "$BUILD/web/node_modules/uplot" node_modules/
node_modules/.bin/tsc -p .
