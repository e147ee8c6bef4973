# Words for tests that need a terminal: `. "$SUPPORT/tmux.sh"`, after lib.sh. Each test has a server of
# its own. A loaded machine is slow: texts are waited for, up to 20 seconds, rather than expected.

need tmux
tmux_socket=$PWD/tmux.socket
export LC_ALL=C.UTF-8

tmux_do() { tmux -u -f /dev/null -S "$tmux_socket" "$@"; }

# The server ends with the test, whatever happens.
trap 'tmux_do kill-server 2>/dev/null || true' EXIT

terminal() {	# COLUMNS ROWS COMMAND-LINE: runs it in a terminal; its status comes after it
	tmux_do kill-server 2>/dev/null || true
	while [ -S "$tmux_socket" ] && tmux_do list-sessions >/dev/null 2>&1; do sleep 0.05; done
	rm -f "$tmux_socket"
	tmux_do new-session -d -x "$1" -y "$2" "${TERM_HERE+TERM=$TERM_HERE; export TERM;} $3; echo status \$?; cat" ||
		skip "tmux does not start here"
}

press() { tmux_do send-keys "$@"; }

screen() { tmux_do capture-pane -p "$@"; }

shows() {	# TEXT: waits until the screen has it
	shows_tries=0
	until screen | grep -qF -- "$1"; do
		shows_tries=$((shows_tries + 1))
		[ $shows_tries -lt 200 ] || { screen >&2; fail "never on the screen: $1"; }
		sleep 0.1
	done
}

shows_not() {	# TEXT: waits until it is gone
	shows_tries=0
	while screen | grep -qF -- "$1"; do
		shows_tries=$((shows_tries + 1))
		[ $shows_tries -lt 200 ] || { screen >&2; fail "stays on the screen: $1"; }
		sleep 0.1
	done
}

settled() {	# waits until the screen does not change for a while
	settled_before=
	for settled_try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		settled_now=$(screen)
		[ "$settled_now" != "$settled_before" ] || return 0
		settled_before=$settled_now
		sleep 0.4
	done
}
