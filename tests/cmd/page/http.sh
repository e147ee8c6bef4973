# The page's headers: compressed or not as the client accepts, an ETag that works, and a policy with the
# hashes of the page's script and style.
. "$SUPPORT/lib.sh"
. "$SUPPORT/page.sh"
page_agent
cat >test.py <<'END'
import base64, gzip, hashlib, http.client, re, sys
host = re.match(r"http://([^/]+)/", sys.argv[1]).group(1)

def ask(method="GET", **headers):
    c = http.client.HTTPConnection(host, timeout=20)
    c.request(method, "/", headers={k.replace("_", "-"): v for k, v in headers.items()})
    r = c.getresponse()
    return r.status, r.headers, r.read()

status, h, plain = ask()
assert status == 200 and h["Content-Encoding"] is None and plain.startswith(b"<!doctype html>"), (status, h)
assert h["Content-Type"] == "text/html; charset=utf-8" and h["Vary"] == "Accept-Encoding"
for accept, packed in (("gzip", True), ("br, gzip;q=0.50", True), ("*", True), ("gzip;q=0", False),
                       ("gzip; q=0.000, br", False), ("identity", False), (",;,", False), ("GZIP", True)):
    status, hp, body = ask(Accept_Encoding=accept)
    assert status == 200 and (hp["Content-Encoding"] == "gzip") == packed, (accept, hp)
    assert (gzip.decompress(body) if packed else body) == plain, accept
    if packed:
        assert hp["ETag"] != h["ETag"] and len(body) < 60000
for tag, wanted in ((h["ETag"], 304), ('"other", ' + h["ETag"], 304), ('"other"', 200)):
    status, again, body = ask(If_None_Match=tag)
    assert status == wanted and (wanted == 200 or not body), (tag, status)
    assert again["Content-Security-Policy"]
status, head, body = ask("HEAD")
assert status == 200 and not body and head["Content-Length"] == str(len(plain))
assert ask("POST")[0] == 405

policy = h["Content-Security-Policy"]
assert "default-src 'none'" in policy and "unsafe" not in policy and "connect-src 'self'" in policy
for tag in ("script", "style"):
    found = re.findall(rb"<%b(?: [^>]*)?>(.*?)</%b>" % (tag.encode(), tag.encode()), plain, re.S)
    assert len(found) == 1, tag
    digest = base64.b64encode(hashlib.sha256(found[0]).digest()).decode()
    assert f"{tag}-src 'sha256-{digest}'" in policy, (tag, policy)
print("fine")
END
python3 test.py "$page_url"
page_stop
