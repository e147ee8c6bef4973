# The whole page is one file of less than 60 kB as sent, and loads nothing from elsewhere.
. "$SUPPORT/lib.sh"
need gzip
[ -e "$BUILD/web/page.html" ] || skip "this build has the small page"
n=$(gzip -9 -n <"$BUILD/web/page.html" | wc -c)
echo "$n bytes"
[ "$n" -lt 60000 ] || fail "the page has $n bytes, 60000 is the limit"
[ "$(grep -o '<script' "$BUILD/web/page.html" | wc -l)" = 1 ] || fail "more than one script"
! grep -oE '(src|href)="?(https?:)?//[^"]*' "$BUILD/web/page.html" || fail "loads from elsewhere"
