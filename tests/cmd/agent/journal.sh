# Log lines for the journal have a priority prefix; those for a terminal that only inherited the journal's
# variable do not.
. "$SUPPORT/lib.sh"
mkdir state
STATE_DIRECTORY=$PWD/state RUNTIME_DIRECTORY=$PWD/state
export STATE_DIRECTORY RUNTIME_DIRECTORY
printf '[profile]\nenabled = false\n[[source]]\nname = "s"\nevents = ["page-faults"]\npids = [%d]\n' $$ >tacho.toml
said() {	# JOURNAL_STREAM: what the agent says with that
	: >said
	JOURNAL_STREAM=$1 tacho agent -c tacho.toml --listen 127.0.0.1:0 --store '' 2>said &
	said_pid=$!
	while ! grep -q link said; do
		kill -0 $said_pid
		sleep 0.1
	done
	kill $said_pid
	wait $said_pid
	sed 's|http.*|URL|' said
}
said 1:2
: >said
said "$(stat -c %d:%i said)"
