# A symbolic link planted in the cache, where a copy is written before it is renamed, is not followed.
. "$SUPPORT/lib.sh"
HOME=$PWD
export HOME
cp "$TEST_BIN/spin" prog
id=$(tacho buildid-list -i "$PWD/prog" | awk '{ print $1 }')
mkdir -p ".debug$PWD/prog/$id"
echo secret >victim
ln -s "$PWD/victim" ".debug$PWD/prog/$id/elf.part"
tacho buildid-cache -a "$PWD/prog"
[ "$(cat victim)" = secret ] || fail "the target of the link was overwritten"
cmp prog ".debug$PWD/prog/$id/elf" || fail "no copy in the cache"
