# Objects with samples are copied into the build ID cache, so that a program can be resolved after it was rebuilt. Without
# a copy the report says that the program has changed.
# run: both
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
HOME=$PWD/home
export HOME
mkdir home
record() {	# FILE ARGS...
	record_file=$1
	shift
	tacho record -q -e cpu-clock:u -o "$record_file" "$@" ./prog -c 0.1 -t 0 2>err || { cat err; fail "record $*"; }
}
named() {	# FILE: most samples of prog have names
	tacho report -i "$1" --stdio -s dso,sym 2>err >out || { cat err; fail "report $1"; }
	grep -q ' prog .*\[\.\] \(now_s\|main\)$' out
}
cp "$TEST_BIN/spin" prog
record kept
id=$(tacho buildid-list -i "$PWD/prog")
copy=home/.debug$PWD/prog/$id/elf
cmp prog "$copy" || fail "no copy of the program in the cache"
[ "$(tacho buildid-cache -l | grep -c "^$id $PWD/prog\$")" = 1 ] || fail "the copy is not listed"
named kept || { cat out; fail "no names before"; }
[ ! -s err ] || { cat err; fail "a message although all is there"; }
before=$(ls -li "$copy")
record again
[ "$(ls -li "$copy")" = "$before" ] || fail "the copy was made again"
# The program is rebuilt: as another file, and in place.
rm prog
cp "$TEST_BIN/hot" prog
named kept || { cat out err; fail "no names after the program was replaced"; }
[ ! -s err ] || { cat err; fail "a message although there is a copy"; }
cat "$TEST_BIN/calls" >prog
named kept || { cat out err; fail "no names after the program was overwritten"; }
# Nothing is copied with -N, -B, --switch-output, into pipes, without a home directory, and into another user's cache.
cp "$TEST_BIN/spin" prog
rm -rf home/.debug
record n -N
[ ! -e home/.debug ] || fail "-N has updated the cache"
record b -B
tacho record -q -e cpu-clock:u -o s --switch-output ./prog -c 0.05 -t 0
tacho record -q -e cpu-clock:u -o - ./prog -c 0.05 -t 0 >pipe
env -u HOME tacho record -q -e cpu-clock:u -o h ./prog -c 0.05 -t 0
[ ! -e home/.debug ] || fail "a cache was made"
if [ "$(id -u)" = 0 ]; then
	mkdir home/.debug
	chown 65534 home home/.debug
	tacho record -v -e cpu-clock:u -o u ./prog -c 0.05 -t 0 2>err
	[ -z "$(ls home/.debug)" ] || fail "written to another user's cache"
	grep -q 'cache is not updated: it belongs to another user' err || { cat err; fail "no message with -v"; }
	rmdir home/.debug
	tacho record -q -e cpu-clock:u -o u ./prog -c 0.05 -t 0
	[ ! -e home/.debug ] || fail "a cache was made in another user's home directory"
	chown 0 home
fi
rm prog
cp "$TEST_BIN/hot" prog
named n && { cat out; fail "names of another program"; }
grep -q "% of the samples have no name: '$PWD/prog' has changed or is gone since it was recorded, and the build ID cache has no copy of it" err ||
	{ cat err; fail "no message about a program that has changed"; }
rm prog
named n && fail "names of no program"
grep -q "'$PWD/prog' has changed or is gone" err || { cat err; fail "no message about a program that is gone"; }
# A large file becomes a hard link if the file system cannot share its blocks, unless it has the set-user-ID bit.
cp "$TEST_BIN/spin" prog
truncate -s 9M prog
record large
named large || { cat out err; fail "no names in a large program"; }
cmp prog "$copy" || fail "no copy of a large program"
rm -rf home/.debug
chmod u+s prog
record setuid
cmp prog "$copy" && ! [ prog -ef "$copy" ] && ! [ -u "$copy" ] || { ls -l prog "$copy"; fail "a setuid program was linked"; }
# Recordings of at least a second store the kernel's symbols, if the user may read them.
[ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/kptr_restrict)" -lt 2 ] || exit 0
tacho record -q -a -e cpu-clock:k -o short sleep 0.2
[ ! -e 'home/.debug/[kernel.kallsyms]' ] || fail "a short recording has stored the kernel's symbols"
tacho record -q -a -e cpu-clock:k -o long sh -c 'for i in 1 2 3 4 5 6; do ls -lR /proc/self/ >/dev/null 2>&1; sleep 0.25; done'
head -n 2000 /proc/kallsyms >head	# later ones change with modules and BPF programs
head -n 2000 home/.debug/\[kernel.kallsyms\]/*/kallsyms | cmp - head || fail "no symbols of the kernel"
tacho report -i long --stdio -s dso,sym 2>err >out && grep -q '\[k\] [a-z_]' out || { cat out err; fail "no names of the kernel"; }
