# buildid-list finds the ids that perf finds, in files and streams, of kernels and ELF files.
. "$SUPPORT/lib.sh"
need perf
need_root
perf record -q -o a.data -e cpu-clock -F 1999 -- ls -R /usr/share/doc >/dev/null 2>&1 ||
	skip "perf cannot record here"
for options in "-i a.data" "-H -i a.data" -k -m "-i /bin/ls"; do
	perf buildid-list $options 2>/dev/null | sort >theirs
	tacho buildid-list $options | sort >ours
	cmp theirs ours || fail "buildid-list $options differs: $(diff theirs ours)"
done
