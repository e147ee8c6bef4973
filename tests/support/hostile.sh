# Commands on damaged recordings: `. "$SUPPORT/hostile.sh"`, after lib.sh.

# Each copy gives a result or messages of tacho; nothing crashes, hangs or uses more memory than a file of that size may.
survives() {	# N FILE COMMAND...: with -i COPY
	need python3
	survives_n=$1 survives_file=$2
	shift 2
	"$SUPPORT/mutate-recording" "$survives_file" copy- "$survives_n"
	survives_i=0
	while [ "$survives_i" -lt "$survives_n" ]; do
		survives_status=0
		timeout 60 tacho "$@" -i "copy-$survives_i" >out 2>err </dev/null || survives_status=$?
		case $survives_status in
		0 | 1) ;;
		*) cat err >&2; fail "status $survives_status: tacho $* -i copy-$survives_i" ;;
		esac
		! grep -qv '^tacho\|^  ' err || { cat err >&2; fail "noise: tacho $* -i copy-$survives_i"; }
		survives_i=$((survives_i + 1))
	done
	rm -f copy-*
}
