# Paths that are in use or invalid: a second agent on one store, a socket path that is a file, a store
# in a missing directory. Each is reported, and existing files are not touched.
. "$SUPPORT/lib.sh"
mkdir state
STATE_DIRECTORY=$PWD/state RUNTIME_DIRECTORY=$PWD/state
export STATE_DIRECTORY RUNTIME_DIRECTORY
printf '[profile]\nenabled = false\n[[source]]\nname = "s"\nevents = ["page-faults"]\npids = [%d]\n' $$ >tacho.toml
agent() {
	timeout 60 tacho agent -c tacho.toml --listen 127.0.0.1:0 "$@"
}
: >first	# before somebody looks into it
tacho agent -c tacho.toml --listen 127.0.0.1:0 --store a.db >first 2>&1 &
first=$!
trap 'kill $first' EXIT
while ! grep -q 'page at' first; do
	kill -0 $first
	sleep 0.1
done
agent --store a.db --set agent.socket="$PWD/other" && exit 1
agent --store b.db && exit 1
echo precious >file
agent --store '' --set agent.socket="$PWD/file" && exit 1
cat file
agent --store "$PWD/none/a.db" --set agent.socket="$PWD/other" && exit 1
kill $first
wait $first
: >last
tacho agent -c tacho.toml --listen "unix:$PWD/page" --store a.db >last 2>&1 &
first=$!
while ! grep -q 'no page by TCP' last; do
	kill -0 $first
	sleep 0.1
done
kill $first
wait $first
trap - EXIT
