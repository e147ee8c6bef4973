# `mem report` is report's --mem-mode with perf's keys: the rows are those of perf 7, apart from columns that it adds (IPC, and
# Local Pipeline Stage Cycle), widths of columns, and the order of rows with equal weights.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
. "$SUPPORT/memory.sh"
# perf tells rows with its IPC column apart that look alike: their samples are added up.
merged() { awk '{ n = $2; $1 = $2 = ""; sum[$0] += n } END { for (k in sum) print sum[k] k }' | sort; }
rows() { grep -v -e Tip: -e '^# Sort order' -e '^#' -e '^$' | sed 's/  */ /g; s/ $//' | sort; }
same() {	# ADDED OPTION...: perf's rows end with ADDED
	added=$1
	shift
	newest_says mem report --stdio -i mem.data "$@" | rows | sed "s/$added\$//" >perf.txt
	tacho mem report --stdio -i mem.data "$@" 2>err | rows >tacho.txt
	grep -q '%' perf.txt || fail "perf shows nothing: $*"
	diff perf.txt tacho.txt >difference || fail "not the same: $* $(head -n 20 difference)"
}
for keys in mem mem,sym local_weight snoop,tlb locked,dso,mem dso_daddr,mem blocked,snoop data_page_size weight,dso; do
	same "" -s $keys
done
same "" -s mem --percent-limit 10
# perf takes -t and -p before the verb.
both() {	# ADDED OPTION...
	added=$1
	shift
	newest_says mem "$@" report --stdio -i mem.data | rows | sed "s/$added\$//" | merged >perf.txt
	tacho mem report --stdio -i mem.data "$@" 2>err | rows | merged >tacho.txt
	diff perf.txt tacho.txt >difference || fail "not the same: $* $(head -n 20 difference)"
	tacho mem "$@" report --stdio -i mem.data 2>err | rows | merged >again.txt
	diff tacho.txt again.txt >difference || fail "options before the verb: $* $(head -n 20 difference; cat err)"
}
both " 0" -t load
both " - -" -t store
both " - -" -p
both " - -" -p --data-page-size
# -T is a choice of keys.
tacho mem report --stdio -i mem.data -T 2>err | rows >tacho.txt
tacho report --mem-mode -n --stdio -i mem.data -s mem,snoop,tlb,type 2>err | rows >wanted.txt
[ -s wanted.txt ] && diff wanted.txt tacho.txt || fail "-T"
tacho mem report --stdio -i mem.data -T -s sym 2>err | grep -q '^# Overhead .* Symbol .* Data Type' || fail "-T -s sym"
tacho mem report -i mem.data --json >out
python3 - <<'P'
import json
d = json.load(open('out'))
assert d['schema'].startswith('tacho.report/') and len(d['events']) == 2, d.keys()
P
for wrong in "-t swap" "-D" extra; do
	[ "$(status_of tacho mem report -i mem.data $wrong)" = 129 ] && [ -s err ] || fail "$wrong: $(cat err)"
done
[ "$(status_of tacho mem)" = 129 ] && [ "$(status_of tacho mem show)" = 129 ] || fail "no verb"
