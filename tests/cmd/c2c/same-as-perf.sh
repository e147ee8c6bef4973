# The tables are perf 7's, over the forms of the report.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
. "$SUPPORT/memory.sh"
same() {	# OPTION...
	newest_says c2c report --stdio -i mem.data "$@" >perf.txt
	tacho c2c report --stdio -i mem.data "$@" >tacho.txt 2>err || fail "$*: $(cat err)"
	grep -q 'c2c details' perf.txt || fail "perf shows nothing: $*"
	diff perf.txt tacho.txt || fail "not the same: $*"
}
for options in "" "-d tot" "-d lcl" "-d rmt" "--stats" "-N" "-NN" "--no-source" "--double-cl" "--show-all" "-c iaddr" \
	"-c pid,iaddr" "-c dso" "-c tid" "-d lcl -c pid,iaddr -N" "-d rmt --no-source -NN" "--show-all --stats" "--full-symbols"; do
	same $options
done
