# Words for tests of `tacho record`: `. "$SUPPORT/record.sh"`, after lib.sh.

LOOP='i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'

said() {	# FILE: how many samples the closing line in FILE reports
	sed -n 's/^\[ tacho record: Captured and wrote [0-9.]* MB [^ ]* (\([0-9]*\) samples) \]$/\1/p' "$1"
}

perf_samples() {	# FILE: how many samples perf script shows
	perf script -i "$1" -F comm,tid,time,event 2>perf.err | grep -c . || true
}

# perf before 6.16 does not know the compressed records that -z writes.
decompressed() {	# FILE: prints the name of a copy without them
	tacho inject -i "$1" -o "$1.plain" || fail "cannot decompress $1"
	echo "$1.plain"
}

hotspot_samples() {	# FILE: how many samples hotspot's reader finds; nothing where it is missing
	hs_reader=$(command -v hotspot-perfparser ||
		ls /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser 2>/dev/null || true)
	[ -z "$hs_reader" ] ||
		"$hs_reader" --print-stats --input "$1" 2>/dev/null | sed -n 's/^ *samples: *\([0-9]*\).*/\1/p'
}

# Records with ARGS into FILE and has perf read it: script as many samples as tacho reports,
# evlist the events, report some rows.
perf_reads() {	# FILE EVENTS ARGS...
	pr_file=$1
	pr_events=$2
	shift 2
	tacho record -o "$pr_file" "$@" >out 2>err || { cat err >&2; fail "record $*"; }
	pr_said=$(said err)
	[ "${pr_said:-0}" -gt 0 ] || { cat err >&2; fail "no samples: $*"; }
	case " $* " in
	*" -z "*) pr_file=$(decompressed "$pr_file") ;;
	esac
	pr_got=$(perf_samples "$pr_file")
	[ "$pr_got" = "$pr_said" ] || { cat perf.err >&2; fail "perf reads $pr_got of $pr_said: $*"; }
	[ ! -s perf.err ] || { cat perf.err >&2; fail "perf script complains: $*"; }
	pr_got=$(hotspot_samples "$pr_file")
	[ "${pr_got:-$pr_said}" = "$pr_said" ] || fail "hotspot reads $pr_got of $pr_said: $*"
	pr_list=$(perf evlist -i "$pr_file" 2>&1 | grep -v '^#' | paste -sd, -)
	[ "$pr_list" = "$pr_events,dummy:u" ] || fail "events $pr_list, expected $pr_events: $*"
	perf report -i "$pr_file" --stdio --no-inline 2>&1 | grep -q '^ *[0-9.]*%' ||
		fail "perf report shows no row: $*"
}

# Records by perf. Frames that are in an object and have no name there have other
# addresses in perf, and entries of linkage tables other names: a recording counts that has none.
alike() {	# FILE EVENTS OPTION...
	alike_file=$1
	alike_events=$2
	shift 2
	for alike_try in 1 2 3 4 5 6 7 8 9 10; do
		live_perf record -q -e "$alike_events" -F 2000 -o "$alike_file" "$@" 2>/dev/null || skip "perf cannot record here"
		tacho script -F ip,sym,dso -i "$alike_file" 2>/dev/null |
			grep -e '@plt' -e '\[unknown\] ([^[]' -e '(\[vdso\])' >others || return 0
	done
	cat others
	fail "$alike_file: frames that differ in each of ten recordings"
}
