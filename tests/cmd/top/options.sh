# Options that contradict each other, and arguments that are wrong.
. "$SUPPORT/lib.sh"
says() {	# TEXT ARGS...: refused with status 129 and this message
	says_text=$1
	shift
	[ "$(status_of tacho top "$@" </dev/null 2>err)" = 129 ] || { cat err; fail "accepted: $*"; }
	grep -qF -- "$says_text" err || { cat err; fail "no such message: $says_text"; }
}
says "-F and -c cannot be used together" -F 9 -c 9
says "-p and -t cannot be used together" -p 1 -t 1
says "-u shows all processes of a user" -u root -p 1
says "-a shows the whole machine" -a -p 1
says "-K and -U leave nothing to sample" -K -U
says "cgroups can only be sampled per CPU" -e cpu-clock -G x -p 1
says "-d takes a number of seconds from 0.05 to 86400" -d 0
says "--stdio and --tui cannot be used together" --stdio --tui
says "--percentage is relative or absolute" --percentage half
says "there is no key 'foo'" -s foo
says "tacho top: 'many' is not a frequency" -F many
says "tacho top: " -p x
says "tacho top: " -e nosuchevent
says "'x' is not expected here" x
says "it goes with --switch-on" --show-on-off-events
says "takes a number from 0 to 100, not '101'" --percent-limit 101
