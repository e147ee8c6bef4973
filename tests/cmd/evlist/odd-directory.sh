# The directory of a recording may hold a FIFO, which must not be opened: that would block.
. "$SUPPORT/lib.sh"
need mkfifo
tacho record -q -e cpu-clock -o perf.data -- true || skip "cannot record here"
for odd in data data.0; do
	rm -rf dir
	mkdir dir
	cp perf.data dir/data
	rm -f "dir/$odd"
	mkfifo "dir/$odd"
	for command in evlist 'report --stdio' script 'inject -o out.data'; do
		# shellcheck disable=SC2086
		[ "$(status_of timeout 60 tacho $command -i dir)" = 1 ] || fail "$command with $odd"
	done
	tacho evlist -i dir 2>err || true
	grep -q "dir/$odd is not a regular file" err || fail "$(cat err)"
done
