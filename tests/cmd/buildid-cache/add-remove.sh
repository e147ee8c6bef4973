# Copies come and go, with the links that other tools follow.
. "$SUPPORT/lib.sh"
HOME=$PWD
export HOME
id=$(tacho buildid-list -i /bin/ls)
path=$(readlink -f /bin/ls)
folder=.debug$path/$id
link=.debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)

[ -z "$(tacho buildid-cache -l)" ] || fail "there is a cache already"
tacho buildid-cache -a /bin/ls
[ "$(tacho buildid-cache -l)" = "$id $path" ] || fail "not listed"
cmp /bin/ls "$folder/elf" || fail "not the same bytes"
[ -x "$folder/elf" ] || fail "not executable"
[ "$(readlink -f "$link")" = "$PWD/$folder" ] || fail "the link leads to $(readlink "$link")"
tacho buildid-cache -a /bin/ls		# a second time is fine
tacho buildid-cache -u /bin/ls
cmp /bin/ls "$folder/elf" || fail "not the same bytes after an update"
if command -v perf >/dev/null; then
	[ "$(perf buildid-cache -l)" = "$id $path" ] || fail "perf does not list it"
fi
tacho buildid-cache -r /bin/ls
[ -z "$(tacho buildid-cache -l)" ] || fail "still listed after -r"
[ ! -e "$folder" ] || fail "still there after -r"

tacho buildid-cache -a /bin/ls,/bin/cat
tacho buildid-cache -p /bin/ls
[ "$(tacho buildid-cache -l | wc -l)" = 1 ] || fail "-p did not remove one of two"
tacho buildid-cache -P
[ -z "$(tacho buildid-cache -l)" ] || fail "still listed after -P"

[ "$(status_of tacho buildid-cache -a /nonesuch)" = 1 ] || fail "a missing file was added"
[ "$(status_of tacho buildid-cache)" = 129 ] || fail "nothing to do passed as fine"

# -M: what of a recording has no copy.
tacho record -q -N -e cpu-clock:u --buildid-all -o file /bin/ls >/dev/null 2>&1 || exit 0
tacho buildid-list -i file | sort >all
grep -q /ls all || fail "a recording without its program"
tacho buildid-cache -M file | sort | diff all - || fail "-M with an empty cache"
tacho buildid-cache --buildid-dir not-there -M file | sort | diff all - || fail "-M without a cache"
tacho buildid-cache -a /bin/ls
grep -v '/ls$' all >want || true
tacho buildid-cache -M file | sort | diff want - || fail "-M lists what has a copy"
[ "$(status_of tacho buildid-cache -M not-there)" = 1 ] || fail "-M of no file"
