# [remote]: the agent uses the file at the URL, follows its changes (ETag), refuses what is invalid or not signed by the key,
# and starts with the stored file when the server is away.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl jq python3 openssl
need_counting
cat >server.py <<'END'
import hashlib, http.server, sys
class Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            body = open('www' + self.path, 'rb').read()
        except OSError:
            return self.send_error(404)
        tag = '"' + hashlib.md5(body).hexdigest() + '"'
        known = self.headers.get('If-None-Match') == tag
        open('asked', 'a').write('%s %s %s\n' % (self.path, 304 if known else 200, self.headers.get('Authorization')))
        self.send_response(304 if known else 200)
        self.send_header('ETag', tag)
        self.send_header('Content-Length', '0' if known else str(len(body)))
        self.end_headers()
        self.wfile.write(b'' if known else body)
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Files).serve_forever()
END
mkdir www state
port=$(free_port)
python3 server.py "$port" 2>server.err &
server=$!
openssl genpkey -algorithm ed25519 -out private.pem 2>/dev/null
openssl pkey -in private.pem -pubout -out public.pem 2>/dev/null
sign() {
	openssl pkeyutl -sign -inkey private.pem -rawin -in www/all.toml -out www/all.toml.sig
}
source_with() {	# EVENT
	printf '[[source]]\nname = "me"\npids = [%s]\nevents = ["%s"]\ninterval = "200ms"\n' "$$" "$1"
}
publish() {	# EVENT: signed
	source_with "$1" >www/new
	openssl pkeyutl -sign -inkey private.pem -rawin -in www/new -out www/all.toml.sig
	mv www/new www/all.toml
}
agent_head local.toml
cat >>local.toml <<END
[remote]
url = "http://127.0.0.1:$port/all.toml"
interval = "1s"
public_key = "public.pem"
token = "for-the-server"
END
counts() {	# EVENT
	curl -fsS -m 5 "$agent_url/api/v1/events" | jq -e --arg e "$1" '[.events[] | select(.source == "me") | .event] == [$e]'
}
remote() {	# MEMBER
	curl -fsS -m 5 "$agent_url/api/v1/status" | jq -r ".remote.$1"
}
error_is() {	# TEXT
	remote error | grep -q -e "$1"
}

publish page-faults
start_agent local.toml
wait_for 30 counts page-faults
[ "$(remote url)" = "http://127.0.0.1:$port/all.toml" ] || fail "url: $(remote url)"
[ "$(remote error)" = null ] || fail "error: $(remote error)"
grep -q '^/all.toml 200 Bearer for-the-server$' asked || fail "asked without the token: $(cat asked)"
wait_for 30 grep -q '^/all.toml 304' asked

publish context-switches
wait_for 30 counts context-switches

# An error in it changes nothing, and says where it is.
printf '[[source]]\nname = "me"\nevents = 7\n' >www/all.toml
sign
wait_for 30 error_is "remote.toml.refused:3:"
counts context-switches || fail "a file with an error was used"
command curl -sS -m 5 "$agent_url/healthz" | grep -q '^remote configuration: ' || fail "/healthz does not report it"

# Not by the owner of the key.
source_with cpu-migrations >www/all.toml
wait_for 30 error_is "the signature does not match the file"
counts context-switches || fail "a file with a wrong signature was used"
printf '[remote]\nurl = "http://127.0.0.1:1/x"\n' >www/all.toml
sign
wait_for 30 error_is "'remote' belongs to the local file"
[ "$(grep -c 'remote configuration: ' agent.err)" -le 6 ] || fail "logged again and again: $(cat agent.err)"

# A file that is in use without a signature has to be verified when a key is set.
stop_agent
rm www/all.toml.sig
source_with context-switches >www/all.toml
grep -v '^public_key' local.toml >unsigned.toml
start_agent unsigned.toml
wait_for 30 error_is '^null$'
counts context-switches || fail "not without a signature"
cp local.toml unsigned.toml
kill -HUP "$agent_pid"
wait_for 30 error_is 404
stop_agent
start_agent local.toml

# The server is away, also at the next start.
publish page-faults
wait_for 30 counts page-faults
end "$server"
wait_for 30 error_is "127.0.0.1:$port"
stop_agent
start_agent local.toml
counts page-faults || fail "the stored file was not used"
tacho config show -c local.toml | grep -q '"page-faults"' || fail "config show does not have it"
stop_agent

# A stored file that was changed, or whose signature is missing, is not used.
cp state/remote.toml kept.toml
sed -i 's/page-faults/cpu-migrations/' state/remote.toml
start_agent local.toml
grep -q 'remote.toml is not used until it has been downloaded again: the signature does not match' agent.err || fail "$(cat agent.err)"
counts cpu-migrations && fail "a changed file was used"
stop_agent
cp kept.toml state/remote.toml
start_agent local.toml
counts page-faults || fail "the file is not used although it is as before"
stop_agent
mv state/remote.toml.sig sig
start_agent local.toml
counts page-faults && fail "a file without a signature was used"
python3 server.py "$port" 2>>server.err &	# and it is used as soon as the server has sent it again
wait_for 30 counts page-faults
cmp state/remote.toml.sig sig || fail "the signature was not stored"
stop_agent
start_agent local.toml --set remote.public_key=other.pem
grep -q 'other.pem' agent.err || fail "--set remote.public_key is not used for the stored file: $(cat agent.err)"
stop_agent

# A file that others on the network could change is refused.
sed -i 's|^url = .*|url = "http://config.example.com/all.toml"|; /^public_key/d' local.toml
tacho agent --check -c local.toml >out 2>err && fail "http:// without a signature is accepted"
grep -q "neither signed nor sent by https://" err || fail "$(cat err)"
