# A database of another program or of a newer tacho is never changed: the history goes to a file beside it, and the log says so.
# CSV files and files for node_exporter are not written through links.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
need_counting
python3 - <<'END'
import sqlite3
for name, sql in ("other.db", "CREATE TABLE songs(title); INSERT INTO songs VALUES('a')"), \
        ("versioned.db", "PRAGMA user_version = 1; CREATE TABLE series(episode)"), \
        ("newer.db", "PRAGMA user_version = 7; CREATE TABLE series(key); CREATE TABLE chunk(level); CREATE TABLE profile(x); CREATE TABLE event(id)"):
    db = sqlite3.connect(name)
    db.executescript(sql)
    db.close()
END
sha256sum ./*.db >sums
for db in other versioned newer; do
	agent_head tacho.toml
	sed -i "s|^store = .*|store = \"$PWD/$db.db\"|" tacho.toml
	printf '[[source]]\nname = "me"\nevents = ["page-faults"]\npids = [%d]\n' $$ >>tacho.toml
	start_agent tacho.toml
	tacho agent -c tacho.toml ctl read-now >/dev/null
	stop_agent
	grep -q "the store $PWD/$db.db .*left unchanged, and the history goes to $PWD/$db.db.tacho-v1" agent.err || fail "$(cat agent.err)"
	[ -s "$db.db.tacho-v1" ] || fail "no history beside $db.db"
	sha256sum -c --quiet sums || fail "$db.db was changed"
	[ ! -e "$db.db-wal" ] && [ ! -e "$db.db-shm" ] || fail "files were made beside $db.db"
	start_agent tacho.toml		# continues there
	stop_agent
	sha256sum -c --quiet sums || fail "$db.db was changed by the second start"
done
grep -q "newer tacho" agent.err || fail "no word about the newer tacho: $(cat agent.err)"

# Links.
echo precious >victim
sha256sum victim >sums
agent_head base.toml
printf '[[source]]\nname = "me"\nevents = ["page-faults"]\npids = [%d]\n' $$ >>base.toml
ln -s victim out.csv
cp base.toml tacho.toml
printf '[[export]]\ntype = "csv"\npath = "%s/out.csv"\n' "$PWD" >>tacho.toml
timeout 3 tacho agent -c tacho.toml >out 2>err || true
grep -q "out.csv: it is a symbolic link" err || fail "$(cat err)"
rm out.csv
ln victim out.csv
timeout 3 tacho agent -c tacho.toml >out 2>err || true
grep -q "other names (hard links)" err || fail "$(cat err)"
ln -s victim out.prom.new
cp base.toml tacho.toml
printf '[[export]]\ntype = "textfile"\npath = "%s/out.prom"\nflush = "200ms"\n' "$PWD" >>tacho.toml
start_agent tacho.toml
wait_for 20 test -s out.prom
stop_agent
sha256sum -c --quiet sums || fail "the linked file was changed"
